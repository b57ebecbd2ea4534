//! The table of intervals that `send` and `recv` print while flows run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::SocketAddr;

use traffic::driver::sessions::{
    Flow, FlowInterval, Interval, Meter, Name, PathMtuNotice, Protocol, ReceivedInterval,
    SentInterval, Stall, black_hole,
};
use units::{Bytes, Span, Transport};

use super::time;

/// Lines after which the head is repeated.
const HEAD_AGAIN: usize = 20;

/// The least delay of a sender that is worth a line, and the least share of messages
/// that it did not send in time, in percent.
const BEHIND: Span = Span::from_millis(1);
const MISSED: f64 = 1.0;

/// The table of a sender or a receiver.
pub(in super::super) struct Table {
    columns: Vec<Column>,
    /// Lines since the head.
    lines: Option<usize>,
    /// The width of the first column.
    names: usize,
    /// The head of the delays.
    delays: &'static str,
    /// The receivers' control addresses by flows, if this is a sender.
    peers: BTreeMap<Name, SocketAddr>,
    /// Flows of which was said that they are stuck.
    stuck: BTreeSet<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Sent,
    SentRate,
    Retransmitted,
    Window,
    TcpRoundTrip,
    Received,
    ReceivedRate,
    Lost,
    Median,
    P99,
    Jitter,
}

/// The figures of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    seconds: f64,
    /// Whether they are left out of the results.
    omitted: bool,
    sent: Option<SentInterval>,
    received: Option<ReceivedInterval>,
    /// Whose delays count: round trips of echoes, or one-way delays.
    measured: Option<ReceivedInterval>,
    /// Their lost messages, if known.
    lost: Option<u64>,
}

impl Table {
    /// The table of a sender of `flows`, each with its receiver's control address.
    pub(super) fn of_sender(flows: &[(&Flow, SocketAddr)]) -> Self {
        let peers = flows.iter().map(|(flow, peer)| (flow.name, *peer));
        let peers = peers.collect();
        let flows: Vec<_> = flows.iter().map(|(flow, _)| *flow).collect();
        let is_stream = |flow: &Flow| flow.transport == Some(Protocol::Tcp);
        let answered = |flow: &Flow| flow.transport.is_some();
        let streams = flows.iter().any(|flow| is_stream(flow));
        let datagrams = flows.iter().any(|flow| !is_stream(flow));
        let one_way = |flow: &Flow| flow.meter == Meter::OneWay && !is_stream(flow);
        let columns = [
            (Column::Sent, true),
            (Column::SentRate, true),
            (Column::Retransmitted, streams),
            (Column::Window, streams),
            (Column::TcpRoundTrip, streams),
            (
                Column::ReceivedRate,
                flows.iter().any(|flow| answered(flow)),
            ),
            (Column::Lost, datagrams),
            (Column::Median, true),
            (Column::P99, true),
            (Column::Jitter, flows.iter().any(|flow| one_way(flow))),
        ];
        let longest = flows.iter().map(|flow| flow.name.as_str().len()).max();
        let round_trips = flows.iter().filter(|flow| flow.meter == Meter::RoundTrip);
        let delays = match round_trips.count() {
            0 => "delay p50",
            count if count == flows.len() => "RTT p50",
            _ => "RTT, delay",
        };
        Self {
            delays,
            peers,
            ..Self::new(&columns, longest.unwrap_or(0) + 2)
        }
    }

    /// The table of a receiver.
    pub(super) fn of_receiver() -> Self {
        let columns = [
            Column::Received,
            Column::ReceivedRate,
            Column::Lost,
            Column::Median,
            Column::P99,
            Column::Jitter,
        ];
        Self::new(&columns.map(|column| (column, true)), 12)
    }

    /// The table of a test of iperf3 at an end that sends, or receives, or both.
    pub(super) fn of_iperf3(transport: Option<Transport>, [sends, receives]: [bool; 2]) -> Self {
        let streams = sends && transport != Some(Transport::Udp);
        let datagrams = receives && transport != Some(Transport::Tcp);
        let columns = [
            (Column::Sent, sends),
            (Column::SentRate, sends),
            (Column::Retransmitted, streams),
            (Column::Window, streams),
            (Column::TcpRoundTrip, streams),
            (Column::Received, receives),
            (Column::ReceivedRate, receives),
            (Column::Lost, datagrams),
            (Column::Jitter, datagrams),
        ];
        Self::new(&columns, 21)
    }

    fn new(columns: &[(Column, bool)], names: usize) -> Self {
        let wanted = columns.iter().filter(|(_, wanted)| *wanted);
        Self {
            columns: wanted.map(|(column, _)| *column).collect(),
            lines: None,
            names: names.max("[SUM]".len()),
            delays: "delay p50",
            peers: BTreeMap::new(),
            stuck: BTreeSet::new(),
        }
    }

    /// The lines of an interval, each flow named behind `prefix`, and the head if it is
    /// due.
    pub(super) fn lines(&mut self, interval: &Interval, prefix: &str) -> String {
        let mut text = String::new();
        if self.lines.is_none_or(|lines| lines >= HEAD_AGAIN) {
            self.lines = Some(0);
            text += &self.head();
        }
        let seconds = interval.to.as_secs_f64() - interval.from.as_secs_f64();
        let mut remarks = String::new();
        for flow in &interval.flows {
            let name = format!("[{prefix}{}]", flow.name.as_str());
            let figures = Figures::of(flow, seconds);
            text += &self.line(&name, interval, &figures);
            if let Some(sent) = &flow.sent {
                remarks += &remark(&name, sent, seconds);
                remarks += &self.stuck(&name, flow, sent);
            }
        }
        if interval.flows.len() > 1 {
            let name = format!("[{prefix}SUM]");
            text += &self.line(&name, interval, &Figures::sum(&interval.flows, seconds));
        }
        let count = interval.flows.len() + usize::from(interval.flows.len() > 1);
        self.lines = self.lines.map(|lines| lines + count);
        text + &remarks
    }

    /// That a stream is stuck with large segments, while the receiver answers; once.
    fn stuck(&mut self, name: &str, flow: &FlowInterval, sent: &SentInterval) -> String {
        let segment = sent.tcp.and_then(|tcp| tcp.stuck);
        let (Some(segment), Some(peer)) = (segment, self.peers.get(&flow.name)) else {
            self.stuck.remove(&flow.name);
            return String::new();
        };
        if flow.received.is_none() || !self.stuck.insert(flow.name) {
            return String::new();
        }
        let size = segment.into();
        let hole = black_hole(&Stall::Segments(size).to_string(), size, *peer);
        hole.map_or_else(String::new, |words| format!("{name} {words}\n"))
    }

    /// Notes that other output follows: the next lines have a head.
    pub(super) fn interrupt(&mut self) {
        self.lines = None;
    }

    fn head(&self) -> String {
        let mut text = format!("{:<1$} {2:>15}", "flow", self.names, "interval");
        for column in &self.columns {
            let head = column.head().unwrap_or(self.delays);
            let _ = write!(text, " {head:>0$}", column.width());
        }
        text + "\n"
    }

    fn line(&self, name: &str, interval: &Interval, figures: &Figures) -> String {
        let [from, to] = [interval.from, interval.to].map(Span::as_secs_f64);
        let time = format!("{from:.2}-{to:.2} s");
        let mut text = format!("{name:<0$} {time:>15}", self.names);
        for column in &self.columns {
            let cell = column.cell(figures).unwrap_or_else(|| "-".to_owned());
            let _ = write!(text, " {cell:>0$}", column.width());
        }
        text + if figures.omitted {
            " (omitted)\n"
        } else {
            "\n"
        }
    }
}

impl Column {
    /// Its head; `None`: that of the table's delays.
    fn head(self) -> Option<&'static str> {
        Some(match self {
            Self::Sent => "sent",
            Self::SentRate => "rate",
            Self::Retransmitted => "retr",
            Self::Window => "cwnd",
            Self::TcpRoundTrip => "TCP RTT",
            Self::Received => "received",
            Self::ReceivedRate => "received at",
            Self::Lost => "lost",
            Self::Median => return None,
            Self::P99 => "p99",
            Self::Jitter => "jitter",
        })
    }

    fn width(self) -> usize {
        match self {
            Self::Sent | Self::Window | Self::TcpRoundTrip | Self::Received => 8,
            Self::SentRate | Self::ReceivedRate => 11,
            Self::Retransmitted => 4,
            Self::Lost => 15,
            Self::Median => 10,
            Self::P99 | Self::Jitter => 9,
        }
    }

    fn cell(self, figures: &Figures) -> Option<String> {
        let Figures {
            seconds,
            sent,
            received,
            measured,
            lost,
            omitted: _,
        } = figures;
        let delays = measured.map(|one| one.delays).filter(|one| one.count > 0);
        match self {
            Self::Sent => Some(amount(sent.as_ref()?.bytes)),
            Self::SentRate => rate(sent.as_ref()?.bytes, *seconds),
            Self::Retransmitted => Some(sent.as_ref()?.tcp?.retransmitted.to_string()),
            Self::Window => {
                let window = sent.as_ref()?.tcp?.window;
                (window > Bytes::ZERO).then(|| amount(window))
            }
            Self::TcpRoundTrip => {
                let round_trip = sent.as_ref()?.tcp?.round_trip;
                (round_trip > Span::ZERO).then(|| short(round_trip))
            }
            Self::Received => Some(amount(received.as_ref()?.bytes)),
            Self::ReceivedRate => {
                let received = received.as_ref()?;
                rate(received.bytes, received.lasted.as_secs_f64())
            }
            Self::Lost => {
                let lost = (*lost)?;
                let all = lost.saturating_add(measured.as_ref()?.messages);
                let percent = 100.0 * lost as f64 / all.max(1) as f64;
                Some(match lost {
                    0 => "0".to_owned(),
                    lost => format!("{lost} ({percent:.2} %)"),
                })
            }
            Self::Median => Some(short(delays?.median)),
            Self::P99 => Some(short(delays?.p99)),
            // Two messages or more have a jitter, which a test of iperf3 measures without delays.
            Self::Jitter => Some(short(
                measured
                    .filter(|one| one.jitter > Span::ZERO || one.delays.count > 0)?
                    .jitter,
            )),
        }
    }
}

impl Figures {
    fn of(flow: &FlowInterval, seconds: f64) -> Self {
        let measured = flow.echoes.or(flow.received);
        Self {
            seconds,
            omitted: flow.omitted,
            sent: flow.sent,
            received: flow.received,
            measured,
            lost: measured.and_then(|one| one.known_lost()),
        }
    }

    /// The figures of which several flows have a sum.
    fn sum(flows: &[FlowInterval], seconds: f64) -> Self {
        let sent = flows.iter().filter_map(|flow| flow.sent);
        let sent = sent.reduce(|one, other| SentInterval {
            messages: one.messages + other.messages,
            bytes: one.bytes + other.bytes,
            unsent: one.unsent + other.unsent,
            tcp: one.tcp.map(|tcp| traffic::driver::sessions::TcpInterval {
                retransmitted: tcp.retransmitted + other.tcp.map_or(0, |other| other.retransmitted),
                ..traffic::driver::sessions::TcpInterval::default()
            }),
            ..SentInterval::default()
        });
        let add = |one: ReceivedInterval, other: ReceivedInterval| ReceivedInterval {
            lasted: one.lasted.max(other.lasted),
            messages: one.messages.saturating_add(other.messages),
            bytes: Bytes::new(one.bytes.get().saturating_add(other.bytes.get())),
            lost: one.lost.saturating_add(other.lost),
            ..ReceivedInterval::default()
        };
        let measured = flows
            .iter()
            .filter_map(|flow| flow.echoes.or(flow.received));
        let mut lost = flows.iter().map(|flow| Self::of(flow, seconds).lost);
        Self {
            // Without that of one flow, there is no sum.
            lost: lost.try_fold(0_u64, |sum, lost| Some(sum.saturating_add(lost?))),
            seconds,
            omitted: flows.iter().any(|flow| flow.omitted),
            sent,
            received: flows.iter().filter_map(|flow| flow.received).reduce(add),
            measured: measured.reduce(add),
        }
    }
}

/// Remarks below a line of figures: that the sender fell behind, and a path MTU.
fn remark(name: &str, sent: &SentInterval, seconds: f64) -> String {
    let mut text = String::new();
    if let Some(notice) = &sent.path_mtu {
        let _ = writeln!(text, "{name} path MTU {}", path_mtu(notice));
    }
    if let Some(words) = fell_behind(sent, seconds) {
        let _ = writeln!(text, "{name} {words}");
    }
    text
}

/// That a sender fell behind, if it did.
fn fell_behind(sent: &SentInterval, seconds: f64) -> Option<String> {
    let messages = sent.messages as f64;
    let missed = |due: f64| due > 0.0 && 100.0 * (due - messages) > MISSED * due;
    let by = short(sent.behind);
    match sent.due {
        _ if sent.behind < BEHIND || seconds <= 0.0 => None,
        Some(due) if missed(due) => Some(behind(messages / seconds, due / seconds, &by)),
        None if sent.messages == 0 => Some(format!("sent nothing: the sender fell behind by {by}")),
        _ => None,
    }
}

/// The words for a sender that fell behind, with messages per second.
pub(super) fn behind(sent: f64, due: f64, by: &str) -> String {
    let [sent, due] = [sent, due].map(|number| prefixed(number, "").trim_end().to_owned());
    format!("sent {sent} of {due} messages/s: the sender fell behind by {by}")
}

/// A path MTU, and who stated it.
pub(super) fn path_mtu(notice: &PathMtuNotice) -> String {
    match notice.router {
        Some(router) => format!("{}, told by {router}", notice.mtu),
        None => format!("{}, known to this host", notice.mtu),
    }
}

/// A number of bytes with three digits and a decimal prefix.
pub(in super::super) fn amount(bytes: Bytes) -> String {
    prefixed(bytes.get() as f64, "B")
}

/// Bits per second with a decimal prefix.
fn rate(bytes: Bytes, seconds: f64) -> Option<String> {
    (seconds > 0.0).then(|| prefixed(bytes.get() as f64 * 8.0 / seconds, "bit/s"))
}

/// A time with three digits.
fn short(span: Span) -> String {
    let text = time(span);
    let Some((number, unit)) = text.split_once(' ') else {
        return text;
    };
    match number.parse::<f64>() {
        Ok(number) => format!("{} {unit}", three_digits(number)),
        Err(_) => text,
    }
}

/// A number with three digits and a decimal prefix of its unit.
fn prefixed(number: f64, unit: &str) -> String {
    let mut number = number;
    for prefix in ["", "k", "M", "G", "T"] {
        // 999.5 and more would have four digits.
        if number < 999.5 || prefix == "T" {
            return match prefix {
                "" if number.fract() == 0.0 => format!("{number} {unit}"),
                _ => format!("{} {prefix}{unit}", three_digits(number)),
            };
        }
        number /= 1_000.0;
    }
    unreachable!("the last prefix takes every number")
}

fn three_digits(number: f64) -> String {
    match number {
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests;
