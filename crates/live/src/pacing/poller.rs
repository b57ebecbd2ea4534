//! Waiting between two rounds of a thread that carries frames.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::{TimeSpec, TimeValLike};
use units::{Span, Time};

use super::SPIN;
use super::rt_scheduling::{RtScheduling, Scheduling, YIELD};
use crate::clock;
use crate::error::{During, Result};
use crate::port::Port;

/// The longest sleep, so that whoever asks to stop is heard.
const LONGEST_SLEEP: Span = Span::from_millis(100);

/// How often descriptors are looked at while there is work.
const LOOK: Span = Span::from_millis(2);

/// Waits for frames on ports or for the instant at which the next one is due,
/// for a thread that receives, sends and waits in turns. It sleeps until 60 us
/// before that instant; from there on it returns at once, and the thread
/// watches the clock in its rounds: a sleep ends late by up to about so much.
///
/// The kernel does not bundle the wakings of its thread with others from
/// [`Poller::new`] on (timer slack 1 ns).
pub struct Poller {
    rt_scheduling: RtScheduling,
    /// When descriptors were last looked at.
    looked: Time,
}

/// A round of such a thread, which has just ended.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The instant until which all that was due has been sent.
    pub now: Time,
    /// Whether frames were received: there may be more.
    pub more: bool,
    /// When the next frame is due to be sent.
    pub next: Option<Time>,
    /// The longest wait that the thread can bear; `None`: 100 ms.
    pub longest: Option<Span>,
}

/// What ends the work of such a thread; nothing, by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a> {
    /// This descriptor has something to read.
    pub control: Option<BorrowedFd<'a>>,
    /// The monotonic clock shows this.
    pub deadline: Option<Time>,
}

impl Poller {
    /// A poller for the calling thread, which is scheduled as any other.
    ///
    /// # Errors
    /// Where the kernel does not change the timer slack.
    pub fn new() -> Result<Self> {
        // So that sleeps end when they are asked to, not 50 us later.
        set_timerslack(1).during(|| "asking for exact sleeps")?;
        Ok(Self {
            rt_scheduling: RtScheduling::ordinary(),
            looked: clock::monotonic(),
        })
    }

    /// Lets the calling thread run before all ordinary processes where the
    /// kernel allows that, within limits that keep these alive;
    /// [`Poller::scheduling`] says so.
    pub fn run_first(&mut self) {
        self.rt_scheduling = RtScheduling::take();
    }

    /// How the scheduler treated the thread since this was last asked.
    pub fn scheduling(&mut self) -> Scheduling {
        self.rt_scheduling.scheduling()
    }

    /// Waits after `round` for the next one: until a frame is at one of `ports`,
    /// or one is soon due. Whether the thread is to stop: something of `stop`
    /// has come, give or take 2 ms, or a signal has interrupted a sleep.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn wait<'p>(
        &mut self,
        ports: impl IntoIterator<Item = &'p Port>,
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
        let awake = more || next.is_some_and(|next| next < now + SPIN);
        let yields = awake && !more && self.rt_scheduling.is_yield_due(now);
        if awake && !yields && now.since(self.looked) < Some(LOOK) {
            std::hint::spin_loop();
            return Ok(false);
        }
        self.looked = clock::monotonic();
        let sleep = match (yields, awake) {
            (true, _) => YIELD,
            (false, true) => Span::ZERO,
            (false, false) => sleep_before(next, longest.unwrap_or(LONGEST_SLEEP), self.looked),
        };
        let until = |instant: Time| instant.since(self.looked).unwrap_or_default();
        let left = stop.deadline.map(until);
        let sleep = left.unwrap_or(sleep).min(sleep);
        if left == Some(Span::ZERO) || poll(ports, stop.control, sleep)? {
            return Ok(true);
        }
        if sleep > Span::ZERO {
            self.rt_scheduling.slept(self.looked, clock::monotonic());
        }
        Ok(false)
    }
}

/// How long to sleep from `now` on, and no longer than `longest`, where `next` is
/// the next instant that counts.
fn sleep_before(next: Option<Time>, longest: Span, now: Time) -> Span {
    let Some(next) = next else {
        return longest;
    };
    match next.since(now) {
        Some(left) if left > SPIN => (left - SPIN).min(longest),
        _ => Span::ZERO,
    }
}

/// Waits for a frame at one of `ports`, for `control` or for `longest`; whether
/// it was `control` or a signal.
fn poll<'p>(
    ports: impl IntoIterator<Item = &'p Port>,
    control: Option<BorrowedFd<'_>>,
    longest: Span,
) -> Result<bool> {
    let ports: Vec<&Port> = ports.into_iter().collect();
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

    const NO_PORTS: iter::Empty<&Port> = iter::empty();

    /// A round in which nothing came, with so much time until the next departure.
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
            let found = sleep_before(next, Span::from_millis(100), now);
            assert_eq!(found, Span::from_micros(sleep), "{next:?}");
        }
    }
}
