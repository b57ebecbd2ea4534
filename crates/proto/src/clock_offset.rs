//! Estimation of the offset between two clocks from request/response exchanges, with a
//! bound of its error.
//!
//! A request that left when one clock showed T1 and arrived when the other showed T2
//! proves that the other clock is ahead by at most T2 - T1. A response that left at T3
//! and arrived at T4 proves that it is ahead by at least T3 - T4 [RFC5905 s8]. The
//! bounds hold whatever the delays of the two directions, and the fastest exchange
//! gives the tightest ones.

use std::cmp::Ordering;

/// Relative drift of two clocks between comparisons: 15 parts per million, the
/// tolerance that NTP assumes [RFC5905 s7.1].
const DRIFT_PER_MILLION: u64 = 15;

/// The four timestamps of a request and its response, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockExchange {
    /// Departure of the request, on the asking end's clock.
    pub asked: u64,
    /// Arrival of the request, on the other clock.
    pub received: u64,
    /// Departure of the response, on the other clock.
    pub answered: u64,
    /// Arrival of the response, on the asking end's clock.
    pub back: u64,
}

/// The lead of the other clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockOffset {
    /// The other clock minus this one.
    pub nanos: i64,
    /// Bound of the error, in either direction.
    pub bound: u64,
}

impl ClockOffset {
    /// The offset between readings of a single clock.
    pub const NONE: Self = Self { nanos: 0, bound: 0 };

    /// The best estimate from exchanges made shortly after one another: the one with
    /// the least delay, widened by the possible drift meanwhile. `None` if no exchange is
    /// consistent.
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

    /// An estimate that holds at both times and in between, if clocks drift in one
    /// direction only: the union of both estimates.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let [one, other] = [self, later].map(|offset| {
            let (middle, bound) = (i128::from(offset.nanos), i128::from(offset.bound));
            (middle - bound, middle + bound)
        });
        Self::between((one.0.min(other.0), one.1.max(other.1)), 0)
    }

    /// Whether a difference lies within the bound.
    pub fn holds(self, nanos: i64) -> bool {
        nanos.abs_diff(self.nanos) <= self.bound
    }

    /// This clock's reading when the other clock showed `nanos`.
    pub fn to_this(self, nanos: u64) -> u64 {
        match self.nanos.cmp(&0) {
            Ordering::Less => nanos.saturating_add(self.nanos.unsigned_abs()),
            _ => nanos.saturating_sub(self.nanos.unsigned_abs()),
        }
    }

    /// The other clock's reading when this one showed `nanos`.
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
    /// The least and the largest possible lead of the other clock.
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
