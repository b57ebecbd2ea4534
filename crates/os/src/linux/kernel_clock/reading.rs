//! Readings of the kernel's clocks.

use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC in nanoseconds: [`monotonic`](crate::clock::monotonic) with the kernel's
/// zero, so two processes of a machine read the same.
pub fn monotonic_nanos() -> u64 {
    nanos(ClockId::CLOCK_MONOTONIC)
}

/// CLOCK_MONOTONIC_RAW in nanoseconds, which no time service changes [clock_gettime(2)].
pub(crate) fn rate_nanos() -> u64 {
    nanos(ClockId::CLOCK_MONOTONIC_RAW)
}

/// A clock in nanoseconds since its zero.
pub(super) fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("Linux has had these clocks since 2.6");
    let nanos = i128::from(now.tv_sec()) * 1_000_000_000 + i128::from(now.tv_nsec());
    u64::try_from(nanos).unwrap_or(0)
}
