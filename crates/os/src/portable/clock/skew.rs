//! A wall clock of this thread that differs from the machine's, in tests.

use std::cell::Cell;

/// The difference of a clock.
#[derive(Clone, Copy)]
struct Skew {
    /// Nanoseconds ahead at the time `from`.
    ahead: i64,
    from: u64,
    parts_per_million: i64,
}

thread_local! {
    static SKEW: Cell<Option<Skew>> = const { Cell::new(None) };
}

/// Makes the wall clock of this thread lead by `ahead` nanoseconds from now on, and gain
/// `parts_per_million`.
pub fn skew(ahead: i64, parts_per_million: i64) {
    let from = super::wall_of_system();
    SKEW.set(Some(Skew {
        ahead,
        from,
        parts_per_million,
    }));
}

/// This thread's reading when the machine's wall clock shows `nanos`.
pub fn as_read(nanos: u64) -> u64 {
    let Some(skew) = SKEW.get() else {
        return nanos;
    };
    let since = i128::from(nanos) - i128::from(skew.from);
    let gained = since * i128::from(skew.parts_per_million) / 1_000_000;
    u64::try_from(i128::from(nanos) + i128::from(skew.ahead) + gained).unwrap_or_default()
}
