//! Chance for tests, and what may be concluded from it.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A stream of chance that stays the same.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Exponential with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (-self.uniform()).ln_1p()
    }
}

/// Mean and standard deviation.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Whether the 99 % interval around the mean of 20 independent values covers
/// `expected`: Student's t of 19 degrees of freedom is 2.861 [Student1908].
/// The interval must be narrow enough to say something.
#[track_caller]
pub(crate) fn covers(values: &[f64; 20], expected: f64, what: &str) {
    let (mean, deviation) = moments(values);
    let half = 2.861 * deviation / 20_f64.sqrt();
    assert!(half < 0.25 * expected, "{what}: {mean} +- {half}");
    assert!(
        (mean - expected).abs() <= half,
        "{what}: {mean} +- {half}, not {expected}"
    );
}

/// Kolmogorov's statistic of `values` against the uniform distribution over
/// the whole numbers from `first` to `last`, times the root of their number.
/// 1.628 is exceeded once in a hundred times, less often over whole numbers.
pub(crate) fn kolmogorov(values: &[u64], first: u64, last: u64) -> f64 {
    let count = values.len() as f64;
    let apart = |bound: u64| {
        let below = values.iter().filter(|&&value| value <= bound).count() as f64;
        let expected = (bound + 1 - first) as f64 / (last + 1 - first) as f64;
        (below / count - expected).abs()
    };
    (first..=last).map(apart).fold(0.0, f64::max) * count.sqrt()
}
