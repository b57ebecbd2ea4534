//! Departures as in D-ITG without polling: timing error accumulates.

use units::{Span, Time};

use os::clock;

/// Waits for gaps one by one, as D-ITG 2.8.1 does [D-ITG].
///
/// A gap counts from the reading of the clock that ended the previous gap, and includes
/// the time for writing the message. If the write takes longer than the gap, there is
/// no sleep; otherwise the rest is slept, in whole microseconds and with the default
/// timer slack. Oversleeping is never compensated.
pub(super) struct Drifting {
    /// The time of the previous message on the grid.
    before: Time,
    /// The end of the previous gap.
    since: Time,
}

impl Drifting {
    pub(super) const fn new(begin: Time) -> Self {
        Self {
            before: begin,
            since: begin,
        }
    }

    /// Waits for the gap in front of the message due at `due` on the grid. Returns its
    /// actual end.
    pub(super) fn wait(&mut self, due: Time) -> Time {
        let gap = due.since(self.before).unwrap_or_default();
        self.before = due;
        let mut now = clock::monotonic();
        while let Some(left) = left_of(gap, self.since, now) {
            clock::sleep(left);
            now = clock::monotonic();
        }
        self.since = now;
        now
    }
}

/// The part of a gap begun at `since` that is to be slept at `now`, in whole
/// microseconds; `None` if the gap is over.
fn left_of(gap: Span, since: Time, now: Time) -> Option<Span> {
    let passed = now.since(since).unwrap_or_default();
    let left = Span::from_picos(gap.as_picos().checked_sub(passed.as_picos())?);
    Some(Span::from_micros(left.as_nanos() / 1_000)).filter(|left| *left > Span::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(count: u64) -> Time {
        Time::ZERO + Span::from_micros(count)
    }

    #[test]
    fn a_write_that_takes_longer_than_the_gap_is_followed_by_no_sleep() {
        let gap = Span::from_micros(10);
        assert_eq!(left_of(gap, micros(5), micros(20)), None);
        assert_eq!(left_of(gap, micros(5), micros(15)), None);
        let left = left_of(gap, micros(5), micros(8));
        assert_eq!(left, Some(Span::from_micros(7)));
    }

    #[test]
    fn sleeps_are_of_whole_microseconds() {
        let at = Time::ZERO + Span::from_nanos(2_600);
        let left = left_of(Span::from_micros(10), Time::ZERO, at);
        assert_eq!(left, Some(Span::from_micros(7)));
        let at = Time::ZERO + Span::from_nanos(9_100);
        assert_eq!(left_of(Span::from_micros(10), Time::ZERO, at), None);
    }

    #[test]
    fn what_was_late_is_made_good_by_no_later_gap() {
        let begin = clock::monotonic();
        let mut drifting = Drifting::new(begin);
        let ended: Vec<Time> = (0..20)
            .map(|place| drifting.wait(begin + Span::from_micros(50) * place))
            .collect();
        // Within the microsecond by which each sleep is rounded down.
        let least = Span::from_micros(49);
        assert!(ended.windows(2).all(|two| two[1] >= two[0] + least));
    }
}
