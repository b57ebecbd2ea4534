//! Real-time scheduling of the thread that carries frames, if the kernel allows it.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use units::{Span, Time};

use crate::clock;
use crate::sys::scheduling;

/// Interval between two decisions about the priority.
const WINDOW: Span = Span::from_millis(100);

/// The part of each window left to other processes at least, one in 10: a thread that sleeps
/// less has more work than time. One that polls the clock between frames without a pause
/// sleeps for a fifth of the time, for it yields.
const LEFT: Span = Span::from_millis(10);

/// The longest time for which a real-time thread polls the clock before it yields. The
/// next frame is then a little later, but other processes get their share, and the
/// thread stays below the kernel's limit for such threads [sched(7)].
pub(super) const WATCH: Span = Span::from_micros(100);

/// The length of a yield, whether frames arrive or not.
pub(super) const YIELD: Span = Span::from_micros(25);

/// A sleep long enough for the thread to leave its processor.
const PAUSE: Span = Span::from_micros(50);

/// Processor time without a pause after which the kernel ends a real-time thread: a bug
/// of this program must not block a machine.
const LONGEST_MICROS: u64 = 1_000_000;

/// The scheduling of the thread that carries frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Scheduling {
    /// Ordinary: real-time priority was not requested, or the kernel rejects it, which
    /// it may even for root.
    #[default]
    Ordinary,
    /// Real-time priority over all ordinary processes (SCHED_FIFO) [sched(7)].
    RealTime,
    /// Real-time priority except for times of high load, in which it would have starved
    /// other processes.
    RealTimeInPart,
}

impl Scheduling {
    /// Its name in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::RealTime => "real-time",
            Self::RealTimeInPart => "real-time-in-part",
        }
    }
}

/// The scheduling of the thread that carries frames.
pub(super) struct RtScheduling {
    allowed: bool,
    first: bool,
    stepped_down: bool,
    /// Start of the current window.
    begun: Time,
    /// Time slept in the current window.
    slept: Span,
    /// End of the latest sleep.
    woken: Time,
}

impl RtScheduling {
    /// Ordinary scheduling.
    pub(super) fn ordinary() -> Self {
        Self::new(false)
    }

    /// Requests real-time priority.
    pub(super) fn take() -> Self {
        Self::new(limited() && scheduling::run_first().is_ok())
    }

    /// Returns to ordinary scheduling.
    pub(super) fn give_up(&mut self) {
        if self.first && scheduling::run_as_others().is_err() {
            return;
        }
        *self = Self::ordinary();
    }

    pub(super) fn new(allowed: bool) -> Self {
        let now = clock::monotonic();
        Self {
            allowed,
            first: allowed,
            stepped_down: false,
            begun: now,
            slept: Span::ZERO,
            woken: now,
        }
    }

    /// Records that the thread slept from `begun` until `now`.
    pub(super) fn slept(&mut self, begun: Time, now: Time) {
        self.slept += now.since(begun).unwrap_or_default();
        self.woken = now;
    }

    /// Whether the thread must yield, even if a frame is due soon.
    pub(super) fn is_yield_due(&self, now: Time) -> bool {
        self.allowed && now >= self.woken + WATCH
    }

    /// Lowers or raises the priority if a window has ended by `now`.
    pub(super) fn decide(&mut self, now: Time) {
        if !self.allowed || now < self.begun + WINDOW {
            return;
        }
        let first = self.slept >= LEFT;
        if first != self.first {
            let set = match first {
                true => scheduling::run_first(),
                false => scheduling::run_as_others(),
            };
            self.stepped_down |= !first;
            // If the kernel rejects meanwhile, the priority stays as it is.
            self.first = if set.is_ok() { first } else { self.first };
            if self.first {
                // The kernel counts processor time without a pause from the latest
                // pause in this state.
                clock::sleep(PAUSE);
            }
        }
        (self.begun, self.slept) = (now, Span::ZERO);
    }

    /// The scheduling since the last call.
    pub(super) fn scheduling(&mut self) -> Scheduling {
        match (
            self.allowed,
            std::mem::replace(&mut self.stepped_down, !self.first),
        ) {
            (false, _) => Scheduling::Ordinary,
            (true, false) => Scheduling::RealTime,
            (true, true) => Scheduling::RealTimeInPart,
        }
    }
}

/// Makes the kernel end this process if it runs with real-time priority without a
/// pause.
fn limited() -> bool {
    let limit = getrlimit(Resource::RLIMIT_RTTIME);
    limit.is_ok_and(|(soft, hard)| {
        setrlimit(Resource::RLIMIT_RTTIME, soft.min(LONGEST_MICROS), hard).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_never_sleeps_steps_down_and_whoever_sleeps_a_little_steps_up_again() {
        let mut rt_scheduling = RtScheduling::take();
        let reports = |some| {
            if turn_allowed() {
                some
            } else {
                Scheduling::Ordinary
            }
        };
        let mut step = |slept: Span| {
            let end = rt_scheduling.begun + WINDOW;
            rt_scheduling.slept(rt_scheduling.begun, rt_scheduling.begun + slept);
            rt_scheduling.decide(end);
            rt_scheduling.scheduling()
        };
        assert_eq!(step(LEFT), reports(Scheduling::RealTime));
        assert_eq!(step(Span::ZERO), reports(Scheduling::RealTimeInPart));
        assert_eq!(
            step(LEFT - Span::from_millis(1)),
            reports(Scheduling::RealTimeInPart)
        );
        assert_eq!(step(LEFT), reports(Scheduling::RealTimeInPart));
        assert_eq!(step(WINDOW), reports(Scheduling::RealTime));
    }

    /// Asks the kernel again, because the test may run with or without privilege.
    fn turn_allowed() -> bool {
        scheduling::run_first().is_ok()
    }

    #[test]
    fn no_window_ends_early() {
        let mut rt_scheduling = RtScheduling::take();
        let first = rt_scheduling.first;
        rt_scheduling.decide(rt_scheduling.begun + Span::from_millis(99));
        assert_eq!(rt_scheduling.first, first);
    }
}
