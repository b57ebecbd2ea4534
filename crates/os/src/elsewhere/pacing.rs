//! Waiting for a time on systems other than Linux.

use units::{Span, Time};

use super::kernel_clock::sleep_until;
use crate::clock;
use crate::error::Result;

/// The span before a time in which a [`Pacer`] polls the clock instead of sleeping.
const SPIN: Span = Span::from_micros(500);

/// Waits for consecutive times, for paced traffic. Times should lie on a grid that does not
/// depend on when a wait ended, so that a late one does not delay later ones.
///
/// The system decides how late a sleep ends: some hundreds of microseconds on Windows, which
/// are recorded as timing errors like any.
pub struct Pacer {
    spin: Span,
}

impl Pacer {
    /// A pacer that sleeps, and polls the clock for the last part of a wait: longer than Linux
    /// needs, because these systems end a sleep later.
    ///
    /// # Errors
    /// None on these systems.
    pub fn new() -> Result<Self> {
        Self::watching(SPIN)
    }

    /// A pacer that only sleeps: it costs less, and is late by a wake-up.
    ///
    /// # Errors
    /// None on these systems.
    pub fn sleeping() -> Result<Self> {
        Self::watching(Span::ZERO)
    }

    /// A pacer that sleeps, and polls the clock for the last `spin`.
    ///
    /// # Errors
    /// None on these systems.
    pub fn watching(spin: Span) -> Result<Self> {
        Ok(Self { spin })
    }

    /// Waits until the monotonic clock shows `deadline`, and returns its reading then,
    /// never less than `deadline`. Returns at once if the deadline has passed.
    pub fn wait_until(&self, deadline: Time) -> Time {
        if deadline.since(clock::monotonic()) > Some(self.spin) {
            let ahead = deadline.as_picos() - self.spin.as_picos();
            sleep_until(Time::from_picos(ahead));
        }
        loop {
            let now = clock::monotonic();
            if now >= deadline {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_ends_before_its_time_and_a_past_one_ends_at_once() {
        for spin in [Span::ZERO, Span::from_micros(60)] {
            let pacer = Pacer::watching(spin).unwrap();
            let start = clock::monotonic();
            for step in 1..=5 {
                let deadline = start + Span::from_micros(300) * step;
                let woken = pacer.wait_until(deadline);
                assert!(woken >= deadline && woken <= clock::monotonic());
            }
            assert!(pacer.wait_until(Time::ZERO) > start, "it shows the present");
        }
    }
}
