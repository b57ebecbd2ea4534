//! The results of a test of iperf3, as text and as JSON Lines.

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde::Serialize;
use traffic::driver::iperf3::{Count, FlowOutcome, Outcome};
use units::with_unit::seconds;
use units::{Bytes, Span, Transport};

use crate::command::flow_text::{Results, amount, share, time};

/// A flow at both ends. Keys that no end knows are null.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    flow: &'a str,
    protocol: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
    peer: SocketAddr,
    error: Option<&'a str>,
    reverse: bool,
    sent: Option<u64>,
    sent_bytes: Option<Bytes>,
    #[serde(serialize_with = "seconds::serialize")]
    sent_duration_s: Option<Span>,
    sent_bps: Option<f64>,
    received: Option<u64>,
    received_bytes: Option<Bytes>,
    #[serde(serialize_with = "seconds::serialize")]
    received_duration_s: Option<Span>,
    received_bps: Option<f64>,
    lost: Option<u64>,
    duplicates: Option<u64>,
    reordered: Option<u64>,
    #[serde(serialize_with = "seconds::serialize")]
    jitter_s: Option<Span>,
    retransmitted: Option<u64>,
    congestion_control: Option<&'a str>,
}

/// The results of a test; of a server's, with its number.
pub(super) fn of(outcome: &Outcome, session: Option<u64>, form: Results) -> String {
    let flows = outcome.flows.iter();
    let text: String = match form {
        Results::Words => flows.map(|flow| words(flow, outcome)).collect(),
        Results::Json | Results::JsonStream => {
            flows.map(|flow| line(flow, outcome, session)).collect()
        }
    };
    text
}

fn protocol(transport: Transport) -> &'static str {
    match transport {
        Transport::Udp => "udp",
        Transport::Tcp => "tcp",
    }
}

fn line(flow: &FlowOutcome, outcome: &Outcome, session: Option<u64>) -> String {
    let (sent, received) = (flow.sent, flow.received);
    let line = Line {
        kind: "iperf3_result",
        flow: flow.name.as_str(),
        protocol: protocol(flow.transport),
        session,
        peer: outcome.peer,
        error: outcome.fault.as_deref(),
        reverse: flow.reverse,
        sent: sent.and_then(|count| count.datagrams),
        sent_bytes: sent.map(|count| count.bytes),
        sent_duration_s: sent.map(|count| count.lasted),
        sent_bps: sent.and_then(|count| count.rate()),
        received: received.and_then(|count| count.datagrams),
        received_bytes: received.map(|count| count.bytes),
        received_duration_s: received.map(|count| count.lasted),
        received_bps: received.and_then(|count| count.rate()),
        lost: received.and_then(|count| count.lost),
        duplicates: received.and_then(|count| count.duplicates),
        reordered: received.and_then(|count| count.reordered),
        jitter_s: received.and_then(|count| count.jitter),
        retransmitted: sent.and_then(|count| count.retransmitted),
        congestion_control: flow.congestion.as_deref(),
    };
    let text = serde_json::to_string(&line);
    text.expect("keys are strings, and no number is of 128 bits") + "\n"
}

fn words(flow: &FlowOutcome, outcome: &Outcome) -> String {
    let transport = protocol(flow.transport).to_uppercase();
    let peer = outcome.peer.ip();
    let way = if flow.sent_here { "to" } else { "from" };
    let mut text = format!("{}: {transport}, {way} {peer}\n", flow.name.as_str());
    let who = |here: bool| if here { "this end" } else { "iperf3" };
    for (what, here, count) in [
        ("sent", flow.sent_here, &flow.sent),
        ("received", !flow.sent_here, &flow.received),
    ] {
        let Some(count) = count else {
            let _ = writeln!(text, "  {what:<12}not reported ({})", who(here));
            continue;
        };
        let _ = writeln!(text, "  {what:<12}{} ({})", counted(count), who(here));
    }
    if let (Some(sent), Some(received)) = (&flow.sent, &flow.received)
        && flow.transport == Transport::Tcp
        && sent.bytes != received.bytes
    {
        let unread = sent.bytes.get().saturating_sub(received.bytes.get());
        let _ = writeln!(
            text,
            "  not read    {} at the end",
            amount(Bytes::new(unread))
        );
    }
    if let Some(received) = &flow.received {
        let remarks = [
            (received.duplicates, "duplicates"),
            (received.reordered, "reordered"),
        ];
        for (count, what) in remarks {
            if let Some(count) = count.filter(|count| *count > 0) {
                let _ = writeln!(text, "  of these    {count} {what}");
            }
        }
        if let Some(jitter) = received.jitter {
            let _ = writeln!(text, "  jitter      {} (RFC 3550)", time(jitter));
        }
    }
    if let Some(sent) = flow.sent.as_ref().and_then(|sent| sent.retransmitted) {
        let control = flow
            .congestion
            .as_deref()
            .unwrap_or("congestion control unknown");
        let _ = writeln!(
            text,
            "  TCP         {control}, {sent} segments retransmitted"
        );
    }
    text
}

/// The counts of one end.
fn counted(count: &Count) -> String {
    let mut text = format!("{} bytes", count.bytes.get());
    if let Some(datagrams) = count.datagrams {
        text = format!("{datagrams} messages, {text}");
    }
    if let Some(rate) = count.rate() {
        let seconds = count.lasted.as_secs_f64();
        let _ = write!(text, " in {seconds:.3} s, {:.3} Mbit/s", rate / 1e6);
    }
    if let Some(lost) = count.lost {
        text += &share(lost, lost + count.datagrams.unwrap_or(0));
    }
    text
}
