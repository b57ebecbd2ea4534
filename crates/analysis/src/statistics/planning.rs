//! How many trials would settle what is open.

use super::{count, student};

/// More than anybody would run: beyond it the answer is "too many".
const MOST: usize = 10_000;

/// The least number of trials, per sample, for which an interval that is now
/// `half` wide to each side after `n` trials would be at most `target`, if the
/// spread stays as it is: the standard error falls with the root of the number
/// of trials, and Student's quantile with the degrees of freedom. `None` where
/// that is more than anybody would run.
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
