//! Instants of this host relative to the start of the session.

use units::{Span, Time};

use super::Clocks;
use os::clock::{self, Mapping};

/// Interval between comparisons with the wall clock, which the kernel's timestamps use.
const COMPARE: Span = Span::from_millis(100);

/// Converts instants to nanoseconds since the start of the session.
pub(in super::super) struct Timeline {
    /// This clock at that start.
    zero: u64,
    mapping: Mapping,
    renewed: Time,
}

impl Timeline {
    pub(in super::super) fn new(clocks: Clocks) -> Self {
        Self {
            zero: clocks.offset.to_other(clocks.epoch),
            mapping: Mapping::now(),
            renewed: clock::monotonic(),
        }
    }

    /// Converts an instant of this clock; zero before the start.
    pub(in super::super) fn nanos(&self, at: Time) -> u64 {
        clock::nanos_of(at).saturating_sub(self.zero)
    }

    /// Converts the kernel's timestamp of an arrival that was read at `now`, if it
    /// corresponds to an instant of this clock.
    pub(in super::super) fn nanos_of_stamp(&mut self, stamp: u64, now: Time) -> Option<u64> {
        if now.since(self.renewed) > Some(COMPARE) {
            self.mapping.renew();
            self.renewed = now;
        }
        let at = self.mapping.instant(stamp, now)?;
        Some(self.nanos(at))
    }
}
