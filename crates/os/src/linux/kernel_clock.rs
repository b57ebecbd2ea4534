//! The clocks of the kernel: what a timestamp of a packet and another process of this
//! machine mean by a time, and waiting for a time.

pub(crate) mod reading;
mod synchronisation;

use std::fs;

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_getres, clock_nanosleep};
use units::{Span, Time};

use crate::clock::first_reading;
use crate::error::{OperationContext, Result};
pub use crate::portable::mapping::Mapping;
use crate::portable::mapping::compare;
pub use crate::portable::slew::SlewWatch;
pub use reading::monotonic_nanos;
use reading::nanos;
pub use synchronisation::Synchronisation;

/// A CLOCK_REALTIME timestamp taken by the kernel, in nanoseconds since 1970 UTC; `None` if
/// it gave none.
pub fn unix_nanos(stamp: TimeSpec) -> Option<u64> {
    let nanos = i128::from(stamp.tv_sec()) * 1_000_000_000 + i128::from(stamp.tv_nsec());
    u64::try_from(nanos).ok().filter(|nanos| *nanos > 0)
}

/// The reading of [`monotonic`] when the wall clock showed `unix_nanos`, unless the
/// wall clock was set since; `None` if that was before the first reading.
pub fn monotonic_at(unix_nanos: u64) -> Option<Time> {
    let nanos = u64::try_from(i128::from(unix_nanos) - compare()).ok()?;
    Some(Time::from_picos(nanos.checked_mul(1_000)?))
}

/// Processor time of this process, in nanoseconds: the clock that `clock()` of C reads
/// [clock(3)].
pub fn process_nanos() -> u64 {
    nanos(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// The reading of [`monotonic`] when CLOCK_MONOTONIC shows `nanos`; zero if that was before
/// the first reading.
pub fn monotonic_of(nanos: u64) -> Time {
    Time::from_nanos(nanos.saturating_sub(first_reading()))
}

/// The reading of CLOCK_MONOTONIC, in nanoseconds, when [`monotonic`] shows `time`.
pub fn nanos_of(time: Time) -> u64 {
    first_reading().saturating_add(time.as_nanos())
}

/// Identifies the clock that [`monotonic_nanos`] reads. Two processes have the same
/// value if they read the same clock (otherwise only by a rare collision). Every boot
/// and every time namespace has its own [time_namespaces(7)].
pub fn identity() -> [u8; 8] {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let name = format!("{}{}", boot.trim(), namespace.display());
    units::Seed::new(0).derive(&name).get().to_be_bytes()
}

/// The offset of the wall clock from the monotonic clock; the difference of two offsets
/// is the step between them. An interruption between the two readings does not appear
/// as a step.
pub fn wall_offset_nanos() -> i64 {
    i64::try_from(compare()).unwrap_or(i64::MAX)
}

/// Sleeps until [`monotonic`] shows `deadline`; returns at once if it has passed. The
/// wake-up is late by the timer slack, a context switch, and the time that an idle
/// processor needs to wake up; a [`Pacer`](crate::pacing::Pacer) hides most of this.
pub fn sleep_until(deadline: Time) {
    let nanos = first_reading().saturating_add(deadline.as_nanos());
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    let rest = i64::try_from(nanos % 1_000_000_000).unwrap_or(0);
    // The deadline is absolute, so an interrupted sleep can simply be repeated.
    while clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &TimeSpec::new(seconds, rest),
    ) == Err(Errno::EINTR)
    {}
}

/// The resolution of the wall clock as the kernel states it.
///
/// # Errors
/// If the kernel has no such clock.
pub fn resolution() -> Result<Span> {
    let step = clock_getres(ClockId::CLOCK_REALTIME).during(|| "reading the clock's resolution")?;
    Ok(Span::from_nanos(u64::try_from(step.tv_nsec()).unwrap_or(0)))
}

/// The clock source, e.g. `tsc`; empty if unknown.
pub fn source() -> String {
    fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// The available clock sources, as the kernel lists them.
pub fn available_sources() -> Vec<String> {
    fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .map(|text| text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default()
}
