//! Instants of this host as the sender counts them.

use units::{Span, Time};

use super::Clocks;
use crate::clock::{self, Mapping};

/// How often the wall clock, which the kernel stamps with, is compared anew.
const COMPARE: Span = Span::from_millis(100);

/// Turns instants into nanoseconds since the session's beginning.
pub(in super::super) struct Timeline {
    /// What this clock showed then.
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

    /// An instant of this clock; zero before the beginning.
    pub(in super::super) fn nanos(&self, at: Time) -> u64 {
        clock::nanos_of(at).saturating_sub(self.zero)
    }

    /// The kernel's stamp of an arrival that was read at `now`, if it has a
    /// place on this clock.
    pub(in super::super) fn nanos_of_stamp(&mut self, stamp: u64, now: Time) -> Option<u64> {
        if now.since(self.renewed) > Some(COMPARE) {
            self.mapping.renew();
            self.renewed = now;
        }
        let at = self.mapping.instant(stamp, now)?;
        Some(self.nanos(at))
    }
}
