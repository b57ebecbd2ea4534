//! The intervals of a receiver's session.

use std::sync::Arc;

use units::{Span, Time};
use wire::control::Name;

use super::{FlowInterval, Interval, LEAST_PART, ReceivedReader};
use crate::driver::sessions::counters::ReceivedCounters;

/// Reads the flows of a session at regular times, from the first arrival on.
#[derive(Debug)]
pub(in super::super) struct SessionReporter {
    every: Span,
    flows: Vec<ObservedFlow>,
    begin: Option<Time>,
    /// The start of the interval under way, since the first arrival.
    from: Span,
}

#[derive(Debug)]
struct ObservedFlow {
    flow: u16,
    name: Name,
    counters: Arc<ReceivedCounters>,
    reader: ReceivedReader,
    has_ended: bool,
}

impl SessionReporter {
    /// No flows yet.
    pub(in super::super) fn new(every: Span) -> Self {
        Self {
            every,
            flows: Vec::new(),
            begin: None,
            from: Span::ZERO,
        }
    }

    /// Adds a flow.
    pub(in super::super) fn add(&mut self, flow: u16, name: Name, counters: Arc<ReceivedCounters>) {
        self.flows.push(ObservedFlow {
            flow,
            name,
            counters,
            reader: ReceivedReader::default(),
            has_ended: false,
        });
    }

    /// The time until the next interval ends, if one is under way.
    pub(in super::super) fn until_next(&self, now: Time) -> Option<Span> {
        let next = self.begin.filter(|_| !self.flows.is_empty())? + self.from + self.every;
        Some(next.since(now).unwrap_or_default())
    }

    /// The interval that has ended by `now`, if any.
    pub(in super::super) fn look(&mut self, now: Time) -> Option<Interval> {
        let first = self.flows.iter().filter_map(|flow| flow.counters.first());
        let begin = self.begin.or_else(|| first.min())?;
        self.begin = Some(begin);
        (now >= begin + self.from + self.every).then(|| self.end_interval(begin, now))?
    }

    /// Notes that a flow has ended. Returns the last interval with the last flow, unless
    /// it is the only one or too short to say much.
    pub(in super::super) fn ended(&mut self, flow: u16, now: Time) -> Option<Interval> {
        if let Some(ended) = self.flows.iter_mut().find(|one| one.flow == flow) {
            ended.has_ended = true;
        }
        let begin = self.begin?;
        let lasted = now.since(begin + self.from).unwrap_or_default();
        let tenth = Span::from_picos(self.every.as_picos() / 10);
        let is_worth = self.from > Span::ZERO && lasted >= LEAST_PART.max(tenth);
        (is_worth && self.flows.iter().all(|flow| flow.has_ended))
            .then(|| self.end_interval(begin, now))?
    }

    fn end_interval(&mut self, begin: Time, now: Time) -> Option<Interval> {
        let to = now.since(begin).unwrap_or_default();
        let flows = self.flows.iter_mut().filter_map(|flow| {
            flow.counters.first()?;
            let received = flow.reader.next(&flow.counters, now);
            Some(FlowInterval {
                flow: flow.flow,
                name: flow.name,
                omitted: received.warmup > received.messages / 2,
                sent: None,
                received: Some(received),
                echoes: None,
            })
        });
        let interval = Interval {
            from: self.from,
            to,
            flows: flows.collect(),
        };
        // The grid of the first arrival is kept.
        while self.from + self.every <= to {
            self.from += self.every;
        }
        self.flows.retain(|flow| !flow.has_ended);
        (!interval.flows.is_empty()).then_some(interval)
    }
}
