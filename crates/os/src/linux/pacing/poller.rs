//! Waiting between two rounds of a thread that carries frames.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::{TimeSpec, TimeValLike};
use units::{Span, Time};

use super::SPIN;
use super::rt_scheduling::{RtScheduling, Scheduling, YIELD};
use crate::error::{OperationContext, Result};
use crate::{clock, kernel_clock};

/// The longest sleep, which bounds the reaction to a stop request.
const LONGEST_SLEEP: Span = Span::from_millis(100);

/// Interval at which descriptors are polled while there is work.
const LOOK: Span = Span::from_millis(2);

/// Something at which frames or packets arrive.
pub trait Source: AsFd {
    /// Clears a pending error, which may mean that an interface went down.
    ///
    /// # Errors
    /// If nothing will arrive any more.
    fn clear_error(&self) -> Result<()>;
}

/// Waits for frames on ports or for the next due time, for a thread that receives,
/// sends and waits in turns. It sleeps until 60 us before that time, about the
/// largest timing error of a wake-up; from there on it returns at once, and the thread
/// polls the clock in its rounds. [`Poller::sleeping`] never polls the clock.
///
/// From [`Poller::new`] on, the timer slack of its thread is 1 ns, so the kernel does
/// not batch its wake-ups with others.
pub struct Poller {
    rt_scheduling: RtScheduling,
    /// The span before a time in which the thread polls the clock.
    spin: Span,
    /// The time of the latest poll of the descriptors.
    looked: Time,
}

/// A round of such a thread that has just ended.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The time up to which all due frames have been sent.
    pub now: Time,
    /// Whether frames were received, so that there may be more.
    pub more: bool,
    /// The time at which the next frame is due.
    pub next: Option<Time>,
    /// The longest wait allowed; `None`: 100 ms.
    pub longest: Option<Span>,
}

/// The conditions that stop such a thread; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a> {
    /// This descriptor is readable.
    pub control: Option<BorrowedFd<'a>>,
    /// The monotonic clock shows this time.
    pub deadline: Option<Time>,
}

impl Poller {
    /// A poller for the calling thread, with ordinary scheduling.
    ///
    /// # Errors
    /// If the kernel rejects to change the timer slack.
    pub fn new() -> Result<Self> {
        Self::watching(SPIN)
    }

    /// A poller that only sleeps: it costs less, and is late by a wake-up.
    ///
    /// # Errors
    /// As [`Poller::new`].
    pub fn sleeping() -> Result<Self> {
        Self::watching(Span::ZERO)
    }

    fn watching(spin: Span) -> Result<Self> {
        // Ends sleeps at their deadline instead of 50 us later.
        set_timerslack(1).during(|| "setting the timer slack")?;
        Ok(Self {
            rt_scheduling: RtScheduling::ordinary(),
            spin,
            looked: clock::monotonic(),
        })
    }

    /// Gives the calling thread real-time priority if the kernel allows it, within
    /// limits that keep other processes running; [`Poller::scheduling`] tells the
    /// result.
    pub fn run_first(&mut self) {
        self.rt_scheduling = RtScheduling::take();
    }

    /// Gives the calling thread the scheduling of ordinary ones again.
    pub fn run_as_others(&mut self) {
        self.rt_scheduling.give_up();
    }

    /// The scheduling of the thread since the last call.
    pub fn scheduling(&mut self) -> Scheduling {
        self.rt_scheduling.scheduling()
    }

    /// Waits after `round` until a frame is at one of `ports`, or one is soon due.
    /// Returns whether the thread is to stop: a condition of `stop` holds (checked
    /// every 2 ms), or a signal interrupted a sleep.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn wait<'p, S: Source + ?Sized + 'p>(
        &mut self,
        ports: impl IntoIterator<Item = &'p S>,
        stop: Stop<'_>,
        round: Round,
    ) -> Result<bool> {
        let Round {
            now,
            more,
            next,
            longest,
        } = round;
        self.rt_scheduling.decide(now);
        let awake = more || next.is_some_and(|next| next < now + self.spin);
        let yields = awake && !more && self.rt_scheduling.is_yield_due(now);
        if awake && !yields && now.since(self.looked) < Some(LOOK) {
            std::hint::spin_loop();
            return Ok(false);
        }
        self.looked = clock::monotonic();
        let sleep = match (yields, awake) {
            (true, _) => YIELD,
            (false, true) => Span::ZERO,
            (false, false) => {
                let longest = longest.unwrap_or(LONGEST_SLEEP);
                sleep_before(next, self.spin, longest, self.looked)
            }
        };
        let until = |instant: Time| instant.since(self.looked).unwrap_or_default();
        let left = stop.deadline.map(until);
        let sleep = left.unwrap_or(sleep).min(sleep);
        // A frame must not end a yield: at 80 000 frames a second it would last for some
        // microseconds, and others would get less than their part.
        let polled = if yields { Span::ZERO } else { sleep };
        if left == Some(Span::ZERO) || poll(ports, stop.control, polled)? {
            return Ok(true);
        }
        if yields {
            kernel_clock::sleep_until(self.looked + sleep);
        }
        if sleep > Span::ZERO {
            self.rt_scheduling.slept(self.looked, clock::monotonic());
        }
        Ok(false)
    }
}

/// The time to sleep from `now` on, at most `longest` and until `spin` before `next`, the
/// next relevant time.
fn sleep_before(next: Option<Time>, spin: Span, longest: Span, now: Time) -> Span {
    let Some(next) = next else {
        return longest;
    };
    match next.since(now) {
        Some(left) if left > spin => (left - spin).min(longest),
        _ => Span::ZERO,
    }
}

/// Waits for a frame at one of `ports`, for `control` or for `longest`. Returns whether
/// `control` or a signal ended the wait.
fn poll<'p, S: Source + ?Sized + 'p>(
    ports: impl IntoIterator<Item = &'p S>,
    control: Option<BorrowedFd<'_>>,
    longest: Span,
) -> Result<bool> {
    let ports: Vec<&S> = ports.into_iter().collect();
    let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
    let descriptors = ports.iter().map(|port| port.as_fd()).chain(control);
    let mut watched: Vec<PollFd<'_>> = descriptors.map(watch).collect();
    let nanos = i64::try_from(longest.as_nanos()).unwrap_or(i64::MAX);
    match ppoll(&mut watched, Some(TimeSpec::nanoseconds(nanos)), None) {
        Err(Errno::EINTR) => return Ok(true),
        result => result.during(|| "waiting for frames")?,
    };
    let (polled, control) = watched.split_at(ports.len());
    for (port, polled) in ports.iter().zip(polled) {
        let events = polled.revents().unwrap_or(PollFlags::empty());
        if events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) {
            port.clear_error()?;
        }
    }
    Ok(control.iter().any(|fd| fd.any().unwrap_or(false)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::iter;

    use nix::unistd::pipe;

    use super::*;
    use crate::port::Port;

    const NO_PORTS: iter::Empty<&Port> = iter::empty();

    /// A round without frames, with this time until the next departure.
    fn round(next: Option<Span>) -> Round {
        let now = clock::monotonic();
        Round {
            now,
            more: false,
            next: next.map(|next| now + next),
            longest: None,
        }
    }

    #[test]
    fn a_poller_stops_for_its_descriptor_and_at_its_deadline() {
        let (end, other) = pipe().unwrap();
        let mut poller = Poller::new().unwrap();
        let control = Stop {
            control: Some(end.as_fd()),
            deadline: None,
        };
        let soon = Some(Span::from_millis(1));
        assert!(!poller.wait(NO_PORTS, control, round(soon)).unwrap());
        File::from(other).write_all(b"x").unwrap();
        let later = Some(Span::from_secs(60));
        assert!(poller.wait(NO_PORTS, control, round(later)).unwrap());
        let deadline = Some(clock::monotonic());
        let stop = Stop {
            control: None,
            deadline,
        };
        assert!(poller.wait(NO_PORTS, stop, round(None)).unwrap());
    }

    /// A source at which something always waits.
    struct Readable(std::os::fd::OwnedFd);

    impl AsFd for Readable {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl Source for Readable {
        fn clear_error(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_yield_lasts_its_time_though_frames_arrive() {
        let (end, other) = pipe().unwrap();
        File::from(other).write_all(b"x").unwrap();
        let ports = [Readable(end)];
        let mut poller = Poller::new().unwrap();
        // As if the kernel allowed real-time priority.
        poller.rt_scheduling = RtScheduling::new(true);
        clock::sleep(super::super::rt_scheduling::WATCH);
        let begun = clock::monotonic();
        let soon = round(Some(Span::from_micros(10)));
        assert!(!poller.wait(&ports, Stop::default(), soon).unwrap());
        assert!(clock::monotonic() >= begun + YIELD);
        // What has just slept polls on.
        let again = round(Some(Span::from_micros(10)));
        assert!(!poller.rt_scheduling.is_yield_due(again.now));
    }

    #[test]
    fn a_sleep_ends_before_the_next_departure_and_lasts_no_longer_than_it_may() {
        let now = Time::from_nanos(1_000_000_000);
        let in_micros = |micros| Some(now + Span::from_micros(micros));
        for (next, sleep) in [
            (None, 100_000),
            (Some(Time::ZERO), 0),
            (in_micros(60), 0),
            (in_micros(61), 1),
            (in_micros(5_000), 4_940),
            (in_micros(100_061), 100_000),
        ] {
            let found = sleep_before(next, SPIN, Span::from_millis(100), now);
            assert_eq!(found, Span::from_micros(sleep), "{next:?}");
            let whole = sleep_before(next, Span::ZERO, Span::from_secs(1), now);
            let left = next.map(|next| next.since(now).unwrap_or_default());
            assert_eq!(whole, left.unwrap_or(Span::from_secs(1)));
        }
    }
}
