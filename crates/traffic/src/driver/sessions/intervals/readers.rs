//! Readers of the counters of a flow, one interval after the other.

use std::sync::Arc;

use units::{Bytes, Span, Time};
use wire::control::{Name, Progress};

use super::reporter::{IncomingFlow, Observed};
use super::{FlowInterval, PathMtuNotice, ReceivedInterval, SentInterval, TcpInterval};
use crate::driver::sessions::counters::{
    Reading, ReceivedCounters, ReceivedTotals, SentCounters, SentTotals,
};
use os::socket::tcp_progress;

/// Reads the counters of a receiver, one interval after the other.
#[derive(Debug, Default)]
pub(in super::super) struct ReceivedReader {
    since: Option<Time>,
    before: ReceivedTotals,
    reading: Reading,
}

/// A flow from its start until it is read once more after its end.
#[derive(Debug)]
pub(super) struct FlowState {
    flow: u16,
    name: Name,
    begin: Time,
    /// The end of the warm-up.
    counted_from: Time,
    /// The start of the interval.
    since: Time,
    has_ended: bool,
    is_over: bool,
}

/// Reads the counters of a sender likewise.
#[derive(Debug)]
pub(in super::super) struct SentReader {
    pub(super) state: FlowState,
    counters: Arc<SentCounters>,
    since: Time,
    before: SentTotals,
    behind: Span,
    retransmitted: u64,
    path_mtu: Option<PathMtuNotice>,
    echoes: Option<ReceivedReader>,
}

/// Reads the counters of a flow that the other end sends.
#[derive(Debug)]
pub(super) struct IncomingReader {
    pub(super) state: FlowState,
    counters: Arc<ReceivedCounters>,
    reader: ReceivedReader,
}

impl FlowState {
    /// A flow that begins at `begin`, and counts after a warm-up.
    fn new(flow: u16, name: Name, begin: Time, omit: Span) -> Self {
        Self {
            flow,
            name,
            begin,
            counted_from: begin + omit,
            since: begin,
            has_ended: false,
            is_over: false,
        }
    }

    /// Number of the flow.
    pub(super) fn flow(&self) -> u16 {
        self.flow
    }

    /// Notes that the flow has ended.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// An interval of the flow that ends `now`, without its parts; `None` if the flow
    /// was not under way.
    fn interval(&mut self, now: Time) -> Option<FlowInterval> {
        if self.is_over || now <= self.begin {
            return None;
        }
        self.is_over = self.has_ended;
        let since = std::mem::replace(&mut self.since, now);
        let half = now.since(since).unwrap_or_default().as_picos() / 2;
        Some(FlowInterval {
            flow: self.flow,
            name: self.name,
            omitted: since + Span::from_picos(half) < self.counted_from,
            sent: None,
            received: None,
            echoes: None,
        })
    }
}

impl IncomingReader {
    /// A reader of a flow, which begins `flow.delay` after `begin`.
    pub(super) fn new(flow: IncomingFlow, begin: Time) -> Self {
        Self {
            state: FlowState::new(flow.flow, flow.name, begin + flow.delay, flow.omit),
            counters: flow.counters,
            reader: ReceivedReader::default(),
        }
    }

    /// The interval since the last call; `None` if the flow was not under way.
    pub(super) fn next(&mut self, now: Time) -> Option<FlowInterval> {
        let interval = self.state.interval(now)?;
        Some(FlowInterval {
            received: Some(self.reader.next(&self.counters, now)),
            ..interval
        })
    }
}

impl ReceivedReader {
    /// The interval since the last call; the first begins with the first arrival.
    pub(in super::super) fn next(
        &mut self,
        counters: &ReceivedCounters,
        now: Time,
    ) -> ReceivedInterval {
        let totals = counters.totals();
        let begin = self.since.or_else(|| counters.first()).unwrap_or(now);
        let before = std::mem::replace(&mut self.before, totals);
        if counters.first().is_some() {
            self.since = Some(now);
        }
        ReceivedInterval {
            lasted: now.since(begin).unwrap_or_default(),
            messages: totals.messages.saturating_sub(before.messages),
            bytes: Bytes::new(totals.bytes.saturating_sub(before.bytes)),
            lost: totals.missing.saturating_sub(before.missing),
            delays: self.reading.next(&counters.delays),
            jitter: Span::from_nanos(totals.jitter),
            warmup: totals.warmup.saturating_sub(before.warmup),
        }
    }
}

impl SentReader {
    /// The interval since the last call, for the end that asked for the flow.
    pub(in super::super) fn progress(&mut self, number: u32, now: Time) -> Progress {
        let totals = self.counters.totals();
        let before = std::mem::replace(&mut self.before, totals);
        let lasted = now.since(self.since).unwrap_or_default();
        self.since = now;
        Progress {
            flow: self.state.flow,
            number,
            lasted: lasted.as_nanos(),
            messages: totals.messages.saturating_sub(before.messages),
            bytes: totals.bytes.saturating_sub(before.bytes),
            lost: totals.unsent.saturating_sub(before.unsent),
            ..Progress::default()
        }
    }

    /// A reader of a flow, which begins `flow.delay` after `begin`.
    pub(in super::super) fn new(flow: Observed, begin: Time) -> Self {
        Self {
            state: FlowState::new(flow.flow, flow.name, begin + flow.delay, flow.omit),
            since: begin,
            before: SentTotals::default(),
            behind: Span::ZERO,
            retransmitted: 0,
            path_mtu: None,
            echoes: flow.echoed.then(ReceivedReader::default),
            counters: flow.counters,
        }
    }

    /// The interval since the last call; `None` if the flow was not under way.
    pub(super) fn next(&mut self, now: Time) -> Option<FlowInterval> {
        let interval = self.state.interval(now)?;
        let totals = self.counters.totals();
        let before = std::mem::replace(&mut self.before, totals);
        let lasted = now
            .since(self.since.max(self.state.begin))
            .unwrap_or_default();
        self.since = now;
        let behind = totals.due.and_then(|due| now.since(due));
        let behind = behind.unwrap_or_default();
        let later = behind.as_secs_f64() - self.behind.as_secs_f64();
        self.behind = behind;
        let messages = totals.messages.saturating_sub(before.messages);
        // The messages of the interval were due in a shorter time, if timing error grew.
        let seconds = lasted.as_secs_f64();
        let on_time = seconds - later;
        let due =
            (on_time > 0.0 && totals.due.is_some()).then(|| messages as f64 * seconds / on_time);
        Some(FlowInterval {
            sent: Some(SentInterval {
                messages,
                bytes: Bytes::new(totals.bytes.saturating_sub(before.bytes)),
                unsent: totals.unsent.saturating_sub(before.unsent),
                behind,
                due,
                tcp: self.tcp(),
                path_mtu: self.news_of_path_mtu(),
            }),
            echoes: self
                .echoes
                .as_mut()
                .map(|echoes| echoes.next(&self.counters.echoes, now)),
            ..interval
        })
    }

    fn tcp(&mut self) -> Option<TcpInterval> {
        let socket = self.counters.stream.get()?;
        let progress = tcp_progress(socket)?;
        let retransmitted = progress.retransmitted;
        let before = std::mem::replace(&mut self.retransmitted, retransmitted);
        Some(TcpInterval {
            retransmitted: retransmitted.saturating_sub(before),
            window: progress.window,
            round_trip: progress.round_trip,
            stuck: progress.stuck,
        })
    }

    fn news_of_path_mtu(&mut self) -> Option<PathMtuNotice> {
        let known = self.counters.path_mtu();
        let before = std::mem::replace(&mut self.path_mtu, known);
        known.filter(|_| known != before)
    }
}
