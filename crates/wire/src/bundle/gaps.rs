//! Ranges of a packet's bytes that are no longer sent.

use alloc::vec::Vec;
use core::ops::Range;

/// Disjoint ranges, in order. Drops from the front make one range, which needs no
/// allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    first: Range<usize>,
    others: Vec<Range<usize>>,
    total: usize,
}

impl Gaps {
    /// Total length in bytes.
    pub(super) const fn total(&self) -> usize {
        self.total
    }

    /// The offset of the bytes at `at`, or behind the gap that begins there.
    pub(super) fn skip(&self, at: usize) -> usize {
        if self.first.start == at {
            return self.first.end.max(at);
        }
        let here = self.others.binary_search_by_key(&at, |gap| gap.start);
        here.map_or(at, |place| self.others[place].end)
    }

    /// All ranges, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Range<usize>> + Clone {
        let first = [&self.first].into_iter().filter(|gap| !gap.is_empty());
        first.chain(&self.others)
    }

    /// Adds a range that overlaps none; ranges that it touches are merged with it.
    pub(super) fn add(&mut self, gap: Range<usize>) {
        self.total += gap.len();
        if self.first.is_empty() {
            self.first = gap;
            return;
        }
        let (first, others) = (&mut self.first, &mut self.others);
        if gap.end == first.start {
            first.start = gap.start;
        } else if gap.end < first.start {
            let next = core::mem::replace(first, gap);
            others.insert(0, next);
        } else if gap.start == first.end {
            first.end = gap.end;
            if others.first().is_some_and(|next| next.start == gap.end) {
                first.end = others.remove(0).end;
            }
        } else {
            let place = others.partition_point(|other| other.start < gap.start);
            let joins = others.get(place).is_some_and(|next| next.start == gap.end);
            let end = if joins {
                others.remove(place).end
            } else {
                gap.end
            };
            match others[..place].last_mut() {
                Some(before) if before.end == gap.start => before.end = end,
                _ => others.insert(place, gap.start..end),
            }
        }
    }

    /// Removes all ranges, after their bytes were moved away.
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
