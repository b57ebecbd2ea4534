//! The monotonic clock of the standard library, for systems other than Linux.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds since the first call.
#[expect(
    clippy::disallowed_methods,
    reason = "os::clock is where clocks are read"
)]
pub(crate) fn monotonic_nanos() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let first = FIRST.get_or_init(Instant::now);
    u64::try_from(first.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;
    use crate::clock;

    #[test]
    fn it_advances_with_the_time_that_a_thread_sleeps() {
        let before = monotonic_nanos();
        clock::sleep(Span::from_millis(3));
        assert!(monotonic_nanos() >= before + 3_000_000);
    }
}
