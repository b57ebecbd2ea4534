//! Conversion of the kernel's timestamps to the monotonic clock.

use units::{Span, Time};

use crate::clock::{monotonic, wall_of_system};

/// The largest drift of the clocks between two comparisons; a larger change means that
/// the wall clock was set.
const STEP_NANOS: u128 = 2_000_000;

/// The most by which a timestamp may be later than the latest reading of the clock,
/// because frames arrive while others are read.
const AHEAD: Span = Span::from_millis(1);

/// The time for which timestamps from before a step may still arrive.
const MEMORY: Span = Span::from_secs(1);

/// Converts wall-clock timestamps to times of [`monotonic`].
///
/// A timestamp does not tell whether it was taken before or after the wall clock was
/// set. For a while after a step, both offsets are therefore tried, and the later
/// time that is not in the future counts: the wrong one is in the future, or earlier
/// by the step.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The wall clock at the zero of the monotonic clock, in nanoseconds.
    zero: i128,
    /// The same before the latest step, and the time at which the step was noticed.
    before: Option<(i128, Time)>,
}

impl Mapping {
    /// Compares the clocks for the first time.
    pub fn now() -> Self {
        Self {
            zero: compare(),
            before: None,
        }
    }

    /// Compares the clocks again.
    pub fn renew(&mut self) {
        self.set(compare(), monotonic());
    }

    fn set(&mut self, zero: i128, now: Time) {
        if zero.abs_diff(self.zero) > STEP_NANOS {
            self.before = Some((self.zero, now));
        } else if self.before.is_some_and(|(_, at)| now > at + MEMORY) {
            self.before = None;
        }
        self.zero = zero;
    }

    /// The time of a timestamp in nanoseconds since 1970, if it is not later than
    /// `now`.
    pub fn instant(&self, unix_nanos: u64, now: Time) -> Option<Time> {
        let zeroes = [Some(self.zero), self.before.map(|(zero, _)| zero)];
        let instants = zeroes.into_iter().flatten().filter_map(|zero| {
            let nanos = (i128::from(unix_nanos) - zero).max(0);
            // Times beyond the range of `Time` are in the future.
            let instant = u64::try_from(nanos).ok()?.checked_mul(1_000)?;
            Some(Time::from_picos(instant)).filter(|instant| *instant <= now + AHEAD)
        });
        instants.max()
    }

    /// The same for a frame that was taken some time after `now`: if its timestamp is
    /// later than `now`, the clock is read again, because the process may have been
    /// interrupted since.
    pub fn instant_by_now(&self, unix_nanos: u64, now: Time) -> Option<Time> {
        self.instant(unix_nanos, now)
            .or_else(|| self.instant(unix_nanos, monotonic()))
    }
}

/// The wall clock at the zero of [`monotonic`], in nanoseconds since 1970.
pub(crate) fn compare() -> i128 {
    wall_ahead_of(|| monotonic().as_nanos())
}

/// The wall clock minus another one, in nanoseconds. The wall clock is read between two
/// readings of the other one. If these are far apart, the process was interrupted and reads
/// again.
pub(crate) fn wall_ahead_of(other: impl Fn() -> u64) -> i128 {
    const CLOSE: u64 = 1_000;
    const TRIES: u32 = 8;
    let mut best = (u64::MAX, 0);
    for _ in 0..TRIES {
        let before = other();
        let wall = wall_of_system();
        let apart = other().saturating_sub(before);
        let middle = before.saturating_add(apart / 2);
        best = best.min((apart, i128::from(wall) - i128::from(middle)));
        if apart <= CLOSE {
            break;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;
    const ZERO: i128 = 1_700_000_000 * SECOND;

    /// The wall clock at `micros` if it shows `zero` at zero.
    fn stamp(zero: i128, micros: u64) -> u64 {
        u64::try_from(zero + i128::from(micros) * 1_000).unwrap()
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn stamps_from_before_and_after_a_step_are_both_where_they_were_taken() {
        for step in [-100_000, -5, 5, 100_000].map(|seconds| seconds * SECOND) {
            let mut mapping = Mapping {
                zero: ZERO,
                before: None,
            };
            let read = at(2_000_900);
            mapping.set(ZERO + step, read);
            for micros in [2_000_000, 2_000_400, 2_000_905] {
                let before = mapping.instant(stamp(ZERO, micros), read);
                assert_eq!(before, Some(at(micros)), "from before {step}");
                let after = mapping.instant(stamp(ZERO + step, micros), read);
                assert_eq!(after, Some(at(micros)), "from after {step}");
            }
        }
    }

    #[test]
    fn drift_is_followed_and_no_step() {
        let mut mapping = Mapping {
            zero: ZERO,
            before: None,
        };
        for round in 1..=1_000 {
            let zero = ZERO + i128::from(round) * 50_000;
            mapping.set(zero, at(round * 100_000));
            let instant = mapping.instant(stamp(zero, 100_000 * round - 7), at(100_000 * round));
            assert_eq!(instant, Some(at(100_000 * round - 7)));
            assert_eq!(mapping.before, None);
        }
    }

    #[test]
    fn a_step_is_forgotten_and_what_is_in_the_future_is_no_instant() {
        let mut mapping = Mapping {
            zero: ZERO,
            before: None,
        };
        mapping.set(ZERO + 5 * SECOND, at(1_000_000));
        let late = at(9_000_000);
        mapping.set(ZERO + 5 * SECOND, late);
        let stamp = stamp(ZERO + 5 * SECOND, 3_000_000);
        assert_eq!(mapping.instant(stamp, late), Some(at(3_000_000)));
        assert_eq!(mapping.instant(stamp, at(2_998_999)), None);
        assert_eq!(mapping.instant(u64::MAX, late), None);
        assert_eq!(mapping.instant(0, late), Some(Time::ZERO));
    }

    #[test]
    fn what_came_after_the_last_look_at_the_clock_came_then_and_not_at_the_look() {
        let looked = monotonic();
        crate::clock::sleep(Span::from_millis(3));
        let mapping = Mapping::now();
        let stamp = crate::clock::Epoch::now().unix_nanos();
        assert_eq!(mapping.instant(stamp, looked), None, "3 ms later");
        let instant = mapping.instant_by_now(stamp, looked).unwrap();
        assert!(instant > looked + AHEAD && instant <= monotonic() + AHEAD);
        assert_eq!(mapping.instant_by_now(u64::MAX, looked), None);
    }

    #[test]
    fn the_clocks_of_this_machine_agree_to_some_microseconds() {
        let mut mapping = Mapping::now();
        let before = monotonic();
        let wall = crate::clock::Epoch::now().unix_nanos();
        let after = monotonic();
        mapping.renew();
        let instant = mapping.instant(wall, after + Span::from_millis(1)).unwrap();
        let near = Span::from_millis(1);
        assert!(instant + near > before && after + near > instant);
    }
}
