//! The order of bundles from a peer: duplicates and late bundles are told by their
//! sequence numbers, and bundles that overtook others wait for them for a moment
//! [RFC2890 s2.2].

use units::{Span, Time};
use wire::bundle::SEQUENCES;

/// How long bundles that came too early wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The time that the missing ones have to come; zero: nothing waits, and what comes
    /// too late is dropped.
    pub wait: Span,
    /// The most bundles of a peer that wait.
    pub most: usize,
}

impl Default for Reorder {
    fn default() -> Self {
        Self {
            wait: Span::from_millis(5),
            most: 32,
        }
    }
}

/// After a second without a bundle in order, a bundle that seems late begins anew: its
/// sender has started again.
const FORGET: Span = Span::from_secs(1);
/// Bits of [`Order::seen`].
const SEEN: u16 = 128;

/// The outcome of a bundle by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is unpacked.
    Next {
        /// Whether it is the next one behind the latest that was unpacked.
        follows: bool,
    },
    /// It waits for those before it.
    Early,
    /// It came before.
    Duplicate,
    /// Its successors were unpacked.
    Late,
}

/// The sequence of bundles from a peer.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The number that comes next.
    next: Option<u16>,
    /// Which of the numbers before it came, the latest in the lowest bit.
    seen: u128,
    /// When the latest bundle in order came.
    last: Time,
    held: Vec<EarlyBundle>,
}

/// A bundle that came too early.
#[derive(Debug)]
pub(super) struct EarlyBundle {
    sequence: u16,
    until: Time,
    /// The service byte outside.
    pub(super) service: u8,
    pub(super) bytes: Vec<u8>,
    /// Numbers before it that did not come, once it need not wait any more.
    pub(super) gap: u16,
}

impl Order {
    /// Judges the bundle `sequence`. One that is next counts as unpacked from then on.
    pub(super) fn judge(&mut self, now: Time, sequence: u16, reorder: Reorder) -> Verdict {
        let ahead = self.next.map_or(0, |next| ahead(sequence, next));
        if self.next.is_none() || ahead == 0 || ahead < SEQUENCES / 2 && reorder.wait == Span::ZERO
        {
            let follows = self.next == Some(sequence);
            self.advance(now, sequence, ahead + 1);
            return Verdict::Next { follows };
        }
        if ahead < SEQUENCES / 2 {
            let known = self.held.iter().any(|held| held.sequence == sequence);
            return match known {
                true => Verdict::Duplicate,
                false => Verdict::Early,
            };
        }
        if now.since(self.last).is_some_and(|idle| idle > FORGET) {
            self.advance(now, sequence, SEEN);
            return Verdict::Next { follows: false };
        }
        let behind = SEQUENCES - ahead;
        match behind <= SEEN && self.seen >> (behind - 1) & 1 == 1 {
            true => Verdict::Duplicate,
            false => Verdict::Late,
        }
    }

    /// Keeps a bundle that is early.
    pub(super) fn hold(
        &mut self,
        now: Time,
        (sequence, service): (u16, u8),
        bytes: Vec<u8>,
        reorder: Reorder,
    ) {
        self.held.push(EarlyBundle {
            sequence,
            until: now + reorder.wait,
            service,
            bytes,
            gap: 0,
        });
    }

    /// The next bundle that need not wait any longer.
    pub(super) fn pop(&mut self, now: Time, reorder: Reorder) -> Option<EarlyBundle> {
        let next = self.next?;
        let held = self.held.iter().enumerate();
        let (place, first) = held.min_by_key(|(_, held)| ahead(held.sequence, next))?;
        let gap = ahead(first.sequence, next);
        let over = self.held.len() > reorder.most || self.held.iter().any(|held| held.until <= now);
        if gap > 0 && !over {
            return None;
        }
        self.advance(now, first.sequence, gap + 1);
        let mut held = self.held.swap_remove(place);
        held.gap = gap;
        Some(held)
    }

    /// When a bundle has waited long enough.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.held.iter().map(|held| held.until).min()
    }

    /// The number of bundles that wait.
    pub(super) const fn waiting(&self) -> usize {
        self.held.len()
    }

    /// Takes the next bundle for the first of a sequence.
    pub(super) const fn restart(&mut self) {
        if self.held.is_empty() {
            self.next = None;
        }
    }

    fn advance(&mut self, now: Time, sequence: u16, by: u16) {
        self.seen = self.seen.checked_shl(by.into()).unwrap_or(0) | 1;
        self.next = Some((sequence + 1) % SEQUENCES);
        self.last = now;
    }
}

/// How many numbers `sequence` is ahead of `next`.
const fn ahead(sequence: u16, next: u16) -> u16 {
    (sequence + SEQUENCES - next) % SEQUENCES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(1_000_000 * millis)
    }

    /// The numbers that are unpacked when `arrivals` come, in order.
    fn unpacked(arrivals: impl IntoIterator<Item = (Time, u16)>, reorder: Reorder) -> Vec<u16> {
        let (mut order, mut out) = (Order::default(), Vec::new());
        let mut last = Time::ZERO;
        for (now, sequence) in arrivals {
            while let Some(held) = order.pop(now, reorder) {
                out.push(held.sequence);
            }
            match order.judge(now, sequence, reorder) {
                Verdict::Next { .. } => out.push(sequence),
                Verdict::Early => order.hold(now, (sequence, 0), Vec::new(), reorder),
                Verdict::Duplicate | Verdict::Late => {}
            }
            while let Some(held) = order.pop(now, reorder) {
                out.push(held.sequence);
            }
            assert!(order.waiting() <= reorder.most);
            last = now;
        }
        while let Some(held) = order.pop(last + Span::from_secs(9), reorder) {
            out.push(held.sequence);
        }
        out
    }

    #[test]
    fn bundles_that_overtook_others_wait_for_them() {
        let arrivals = [4_094, 4_095, 1, 0, 1, 3, 2, 2].map(|sequence| (at(1), sequence));
        let out = unpacked(arrivals, Reorder::default());
        assert_eq!(out, [4_094, 4_095, 0, 1, 2, 3]);
        let none = Reorder {
            wait: Span::ZERO,
            most: 0,
        };
        assert_eq!(unpacked(arrivals, none), [4_094, 4_095, 1, 3]);
    }

    #[test]
    fn a_lost_bundle_is_waited_for_no_longer_than_allowed() {
        let out = unpacked(
            [(at(0), 0), (at(1), 2), (at(5), 3), (at(6), 4), (at(7), 1)],
            Reorder::default(),
        );
        assert_eq!(out, [0, 2, 3, 4]);
    }

    #[test]
    fn a_sender_that_starts_again_is_heard_after_a_second() {
        let early = (0..600u16).map(|number| (at(number.into()), number));
        let again = (0..600u16).map(|number| (at(1_000 + u64::from(number) * 5), number));
        let out = unpacked(early.chain(again), Reorder::default());
        // The last of the old ones came at 599 ms, so that those until 1599 ms seem late.
        assert_eq!(out.len(), 600 + 600 - 120);
        assert!(out[600..].is_sorted());
    }

    proptest! {
        #[test]
        fn what_is_unpacked_is_in_order_and_once(
            swaps in prop::collection::vec((0usize..400, 0usize..12), 0..200),
            repeats in prop::collection::vec(0usize..400, 0..50),
            first in 0..SEQUENCES,
        ) {
            let mut numbers: Vec<u16> = (0..400).collect();
            for (place, by) in swaps {
                let other = (place + by).min(399);
                numbers.swap(place, other);
            }
            for place in repeats {
                numbers.insert(place, numbers[place]);
            }
            let arrivals = numbers.iter().enumerate().map(|(place, number)| {
                (Time::from_nanos(50_000 * place as u64), (first + number) % SEQUENCES)
            });
            let out = unpacked(arrivals, Reorder::default());
            let begin = out[0];
            let relative: Vec<u16> = out.iter().map(|number| ahead(*number, begin)).collect();
            prop_assert!(relative.is_sorted_by(|one, other| one < other), "{:?}", relative);
        }
    }
}
