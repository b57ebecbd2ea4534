//! Statistics of several runs, shared by the benchmarks that compare programs.

use nix::sys::resource::Usage;
use nix::sys::time::TimeValLike;

/// The values in ascending order; NaN last.
pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of sorted values (of an even number, the upper one); NaN without
/// values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// CPU seconds of processes in user and kernel mode.
pub(crate) fn processor_seconds(used: &Usage) -> f64 {
    let micros = |time: nix::sys::time::TimeVal| f64_of(time.num_microseconds());
    (micros(used.user_time()) + micros(used.system_time())) / 1e6
}

/// A whole number as a float.
pub(crate) const fn f64_of(number: i64) -> f64 {
    number as f64
}
