//! Results as JSON Lines: one object per flow; docs/reference/json.md is their schema.

use std::net::SocketAddr;

use meter::clock_offset::ClockOffset;
use os::socket::TcpState;
use serde::Serialize;
use traffic::driver::sessions::{
    Asked, DelayDistribution, Flow, FlowInterval, FlowOutcome, Interval, Meter, Outcome,
    PathMtuNotice, Quantiles, ReceivedInterval, Report, Sent, SentInterval, Served,
};
use units::with_unit::{micros, seconds};
use units::{Bytes, Span, Transport};

use super::{Results, delays, has_jitter, per_second};

/// The result of a flow. Keys without a meaning at this end are absent.
#[derive(Default, Serialize)]
struct ResultLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    flow: &'a str,
    protocol: &'static str,
    meter: &'static str,
    #[serde(flatten)]
    session: Option<Session>,
    fault: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reverse: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    segmentation: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receive_buffer: Option<u64>,
    #[serde(flatten)]
    departures: Option<Departures>,
    #[serde(flatten)]
    round_trips: Option<RoundTrips>,
    #[serde(flatten)]
    tcp: Option<&'a TcpState>,
    #[serde(flatten)]
    arrivals: Option<Arrivals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    #[serde(flatten)]
    clocks: Option<ClockOffset>,
}

#[derive(Serialize)]
struct Session {
    session: u64,
    peer: SocketAddr,
}

/// The counters of a flow's sender.
#[derive(Serialize)]
struct Departures {
    offered: u64,
    sent: u64,
    sent_bytes: Bytes,
    #[serde(serialize_with = "seconds::serialize")]
    sent_seconds: Span,
    sent_per_second: f64,
    sent_mbit: f64,
    refused: u64,
    unsent: u64,
    too_large: u64,
    missed: u64,
    path_mtu: Option<PathMtuNotice>,
    timing_error_us: Option<DelayDistribution>,
    send_buffer: u64,
}

#[derive(Serialize)]
struct RoundTrips {
    echoes: u64,
    echoes_lost: u64,
    echo_duplicates: u64,
    echoes_unexpected: u64,
    echoes_unstamped: u64,
    round_trip_us: Option<DelayDistribution>,
}

/// The counters of a flow's receiver.
#[derive(Serialize)]
struct Arrivals {
    received: u64,
    received_bytes: u64,
    duplicates: u64,
    reordered: u64,
    overflowed: u64,
    merged: u64,
    #[serde(flatten)]
    one_way: Option<OneWay>,
}

#[derive(Serialize)]
struct OneWay {
    #[serde(serialize_with = "seconds::serialize")]
    received_seconds: Span,
    received_per_second: f64,
    received_mbit: f64,
    unstamped: u64,
    negative: u64,
    delay_us: Option<DelayDistribution>,
    #[serde(serialize_with = "micros::serialize")]
    jitter_us: Option<Span>,
}

/// A flow in an interval. Keys that this end does not know are absent.
#[derive(Serialize)]
struct IntervalLine<'a> {
    event: &'static str,
    flow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
    #[serde(serialize_with = "seconds::serialize")]
    from_s: Span,
    #[serde(serialize_with = "seconds::serialize")]
    to_s: Span,
    #[serde(flatten)]
    sent: Option<SentInterval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_mbit: Option<f64>,
    #[serde(flatten)]
    received: Option<ReceivedIn>,
    #[serde(flatten)]
    echoes: Option<EchoesIn>,
}

#[derive(Serialize)]
struct ReceivedIn {
    received: u64,
    received_bytes: Bytes,
    #[serde(serialize_with = "seconds::serialize")]
    received_seconds: Span,
    received_mbit: Option<f64>,
    lost: Option<u64>,
    #[serde(flatten)]
    one_way: Option<OneWayIn>,
}

#[derive(Serialize)]
struct OneWayIn {
    delay_us: Option<Quantiles>,
    #[serde(serialize_with = "micros::serialize")]
    jitter_us: Span,
}

#[derive(Serialize)]
struct EchoesIn {
    echoes: u64,
    echoes_lost: Option<u64>,
    round_trip_us: Option<Quantiles>,
}

/// A flow as observed by its sender.
pub(super) fn sent(
    flow: &Flow,
    result: &FlowOutcome,
    outcome: &Outcome,
    results: Results,
) -> String {
    let sent = result.sent.as_ref();
    let echoed = sent.filter(|_| flow.meter == Meter::RoundTrip);
    let report = result.report.as_ref();
    let lost = |(sent, report): (&Sent, &Report)| sent.messages.saturating_sub(report.messages);
    line(&ResultLine {
        fault: result.fault.as_deref().or(outcome.fault.as_deref()),
        reverse: flow.reverse.is_some(),
        segmentation: Some(flow.options.segmentation),
        merge: Some(flow.options.merge),
        receive_buffer: Some(result.receive_buffer),
        departures: sent.map(departures),
        round_trips: echoed.map(round_trips),
        tcp: sent.and_then(|sent| sent.tcp.as_ref()),
        arrivals: report.map(|report| arrivals(report, flow.meter)),
        lost: sent.zip(report).map(lost),
        clocks: outcome.offset,
        ..ResultLine::new(results, flow.name.as_str(), flow.transport, flow.meter)
    })
}

/// A flow that the receiver of a session sent.
pub(super) fn sent_on_request(
    served: &Served,
    flow: &Asked,
    sent: &Sent,
    results: Results,
) -> String {
    line(&ResultLine {
        reverse: true,
        departures: Some(departures(sent)),
        ..ResultLine::of_session(served, flow, results)
    })
}

/// A flow as observed by its receiver.
pub(super) fn received(served: &Served, flow: &Asked, report: &Report, results: Results) -> String {
    line(&ResultLine {
        merge: Some(flow.merge),
        arrivals: Some(arrivals(report, flow.meter)),
        ..ResultLine::of_session(served, flow, results)
    })
}

/// An interval: an object for each flow.
pub(super) fn interval(session: Option<u64>, interval: &Interval) -> String {
    let seconds = interval.to.as_secs_f64() - interval.from.as_secs_f64();
    let of_flow = |flow: &FlowInterval| {
        let one_way = flow.echoes.is_none();
        line(&IntervalLine {
            event: "interval",
            flow: flow.name.as_str(),
            session,
            from_s: interval.from,
            to_s: interval.to,
            sent: flow.sent,
            sent_mbit: flow.sent.and_then(|sent| mbit(sent.bytes, seconds)),
            received: flow
                .received
                .as_ref()
                .map(|found| received_in(found, one_way)),
            echoes: flow.echoes.as_ref().map(echoes_in),
        })
    };
    interval.flows.iter().map(of_flow).collect()
}

impl<'a> ResultLine<'a> {
    /// What is known of each flow.
    fn new(results: Results, flow: &'a str, transport: Option<Transport>, meter: Meter) -> Self {
        Self {
            event: (results == Results::JsonStream).then_some("result"),
            flow,
            protocol: match transport {
                Some(Transport::Udp) => "udp",
                Some(Transport::Tcp) => "tcp",
                None => "icmp",
            },
            meter: match meter {
                Meter::OneWay => "one-way",
                Meter::RoundTrip => "round-trip",
            },
            ..Self::default()
        }
    }

    /// What a receiver knows of each flow.
    fn of_session(served: &'a Served, flow: &'a Asked, results: Results) -> Self {
        let transport = Some(flow.transport);
        Self {
            session: Some(Session {
                session: served.session.number,
                peer: served.session.peer,
            }),
            fault: served.fault.as_deref(),
            clocks: Some(served.session.offset),
            ..Self::new(results, flow.name.as_str(), transport, flow.meter)
        }
    }
}

fn departures(sent: &Sent) -> Departures {
    let [each, bits] = per_second(sent.messages, sent.bytes, sent.lasted);
    Departures {
        offered: sent.offered,
        sent: sent.messages,
        sent_bytes: sent.bytes,
        sent_seconds: sent.lasted,
        sent_per_second: each,
        sent_mbit: bits / 1e6,
        refused: sent.refused,
        unsent: sent.unsent,
        too_large: sent.too_large,
        missed: sent.missed(),
        path_mtu: sent.path_mtu,
        timing_error_us: sent.timing_error,
        send_buffer: sent.send_buffer,
    }
}

fn round_trips(sent: &Sent) -> RoundTrips {
    RoundTrips {
        echoes: sent.echoes,
        echoes_lost: sent.messages.saturating_sub(sent.echoes),
        echo_duplicates: sent.copies,
        echoes_unexpected: sent.unexpected,
        echoes_unstamped: sent.unstamped,
        round_trip_us: sent.round_trips,
    }
}

fn arrivals(report: &Report, meter: Meter) -> Arrivals {
    Arrivals {
        received: report.messages,
        received_bytes: report.bytes,
        duplicates: report.duplicates,
        reordered: report.reordered,
        overflowed: report.overflowed,
        merged: report.merged,
        one_way: (meter == Meter::OneWay).then(|| one_way(report)),
    }
}

fn one_way(report: &Report) -> OneWay {
    let lasted = Span::from_nanos(report.lasted);
    let [each, bits] = per_second(report.messages, Bytes::new(report.bytes), lasted);
    OneWay {
        received_seconds: lasted,
        received_per_second: each,
        received_mbit: bits / 1e6,
        unstamped: report.unstamped,
        negative: report.negative,
        delay_us: (report.delayed > 0).then(|| delays(report)),
        jitter_us: has_jitter(report).then(|| Span::from_nanos(report.jitter)),
    }
}

fn received_in(received: &ReceivedInterval, one_way: bool) -> ReceivedIn {
    ReceivedIn {
        received: received.messages,
        received_bytes: received.bytes,
        received_seconds: received.lasted,
        received_mbit: mbit(received.bytes, received.lasted.as_secs_f64()),
        lost: received.known_lost(),
        one_way: one_way.then(|| OneWayIn {
            delay_us: known(received.delays),
            jitter_us: received.jitter,
        }),
    }
}

fn echoes_in(echoes: &ReceivedInterval) -> EchoesIn {
    EchoesIn {
        echoes: echoes.messages,
        echoes_lost: echoes.known_lost(),
        round_trip_us: known(echoes.delays),
    }
}

fn mbit(bytes: Bytes, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes.get() as f64 * 8.0 / seconds / 1e6)
}

fn known(delays: Quantiles) -> Option<Quantiles> {
    (delays.count > 0).then_some(delays)
}

fn line(object: &impl Serialize) -> String {
    let text = serde_json::to_string(object);
    text.expect("keys are strings, and no number is of 128 bits") + "\n"
}
