//! Estimates the number of trials that would settle open questions.

use super::{count, student};

/// The maximum practical number; more count as "too many".
const MOST: usize = 10_000;

/// The smallest number of trials per sample for which an interval with
/// half-width `half` after `n` trials would be at most `target`, if the spread
/// stays the same: the standard error falls with the root of the number of
/// trials, and Student's quantile with the degrees of freedom. `None` if the
/// number is impractically large.
pub fn trials_to_narrow(n: usize, half: f64, target: f64) -> Option<usize> {
    if n < 2 || !half.is_finite() || target.is_nan() || target <= 0.0 {
        return None;
    }
    // Two samples of n trials have 2 (n - 1) degrees of freedom.
    let quantile = |n: usize| student(2.0 * (count(n) - 1.0)).inverse_cdf_two_sided(0.95);
    let spread = half / quantile(n) * count(n).sqrt();
    let wide = |n: usize| quantile(n) * spread / count(n).sqrt() > target;
    if wide(MOST) {
        return None;
    }
    let (mut low, mut high) = (1, MOST);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if wide(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}
