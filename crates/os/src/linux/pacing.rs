//! Precise waiting of ordinary processes for a time, and for frames.

mod poller;
mod rt_scheduling;

use std::marker::PhantomData;

use nix::sys::prctl::{get_timerslack, set_timerslack};
use units::{Span, Time};

use crate::error::{OperationContext, Result};
use crate::{clock, kernel_clock};
pub use poller::{Poller, Round, Source, Stop};
pub use rt_scheduling::Scheduling;

/// The span before a time in which a [`Pacer`] polls the clock instead of sleeping.
/// It covers the wake-up latency of an idle processor, virtual ones included, and costs
/// 6 % of a processor at 1000 waits per second.
const SPIN: Span = Span::from_micros(60);

/// Waits for consecutive times, for emulated links and paced traffic. Instants
/// should lie on a grid that does not depend on when a wait ended, so that a late one
/// does not delay later ones.
///
/// During its life the timer slack of its thread is 1 ns; the kernel then does not
/// batch the thread's wake-ups with others. Timer slack belongs to a thread, so a pacer
/// stays in its thread.
pub struct Pacer {
    spin: Span,
    slack_before: Option<u64>,
    _of_one_thread: PhantomData<*const ()>,
}

impl Pacer {
    /// A pacer that sleeps, and polls the clock for the last 60 us.
    ///
    /// # Errors
    /// If the kernel rejects to change the timer slack.
    pub fn new() -> Result<Self> {
        Self::watching(SPIN)
    }

    /// A pacer that only sleeps: it costs less, and is late by a wake-up.
    ///
    /// # Errors
    /// As [`Pacer::new`].
    pub fn sleeping() -> Result<Self> {
        Self::watching(Span::ZERO)
    }

    /// A pacer that sleeps, and polls the clock for the last `spin`.
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

    /// Waits until the monotonic clock shows `deadline`, and returns its reading then,
    /// never less than `deadline`. Returns at once if the deadline has passed.
    pub fn wait_until(&self, deadline: Time) -> Time {
        let now = clock::monotonic();
        if deadline.since(now) > Some(self.spin) {
            let ahead = deadline.as_picos() - self.spin.as_picos();
            kernel_clock::sleep_until(Time::from_picos(ahead));
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
        // This can fail only if setting the timer slack failed before.
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
