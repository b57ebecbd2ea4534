//! When packets came: a gateway that sleeps while packets aggregate learns it from the kernel.

use units::Time;

use os::kernel_clock::Mapping;

/// Times of arrivals from inside, which never decrease.
///
/// The kernel stamps frames by the time of day. A stamp counts only between the latest
/// time that was given and the present, so that a step of that clock moves a packet by
/// less than the time since the gateway looked before.
pub(super) struct Arrivals {
    mapping: Mapping,
    latest: Time,
    now: Time,
}

impl Arrivals {
    pub(super) fn new(now: Time) -> Self {
        Self {
            mapping: Mapping::now(),
            latest: now,
            now,
        }
    }

    /// Begins a batch that is read from `now` on.
    pub(super) fn begin(&mut self, now: Time) {
        self.mapping.renew();
        self.now = now;
    }

    /// The time at which a frame with the kernel's `stamp` came.
    pub(super) fn instant(&mut self, stamp: u64) -> Time {
        let stamped = self.mapping.instant(stamp, self.now);
        self.at(stamped.unwrap_or(self.now))
    }

    /// The time of packets that nobody stamped: the present.
    pub(super) fn unstamped(&mut self) -> Time {
        self.at(self.now)
    }

    /// Ends a round at `now`: what comes next comes later.
    pub(super) fn end(&mut self, now: Time) {
        self.latest = now;
    }

    fn at(&mut self, instant: Time) -> Time {
        self.latest = self.latest.max(instant.min(self.now));
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;
    use os::clock::{monotonic, wall_nanos};

    #[test]
    fn packets_came_when_the_kernel_says_and_never_before_what_came_before() {
        let begun = monotonic();
        let mut arrivals = Arrivals::new(begun);
        let later = begun + Span::from_millis(30);
        arrivals.begin(later);
        let zero = wall_nanos() - monotonic().as_nanos();
        let stamp = |millis: u64| zero + (begun + Span::from_millis(millis)).as_nanos();
        let close = |at: Time, millis: u64| {
            let expected = begun + Span::from_millis(millis);
            let apart = expected.since(at).or_else(|| at.since(expected));
            assert!(apart < Some(Span::from_millis(1)), "{at:?}, {millis} ms");
        };
        close(arrivals.instant(stamp(10)), 10);
        close(arrivals.instant(stamp(20)), 20);
        let latest = arrivals.instant(stamp(20));
        assert_eq!(arrivals.instant(stamp(15)), latest);
        assert_eq!(arrivals.unstamped(), later);
        arrivals.end(later);
        arrivals.begin(later + Span::from_millis(1));
        assert_eq!(arrivals.instant(stamp(25)), later);
    }

    #[test]
    fn a_stamp_of_another_time_of_day_moves_a_packet_by_less_than_a_round() {
        let begun = monotonic();
        let now = begun + Span::from_millis(1);
        for stamp in [0, 1, u64::MAX, wall_nanos() + 3_600_000_000_000] {
            let mut arrivals = Arrivals::new(begun);
            arrivals.begin(now);
            let at = arrivals.instant(stamp);
            assert!(begun <= at && at <= now, "{stamp}: {at:?}");
        }
    }
}
