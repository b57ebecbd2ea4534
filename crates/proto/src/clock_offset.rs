//! By how much two clocks differ, found out by asking, and how wrong that may
//! be.
//!
//! A question that left when one clock showed T1 and arrived when the other
//! showed T2 says that the other is ahead by T2 - T1 at most; an answer that
//! left at T3 and arrived at T4 that it is ahead by T3 - T4 at least [RFC5905 s8].
//! However long either direction takes, the truth lies between, and the exchange that took
//! least says most.

use std::cmp::Ordering;

/// What clocks may drift apart while none of them is compared: 15 parts in a
/// million, the tolerance that NTP assumes [RFC5905 s7.1].
const DRIFT_PER_MILLION: u64 = 15;

/// A question and its answer, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockExchange {
    /// When the question left, by the clock of whoever asks.
    pub asked: u64,
    /// When it arrived, by the other clock.
    pub received: u64,
    /// When the answer left, by the other clock.
    pub answered: u64,
    /// When it was back, by the clock of whoever asks.
    pub back: u64,
}

/// How far the other clock is ahead, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockOffset {
    /// The other clock less this one.
    pub nanos: i64,
    /// The truth is no further from that, either way.
    pub bound: u64,
}

impl ClockOffset {
    /// One and the same clock.
    pub const NONE: Self = Self { nanos: 0, bound: 0 };

    /// What some exchanges, made shortly after one another, say together:
    /// the one that took least, and what the clocks may have drifted in
    /// between. `None` without an exchange that can be true.
    pub fn of(exchanges: &[ClockExchange]) -> Option<Self> {
        let possible = exchanges
            .iter()
            .filter(|exchange| exchange.back >= exchange.asked);
        let begun = possible.clone().map(|exchange| exchange.asked).min()?;
        let ended = possible.clone().map(|exchange| exchange.back).max()?;
        let drift = (ended - begun).div_ceil(1_000_000 / DRIFT_PER_MILLION);
        let best = possible
            .map(ClockExchange::limits)
            .filter(|(least, most)| least <= most)
            .min_by(|one, other| (one.1 - one.0).cmp(&(other.1 - other.0)))?;
        Some(Self::between(best, drift))
    }

    /// What is true at both times and all the time in between, if clocks
    /// drift one way only: all that either estimate allows.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let [one, other] = [self, later].map(|offset| {
            let (middle, bound) = (i128::from(offset.nanos), i128::from(offset.bound));
            (middle - bound, middle + bound)
        });
        Self::between((one.0.min(other.0), one.1.max(other.1)), 0)
    }

    /// Whether a difference is within the bound.
    pub fn holds(self, nanos: i64) -> bool {
        nanos.abs_diff(self.nanos) <= self.bound
    }

    /// What this clock showed when the other one showed `nanos`.
    pub fn to_this(self, nanos: u64) -> u64 {
        match self.nanos.cmp(&0) {
            Ordering::Less => nanos.saturating_add(self.nanos.unsigned_abs()),
            _ => nanos.saturating_sub(self.nanos.unsigned_abs()),
        }
    }

    /// What the other clock showed when this one showed `nanos`.
    pub fn to_other(self, nanos: u64) -> u64 {
        match self.nanos.cmp(&0) {
            Ordering::Less => nanos.saturating_sub(self.nanos.unsigned_abs()),
            _ => nanos.saturating_add(self.nanos.unsigned_abs()),
        }
    }

    fn between((least, most): (i128, i128), drift: u64) -> Self {
        let middle = (least + most).div_euclid(2);
        let bound = u64::try_from(most - middle).unwrap_or(u64::MAX);
        let within = middle.clamp(i64::MIN.into(), i64::MAX.into());
        Self {
            nanos: i64::try_from(within).unwrap_or_default(),
            bound: bound.saturating_add(drift),
        }
    }
}

impl ClockExchange {
    /// The least and the most that the other clock can be ahead.
    fn limits(&self) -> (i128, i128) {
        let difference = |one: u64, other: u64| i128::from(one) - i128::from(other);
        (
            difference(self.answered, self.back),
            difference(self.received, self.asked),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exchange(asked: u64, offset: i64, there: u64, work: u64, back: u64) -> ClockExchange {
        let other = |nanos: u64| nanos.checked_add_signed(offset).unwrap();
        ClockExchange {
            asked,
            received: other(asked + there),
            answered: other(asked + there + work),
            back: asked + there + work + back,
        }
    }

    #[test]
    fn directions_that_take_the_same_give_the_offset_itself() {
        let offset = ClockOffset::of(&[exchange(5_000, 1_000, 30, 10, 30)]).unwrap();
        assert_eq!((offset.nanos, offset.bound), (1_000, 31));
    }

    #[test]
    fn an_exchange_that_ends_before_it_began_is_none() {
        let impossible = ClockExchange {
            asked: 10,
            received: 10,
            answered: 10,
            back: 9,
        };
        assert_eq!(ClockOffset::of(&[impossible]), None);
        assert_eq!(ClockOffset::of(&[]), None);
    }

    proptest! {
        #[test]
        fn the_bound_holds_the_truth_whatever_the_ways_take(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            directions in prop::collection::vec((0_u64..1_000_000, 0_u64..1_000, 0_u64..1_000_000), 1..20),
        ) {
            let mut at = 2_000_000_000_000;
            let exchanges: Vec<ClockExchange> = directions.into_iter().map(|(there, work, back)| {
                let exchange = exchange(at, offset, there, work, back);
                at = exchange.back + 1;
                exchange
            }).collect();
            let estimate = ClockOffset::of(&exchanges).unwrap();
            prop_assert!(estimate.holds(offset));
            prop_assert_eq!(estimate.to_this(estimate.to_other(at)), at);
        }

        #[test]
        fn two_estimates_hold_what_drifts_from_one_to_the_other(
            first in -1_000_i64..1_000, drift in -50_i64..50, bounds: [u8; 2], part in 0_i64..=10,
        ) {
            let [before, after] = bounds.map(u64::from);
            let whole = ClockOffset { nanos: first, bound: before }
                .and(ClockOffset { nanos: first + drift, bound: after });
            prop_assert!(whole.holds(first + drift * part / 10));
        }

        #[test]
        fn no_clocks_make_it_panic(clocks: Vec<[u64; 4]>) {
            let exchanges: Vec<ClockExchange> = clocks.into_iter().map(|[asked, received, answered, back]| {
                ClockExchange { asked, received, answered, back }
            }).collect();
            if let Some(offset) = ClockOffset::of(&exchanges) {
                let _ = (offset.and(offset), offset.to_this(u64::MAX), offset.to_other(0));
            }
        }
    }
}
