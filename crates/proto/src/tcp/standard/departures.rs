//! When each segment was sent, so that each round trip is known.

use std::collections::VecDeque;

use units::{Span, Time};

use crate::tcp::Range;

/// Segments that are outstanding and were sent once: their ends and instants.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    sent: VecDeque<(u64, Time)>,
    shortest: Option<Span>,
}

impl Departures {
    /// A segment that ends at `end` was sent the first time.
    pub(super) fn note(&mut self, end: u64, now: Time) {
        self.sent.push_back((end, now));
    }

    /// What was sent twice is not timed [RFC6298 s3].
    pub(super) fn forget(&mut self, range: Range) {
        let from = self.sent.partition_point(|(end, _)| *end <= range.from);
        let to = self.sent.partition_point(|(end, _)| *end <= range.to);
        self.sent.drain(from..to);
    }

    /// Everything below `number` is acknowledged at `now`: the round trip of
    /// the latest segment of that, and the shortest one of all so far.
    pub(super) fn acknowledge(&mut self, number: u64, now: Time) -> Option<(Span, Span)> {
        let gone = self.sent.partition_point(|(end, _)| *end <= number);
        let (_, sent) = self.sent.drain(..gone).next_back()?;
        let trip = now.since(sent)?;
        let shortest = self.shortest.map_or(trip, |shortest| shortest.min(trip));
        self.shortest = Some(shortest);
        Some((trip, shortest))
    }

    /// The shortest round trip so far.
    pub(super) const fn shortest(&self) -> Option<Span> {
        self.shortest
    }
}
