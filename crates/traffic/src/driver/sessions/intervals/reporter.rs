//! The intervals of a sender's flows: read at regular times, completed by the
//! receiver's part, and passed on.

use std::sync::Arc;

use units::{Span, Time};
use wire::control::{Name, Progress};

use super::readers::{IncomingReader, SentReader};
use super::{FlowInterval, Interval, Intervals, LEAST_PART, ReceivedInterval, SentInterval};
use crate::driver::sessions::counters::{ReceivedCounters, SentCounters};

/// The longest wait for the receiver's part of an interval.
const ANSWER: Span = Span::from_millis(200);

/// A flow whose sender is observed.
pub(in super::super) struct Observed {
    pub(in super::super) flow: u16,
    pub(in super::super) name: Name,
    pub(in super::super) counters: Arc<SentCounters>,
    /// Its start, relative to that of all flows.
    pub(in super::super) delay: Span,
    /// The warm-up at its start.
    pub(in super::super) omit: Span,
    /// Whether its messages are returned.
    pub(in super::super) echoed: bool,
}

/// A flow that the other end sends, and this end observes.
pub(in super::super) struct IncomingFlow {
    pub(in super::super) flow: u16,
    pub(in super::super) name: Name,
    pub(in super::super) counters: Arc<ReceivedCounters>,
    /// Its start, relative to that of all flows.
    pub(in super::super) delay: Span,
    /// The warm-up at its start.
    pub(in super::super) omit: Span,
}

/// The intervals of a session's flows at the end that asked for them.
pub(in super::super) struct Reporter {
    intervals: Intervals,
    readers: Vec<SentReader>,
    incoming: Vec<IncomingReader>,
    begin: Time,
    /// The time of the next report, and its number.
    next: Time,
    number: u32,
    /// A report without the receiver's part, and the end of the wait for it.
    waiting: Option<(Interval, Time)>,
    /// The start of the interval under way, since the start of the flows.
    from: Span,
    /// Whether there is a receiver to be asked for its part.
    asks: bool,
}

impl Reporter {
    /// Reports flows that this end sends and flows that it receives. All begin at
    /// `begin`, and the receiver is to be asked for its part.
    pub(in super::super) fn new(
        intervals: Intervals,
        sent: Vec<Observed>,
        received: Vec<IncomingFlow>,
        begin: Time,
    ) -> Self {
        let readers = sent.into_iter();
        let incoming = received.into_iter();
        Self {
            next: begin + intervals.every,
            intervals,
            readers: readers.map(|flow| SentReader::new(flow, begin)).collect(),
            incoming: incoming
                .map(|flow| IncomingReader::new(flow, begin))
                .collect(),
            begin,
            number: 0,
            waiting: None,
            from: Span::ZERO,
            asks: true,
        }
    }

    /// Reports flows of echoes, which have no receiver.
    pub(in super::super) fn alone(intervals: Intervals, sent: Vec<Observed>, begin: Time) -> Self {
        Self {
            asks: false,
            ..Self::new(intervals, sent, Vec::new(), begin)
        }
    }

    /// The time until [`Reporter::look`] has something to do.
    pub(in super::super) fn until_next(&self, now: Time) -> Span {
        let waiting = self.waiting.as_ref().map(|(_, until)| *until);
        let next = waiting.map_or(self.next, |until| until.min(self.next));
        next.since(now).unwrap_or_default()
    }

    /// Passes on the report that has waited long enough, if any.
    pub(in super::super) fn tell_late(&mut self, now: Time) {
        if self
            .waiting
            .as_ref()
            .is_some_and(|(_, until)| now >= *until)
        {
            self.tell();
        }
    }

    /// Ends an interval if it is time. Returns its number: the receiver is to be asked
    /// for its part.
    pub(in super::super) fn look(&mut self, now: Time) -> Option<u32> {
        (now >= self.next).then(|| {
            while self.next <= now {
                self.next += self.intervals.every;
            }
            self.end_interval(now)
        })
    }

    /// Ends the last interval, unless it is the only one or too short to say much.
    pub(in super::super) fn last(&mut self, now: Time) -> Option<u32> {
        let lasted = now.since(self.begin + self.from).unwrap_or_default();
        let tenth = Span::from_picos(self.intervals.every.as_picos() / 10);
        let is_worth = self.number > 0 && lasted >= LEAST_PART.max(tenth);
        is_worth.then(|| self.end_interval(now))
    }

    /// Notes that a flow has ended: it is reported once more.
    pub(in super::super) fn ended(&mut self, flow: u16) {
        let sent = self.readers.iter_mut().map(|reader| &mut reader.state);
        let received = self.incoming.iter_mut();
        let received = received.map(|reader| &mut reader.state);
        let states = sent.chain(received);
        for state in states.filter(|state| state.flow() == flow) {
            state.end();
        }
    }

    /// Takes the receiver's part of a flow.
    pub(in super::super) fn take(&mut self, progress: &Progress) {
        let number = self.number;
        let Some((interval, _)) = &mut self.waiting else {
            return;
        };
        let mut flows = interval.flows.iter_mut();
        if progress.number == number
            && let Some(flow) = flows.find(|flow| flow.flow == progress.flow)
        {
            match flow.sent {
                Some(_) => flow.received = Some(ReceivedInterval::of(progress)),
                // The receiver is the sender of this flow.
                None => flow.sent = Some(SentInterval::of(progress)),
            }
        }
        let is_whole = |flow: &FlowInterval| flow.received.is_some() && flow.sent.is_some();
        if interval.flows.iter().all(is_whole) {
            self.tell();
        }
    }

    /// Passes on the report that waits, if any.
    pub(in super::super) fn tell(&mut self) {
        if let Some((interval, _)) = self.waiting.take() {
            (self.intervals.tell)(interval);
        }
    }

    fn end_interval(&mut self, now: Time) -> u32 {
        self.tell();
        let to = now.since(self.begin).unwrap_or_default();
        let readers = self.readers.iter_mut();
        let incoming = self.incoming.iter_mut();
        let mut flows: Vec<_> = readers
            .filter_map(|reader| reader.next(now))
            .chain(incoming.filter_map(|reader| reader.next(now)))
            .collect();
        flows.sort_by_key(|flow| flow.flow);
        let interval = Interval {
            from: std::mem::replace(&mut self.from, to),
            to,
            flows,
        };
        self.number = self.number.wrapping_add(1);
        if !interval.flows.is_empty() {
            self.waiting = Some((interval, now + ANSWER));
        }
        if !self.asks {
            self.tell();
        }
        self.number
    }
}
