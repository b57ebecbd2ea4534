//! Processor time of programs, shared by the benchmarks that compare them.

use nix::sys::resource::Usage;
use nix::sys::time::TimeValLike;

/// CPU seconds of processes in user and kernel mode.
pub(crate) fn processor_seconds(used: &Usage) -> f64 {
    let micros = |time: nix::sys::time::TimeVal| f64_of(time.num_microseconds());
    (micros(used.user_time()) + micros(used.system_time())) / 1e6
}

/// A whole number as a float.
pub(crate) const fn f64_of(number: i64) -> f64 {
    number as f64
}
