//! Clocks and sleeping. Only this module and its child, and on Linux `kernel_clock`, read a
//! clock or wait.

#[cfg(any(test, not(target_os = "linux")))]
mod instant;
#[cfg(feature = "skew")]
pub mod skew;

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use units::{Span, Time};

#[cfg(target_os = "linux")]
pub(crate) use crate::linux::kernel_clock::reading::{monotonic_nanos, rate_nanos};
// No time service changes the rate of this clock on Windows and macOS. FreeBSD has no other, so
// a slew there remains unseen.
#[cfg(not(target_os = "linux"))]
pub(crate) use instant::{monotonic_nanos, monotonic_nanos as rate_nanos};

/// The start of a run on this machine's wall clock.
///
/// The kernel timestamps packets with CLOCK_REALTIME. Senders and receivers on one machine
/// read the same clock; those on different machines have an epoch each, which
/// they compare in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Epoch {
    unix_nanos: u64,
}

impl Epoch {
    /// The present time.
    pub fn now() -> Self {
        Self::at(wall_nanos())
    }

    /// The time of `unix_nanos` nanoseconds since 1970 UTC.
    pub const fn at(unix_nanos: u64) -> Self {
        Self { unix_nanos }
    }

    /// The time since the epoch; zero if the clock was set back before it.
    pub fn elapsed(self) -> Time {
        self.time_of(wall_nanos())
    }

    /// The time of a timestamp that the kernel took when its wall clock showed `unix_nanos`.
    pub fn time_of_stamp(self, unix_nanos: u64) -> Time {
        self.time_of(as_read(unix_nanos))
    }

    fn time_of(self, unix_nanos: u64) -> Time {
        Time::from_nanos(unix_nanos.saturating_sub(self.unix_nanos))
    }

    /// Converts `time`, counted from the epoch, to nanoseconds since 1970 UTC.
    pub const fn unix_nanos_at(self, time: Time) -> u64 {
        self.unix_nanos.saturating_add(time.as_nanos())
    }

    /// The epoch in nanoseconds since 1970 UTC.
    pub const fn unix_nanos(self) -> u64 {
        self.unix_nanos
    }
}

/// The wall clock in nanoseconds since 1970 UTC.
pub fn wall_nanos() -> u64 {
    as_read(wall_of_system())
}

#[cfg(feature = "skew")]
pub use skew::as_read;

/// The reading of the wall clock by the kernel as this program sees it.
#[cfg(not(feature = "skew"))]
pub const fn as_read(nanos: u64) -> u64 {
    nanos
}

/// The monotonic clock, which is never set: for deadlines and durations. It counts from
/// its first reading, because the uptime of a machine may exceed the range of [`Time`].
pub fn monotonic() -> Time {
    let first = first_reading();
    Time::from_nanos(monotonic_nanos().saturating_sub(first))
}

/// Sleeps for `span`, during set-up that waits for the kernel.
pub fn sleep(span: Span) {
    #[expect(
        clippy::disallowed_methods,
        reason = "os::clock is where waiting belongs"
    )]
    std::thread::sleep(Duration::from_nanos(span.as_nanos()));
}

/// The system's wall clock, in nanoseconds since 1970 UTC.
pub(crate) fn wall_of_system() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "os::clock is where clocks are read"
    )]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// The first reading of the monotonic clock, in nanoseconds.
pub(crate) fn first_reading() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    *FIRST.get_or_init(monotonic_nanos)
}
