//! Times of this host relative to the start of a session or of a trial.

use units::{Span, Time};

use os::kernel_clock::Mapping;
use os::{clock, kernel_clock};

/// Interval between comparisons with the wall clock, which the kernel's timestamps use.
const COMPARE: Span = Span::from_millis(100);

/// Converts times to nanoseconds since the start.
pub(crate) struct Timeline {
    /// This clock at that start.
    zero: u64,
    mapping: Mapping,
    renewed: Time,
}

impl Timeline {
    /// From `zero` on, in nanoseconds of CLOCK_MONOTONIC.
    pub(crate) fn new(zero: u64) -> Self {
        Self {
            zero,
            mapping: Mapping::now(),
            renewed: clock::monotonic(),
        }
    }

    /// Converts a time of this clock; zero before the start.
    pub(crate) fn nanos(&self, at: Time) -> u64 {
        kernel_clock::nanos_of(at).saturating_sub(self.zero)
    }

    /// Converts the kernel's timestamp of an arrival that was read at `now`, if it
    /// corresponds to a time of this clock.
    pub(crate) fn nanos_of_stamp(&mut self, stamp: u64, now: Time) -> Option<u64> {
        if now.since(self.renewed) > Some(COMPARE) {
            self.mapping.renew();
            self.renewed = now;
        }
        let at = self.mapping.instant(stamp, now)?;
        Some(self.nanos(at))
    }
}
