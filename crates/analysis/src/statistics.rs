//! Means and changes with their 95 % intervals.
//!
//! Means have Student's t interval [Student1908]; where outliers or disturbances would
//! decide them, [`Estimator`] takes trimmed ones. A change is that of a ratio
//! of means ([`Contrast`]), whose logarithm is assumed to be normal. Several
//! comparisons are judged together by Holm's procedure [Holm1979].

mod bootstrap;
mod contrast;
mod planning;
pub mod steps;
mod trimmed;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::digits;
pub use contrast::{Contrast, mean_percent};
pub use planning::trials_to_narrow;
pub use trimmed::{Estimator, Trimmed};
pub(crate) use trimmed::{OUTLIER, median, scores};

/// An interval of a change that holds 0 and is wider than this percentage, the baseline
/// itself, is no result.
const WIDE: f64 = 100.0;

/// A closed interval. As JSON it is its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl From<Interval> for [f64; 2] {
    fn from(Interval { low, high }: Interval) -> Self {
        [low, high]
    }
}

impl Interval {
    /// Whether it contains `value`.
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

    /// Whether it is narrower than a hundred-thousandth of figures about so
    /// large: then their trials count as without spread.
    pub fn is_exact(self, figures: f64) -> bool {
        self.half() <= 1e-5 * figures.abs()
    }

    /// Whether a change with this interval, in per cent, is no result: the interval holds
    /// 0 and is wider than the baseline.
    pub fn is_no_result(self) -> bool {
        self.holds(0.0) && self.high - self.low > WIDE
    }

    /// How far it reaches from 0, to either side.
    pub fn reach(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The interval, unless one of its ends is NaN or infinite.
    fn finite(self) -> Option<Self> {
        (self.low.is_finite() && self.high.is_finite()).then_some(self)
    }
}

/// A sample's mean, or its trimmed mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The number of values.
    pub n: usize,
    /// Their arithmetic mean; with `trimmed`, their trimmed mean.
    pub mean: f64,
    /// The variance of the mean; a single value has none.
    #[serde(skip)]
    variance: Option<f64>,
    /// The degrees of freedom of the variance.
    #[serde(skip)]
    freedom: f64,
    /// Its 95 % interval; a single value has none.
    pub ci95: Option<Interval>,
    /// Whether it is a figure of closed forms, which no chance has changed. It has
    /// no interval: how far off it is nobody has measured.
    #[serde(skip)]
    pub is_predicted: bool,
    /// Whether it is approximate: other work on the machine disturbed some of the values,
    /// or some of those that it is compared with.
    #[serde(skip)]
    pub is_approximate: bool,
    /// Of a trimmed mean, how it differs from the mean of all values.
    #[serde(skip)]
    pub trimmed: Option<Trimmed>,
}

impl Mean {
    /// The same figure as one of closed forms.
    #[must_use]
    pub const fn predicted(self) -> Self {
        Self {
            is_predicted: true,
            ..self
        }
    }

    /// The interval by which the mean is judged: its own, or of a prediction the
    /// figure alone.
    pub fn judged(&self) -> Option<Interval> {
        self.ci95.or_else(|| alone(self.mean, self.is_predicted))
    }
}

/// A prediction as an interval to judge it by.
fn alone(figure: f64, is_predicted: bool) -> Option<Interval> {
    is_predicted.then_some(Interval {
        low: figure,
        high: figure,
    })
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
    /// The p-value of the change. Consistent with `ci95`, if that exists: it
    /// excludes 0 if and only if this is below 0.05.
    pub p: Option<f64>,
    /// The smallest margin, in per cent, for which two one-sided tests at 5 %
    /// find the two equivalent: a larger change in either direction would have
    /// been detected [Schuirmann1987]. Absent if `ci95` is.
    pub excluded_above: Option<f64>,
    /// The reason why `ci95` is absent.
    pub missing: Option<&'static str>,
    /// Whether it is a change between two predictions.
    pub is_predicted: bool,
}

/// The mean of `values` with its interval; `None` without values, or with NaN.
pub fn mean(values: &[f64]) -> Option<Mean> {
    let n = count(values.len());
    let mean = values.iter().sum::<f64>() / n;
    if values.is_empty() || !mean.is_finite() {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = (values.len() > 1).then(|| squares / (n - 1.0) / n);
    Some(Mean {
        n: values.len(),
        mean,
        variance,
        freedom: n - 1.0,
        ci95: variance.and_then(|variance| interval(mean, variance, n - 1.0)),
        is_predicted: false,
        is_approximate: false,
        trimmed: None,
    })
}

/// The 95 % interval of an estimate with this variance and these degrees of
/// freedom.
fn interval(estimate: f64, variance: f64, freedom: f64) -> Option<Interval> {
    let half = student(freedom).inverse_cdf_two_sided(0.95) * variance.sqrt();
    Interval {
        low: estimate - half,
        high: estimate + half,
    }
    .finite()
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
        excluded_above: None,
        missing: None,
        is_predicted: sample.is_predicted && baseline.is_predicted,
    };
    if change.is_predicted {
        // Nothing is left to chance: any difference is one.
        change.missing = Some("closed forms have no interval");
        change.p = Some(if x == b { 1.0 } else { 0.0 });
        return change;
    }
    if sample.n < 2 || baseline.n < 2 {
        change.missing = Some("too few trials: a single one has no interval");
        return change;
    }
    let Some(ratio) = Contrast::of(&[sample], &[baseline]) else {
        // There is no logarithm: Welch's test of the difference itself.
        change.missing = Some("a ratio needs two positive means");
        change.p = welch(x - b, sample, baseline);
        return change;
    };
    change.p = Some(ratio.p());
    change.ci95 = ratio.interval(0.95);
    change.excluded_above = ratio.interval(0.90).map(|interval| interval.reach());
    if change.ci95.is_none() {
        change.missing = Some("the spread is too large for an interval");
    }
    change
}

/// The 95 % interval of the difference between the means of `sample` and
/// `other`, by Welch's approximation [Welch1947]; `None` if one has a single
/// value. Of two predictions it is the difference alone.
pub fn difference(sample: &Mean, other: &Mean) -> Option<Interval> {
    if sample.is_predicted && other.is_predicted {
        return alone(sample.mean - other.mean, true);
    }
    let (freedom, error) = welch_parts(sample, other)?;
    let half = student(freedom).inverse_cdf_two_sided(0.95) * error;
    let difference = sample.mean - other.mean;
    Interval {
        low: difference - half,
        high: difference + half,
    }
    .finite()
}

/// The hypotheses that are rejected if the probability of rejecting any true
/// one must stay below `level` [Holm1979].
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

/// The two-sided p-value of `estimate` being 0 by Welch's test, from the
/// variances of its two parts [Welch1947].
fn welch(estimate: f64, a: &Mean, b: &Mean) -> Option<f64> {
    let (freedom, error) = welch_parts(a, b)?;
    Some(student(freedom).p_two_sided(estimate, error))
}

/// The degrees of freedom and the standard error of the difference of two means.
fn welch_parts(a: &Mean, b: &Mean) -> Option<(f64, f64)> {
    let (va, vb) = (a.variance?, b.variance?);
    let squares = va.powi(2) / a.freedom + vb.powi(2) / b.freedom;
    let freedom = if squares > 0.0 {
        (va + vb).powi(2) / squares
    } else {
        1.0
    };
    Some((freedom, (va + vb).sqrt()))
}

/// Student's t distribution.
struct Student(StudentsT);

/// The distribution with `freedom` degrees of freedom. Spreads so small or so
/// large that their squares leave the range of numbers have no degrees of
/// freedom; they get one, the widest distribution of two values.
fn student(freedom: f64) -> Student {
    let freedom = if freedom > 0.0 { freedom } else { 1.0 };
    let distribution = StudentsT::new(0.0, 1.0, freedom);
    Student(distribution.expect("the degrees of freedom are positive"))
}

impl Student {
    /// The two-sided quantile: the number of standard errors to each side for a
    /// confidence of `level`.
    fn inverse_cdf_two_sided(&self, level: f64) -> f64 {
        digits::rounded(self.0.inverse_cdf(f64::midpoint(1.0, level)))
    }

    /// The two-sided p-value of an estimate with a standard error; 1 if one of
    /// them is not finite.
    fn p_two_sided(&self, estimate: f64, error: f64) -> f64 {
        if !estimate.is_finite() || !error.is_finite() {
            1.0
        } else if error > 0.0 {
            digits::rounded(2.0 * self.0.cdf(-(estimate / error).abs()))
        } else if estimate == 0.0 {
            1.0
        } else {
            0.0
        }
    }
}

const fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
