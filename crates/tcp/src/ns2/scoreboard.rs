//! The scoreboard of the agent Sack1: segments known to have arrived [Ns2].

use super::{signed, unsigned};
use crate::Ranges;
use crate::segment::Ack;

/// Segments reported by SACK, and the progress of retransmissions.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    ranges: Ranges,
    /// The first segment that may be missing. Reports of lower segments move it back,
    /// as in ns-2.
    lowest: i64,
    /// The segment behind the last retransmission.
    reached: i64,
}

impl Scoreboard {
    pub(super) fn new() -> Self {
        Self {
            ranges: Ranges::default(),
            lowest: -1,
            reached: -1,
        }
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.reached = -1;
    }

    /// Adds the blocks of `ack` beyond `last`. Returns whether any was new.
    pub(super) fn update(&mut self, last: i64, ack: &Ack) -> bool {
        let before = self.ranges.total();
        let mut changed = false;
        if self.lowest <= last {
            self.lowest = last + 1;
            if !self.ranges.is_empty() {
                self.ranges.forget_below(unsigned(self.lowest));
                changed = true;
            }
        }
        for block in ack.ranges() {
            let (merged, known) = self.ranges.add(block);
            if !known && self.lowest >= signed(merged.from) {
                self.lowest = signed(merged.to);
            }
        }
        changed || before != self.ranges.total()
    }

    pub(super) fn mark_sent(&mut self, number: i64) {
        self.reached = self.reached.max(number + 1);
    }

    /// The next missing segment below one that arrived, not retransmitted yet.
    #[inline]
    pub(super) fn next_missing(&mut self) -> Option<i64> {
        self.reached = self.reached.max(self.lowest);
        if self.ranges.is_empty() {
            return None;
        }
        self.find_missing()
    }

    fn find_missing(&mut self) -> Option<i64> {
        let mut ranges = self.ranges.iter();
        let range = ranges.find(|range| signed(range.to) >= self.reached)?;
        if signed(range.from) <= self.reached {
            ranges.next()?;
            self.reached = signed(range.to);
        }
        (self.reached > 0).then_some(self.reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Range;

    #[test]
    fn gaps_between_reported_segments_are_missing_one_after_the_other() {
        let mut ack = Ack::of(7);
        for (place, (from, to)) in [(8, 10), (11, 12)].into_iter().enumerate() {
            ack.report(place, Range { from, to });
        }
        let mut scoreboard = Scoreboard::new();
        assert!(scoreboard.update(6, &ack) && !scoreboard.update(6, &ack));
        for missing in [Some(7), Some(10), None] {
            assert_eq!(scoreboard.next_missing(), missing);
            scoreboard.mark_sent(missing.unwrap_or_default());
        }
    }
}
