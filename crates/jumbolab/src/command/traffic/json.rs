//! Results as JSON Lines: one object per flow.

use live::traffic::{
    Asked, DelayDistribution, Flow, FlowOutcome, Interval, Meter, Outcome, PathMtuNotice,
    Quantiles, ReceivedInterval, Report, Sent, SentInterval, Served,
};
use proto::clock_offset::ClockOffset;
use serde_json::{Map, Value, json};
use units::{Bytes, Span, Transport};

use super::{Results, delays, has_jitter, per_second};

/// A flow as observed by its sender.
pub(super) fn sent(
    flow: &Flow,
    result: &FlowOutcome,
    outcome: &Outcome,
    results: Results,
) -> String {
    let mut object = first(results);
    head(&mut object, flow.name.as_str(), flow.transport, flow.meter);
    object.insert(
        "fault".into(),
        json!(result.fault.as_ref().or(outcome.fault.as_ref())),
    );
    object.insert("segmentation".into(), json!(flow.options.segmentation));
    object.insert("merge".into(), json!(flow.options.merge));
    object.insert("receive_buffer".into(), json!(result.receive_buffer));
    if flow.reverse.is_some() {
        object.insert("reverse".into(), json!(true));
    }
    if let Some(sent) = &result.sent {
        departures(&mut object, sent);
        if flow.meter == Meter::RoundTrip {
            object.insert("echoes".into(), json!(sent.echoes));
            let lost = sent.messages.saturating_sub(sent.echoes);
            object.insert("echoes_lost".into(), json!(lost));
            object.insert("echo_duplicates".into(), json!(sent.copies));
            object.insert("echoes_unexpected".into(), json!(sent.unexpected));
            object.insert("echoes_unstamped".into(), json!(sent.unstamped));
            object.insert("round_trip_us".into(), quantiles(sent.round_trips.as_ref()));
        }
        if let Some(tcp) = &sent.tcp {
            object.insert("congestion".into(), json!(tcp.congestion));
            object.insert("segments".into(), json!(tcp.segments));
            object.insert("retransmitted".into(), json!(tcp.retransmitted));
            object.insert("segment_size".into(), json!(tcp.segment_size));
        }
        if let Some(report) = &result.report {
            object.insert(
                "lost".into(),
                json!(sent.messages.saturating_sub(report.messages)),
            );
        }
    }
    if let Some(report) = &result.report {
        arrived(&mut object, report, flow.meter);
    }
    if let Some(offset) = outcome.offset {
        clocks(&mut object, offset);
    }
    format!("{}\n", Value::Object(object))
}

/// The counters of a flow's sender.
fn departures(object: &mut Map<String, Value>, sent: &Sent) {
    let [each, bits] = per_second(sent.messages, sent.octets, sent.lasted);
    object.insert("offered".into(), json!(sent.offered));
    object.insert("sent".into(), json!(sent.messages));
    object.insert("sent_octets".into(), json!(sent.octets.get()));
    object.insert("sent_seconds".into(), json!(sent.lasted.as_secs_f64()));
    object.insert("sent_per_second".into(), json!(each));
    object.insert("sent_mbit".into(), json!(bits / 1e6));
    object.insert("refused".into(), json!(sent.refused));
    object.insert("unsent".into(), json!(sent.unsent));
    object.insert("too_large".into(), json!(sent.too_large));
    object.insert("missed".into(), json!(sent.missed()));
    object.insert("path_mtu".into(), path_mtu(sent.path_mtu));
    object.insert("lateness_us".into(), quantiles(sent.lateness.as_ref()));
    object.insert("send_buffer".into(), json!(sent.send_buffer));
}

/// A flow that the receiver of a session sent.
pub(super) fn sent_on_request(
    served: &Served,
    flow: &Asked,
    sent: &Sent,
    results: Results,
) -> String {
    let mut object = first(results);
    let transport = Some(flow.transport);
    head(&mut object, flow.name.as_str(), transport, flow.meter);
    object.insert("session".into(), json!(served.session.number));
    object.insert("peer".into(), json!(served.session.peer.to_string()));
    object.insert("fault".into(), json!(served.fault));
    object.insert("reverse".into(), json!(true));
    departures(&mut object, sent);
    clocks(&mut object, served.session.offset);
    format!("{}\n", Value::Object(object))
}

/// A flow as observed by its receiver.
pub(super) fn received(served: &Served, flow: &Asked, report: &Report, results: Results) -> String {
    let mut object = first(results);
    head(
        &mut object,
        flow.name.as_str(),
        Some(flow.transport),
        flow.meter,
    );
    object.insert("session".into(), json!(served.session.number));
    object.insert("peer".into(), json!(served.session.peer.to_string()));
    object.insert("fault".into(), json!(served.fault));
    object.insert("merge".into(), json!(flow.merge));
    arrived(&mut object, report, flow.meter);
    clocks(&mut object, served.session.offset);
    format!("{}\n", Value::Object(object))
}

/// An interval: an object for each flow.
pub(super) fn interval(session: Option<u64>, interval: &Interval) -> String {
    let mut text = String::new();
    for flow in &interval.flows {
        let mut object = Map::new();
        object.insert("event".into(), json!("interval"));
        object.insert("flow".into(), json!(flow.name.as_str()));
        if let Some(session) = session {
            object.insert("session".into(), json!(session));
        }
        let [from, to] = [interval.from, interval.to].map(Span::as_secs_f64);
        object.insert("from_s".into(), json!(from));
        object.insert("to_s".into(), json!(to));
        if let Some(sent) = &flow.sent {
            sent_in(&mut object, sent, to - from);
        }
        if let Some(received) = &flow.received {
            received_in(&mut object, received, flow.echoes.is_none());
        }
        if let Some(echoes) = &flow.echoes {
            object.insert("echoes".into(), json!(echoes.messages));
            object.insert("echoes_lost".into(), json!(echoes.known_lost()));
            object.insert("round_trip_us".into(), percentiles(&echoes.delays));
        }
        text += &format!("{}\n", Value::Object(object));
    }
    text
}

fn sent_in(object: &mut Map<String, Value>, sent: &SentInterval, seconds: f64) {
    object.insert("sent".into(), json!(sent.messages));
    object.insert("sent_octets".into(), json!(sent.octets.get()));
    object.insert("sent_mbit".into(), json!(mbit(sent.octets, seconds)));
    object.insert("unsent".into(), json!(sent.unsent));
    object.insert("due".into(), json!(sent.due));
    object.insert("behind_us".into(), json!(micros(sent.behind)));
    if let Some(tcp) = &sent.tcp {
        object.insert("retransmitted".into(), json!(tcp.retransmitted));
        object.insert("window_octets".into(), json!(tcp.window.get()));
        object.insert("tcp_round_trip_us".into(), json!(micros(tcp.round_trip)));
        object.insert("stuck_segment".into(), json!(tcp.stuck));
    }
    if sent.path_mtu.is_some() {
        object.insert("path_mtu".into(), path_mtu(sent.path_mtu));
    }
}

fn received_in(object: &mut Map<String, Value>, received: &ReceivedInterval, one_way: bool) {
    let seconds = received.lasted.as_secs_f64();
    object.insert("received".into(), json!(received.messages));
    object.insert("received_octets".into(), json!(received.octets.get()));
    object.insert("received_seconds".into(), json!(seconds));
    let rate = mbit(received.octets, seconds);
    object.insert("received_mbit".into(), json!(rate));
    object.insert("lost".into(), json!(received.known_lost()));
    if one_way {
        object.insert("delay_us".into(), percentiles(&received.delays));
        object.insert("jitter_us".into(), json!(micros(received.jitter)));
    }
}

fn mbit(octets: Bytes, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| octets.get() as f64 * 8.0 / seconds / 1e6)
}

fn percentiles(delays: &Quantiles) -> Value {
    if delays.count == 0 {
        return Value::Null;
    }
    json!({
        "count": delays.count,
        "p50": micros(delays.median),
        "p95": micros(delays.p95),
        "p99": micros(delays.p99),
        "most": micros(delays.most),
    })
}

fn path_mtu(notice: Option<PathMtuNotice>) -> Value {
    notice.map_or(
        Value::Null,
        |notice| json!({ "mtu": notice.mtu, "router": notice.router }),
    )
}

/// The start of the object of a result.
fn first(results: Results) -> Map<String, Value> {
    let mut object = Map::new();
    if results == Results::JsonStream {
        object.insert("event".into(), json!("result"));
    }
    object
}

fn head(object: &mut Map<String, Value>, name: &str, transport: Option<Transport>, meter: Meter) {
    let protocol = match transport {
        Some(Transport::Udp) => "udp",
        Some(Transport::Tcp) => "tcp",
        None => "echo",
    };
    let meter = match meter {
        Meter::OneWay => "one-way",
        Meter::RoundTrip => "round-trip",
    };
    object.insert("flow".into(), json!(name));
    object.insert("protocol".into(), json!(protocol));
    object.insert("meter".into(), json!(meter));
}

fn arrived(object: &mut Map<String, Value>, report: &Report, meter: Meter) {
    let lasted = Span::from_nanos(report.lasted);
    object.insert("received".into(), json!(report.messages));
    object.insert("received_octets".into(), json!(report.octets));
    object.insert("duplicates".into(), json!(report.duplicates));
    object.insert("reordered".into(), json!(report.reordered));
    object.insert("overflowed".into(), json!(report.overflowed));
    object.insert("merged".into(), json!(report.merged));
    if meter == Meter::OneWay {
        let [each, bits] = per_second(report.messages, Bytes::new(report.octets), lasted);
        let delays = delays(report);
        object.insert("received_seconds".into(), json!(lasted.as_secs_f64()));
        object.insert("received_per_second".into(), json!(each));
        object.insert("received_mbit".into(), json!(bits / 1e6));
        object.insert("unstamped".into(), json!(report.unstamped));
        object.insert("negative".into(), json!(report.negative));
        object.insert(
            "delay_us".into(),
            quantiles((delays.count > 0).then_some(&delays)),
        );
        object.insert(
            "jitter_us".into(),
            json!(has_jitter(report).then(|| micros(Span::from_nanos(report.jitter)))),
        );
    }
}

fn clocks(object: &mut Map<String, Value>, offset: ClockOffset) {
    object.insert("clock_offset_ns".into(), json!(offset.nanos));
    object.insert("clock_bound_ns".into(), json!(offset.bound));
}

fn quantiles(delays: Option<&DelayDistribution>) -> Value {
    delays.map_or(Value::Null, |delays| {
        json!({
            "count": delays.count,
            "least": micros(delays.least),
            "mean": micros(delays.mean),
            "p50": micros(delays.median),
            "p95": micros(delays.p95),
            "p99": micros(delays.p99),
            "most": micros(delays.most),
        })
    })
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}
