//! Statistics of several runs, shared by the benchmarks that compare programs.

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
