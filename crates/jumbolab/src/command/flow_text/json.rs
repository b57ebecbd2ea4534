//! Results as JSON Lines: one object per flow; docs/reference/json.md is their schema.

use std::net::SocketAddr;

use meter::call_quality::CallQuality;
use meter::clock_offset::ClockOffset;
use os::socket::TcpState;
use serde::Serialize;
use traffic::driver::sessions::{
    Asked, DelayDistribution, Flow, FlowInterval, FlowOutcome, Interval, Meter, Outcome,
    PathMtuNotice, Protocol, Quantiles, ReceivedInterval, Report, Sent, SentInterval, Served,
};
use units::with_unit::seconds;
use units::{Bytes, Span};

use super::stamps::{self, Stamps};
use super::{call, delays, has_jitter, per_second, untimed};

/// The result of a flow. Keys without a meaning at this end are absent.
#[derive(Default, Serialize)]
struct ResultLine<'a> {
    kind: &'static str,
    flow: &'a str,
    protocol: &'static str,
    meter: &'static str,
    #[serde(flatten)]
    session: Option<Session>,
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reverse: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    segmentation: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receive_buffer_bytes: Option<u64>,
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
    clocks: Option<Clocks>,
    #[serde(flatten)]
    call: Option<Call>,
}

/// The quality of a call.
#[derive(Serialize)]
struct Call {
    codec: &'static str,
    mouth_to_ear_s: f64,
    loss: f64,
    burst_ratio: f64,
    rating: f64,
    mos: f64,
}

impl Call {
    fn of(call: CallQuality) -> Self {
        Self {
            codec: call.codec.name(),
            mouth_to_ear_s: call.delay,
            loss: call.loss,
            burst_ratio: call.burst_ratio,
            rating: call.rating,
            mos: call.mos,
        }
    }
}

/// The other clock less this one, and the bound of the error of that.
#[derive(Serialize)]
struct Clocks {
    clock_offset_s: f64,
    clock_error_bound_s: f64,
}

#[derive(Serialize)]
struct Session {
    session: u64,
    peer: SocketAddr,
}

/// The counters of a flow's sender.
#[derive(Serialize)]
struct Departures {
    omitted: u64,
    offered: u64,
    sent: u64,
    sent_bytes: Bytes,
    #[serde(serialize_with = "seconds::serialize")]
    sent_duration_s: Span,
    sent_per_second: f64,
    sent_bps: f64,
    rejected: u64,
    unsent: u64,
    too_large: u64,
    missed: u64,
    path_mtu: Option<PathMtuNotice>,
    timing_error_s: Option<DelayDistribution>,
    send_buffer_bytes: u64,
}

#[derive(Serialize)]
struct RoundTrips {
    echoes: u64,
    echoes_lost: u64,
    echo_duplicates: u64,
    echoes_unexpected: u64,
    echoes_unstamped: u64,
    #[serde(flatten)]
    stamps: Option<Stamps>,
    round_trip_s: Option<DelayDistribution>,
}

/// The counters of a flow's receiver.
#[derive(Serialize)]
struct Arrivals {
    received_omitted: u64,
    received: u64,
    received_bytes: u64,
    duplicates: u64,
    reordered: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overflowed: Option<u64>,
    merged: u64,
    #[serde(flatten)]
    one_way: Option<OneWay>,
}

#[derive(Serialize)]
struct OneWay {
    #[serde(serialize_with = "seconds::serialize")]
    received_duration_s: Span,
    received_per_second: f64,
    received_bps: f64,
    unstamped: u64,
    untimed: u64,
    #[serde(flatten)]
    stamps: Option<Stamps>,
    negative_delays: u64,
    delay_s: Option<DelayDistribution>,
    #[serde(serialize_with = "seconds::serialize")]
    jitter_s: Option<Span>,
}

/// A flow in an interval. Keys that this end does not know are absent.
#[derive(Serialize)]
struct IntervalLine<'a> {
    kind: &'static str,
    flow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
    #[serde(serialize_with = "seconds::serialize")]
    from_s: Span,
    #[serde(serialize_with = "seconds::serialize")]
    to_s: Span,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    omitted: bool,
    #[serde(flatten)]
    sent: Option<SentInterval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_bps: Option<f64>,
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
    received_duration_s: Span,
    received_bps: Option<f64>,
    lost: Option<u64>,
    #[serde(flatten)]
    one_way: Option<OneWayIn>,
}

#[derive(Serialize)]
struct OneWayIn {
    delay_s: Option<Quantiles>,
    #[serde(serialize_with = "seconds::serialize")]
    jitter_s: Span,
}

#[derive(Serialize)]
struct EchoesIn {
    echoes: u64,
    echoes_lost: Option<u64>,
    round_trip_s: Option<Quantiles>,
}

/// A flow as observed by its sender.
pub(super) fn sent(flow: &Flow, result: &FlowOutcome, outcome: &Outcome) -> String {
    let sent = result.sent.as_ref();
    let echoed = sent.filter(|_| flow.meter == Meter::RoundTrip);
    let report = result.report.as_ref();
    let lost = |(sent, report): (&Sent, &Report)| sent.messages.saturating_sub(report.messages);
    line(&ResultLine {
        error: result.fault.as_deref().or(outcome.fault.as_deref()),
        reverse: flow.reverse.is_some(),
        segmentation: Some(flow.options.segmentation),
        merge: Some(flow.options.merge),
        receive_buffer_bytes: Some(result.receive_buffer),
        departures: sent.map(departures),
        round_trips: echoed.map(round_trips),
        tcp: sent.and_then(|sent| sent.tcp.as_ref()),
        arrivals: report.map(|report| arrivals(report, flow.meter)),
        lost: sent.zip(report).map(lost),
        call: report
            .and_then(|report| call(flow.codec, report, sent.map(|sent| sent.messages)))
            .map(Call::of),
        clocks: outcome.offset.map(clocks),
        ..ResultLine::new(flow.name.as_str(), flow.transport, flow.meter)
    })
}

/// A flow that the receiver of a session sent.
pub(super) fn sent_on_request(served: &Served, flow: &Asked, sent: &Sent) -> String {
    line(&ResultLine {
        reverse: true,
        departures: Some(departures(sent)),
        ..ResultLine::of_session(served, flow)
    })
}

/// A flow as observed by its receiver.
pub(super) fn received(
    served: &Served,
    flow: &Asked,
    report: &Report,
    call: Option<CallQuality>,
) -> String {
    line(&ResultLine {
        merge: Some(flow.merge),
        arrivals: Some(arrivals(report, flow.meter)),
        call: call.map(Call::of),
        ..ResultLine::of_session(served, flow)
    })
}

/// An interval: an object for each flow.
pub(super) fn interval(session: Option<u64>, interval: &Interval) -> String {
    let seconds = interval.to.as_secs_f64() - interval.from.as_secs_f64();
    let of_flow = |flow: &FlowInterval| {
        let one_way = flow.echoes.is_none();
        line(&IntervalLine {
            kind: "interval",
            flow: flow.name.as_str(),
            session,
            from_s: interval.from,
            to_s: interval.to,
            omitted: flow.omitted,
            sent: flow.sent,
            sent_bps: flow.sent.and_then(|sent| rate(sent.bytes, seconds)),
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
    fn new(flow: &'a str, transport: Option<Protocol>, meter: Meter) -> Self {
        Self {
            kind: "result",
            flow,
            protocol: match transport {
                Some(Protocol::Udp) => "udp",
                Some(Protocol::Tcp) => "tcp",
                Some(Protocol::UdpLite { .. }) => "udplite",
                Some(Protocol::Sctp { .. }) => "sctp",
                None => "icmp",
            },
            meter: match meter {
                Meter::OneWay => "one_way",
                Meter::RoundTrip => "round_trip",
            },
            ..Self::default()
        }
    }

    /// What a receiver knows of each flow.
    fn of_session(served: &'a Served, flow: &'a Asked) -> Self {
        let transport = Some(flow.transport);
        Self {
            session: Some(Session {
                session: served.session.number,
                peer: served.session.peer,
            }),
            error: served.fault.as_deref(),
            clocks: Some(clocks(served.session.offset)),
            ..Self::new(flow.name.as_str(), transport, flow.meter)
        }
    }
}

fn departures(sent: &Sent) -> Departures {
    let [each, bits] = per_second(sent.messages, sent.bytes, sent.lasted);
    Departures {
        omitted: sent.omitted.messages,
        offered: sent.offered,
        sent: sent.messages,
        sent_bytes: sent.bytes,
        sent_duration_s: sent.lasted,
        sent_per_second: each,
        sent_bps: bits,
        rejected: sent.rejected,
        unsent: sent.unsent,
        too_large: sent.too_large,
        missed: sent.missed(),
        path_mtu: sent.path_mtu,
        timing_error_s: sent.timing_error,
        send_buffer_bytes: sent.send_buffer,
    }
}

fn round_trips(sent: &Sent) -> RoundTrips {
    RoundTrips {
        echoes: sent.echoes,
        echoes_lost: sent.messages.saturating_sub(sent.echoes),
        echo_duplicates: sent.copies,
        echoes_unexpected: sent.unexpected,
        echoes_unstamped: sent.unstamped,
        stamps: sent.stamps.map(Stamps::from),
        round_trip_s: sent.round_trips,
    }
}

fn arrivals(report: &Report, meter: Meter) -> Arrivals {
    Arrivals {
        received_omitted: report.warmup,
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
        received_duration_s: lasted,
        received_per_second: each,
        received_bps: bits,
        unstamped: report.unstamped,
        untimed: untimed(report),
        stamps: stamps::of(report).map(Stamps::from),
        negative_delays: report.negative,
        delay_s: (report.delayed > 0).then(|| delays(report)),
        jitter_s: has_jitter(report).then(|| Span::from_nanos(report.jitter)),
    }
}

fn received_in(received: &ReceivedInterval, one_way: bool) -> ReceivedIn {
    ReceivedIn {
        received: received.messages,
        received_bytes: received.bytes,
        received_duration_s: received.lasted,
        received_bps: rate(received.bytes, received.lasted.as_secs_f64()),
        lost: received.known_lost(),
        one_way: one_way.then(|| OneWayIn {
            delay_s: known(received.delays),
            jitter_s: received.jitter,
        }),
    }
}

fn echoes_in(echoes: &ReceivedInterval) -> EchoesIn {
    EchoesIn {
        echoes: echoes.messages,
        echoes_lost: echoes.known_lost(),
        round_trip_s: known(echoes.delays),
    }
}

/// In bit/s.
fn rate(bytes: Bytes, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes.get() as f64 * 8.0 / seconds)
}

fn clocks(offset: ClockOffset) -> Clocks {
    Clocks {
        clock_offset_s: offset.nanos as f64 / 1e9,
        clock_error_bound_s: offset.bound as f64 / 1e9,
    }
}

fn known(delays: Quantiles) -> Option<Quantiles> {
    (delays.count > 0).then_some(delays)
}

fn line(object: &impl Serialize) -> String {
    let text = serde_json::to_string(object);
    text.expect("keys are strings, and no number is of 128 bits") + "\n"
}
