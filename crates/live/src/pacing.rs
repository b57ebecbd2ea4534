//! Waiting until an instant as exactly as an ordinary process can, and for
//! frames beside it.

mod poller;
mod rt_scheduling;

use std::marker::PhantomData;

use nix::sys::prctl::{get_timerslack, set_timerslack};
use units::{Span, Time};

use crate::clock;
use crate::error::{During, Result};
pub use poller::{Poller, Round, Stop};
pub use rt_scheduling::Scheduling;

/// By how much a waking may be late: a [`Pacer`] sleeps until so long before
/// an instant and watches the clock for the rest. It covers the wake-up of an
/// idle processor, virtual ones too, and costs 6 % of a processor at 1000
/// waits a second.
const SPIN: Span = Span::from_micros(60);

/// Waits for one instant after another; for emulated links and for traffic at
/// a pace. Instants should lie on a grid that does not depend on when a wait
/// ended, so that a late one does not delay those after it.
///
/// While it lives, the kernel does not bundle the wakings of its thread with
/// others (timer slack 1 ns); afterwards it does as before. Slack belongs to a
/// thread, so a pacer stays in its own.
pub struct Pacer {
    spin: Span,
    slack_before: Option<u64>,
    _of_one_thread: PhantomData<*const ()>,
}

impl Pacer {
    /// A pacer that sleeps, then watches the clock for the last 60 us.
    ///
    /// # Errors
    /// Where the kernel does not change the timer slack.
    pub fn new() -> Result<Self> {
        Self::watching(SPIN)
    }

    /// A pacer that only sleeps: it costs less, and is late by a waking.
    ///
    /// # Errors
    /// As [`Pacer::new`].
    pub fn sleeping() -> Result<Self> {
        Self::watching(Span::ZERO)
    }

    /// A pacer that sleeps, then watches the clock for the last `spin`.
    ///
    /// # Errors
    /// As [`Pacer::new`].
    pub fn watching(spin: Span) -> Result<Self> {
        let slack = get_timerslack().during(|| "reading the timer slack")?;
        set_timerslack(1).during(|| "setting the timer slack")?;
        Ok(Self {
            spin,
            slack_before: u64::try_from(slack).ok(),
            _of_one_thread: PhantomData,
        })
    }

    /// Waits until the monotonic clock shows `deadline`, and returns what it
    /// showed then: never less, and at once where it has passed already.
    pub fn wait_until(&self, deadline: Time) -> Time {
        let now = clock::monotonic();
        if deadline.since(now) > Some(self.spin) {
            let ahead = deadline.as_picos() - self.spin.as_picos();
            clock::sleep_until(Time::from_picos(ahead));
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

impl Drop for Pacer {
    fn drop(&mut self) {
        // It can only fail where it failed before there was a pacer.
        if let Some(slack) = self.slack_before {
            let _ = set_timerslack(slack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_ends_before_its_instant_and_a_past_one_ends_at_once() {
        for pacer in [Pacer::new().unwrap(), Pacer::sleeping().unwrap()] {
            let start = clock::monotonic();
            for step in 1..=20 {
                let deadline = start + Span::from_micros(300) * step;
                let woken = pacer.wait_until(deadline);
                assert!(woken >= deadline && woken <= clock::monotonic());
            }
            assert!(pacer.wait_until(Time::ZERO) > start, "it shows the present");
        }
    }

    #[test]
    fn the_threads_timer_slack_is_as_before_when_the_pacer_is_gone() {
        let before = get_timerslack().unwrap();
        let pacer = Pacer::new().unwrap();
        assert_eq!(get_timerslack().unwrap(), 1);
        drop(pacer);
        assert_eq!(get_timerslack().unwrap(), before);
    }
}
