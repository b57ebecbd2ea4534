//! Departures of segments, for timing each round trip.

use std::collections::VecDeque;

use units::{Span, Time};

use crate::Range;

/// Outstanding segments that were sent once: their ends and departures.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    sent: VecDeque<(u64, Time)>,
    shortest: Option<Span>,
}

impl Departures {
    /// Records the first transmission of a segment that ends at `end`.
    pub(super) fn note(&mut self, end: u64, now: Time) {
        self.sent.push_back((end, now));
    }

    /// Removes a retransmitted segment, which is not timed [RFC6298 s3].
    pub(super) fn forget(&mut self, range: Range) {
        let from = self.sent.partition_point(|(end, _)| *end <= range.from);
        let to = self.sent.partition_point(|(end, _)| *end <= range.to);
        self.sent.drain(from..to);
    }

    /// Takes the acknowledgement of all numbers below `number` at `now`. Returns the
    /// round-trip time of the latest segment among them, and the minimum of all so far.
    pub(super) fn acknowledge(&mut self, number: u64, now: Time) -> Option<(Span, Span)> {
        let gone = self.sent.partition_point(|(end, _)| *end <= number);
        let (_, sent) = self.sent.drain(..gone).next_back()?;
        let trip = now.since(sent)?;
        let shortest = self.shortest.map_or(trip, |shortest| shortest.min(trip));
        self.shortest = Some(shortest);
        Some((trip, shortest))
    }

    /// The minimum round-trip time so far.
    pub(super) const fn shortest(&self) -> Option<Span> {
        self.shortest
    }
}
