//! Reassembly of fragments.

use std::collections::VecDeque;

/// The most incomplete datagrams of a flow. The state of older ones is freed; hosts
/// free theirs by a timer and a memory limit, with the same effect [RFC8200 s4.5].
pub(crate) const WINDOW: usize = 4_096;

/// The fragments received of the latest datagrams of a flow.
#[derive(Default)]
pub(crate) struct Reassembly {
    /// Number of the oldest datagram kept.
    first: u64,
    datagrams: VecDeque<Datagram>,
    given_up: u64,
}

#[derive(Default)]
struct Datagram {
    complete: bool,
    /// Ranges of bytes received, sorted, none adjacent to another.
    there: Vec<(u32, u32)>,
}

impl Reassembly {
    /// Takes a fragment of datagram `sequence`. Returns whether it completes the
    /// datagram. Repeated bytes have no effect.
    pub(crate) fn accept(&mut self, sequence: u64, offset: u32, length: u32, whole: u32) -> bool {
        let Some(datagram) = self.datagram(sequence) else {
            return false;
        };
        if datagram.complete {
            return false;
        }
        datagram.insert(offset, offset + length);
        datagram.complete = datagram.there == [(0, whole)];
        datagram.complete
    }

    /// Datagrams of which only some fragments arrived.
    pub(crate) fn unassembled(&self) -> u64 {
        let partial = self.datagrams.iter().filter(|one| one.is_partial());
        partial.fold(self.given_up, |sum, _| sum + 1)
    }

    /// The state of a datagram, unless it was abandoned.
    fn datagram(&mut self, sequence: u64) -> Option<&mut Datagram> {
        let window = u64::try_from(WINDOW).expect("a small number");
        if sequence >= self.first + 2 * window {
            // All datagrams kept are too old; the loop below would visit all numbers in
            // between.
            self.given_up = self.unassembled();
            self.datagrams.clear();
            self.first = sequence;
        }
        while sequence >= self.first + u64::try_from(self.datagrams.len()).expect("a window") {
            let mut next = Datagram::default();
            if self.datagrams.len() >= WINDOW {
                // The oldest entry's memory is reused for the newest.
                next = self.datagrams.pop_front().unwrap_or_default();
                self.first += 1;
                self.given_up += u64::from(next.is_partial());
                next.complete = false;
                next.there.clear();
            }
            self.datagrams.push_back(next);
        }
        let place = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        self.datagrams.get_mut(place)
    }
}

impl Datagram {
    fn is_partial(&self) -> bool {
        !self.complete && !self.there.is_empty()
    }

    fn insert(&mut self, mut from: u32, mut to: u32) {
        let begin = self.there.partition_point(|span| span.1 < from);
        let end = self.there.partition_point(|span| span.0 <= to);
        for span in &self.there[begin..end] {
            from = from.min(span.0);
            to = to.max(span.1);
        }
        self.there.splice(begin..end, [(from, to)]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_datagram_is_complete_with_its_last_byte_in_any_order_and_once(
            lengths in prop::collection::vec(1u32..100, 1..8),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let mut pieces = Vec::new();
            let mut whole = 0;
            for length in lengths {
                pieces.push((whole, length));
                whole += length;
            }
            let mut reassembly = Reassembly::default();
            let mut missing: Vec<u32> = (0..whole).collect();
            for index in order {
                let (offset, length) = *index.get(&pieces);
                let before = missing.len();
                missing.retain(|byte| !(offset..offset + length).contains(byte));
                let complete = reassembly.accept(7, offset, length, whole);
                prop_assert_eq!(complete, missing.is_empty() && before > 0);
                let partial = !missing.is_empty();
                prop_assert_eq!(reassembly.unassembled(), u64::from(partial));
            }
        }
    }

    #[test]
    fn the_oldest_are_given_up_and_counted() {
        let mut reassembly = Reassembly::default();
        for sequence in 0..12_000 {
            assert!(!reassembly.accept(sequence, 0, 8, 16));
        }
        assert_eq!(reassembly.unassembled(), 12_000);
        assert!(!reassembly.accept(0, 8, 8, 16), "its first half is gone");
        assert!(reassembly.accept(11_999, 8, 8, 16));
        assert_eq!(reassembly.unassembled(), 11_999);
        assert!(!reassembly.accept(1_000_000, 0, 8, 16));
        assert_eq!(reassembly.unassembled(), 12_000);
        assert_eq!(reassembly.datagrams.len(), 1);
    }

    #[test]
    fn nothing_of_an_older_datagram_is_in_a_newer_one() {
        let mut reassembly = Reassembly::default();
        for sequence in 0..12_000 {
            let half = if sequence < 6_000 { 0 } else { 8 };
            assert!(!reassembly.accept(sequence, half, 8, 16));
        }
        assert_eq!(reassembly.unassembled(), 12_000);
    }
}
