//! The order of bundles from a peer: duplicates and late bundles are told by their
//! numbers, and bundles that overtook others wait for them for a moment [RFC2890 s2.2].
//!
//! A bundle states the lowest 12 bits of its number. A sealed one has a counter besides, which
//! grows over all sessions with its sender, by no less than the number. It shows whether a
//! bundle is near the latest one, or thousands of bundles away with the same bits.

use units::{Span, Time};
use wire::bundle::SEQUENCES;

use super::seal::Counter;

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

/// After a second without a bundle in order, a bundle without a counter that seems late begins
/// anew: its sender has started again.
const FORGET: Span = Span::from_secs(1);
/// Bits of [`Order::seen`].
const SEEN: u64 = 128;
/// Bundles state the number modulo this.
const NUMBERS: u64 = SEQUENCES as u64;
/// Bundles that are as far ahead wait for none before them.
const FAR: u64 = NUMBERS / 2;

/// The outcome of a bundle by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is unpacked.
    Next {
        /// Whether it is the next one behind the latest that was unpacked.
        follows: bool,
    },
    /// It waits for those before it.
    Early {
        /// Its number.
        number: u64,
    },
    /// It came before.
    Duplicate,
    /// Its successors were unpacked.
    Late,
}

/// The sequence of bundles from a peer.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The number that comes next. The first bundle has a number from 4096 to 8191.
    next: Option<u64>,
    /// Which of the numbers before it came, the latest in the lowest bit.
    seen: u128,
    /// When the latest bundle in order came.
    last: Time,
    /// The highest number that came with a counter, and this counter.
    latest: Option<(u64, Counter)>,
    held: Vec<EarlyBundle>,
    /// Bundles that did not come in time and were not reported yet.
    lost: u64,
}

/// A bundle that came too early.
#[derive(Debug)]
pub(super) struct EarlyBundle {
    number: u64,
    until: Time,
    /// The service byte outside.
    pub(super) service: u8,
    pub(super) bytes: Vec<u8>,
    /// Whether none before it is missing, once it need not wait any more.
    pub(super) follows: bool,
}

impl Order {
    /// Judges the bundle that states `sequence`, and has a counter if it is sealed. One that
    /// is next counts as unpacked from then on.
    pub(super) fn judge(
        &mut self,
        now: Time,
        (sequence, counter): (u16, Option<Counter>),
        reorder: Reorder,
    ) -> Verdict {
        let Some(number) = self.number(now, sequence.into(), counter) else {
            return Verdict::Late;
        };
        let next = self.next.unwrap_or(number);
        if number < next {
            let behind = next - number;
            return match behind <= SEEN && self.seen >> (behind - 1) & 1 == 1 {
                true => Verdict::Duplicate,
                false => Verdict::Late,
            };
        }
        if self.held.iter().any(|held| held.number == number) {
            return Verdict::Duplicate;
        }
        if let Some(counter) = counter
            && self.latest.is_none_or(|(latest, _)| number > latest)
        {
            self.latest = Some((number, counter));
        }
        let is_next = number == next || reorder.wait == Span::ZERO && self.held.is_empty();
        if !is_next {
            return Verdict::Early { number };
        }
        let follows = self.next == Some(number);
        self.advance(now, number);
        Verdict::Next { follows }
    }

    /// The number of the bundle that states `sequence`; `None` if it is long late.
    fn number(&self, now: Time, sequence: u64, counter: Option<Counter>) -> Option<u64> {
        let Some(next) = self.next else {
            return Some(NUMBERS + sequence);
        };
        // The first number from `first` on that has these bits.
        let from = |first: u64| first + (sequence + NUMBERS - first % NUMBERS) % NUMBERS;
        let Some((counter, (latest, known))) = counter.zip(self.latest) else {
            let is_forgotten = now.since(self.last).is_some_and(|idle| idle > FORGET);
            let ahead = from(next);
            return match ahead - next < FAR || is_forgotten {
                true => Some(ahead),
                false => Some(ahead - NUMBERS),
            };
        };
        if counter.number.abs_diff(known.number) < FAR {
            return Some(from(latest - FAR));
        }
        // Many were lost, or a sender that started again has another counter in a later session.
        let is_later = counter.number > known.number || counter.session > known.session;
        is_later.then(|| from(latest + FAR))
    }

    /// Keeps a bundle that is early.
    pub(super) fn hold(
        &mut self,
        now: Time,
        (number, service): (u64, u8),
        bytes: Vec<u8>,
        reorder: Reorder,
    ) {
        let is_far = self.next.is_some_and(|next| number >= next + FAR);
        self.held.push(EarlyBundle {
            number,
            until: if is_far { now } else { now + reorder.wait },
            service,
            bytes,
            follows: false,
        });
    }

    /// The next bundle that need not wait any longer.
    pub(super) fn pop(&mut self, now: Time, reorder: Reorder) -> Option<EarlyBundle> {
        let next = self.next?;
        let held = self.held.iter().enumerate();
        let (place, first) = held.min_by_key(|(_, held)| held.number)?;
        let follows = first.number == next;
        let over = self.held.len() > reorder.most || self.held.iter().any(|held| held.until <= now);
        if !follows && !over {
            return None;
        }
        self.advance(now, first.number);
        let mut held = self.held.swap_remove(place);
        held.follows = follows;
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

    /// The sessions with the peer are new ones, whose counters have nothing to do with those
    /// of before.
    pub(super) const fn forget_sessions(&mut self) {
        if let Some((_, counter)) = &mut self.latest {
            counter.session = 0;
        }
    }

    /// The bundles that did not come in time, since the last call.
    pub(super) const fn take_lost(&mut self) -> u64 {
        std::mem::replace(&mut self.lost, 0)
    }

    fn advance(&mut self, now: Time, number: u64) {
        let skipped = self.next.map_or(0, |next| number - next);
        // A sender that started again has another number, and sends nothing between.
        let is_known = self.latest.is_some() || now.since(self.last) <= Some(FORGET);
        if skipped < FAR && is_known {
            self.lost += skipped;
        }
        let by = number + 1 - self.next.unwrap_or(number);
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        self.seen = self.seen.checked_shl(by).unwrap_or(0) | 1;
        self.next = Some(number + 1);
        self.last = now;
    }
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
        let arrivals = arrivals.into_iter();
        let arrivals = arrivals.map(|(now, sequence)| (now, (sequence, None)));
        let numbers = numbers(arrivals, reorder).into_iter();
        numbers
            .map(|number| u16::try_from(number % NUMBERS).unwrap())
            .collect()
    }

    fn numbers(
        arrivals: impl IntoIterator<Item = (Time, (u16, Option<Counter>))>,
        reorder: Reorder,
    ) -> Vec<u64> {
        let (mut order, mut out) = (Order::default(), Vec::new());
        let mut last = Time::ZERO;
        for (now, bundle) in arrivals {
            while let Some(held) = order.pop(now, reorder) {
                out.push(held.number);
            }
            match order.judge(now, bundle, reorder) {
                Verdict::Next { .. } => out.push(order.next.unwrap() - 1),
                Verdict::Early { number } => order.hold(now, (number, 0), Vec::new(), reorder),
                Verdict::Duplicate | Verdict::Late => {}
            }
            while let Some(held) = order.pop(now, reorder) {
                out.push(held.number);
            }
            assert!(order.waiting() <= reorder.most);
            last = now;
        }
        while let Some(held) = order.pop(last + Span::from_secs(9), reorder) {
            out.push(held.number);
        }
        out
    }

    #[test]
    fn bundles_are_lost_that_do_not_come_in_time_and_none_before_a_new_start() {
        let mut order = Order::default();
        let mut lost_after = |millis, sequence, counter| {
            let now = at(millis);
            if let Verdict::Early { number } =
                order.judge(now, (sequence, counter), Reorder::default())
            {
                order.hold(now, (number, 0), Vec::new(), Reorder::default());
            }
            while order
                .pop(now + Span::from_millis(6), Reorder::default())
                .is_some()
            {}
            order.take_lost()
        };
        assert_eq!(lost_after(0, 4_000, None), 0);
        assert_eq!(lost_after(1, 4_001, None), 0);
        assert_eq!(lost_after(2, 4_005, None), 3);
        // It is late now, and was counted.
        assert_eq!(lost_after(3, 4_003, None), 0);
        assert_eq!(lost_after(4, 9, None), 99);
        // Its sender started again.
        assert_eq!(lost_after(3_000, 50, None), 0);
        // A counter distinguishes that from a silence.
        let sealed = |session, number| Some(Counter { session, number });
        assert_eq!(lost_after(3_001, 52, sealed(1, 7_052)), 1);
        assert_eq!(lost_after(9_000, 62, sealed(1, 7_062)), 9);
        assert_eq!(lost_after(9_001, 0, sealed(2, 900_000)), 0);
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

    /// A sealed bundle with this number, of a sender whose first bundle has the counter `first`.
    fn sealed(session: u64, first: u64, number: u64) -> (u16, Option<Counter>) {
        let counter = Counter {
            session,
            number: first + number,
        };
        (u16::try_from(number % NUMBERS).unwrap(), Some(counter))
    }

    #[test]
    fn numbers_of_sealed_bundles_go_on_over_sessions_whichever_are_lost() {
        let bundles = [
            (1, 0),
            (1, 1),
            // It overtakes its predecessor, which has the session before.
            (2, 3),
            (1, 2),
            // As many are lost as there are numbers, and more.
            (2, 4_100),
            (2, 4 + 3 * 4_096),
            (2, 5 + 3 * 4_096),
            // Long late, of either session.
            (2, 4_101),
            (1, 4),
        ];
        let arrivals = bundles.map(|(session, number)| (at(1), sealed(session, 1 << 40, number)));
        let out = numbers(arrivals, Reorder::default());
        let lowest = out.iter().map(|number| number % NUMBERS);
        assert!(lowest.eq([0, 1, 2, 3, 4, 4, 5]), "{out:?}");
        assert!(out.is_sorted_by(|one, other| one < other), "{out:?}");
        assert_eq!(out[6], out[5] + 1);
        assert!(out[4] > out[3] + 1 && out[5] > out[4] + 1, "{out:?}");
    }

    #[test]
    fn a_sender_that_starts_again_is_known_by_its_counter_in_a_later_session() {
        let begin = |session, first, start| {
            (0..600).map(move |number| (at(start + number), sealed(session, first, number)))
        };
        let [low, high] = [1 << 40, 1 << 50];
        // The last bundle of before comes late. It is unpacked if its counter is the higher one.
        for ([old, new], late) in [([low, high], None), ([high, low], Some(600))] {
            let arrivals = begin(1, old, 0).chain(begin(2, new, 600));
            let last = [sealed(1, old, 600), sealed(2, new, 600)].map(|one| (at(1_200), one));
            let out = numbers(arrivals.chain(last), Reorder::default());
            assert!(out.is_sorted_by(|one, other| one < other), "{out:?}");
            let lowest = out.iter().map(|number| number % NUMBERS);
            let expected = (0..600).chain(0..600).chain(late).chain([600]);
            assert!(lowest.eq(expected), "{out:?}");
        }
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
            let relative: Vec<u16> = out.iter().map(|number| (number + SEQUENCES - begin) % SEQUENCES).collect();
            prop_assert!(relative.is_sorted_by(|one, other| one < other), "{:?}", relative);
        }
    }
}
