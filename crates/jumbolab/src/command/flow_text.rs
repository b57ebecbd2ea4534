//! Text and helpers that `send` and `recv` share.

#[cfg_attr(not(target_os = "linux"), path = "flow_text/no_host.rs")]
mod host;
mod intervals;
mod json;
mod printer;
mod received;
mod stamps;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use meter::clock_offset::ClockOffset;
use secret::Secret;
use traffic::driver::sessions::{
    DelayDistribution, Flow, FlowOutcome, Meter, Outcome, Protocol, ReceivedFlow,
    SHORTEST_INTERVAL, Sent, Served,
};
use units::{Bytes, Span, Transport};

pub(super) use host::Host;
use intervals::Table;
pub(super) use intervals::amount;
pub(super) use printer::{Form, Printer, SharedPrinter};
use received::{call, delays, has_jitter, received, untimed};

/// The default length of intervals, as in iperf3.
const INTERVAL: Span = Span::from_secs(1);

/// Reads the secret of `--secret-file FILE`.
pub(super) fn secret(file: &Path) -> Result<Secret> {
    os::secrecy::read_secret(file).with_context(|| format!("--secret-file {}", file.display()))
}

/// The form of the results on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// Text.
    Words,
    /// JSON Lines.
    Json,
    /// JSON Lines with intervals among them.
    JsonStream,
}

impl Results {
    pub(super) fn of(json: bool, json_stream: bool) -> Self {
        match (json, json_stream) {
            (_, true) => Self::JsonStream,
            (true, false) => Self::Json,
            (false, false) => Self::Words,
        }
    }

    fn is_json(self) -> bool {
        self != Self::Words
    }

    /// The length of the intervals that `--interval` asks for.
    ///
    /// # Errors
    /// The length is no time, is too short, or the results have no intervals.
    pub(super) fn interval(self, asked: Option<&str>) -> Result<Option<Span>> {
        let Some(text) = asked else {
            return Ok((self != Self::Json).then_some(INTERVAL));
        };
        ensure!(
            self != Self::Json,
            "--interval {text}: --json prints results at the end only; write --json-stream instead of --json"
        );
        if ["0", "none"].contains(&text) {
            return Ok(None);
        }
        let span: Span = text
            .parse()
            .map_err(|why| anyhow!("--interval {text}: {why}"))?;
        ensure!(
            span == Span::ZERO || span >= SHORTEST_INTERVAL,
            "--interval {text}: write {SHORTEST_INTERVAL} or more, or 0 for no intervals"
        );
        Ok((span > Span::ZERO).then_some(span))
    }

    /// The form of the intervals of a sender of `flows`, each with its receiver's control
    /// address.
    pub(super) fn of_sender(self, flows: &[(&Flow, SocketAddr)]) -> Form {
        match self.is_json() {
            true => Form::Json,
            false => Form::Table(Table::of_sender(flows)),
        }
    }

    /// The form of the intervals of a test of iperf3 at an end that sends, or receives, or both;
    /// `None`: over any transport.
    pub(super) fn of_iperf3(self, transport: Option<Transport>, ways: [bool; 2]) -> Form {
        match self.is_json() {
            true => Form::Json,
            false => Form::Table(Table::of_iperf3(transport, ways)),
        }
    }

    /// The form of the intervals of a receiver.
    pub(super) fn of_receiver(self) -> Form {
        match self.is_json() {
            true => Form::Json,
            false => Form::Table(Table::of_receiver()),
        }
    }
}

/// A description of a flow.
pub(super) fn describe(transport: Option<Protocol>, meter: Meter) -> String {
    let how = transport.map_or("ICMP echo", Protocol::name);
    let what = match meter {
        Meter::OneWay => "one way",
        Meter::RoundTrip => "round trip",
    };
    format!("{how}, {what}")
}

/// The sender's report of its flows.
pub(super) fn sent(flows: &[Flow], outcome: &Outcome, results: Results, host: &Host) -> String {
    let mut text = String::new();
    for (flow, result) in flows.iter().zip(&outcome.flows) {
        if results.is_json() {
            text += &json::sent(flow, result, outcome);
        } else {
            text += &sent_in_words(flow, result, outcome.offset);
            text += &host.warning(flow, result);
        }
    }
    if let (false, Some(offset)) = (results.is_json(), outcome.offset) {
        text += &clocks(offset, outcome.same_clock);
    }
    if !results.is_json() {
        text += &host.fragments(flows, outcome);
    }
    text
}

/// The receiver's report of a session's flows.
pub(super) fn served(served: &Served, results: Results) -> String {
    let mut text = String::new();
    for (flow, sent) in &served.sent {
        if results.is_json() {
            text += &json::sent_on_request(served, flow, sent);
        } else {
            let what = describe(Some(flow.transport), flow.meter);
            let peer = served.session.peer.ip();
            let _ = writeln!(text, "{}: {what}, to {peer}", flow.name.as_str());
            text += &departures(sent, sent.timing_error.is_some());
            if let Some(stall) = sent.stall {
                let _ = writeln!(text, "  failed      {stall}");
            }
        }
    }
    for ReceivedFlow { flow, report, sent } in &served.flows {
        let call = call(flow.codec, report, *sent);
        if results.is_json() {
            text += &json::received(served, flow, report, call);
        } else {
            let what = describe(Some(flow.transport), flow.meter);
            let peer = served.session.peer.ip();
            let _ = writeln!(text, "{}: {what}, from {peer}", flow.name.as_str());
            text += &received(report, None, flow.meter, Some(served.session.offset));
            if let Some(call) = call {
                let _ = writeln!(text, "  call        {call}");
            }
        }
    }
    text
}

fn sent_in_words(flow: &Flow, result: &FlowOutcome, offset: Option<ClockOffset>) -> String {
    let what = describe(flow.transport, flow.meter);
    let way = if flow.reverse.is_some() {
        ", reverse"
    } else {
        ""
    };
    let mut text = format!("{}: {what}{way}\n", flow.name.as_str());
    if let Some(fault) = &result.fault {
        let _ = writeln!(text, "  failed      {fault}");
    }
    let Some(sent) = &result.sent else {
        if let Some(report) = &result.report {
            text += &received(report, None, flow.meter, offset);
        }
        return text;
    };
    text += &departures(sent, flow.paced);
    if let Some(report) = &result.report {
        text += &received(report, Some(sent.messages), flow.meter, offset);
        if let Some(call) = call(flow.codec, report, Some(sent.messages)) {
            let _ = writeln!(text, "  call        {call}");
        }
    }
    if flow.meter == Meter::RoundTrip {
        let lost = sent.messages.saturating_sub(sent.echoes);
        let copies = match sent.copies {
            0 => String::new(),
            copies => format!(", {copies} duplicates"),
        };
        let unexpected = match sent.unexpected {
            0 => String::new(),
            unexpected => format!("; {unexpected} echoes are of no message that was sent"),
        };
        let _ = writeln!(
            text,
            "  returned    {} messages{}{copies}{unexpected}",
            sent.echoes,
            share(lost, sent.messages)
        );
    }
    if let Some(round_trips) = &sent.round_trips {
        let _ = writeln!(text, "  round trip  {}", quantiles(round_trips));
        text += &stamps::line(sent.unstamped, sent.stamps);
    }
    if let Some(tcp) = &sent.tcp {
        let _ = writeln!(
            text,
            "  TCP         {}, segments of {} bytes, {} of {} retransmitted, round trip {}",
            tcp.congestion,
            tcp.segment_size,
            tcp.retransmitted,
            tcp.segments,
            time(tcp.round_trip)
        );
    }
    text
}

/// The departures of a flow's messages.
fn departures(sent: &Sent, paced: bool) -> String {
    let mut text = String::new();
    if paced {
        let _ = writeln!(text, "  offered     {} messages", sent.offered);
    }
    if sent.omitted.messages > 0 {
        text += &omitted(sent.omitted.messages, "sent");
    }
    let rates = rates(sent.messages, sent.bytes, sent.lasted);
    let _ = writeln!(
        text,
        "  sent        {} messages, {}{rates}",
        sent.messages,
        amount(sent.bytes)
    );
    text += &not_sent(sent);
    if let Some(timing_error) = sent.timing_error {
        let _ = writeln!(
            text,
            "  timing error    p50 {}, p99 {}, maximum {}",
            time(timing_error.median),
            time(timing_error.p99),
            time(timing_error.most)
        );
    }
    text
}

/// The line about the messages of `--omit`, which the other lines leave out.
fn omitted(messages: u64, verb: &str) -> String {
    format!("  omitted     {messages} messages, {verb} before the counted ones\n")
}

/// The messages that a flow should have sent and did not, by cause.
fn not_sent(sent: &Sent) -> String {
    let mut text = String::new();
    if sent.rejected > 0 {
        let rejected = sent.rejected;
        let _ = writeln!(
            text,
            "  not sent    {rejected} too large or too small for the protocol"
        );
    }
    match (&sent.path_mtu, sent.too_large) {
        (Some(notice), 0) => {
            let _ = writeln!(text, "  path MTU    {}", intervals::path_mtu(notice));
        }
        (Some(notice), too_large) => {
            let mtu = intervals::path_mtu(notice);
            let _ = writeln!(text, "  not sent    {too_large} too large: path MTU {mtu}");
        }
        (None, 0) => {}
        (None, too_large) => {
            let _ = writeln!(text, "  not sent    {too_large} too large for the path");
        }
    }
    if sent.unsent > sent.too_large {
        let others = sent.unsent - sent.too_large;
        let _ = writeln!(
            text,
            "  not sent    {others} not accepted by the kernel: no room in front of the interface, or no route"
        );
    }
    // One in a thousand may be due just before the end.
    if sent.stall.is_none() && sent.missed().saturating_mul(1_000) > sent.offered {
        let [each, _] = per_second(sent.messages, sent.bytes, sent.lasted);
        let due = each * sent.offered as f64 / sent.messages.max(1) as f64;
        let most = sent
            .timing_error
            .map_or(Span::ZERO, |timing_error| timing_error.most);
        let words = intervals::behind(each, due, &time(most));
        let _ = writeln!(
            text,
            "  fell behind {words}, and did not send {} messages",
            sent.missed()
        );
    }
    text
}

fn clocks(offset: ClockOffset, same: bool) -> String {
    if same {
        return "clocks: both ends use the same clock\n".to_owned();
    }
    let ahead = if offset.nanos < 0 {
        "behind"
    } else {
        "ahead of"
    };
    format!(
        "clocks: the receiver's clock is {} ± {} {ahead} this one\n",
        nanos(offset.nanos.unsigned_abs()),
        nanos(offset.bound)
    )
}

fn quantiles(delays: &DelayDistribution) -> String {
    format!(
        "minimum {}, mean {}, p50 {}, p95 {}, p99 {}, maximum {}",
        time(delays.least),
        time(delays.mean),
        time(delays.median),
        time(delays.p95),
        time(delays.p99),
        time(delays.most)
    )
}

/// Messages and bits per second, if the duration is positive.
fn rates(messages: u64, bytes: Bytes, lasted: Span) -> String {
    let [each, bits] = per_second(messages, bytes, lasted);
    match lasted == Span::ZERO {
        true => String::new(),
        false => format!(", {each:.1}/s, {:.3} Mbit/s", bits / 1e6),
    }
}

/// Messages and bits per second from the first to the last message: the first
/// message and its share of the bytes are excluded.
fn per_second(messages: u64, bytes: Bytes, lasted: Span) -> [f64; 2] {
    let seconds = lasted.as_secs_f64();
    if seconds <= 0.0 || messages < 2 {
        return [0.0; 2];
    }
    let passed = (messages - 1) as f64;
    let bits = bytes.bits() as f64 * passed / messages as f64;
    [passed / seconds, bits / seconds]
}

/// The lost ones of some messages, and their share; of none nothing is known.
pub(super) fn share(lost: u64, of: u64) -> String {
    let percent = 100.0 * lost as f64 / of as f64;
    match of {
        0 => String::new(),
        _ => format!(", {lost} lost ({percent:.3} %)"),
    }
}

/// A time with about three digits, in a suitable unit.
pub(super) fn time(span: Span) -> String {
    nanos(span.as_nanos())
}

/// The same for nanoseconds: uptimes may differ by more than the range of [`Span`].
fn nanos(nanos: u64) -> String {
    match nanos as f64 {
        nanos if nanos < 1e3 => format!("{nanos} ns"),
        nanos if nanos < 1e6 => format!("{:.2} us", nanos / 1e3),
        nanos if nanos < 1e9 => format!("{:.3} ms", nanos / 1e6),
        nanos => format!("{:.3} s", nanos / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_what_passed_between_the_first_and_the_last() {
        let [each, bits] = per_second(11, Bytes::new(1_100), Span::from_secs(1));
        assert_eq!((each, bits), (10.0, 8_000.0));
        assert_eq!(per_second(1, Bytes::new(100), Span::ZERO), [0.0; 2]);
    }

    #[test]
    fn a_clock_offset_is_right_on_both_sides_of_the_range_of_a_span() {
        // 2^64 ps, 213.5 days, are 18 446 744.0737 s.
        for (offset, bound, text) in [
            (
                18_446_744_073_709_000,
                7_000,
                "18446744.074 s ± 7.00 us ahead of",
            ),
            (
                18_446_744_574_000_000,
                7_000,
                "18446744.574 s ± 7.00 us ahead of",
            ),
            (
                -31_536_000_250_000_000,
                900,
                "31536000.250 s ± 900 ns behind",
            ),
            (
                i64::MIN,
                u64::MAX,
                "9223372036.855 s ± 18446744073.710 s behind",
            ),
        ] {
            let offset = ClockOffset {
                nanos: offset,
                bound,
            };
            let line = format!("clocks: the receiver's clock is {text} this one\n");
            assert_eq!(clocks(offset, false), line);
        }
    }

    #[test]
    fn times_have_a_unit_that_suits_them() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 us"),
            (2_500_000, "2.500 ms"),
            (3_000_000_000, "3.000 s"),
        ] {
            assert_eq!(time(Span::from_nanos(nanos)), text);
        }
    }
}
