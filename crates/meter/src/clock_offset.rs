//! Estimation of the offset between two clocks from request/response exchanges, with a
//! bound of its error.
//!
//! A request that left when one clock showed T1 and arrived when the other showed T2
//! proves that the other clock is ahead by at most T2 - T1. A response that left at T3
//! and arrived at T4 proves that it is ahead by at least T3 - T4 [RFC5905 s8]. The
//! bounds hold whatever the delays of the two directions, and the fastest exchange
//! gives the tightest ones. Two such estimates give a line: the rates of both clocks are
//! taken to be constant in between.

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
    #[cfg_attr(feature = "serde", serde(rename = "clock_offset_ns"))]
    pub nanos: i64,
    /// Bound of the error, in either direction.
    #[cfg_attr(feature = "serde", serde(rename = "clock_bound_ns"))]
    pub bound: u64,
}

impl ClockOffset {
    /// The offset between readings of a single clock.
    pub const NONE: Self = Self { nanos: 0, bound: 0 };

    /// The best estimate from exchanges made shortly after one another: the one with
    /// the least delay, widened by the possible drift meanwhile. `None` if no exchange is
    /// consistent.
    pub fn of(exchanges: &[ClockExchange]) -> Option<Self> {
        ClockEstimate::of(exchanges).map(|estimate| estimate.offset)
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
        // Clocks further apart than the type expresses have a bound that reaches them.
        let middle = (least + most).div_euclid(2);
        let middle = middle.clamp(i64::MIN.into(), i64::MAX.into());
        let bound = u64::try_from((most - middle).max(middle - least)).unwrap_or(u64::MAX);
        Self {
            nanos: i64::try_from(middle).unwrap_or_default(),
            bound: bound.saturating_add(drift),
        }
    }
}

/// The offset of two clocks at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockEstimate {
    /// The reading of the other clock, in nanoseconds.
    pub at: u64,
    /// The offset at that time.
    pub offset: ClockOffset,
}

impl ClockEstimate {
    /// The best estimate, as [`ClockOffset::of`] makes it, and its time.
    pub fn of(exchanges: &[ClockExchange]) -> Option<Self> {
        let possible = exchanges
            .iter()
            .filter(|exchange| exchange.back >= exchange.asked);
        let begun = possible.clone().map(|exchange| exchange.asked).min()?;
        let ended = possible.clone().map(|exchange| exchange.back).max()?;
        let drift = (ended - begun).div_ceil(1_000_000 / DRIFT_PER_MILLION);
        let limits = possible.map(|exchange| (exchange.received, exchange.limits()));
        let (at, best) = limits
            .filter(|(_, (least, most))| least <= most)
            .min_by(|(_, one), (_, other)| (one.1 - one.0).cmp(&(other.1 - other.0)))?;
        Some(Self {
            at,
            offset: ClockOffset::between(best, drift),
        })
    }
}

/// The offset of two clocks over a time: the line through two estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockLine {
    /// The estimate before that time.
    pub before: ClockEstimate,
    pub after: ClockEstimate,
}

impl ClockLine {
    /// The change of the offset from the first estimate until the other clock shows
    /// `other`, in nanoseconds.
    pub fn drift_until(&self, other: u64) -> i64 {
        let span = |from: u64, to: u64| i128::from(to) - i128::from(from);
        let whole = span(self.before.at, self.after.at);
        if whole <= 0 {
            return 0;
        }
        let drift = i128::from(self.after.offset.nanos) - i128::from(self.before.offset.nanos);
        // A drift within the range of an offset over a time within that of a clock.
        let part = drift.saturating_mul(span(self.before.at, other)) / whole;
        i64::try_from(part.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or_default()
    }

    /// The change of the offset between both estimates, in nanoseconds.
    pub fn drift(&self) -> i64 {
        self.drift_until(self.after.at)
    }

    /// The bound of the error of an offset on the line, in nanoseconds, if the rates of
    /// both clocks were constant: it lies between the bounds of both estimates.
    pub fn bound(&self) -> u64 {
        self.before.offset.bound.max(self.after.offset.bound)
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
    fn clocks_further_apart_than_an_offset_can_be_have_a_bound_that_reaches_them() {
        let far = i64::MAX.unsigned_abs();
        for (apart, nanos, bound) in [
            (far - 1, i64::MAX - 1, 0),
            (far, i64::MAX, 0),
            (far + 500, i64::MAX, 500),
        ] {
            let exchange = ClockExchange {
                asked: 10,
                received: 10 + apart,
                answered: 10 + apart,
                back: 10,
            };
            let offset = ClockOffset::of(&[exchange]).unwrap();
            assert_eq!((offset.nanos, offset.bound), (nanos, bound), "{apart}");
            let union = offset.and(ClockOffset { nanos: 0, bound: 3 });
            assert!(union.holds(-3) && union.holds(nanos), "{apart}: {union:?}");
        }
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
        fn a_line_holds_an_offset_that_changes_evenly(
            first in -1_000_000_000_i64..1_000_000_000, parts in -500_i64..500,
            seconds in 1_u64..1_000, part in 0_u64..=1_000, ways: [(u16, u16); 2],
        ) {
            // The other clock, the offset in parts per million.
            let begin = 2_000_000_000_000_u64;
            let truth = |at: u64| first + i64::try_from(at - begin).unwrap() * parts / 1_000_000;
            let estimate = |at: u64, (there, back): (u16, u16)| {
                let (there, back) = (u64::from(there), u64::from(back));
                let asked = at.checked_add_signed(-truth(at)).unwrap();
                let one = ClockExchange { asked: asked - there, received: at, answered: at, back: asked + back };
                ClockEstimate::of(&[one]).unwrap()
            };
            let end = begin + seconds * 1_000_000_000;
            let line = ClockLine { before: estimate(begin, ways[0]), after: estimate(end, ways[1]) };
            let at = begin + (end - begin) / 1_000 * part;
            let on_line = line.before.offset.nanos + line.drift_until(at);
            // The roundings of the estimates, of the line and of the truth.
            prop_assert!(on_line.abs_diff(truth(at)) <= line.bound() + 4);
            prop_assert_eq!(line.drift(), line.after.offset.nanos - line.before.offset.nanos);
        }

        #[test]
        fn no_clocks_make_it_panic(clocks: Vec<[u64; 4]>) {
            let exchanges: Vec<ClockExchange> = clocks.into_iter().map(|[asked, received, answered, back]| {
                ClockExchange { asked, received, answered, back }
            }).collect();
            if let Some(offset) = ClockOffset::of(&exchanges) {
                let _ = (offset.and(offset), offset.to_this(u64::MAX), offset.to_other(0));
                let estimates = exchanges.iter().map(|one| ClockEstimate { at: one.asked, offset });
                let estimates: Vec<ClockEstimate> = estimates.collect();
                let line = ClockLine { before: estimates[0], after: estimates[estimates.len() - 1] };
                let _ = (line.drift_until(0), line.drift_until(u64::MAX), line.bound());
            }
        }
    }
}
