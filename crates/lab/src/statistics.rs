//! Means and changes with their 95 % intervals.
//!
//! Means have Student's t interval [Student1908]. A change is that of a ratio
//! of means: the logarithm of the ratio is taken for normal, its variance is
//! found by the delta method and its degrees of freedom by Welch and
//! Satterthwaite [Welch1947] [Satterthwaite1946]. Several comparisons are
//! judged together by Holm's procedure [Holm1979].

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it holds `value`.
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether the two have a value in common.
    pub fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Half its width.
    pub fn half(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The interval, unless one of its ends is no number.
    fn finite(self) -> Option<Self> {
        (self.low.is_finite() && self.high.is_finite()).then_some(self)
    }
}

/// A sample's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The number of values.
    pub n: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// The variance of the mean; a single value has none.
    variance: Option<f64>,
    /// Its 95 % interval; a single value has none.
    pub ci95: Option<Interval>,
}

/// How a sample differs from the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// 100 (mean / baseline mean - 1), decreases negative. Absent if the
    /// baseline's mean is not positive.
    pub percent: Option<f64>,
    /// The 95 % interval of `percent`. Absent if a sample is a single value or
    /// if not both means are positive.
    pub ci95: Option<Interval>,
    /// Mean minus baseline mean.
    pub difference: f64,
    /// How probable so large a change is by chance. Where `ci95` exists the
    /// two agree: it excludes 0 if and only if this is below 0.05.
    pub p: Option<f64>,
    /// Why `ci95` is absent.
    pub missing: Option<&'static str>,
}

/// The mean of `values` and its interval; `None` of no values, or of values
/// that are not numbers.
pub fn mean(values: &[f64]) -> Option<Mean> {
    let n = count(values.len());
    let mean = values.iter().sum::<f64>() / n;
    if values.is_empty() || !mean.is_finite() {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = (values.len() > 1).then(|| squares / (n - 1.0) / n);
    let ci95 = variance.and_then(|variance| {
        let half = t95(n - 1.0) * variance.sqrt();
        Interval {
            low: mean - half,
            high: mean + half,
        }
        .finite()
    });
    Some(Mean {
        n: values.len(),
        mean,
        variance,
        ci95,
    })
}

/// The change of a sample's mean against the mean of a baseline.
pub fn change(sample: &Mean, baseline: &Mean) -> Change {
    let (x, b) = (sample.mean, baseline.mean);
    let mut change = Change {
        percent: (b > 0.0)
            .then(|| 100.0 * (x / b - 1.0))
            .filter(|p| p.is_finite()),
        ci95: None,
        difference: x - b,
        p: None,
        missing: None,
    };
    let (Some(vx), Some(vb)) = (sample.variance, baseline.variance) else {
        change.missing = Some("a single trial has no interval");
        return change;
    };
    if x <= 0.0 || b <= 0.0 {
        // No logarithm exists: Welch's test of the difference itself.
        change.missing = Some("a ratio needs two positive means");
        change.p = Some(test(x - b, vx, vb, sample.n, baseline.n).0);
        return change;
    }
    let (a, c) = (vx / (x * x), vb / (b * b));
    let logarithm = (x / b).ln();
    let (p, half) = test(logarithm, a, c, sample.n, baseline.n);
    let percent = |logarithm: f64| 100.0 * logarithm.exp_m1();
    change.p = Some(p);
    change.ci95 = Interval {
        low: percent(logarithm - half),
        high: percent(logarithm + half),
    }
    .finite();
    if change.ci95.is_none() {
        change.missing = Some("the spread is too large for an interval");
    }
    change
}

/// Which of several hypotheses are rejected if the chance of rejecting any
/// true one is to stay below `level` [Holm1979].
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut rejected = vec![false; p_values.len()];
    for (rank, &position) in order.iter().enumerate() {
        if p_values[position] > level / count(p_values.len() - rank) {
            break;
        }
        rejected[position] = true;
    }
    rejected
}

/// The two-sided p-value of `estimate` being 0, and half the width of its 95 %
/// interval, from the variances of its two parts.
fn test(estimate: f64, a: f64, b: f64, n_a: usize, n_b: usize) -> (f64, f64) {
    let variance = a + b;
    if variance <= 0.0 {
        return (if estimate == 0.0 { 1.0 } else { 0.0 }, 0.0);
    }
    let (share_a, share_b) = (a / variance, b / variance);
    let freedom = 1.0 / (share_a.powi(2) / count(n_a - 1) + share_b.powi(2) / count(n_b - 1));
    let error = variance.sqrt();
    let p = 2.0 * student(freedom).cdf(-(estimate / error).abs());
    (p, t95(freedom) * error)
}

/// The two-sided 95 % quantile of Student's t.
fn t95(freedom: f64) -> f64 {
    student(freedom).inverse_cdf(0.975)
}

fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("two values or more leave degrees of freedom")
}

fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
