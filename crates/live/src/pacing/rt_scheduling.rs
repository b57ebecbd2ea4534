//! Real-time scheduling of the thread that carries frames, where the kernel
//! allows it.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use units::{Span, Time};

use crate::clock;
use crate::sys::scheduling;

/// How often it is decided anew.
const WINDOW: Span = Span::from_millis(100);

/// Of each window so much is left to others, a share of one in 5: whoever
/// sleeps less has more to do than to be in time.
const LEFT: Span = Span::from_millis(20);

/// Whoever runs before others watches the clock for no longer than this in one
/// go, and then yields: the latest frame goes a little later, and the others and
/// the kernel's limit for such threads [sched(7)] get their share.
const WATCH: Span = Span::from_micros(100);

/// How long the thread yields its processor.
pub(super) const YIELD: Span = Span::from_micros(25);

/// Long enough for the thread to leave its processor.
const PAUSE: Span = Span::from_micros(50);

/// After so much processor time without a pause the kernel ends a thread that
/// runs before others: no fault of ours may take a machine away.
const LONGEST_MICROS: u64 = 1_000_000;

/// How the scheduler treated the thread that carries frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scheduling {
    /// Like any other process: nobody asked for more, or the kernel does not
    /// allow it, which a real root may.
    #[default]
    Ordinary,
    /// Before all ordinary processes (SCHED_FIFO) [sched(7)].
    RealTime,
    /// Before all ordinary processes but for moments in which it had so much to
    /// do that these would have starved.
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
    /// Of the window.
    begun: Time,
    /// In the window.
    slept: Span,
    /// When the latest sleep ended.
    woken: Time,
}

impl RtScheduling {
    /// That of an ordinary process.
    pub(super) fn ordinary() -> Self {
        Self::new(false)
    }

    /// Takes precedence over ordinary processes, if that is allowed.
    pub(super) fn take() -> Self {
        Self::new(limited() && scheduling::run_first().is_ok())
    }

    fn new(allowed: bool) -> Self {
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

    /// Says that the thread slept from `begun` until `now`.
    pub(super) fn slept(&mut self, begun: Time, now: Time) {
        self.slept += now.since(begun).unwrap_or_default();
        self.woken = now;
    }

    /// Whether it is time to yield, though something is due soon.
    pub(super) fn is_yield_due(&self, now: Time) -> bool {
        self.allowed && now >= self.woken + WATCH
    }

    /// Steps down or up again where a window has ended by `now`.
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
            // Where the kernel changed its mind it stays as it is.
            self.first = if set.is_ok() { first } else { self.first };
            if self.first {
                // The kernel counts processor time without a pause from the
                // latest pause in this state.
                clock::sleep(PAUSE);
            }
        }
        (self.begun, self.slept) = (now, Span::ZERO);
    }

    /// How it was since it was last asked.
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

/// Has the kernel end this process if it runs before others and never pauses.
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
            step(Span::from_millis(19)),
            reports(Scheduling::RealTimeInPart)
        );
        assert_eq!(step(LEFT), reports(Scheduling::RealTimeInPart));
        assert_eq!(step(WINDOW), reports(Scheduling::RealTime));
    }

    /// Asked of the kernel once more, as the test may run with or without privilege.
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
