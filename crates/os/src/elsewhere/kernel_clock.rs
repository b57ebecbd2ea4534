//! The clock of systems other than Linux as other processes and the program's stamps mean it.

use std::sync::OnceLock;

use units::{Span, Time};

use super::random::random;
use crate::clock::{self, first_reading, monotonic};
#[cfg(not(target_os = "linux"))]
use crate::error::{OperationContext, Result};
pub use crate::portable::mapping::Mapping;
use crate::portable::mapping::compare;
pub use crate::portable::slew::SlewWatch;

/// The monotonic clock in nanoseconds since this process first read it.
pub fn monotonic_nanos() -> u64 {
    clock::monotonic_nanos()
}

/// The reading of [`monotonic`] when [`monotonic_nanos`] shows `nanos`; zero if that was before
/// the first reading.
pub fn monotonic_of(nanos: u64) -> Time {
    Time::from_nanos(nanos.saturating_sub(first_reading()))
}

/// The reading of [`monotonic_nanos`] when [`monotonic`] shows `time`.
pub fn nanos_of(time: Time) -> u64 {
    first_reading().saturating_add(time.as_nanos())
}

/// Identifies the clock that [`monotonic_nanos`] reads. Its zero is this process's own, so
/// every process has another value, and two ends on one machine compare their clocks.
pub fn identity() -> [u8; 8] {
    static IDENTITY: OnceLock<[u8; 8]> = OnceLock::new();
    // Without random numbers there is no session that could use it.
    *IDENTITY.get_or_init(|| random().unwrap_or_default())
}

/// Processor time of this process, in nanoseconds; zero if the system does not state it.
#[cfg(not(target_os = "linux"))]
pub fn process_nanos() -> u64 {
    let sample = super::cpu_time::Process::sample();
    sample.map_or(0, |process| process.cpu.as_nanos())
}

/// The resolution of the clocks by which the program stamps arrivals, as the system states it.
///
/// # Errors
/// It states none.
#[cfg(not(target_os = "linux"))]
pub fn resolution() -> Result<Span> {
    #[cfg(unix)]
    let stated = super::sys::unix::clock_resolution();
    #[cfg(windows)]
    let stated = super::sys::windows::clock_resolution();
    stated.during(|| "asking for the clock's resolution")
}

/// The offset of the wall clock from the monotonic clock; the difference of two offsets is the
/// step between them.
pub fn wall_offset_nanos() -> i64 {
    i64::try_from(compare()).unwrap_or(i64::MAX)
}

/// Sleeps until [`monotonic`] shows `deadline`; returns at once if it has passed.
pub fn sleep_until(deadline: Time) {
    // A sleep may end early by the granularity of the system's timer.
    while let Some(left) = deadline
        .since(monotonic())
        .filter(|left| *left > Span::ZERO)
    {
        clock::sleep(left);
    }
}
