//! Octets in the middle of a packet that are not sent any more.

use alloc::vec::Vec;
use core::ops::Range;

/// Ranges that do not touch, in order. What is dropped from the front makes one
/// range, which needs no memory of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    first: Range<usize>,
    others: Vec<Range<usize>>,
    total: usize,
}

impl Gaps {
    /// Octets of all.
    pub(super) const fn total(&self) -> usize {
        self.total
    }

    /// Where what stands at `at` or behind a gap there begins.
    pub(super) fn skip(&self, at: usize) -> usize {
        let here = self.iter().find(|gap| gap.start == at);
        here.map_or(at, |gap| gap.end)
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Range<usize>> + Clone {
        let first = [&self.first].into_iter().filter(|gap| !gap.is_empty());
        first.chain(&self.others)
    }

    /// Adds one that overlaps none.
    pub(super) fn add(&mut self, gap: Range<usize>) {
        self.total += gap.len();
        if self.first.is_empty() && self.others.is_empty() {
            self.first = gap;
            return;
        }
        if gap.start == self.first.end {
            self.first.end = gap.end;
        } else if gap.end <= self.first.start {
            let next = core::mem::replace(&mut self.first, gap);
            self.others.insert(0, next);
        } else {
            let place = self.others.partition_point(|other| other.end < gap.start);
            match self.others.get_mut(place) {
                Some(before) if before.end == gap.start => before.end = gap.end,
                _ => self.others.insert(place, gap),
            }
        }
        self.join();
    }

    /// Makes one of what touches.
    fn join(&mut self) {
        if let Some(next) = self.others.first()
            && next.start == self.first.end
        {
            self.first.end = next.end;
            self.others.remove(0);
        }
        let mut place = 1;
        while place < self.others.len() {
            if self.others[place].start == self.others[place - 1].end {
                self.others[place - 1].end = self.others[place].end;
                self.others.remove(place);
            } else {
                place += 1;
            }
        }
    }

    /// Forgets them: their octets were moved away.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gaps_are_the_cells_that_were_added_joined_and_in_order(
            cells in prop::collection::vec(0usize..40, 1..40),
        ) {
            let mut gaps = Gaps::default();
            let mut taken = [false; 41];
            for cell in cells {
                if !taken[cell] {
                    gaps.add(cell * 3..cell * 3 + 3);
                    taken[cell] = true;
                }
            }
            let mut end = None;
            let mut total = 0;
            for gap in gaps.iter() {
                prop_assert!(end.is_none_or(|end| end < gap.start) && gap.start < gap.end);
                prop_assert!((gap.start / 3..gap.end / 3).all(|cell| taken[cell]));
                prop_assert_eq!(gaps.skip(gap.start), gap.end);
                total += gap.len();
                end = Some(gap.end);
            }
            prop_assert_eq!(total, 3 * taken.iter().filter(|taken| **taken).count());
            prop_assert_eq!(total, gaps.total());
        }
    }
}
