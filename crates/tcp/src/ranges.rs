//! Sorted, disjoint ranges of sequence numbers.

use std::collections::VecDeque;

/// The numbers from `from` up to but not including `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First number.
    pub from: u64,
    /// First number behind the range.
    pub to: u64,
}

/// Ranges, sorted, none touching another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: VecDeque<Range>,
    total: u64,
}

impl Ranges {
    /// Adds a range. Returns the range that it is now part of, and whether it was fully
    /// present before.
    pub(crate) fn add(&mut self, new: Range) -> (Range, bool) {
        let first = self.first_reaching(new.from);
        if let Some(range) = self.ranges.get(first)
            && range.from <= new.from
            && new.to <= range.to
        {
            return (*range, *range == new);
        }
        let mut merged = new;
        let mut end = first;
        while let Some(range) = self.ranges.get(end)
            && range.from <= new.to
        {
            merged.from = merged.from.min(range.from);
            merged.to = merged.to.max(range.to);
            self.total -= range.to - range.from;
            end += 1;
        }
        self.total += merged.to - merged.from;
        if end == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            if end > first + 1 {
                self.ranges.drain(first + 1..end);
            }
        }
        (merged, false)
    }

    /// The index of the first range that ends at `number` or beyond: most additions are
    /// near the end.
    #[inline]
    fn first_reaching(&self, number: u64) -> usize {
        let Some(last) = self.ranges.back() else {
            return 0;
        };
        if last.to < number {
            return self.ranges.len();
        }
        if last.from <= number {
            return self.ranges.len() - 1;
        }
        self.ranges.partition_point(|range| range.to < number)
    }

    /// Removes all numbers below `number`.
    pub(crate) fn forget_below(&mut self, number: u64) {
        while let Some(range) = self.ranges.front_mut()
            && range.from < number
        {
            if range.to <= number {
                self.total -= range.to - range.from;
                self.ranges.pop_front();
            } else {
                self.total -= number - range.from;
                range.from = number;
            }
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.ranges.is_empty() {
            return;
        }
        self.ranges.clear();
        self.total = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Total count of numbers.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    pub(crate) fn last(&self) -> Option<Range> {
        self.ranges.back().copied()
    }

    /// The range that contains `number`.
    #[inline]
    pub(crate) fn containing(&self, number: u64) -> Option<Range> {
        let last = self.ranges.back()?;
        if number >= last.from {
            return (number < last.to).then_some(*last);
        }
        self.find(number)
    }

    fn find(&self, number: u64) -> Option<Range> {
        let at = self.ranges.partition_point(|range| range.to <= number);
        let range = *self.ranges.get(at)?;
        (range.from <= number).then_some(range)
    }

    /// All ranges in order; `rev` reverses it.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.ranges.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_what_was_added(
            added in prop::collection::vec((0u64..60, 1u64..9), 0..30), below in 0u64..60,
        ) {
            let mut ranges = Ranges::default();
            let mut plain = BTreeSet::new();
            for (from, length) in added {
                let (merged, _) = ranges.add(Range { from, to: from + length });
                plain.extend(from..from + length);
                prop_assert!(merged.from <= from && from + length <= merged.to);
            }
            ranges.forget_below(below);
            plain.retain(|number| *number >= below);
            let mut all: Vec<u64> = ranges.iter().flat_map(|range| range.from..range.to).collect();
            prop_assert_eq!(ranges.total(), all.len() as u64);
            let apart: Vec<Range> = ranges.iter().collect();
            prop_assert!(apart.windows(2).all(|pair| pair[0].to < pair[1].from));
            for number in 0..80 {
                prop_assert_eq!(ranges.containing(number).is_some(), plain.contains(&number));
            }
            all.sort_unstable();
            prop_assert_eq!(all, plain.into_iter().collect::<Vec<_>>());
        }
    }
}
