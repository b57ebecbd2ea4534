//! The only place that reads a clock or waits.

mod mapping;

use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_getres, clock_gettime, clock_nanosleep};
use units::{Span, Time};

use crate::error::{During, Result};
pub use mapping::Mapping;

/// The instant from which a run counts, on this machine's wall clock.
///
/// The kernel stamps packets with CLOCK_REALTIME, so instants of senders and
/// receivers are taken from the same clock; [`stepped`] tells whether it was
/// set in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Epoch {
    unix_nanos: u64,
}

impl Epoch {
    /// The present instant.
    pub fn now() -> Self {
        Self {
            unix_nanos: nanos(ClockId::CLOCK_REALTIME),
        }
    }

    /// The time since the epoch; zero if the clock was set back before it.
    pub fn elapsed(self) -> Time {
        self.time_of(nanos(ClockId::CLOCK_REALTIME))
    }

    /// The time of a stamp of CLOCK_REALTIME that the kernel took.
    pub(crate) fn time_of_stamp(self, stamp: TimeSpec) -> Time {
        let nanos = i128::from(stamp.tv_sec()) * 1_000_000_000 + i128::from(stamp.tv_nsec());
        self.time_of(u64::try_from(nanos).unwrap_or(0))
    }

    fn time_of(self, unix_nanos: u64) -> Time {
        Time::from_nanos(unix_nanos.saturating_sub(self.unix_nanos))
    }

    /// Nanoseconds of `time`, which counts from the epoch, since 1970 in UTC.
    pub const fn unix_nanos_at(self, time: Time) -> u64 {
        self.unix_nanos.saturating_add(time.as_nanos())
    }

    /// Nanoseconds of the epoch since 1970 in UTC.
    pub const fn unix_nanos(self) -> u64 {
        self.unix_nanos
    }
}

/// A clock that is never set: for deadlines and lengths of time. It counts
/// from its first reading, because a machine may be up for longer than a
/// [`Time`] holds.
pub fn monotonic() -> Time {
    let first = first_reading();
    Time::from_nanos(nanos(ClockId::CLOCK_MONOTONIC).saturating_sub(first))
}

/// What [`monotonic`] showed when the wall clock showed `unix_nanos`, if
/// nobody has set the wall clock since; nothing if that was before it began.
pub fn monotonic_at(unix_nanos: u64) -> Option<Time> {
    let nanos = u64::try_from(i128::from(unix_nanos) - compare()).ok()?;
    Some(Time::from_picos(nanos.checked_mul(1_000)?))
}

/// What CLOCK_MONOTONIC shows, in nanoseconds: [`monotonic`] with the zero of
/// the kernel, so that two processes of a machine read the same.
pub fn monotonic_nanos() -> u64 {
    nanos(ClockId::CLOCK_MONOTONIC)
}

/// Processor time that this process has used, in nanoseconds: the clock that
/// `clock()` of C reads [clock(3)].
pub fn process_nanos() -> u64 {
    nanos(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// What CLOCK_MONOTONIC shows when [`monotonic`] shows `time`, in nanoseconds.
pub(crate) fn nanos_of(time: Time) -> u64 {
    first_reading().saturating_add(time.as_nanos())
}

/// What names the clock that [`monotonic_nanos`] reads: the same in two
/// processes if, but for chance, they read the same one. Every start of the
/// kernel has another, and every time namespace [time_namespaces(7)].
pub fn identity() -> [u8; 8] {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let name = format!("{}{}", boot.trim(), namespace.display());
    units::Seed::new(0).derive(&name).get().to_be_bytes()
}

/// How far the wall clock has moved against the monotonic one: the
/// difference of two of these is the step between them. A process that is
/// interrupted between two clocks has seen no step.
pub fn wall_offset_nanos() -> i64 {
    i64::try_from(compare()).unwrap_or(i64::MAX)
}

/// What the wall clock shows when [`monotonic`] is zero, in nanoseconds since
/// 1970. The wall clock is read between two readings of the other, which are
/// close to each other unless the process was interrupted; then again.
fn compare() -> i128 {
    const CLOSE: Span = Span::from_micros(1);
    const TRIES: u32 = 8;
    let mut best = (Span::from_secs(1), 0);
    for _ in 0..TRIES {
        let before = monotonic();
        let wall = nanos(ClockId::CLOCK_REALTIME);
        let apart = monotonic().since(before).unwrap_or_default();
        let middle = before + Span::from_picos(apart.as_picos() / 2);
        best = best.min((apart, i128::from(wall) - i128::from(middle.as_nanos())));
        if apart <= CLOSE {
            break;
        }
    }
    best.1
}

/// Sleeps for `span`, for set-up that has to wait for the kernel.
pub fn sleep(span: Span) {
    #[expect(
        clippy::disallowed_methods,
        reason = "live::clock is where waiting belongs"
    )]
    std::thread::sleep(Duration::from_nanos(span.as_nanos()));
}

/// Sleeps until [`monotonic`] shows `deadline`, and returns at once if it has
/// passed. The kernel wakes the caller late by its timer slack, a switch of
/// tasks, and whatever an idle processor needs to wake; a
/// [`Pacer`](crate::pacing::Pacer) hides most of that.
pub fn sleep_until(deadline: Time) {
    let nanos = first_reading().saturating_add(deadline.as_nanos());
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    let rest = i64::try_from(nanos % 1_000_000_000).unwrap_or(0);
    // An absolute deadline moves by no signal: the sleep is taken up again.
    while clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &TimeSpec::new(seconds, rest),
    ) == Err(Errno::EINTR)
    {}
}

/// The smallest step of the wall clock as the kernel declares it.
///
/// # Errors
/// Where the kernel has no such clock.
pub fn resolution() -> Result<Span> {
    let step = clock_getres(ClockId::CLOCK_REALTIME).during(|| "reading the clock's resolution")?;
    Ok(Span::from_nanos(u64::try_from(step.tv_nsec()).unwrap_or(0)))
}

/// What drives the clocks, e.g. `tsc`; empty where the kernel does not say.
pub fn source() -> String {
    fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// What else could drive the clocks, as the kernel lists it.
pub fn available_sources() -> Vec<String> {
    fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .map(|text| text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default()
}

/// The monotonic clock when it was first read, in nanoseconds.
fn first_reading() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    *FIRST.get_or_init(|| nanos(ClockId::CLOCK_MONOTONIC))
}

fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("Linux has had these clocks since 2.6");
    let nanos = i128::from(now.tv_sec()) * 1_000_000_000 + i128::from(now.tv_nsec());
    u64::try_from(nanos).unwrap_or(0)
}
