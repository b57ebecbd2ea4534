//! Trimmed means, which few outliers do not decide.
//!
//! A trimmed mean leaves out the lowest and the highest fifth of the values.
//! Its variance is that of the Winsorized sample, in which each value left out
//! is replaced by the nearest one that is not [TukeyMcLaughlin1963]. Two of them
//! are compared as two means are, with fewer degrees of freedom [Yuen1974].

use serde::Serialize;

use super::bootstrap::bootstrapped;
use super::{Mean, count, interval, mean};

/// The number of values for each one that is left out at each end: a fifth.
pub(super) const TRIMMED_AT_EACH_END: usize = 5;

/// The minimum number of values for a trimmed mean. Of five values three would
/// remain; without outliers their interval is much wider than that of the mean.
const FEWEST_TRIMMED: usize = 6;

/// The minimum number of values for the detection of outliers.
const FEWEST: usize = 5;

/// Modified z-scores above this are outliers [Iglewicz1993].
pub(crate) const OUTLIER: f64 = 3.5;

/// Modified z-scores above this make a metric's means trimmed ones. Of cells of
/// eight normally distributed values, 14 % have an outlier and fewer than 1 % a
/// gross one.
const GROSS_OUTLIER: f64 = 10.0;

/// The median of |x - median| of a normal distribution, in standard deviations
/// [Iglewicz1993].
const NORMAL: f64 = 0.6745;

/// The estimate of the samples of one metric that are compared with one another.
///
/// It is the same for all of them, because the mean and the trimmed mean of a
/// skewed distribution differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Estimator {
    /// The arithmetic mean.
    #[default]
    Mean,
    TrimmedMean,
    /// The trimmed mean with a bootstrapped interval, of values of which other work on
    /// the machine disturbed some: it is approximate.
    Approximate,
}

/// How a trimmed mean differs from the mean of all values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trimmed {
    /// The mean of all values.
    #[serde(rename = "plain_mean")]
    pub plain: f64,
    /// The number of outliers among the values.
    pub outliers: usize,
}

impl Estimator {
    /// The trimmed mean if at least one of `samples` has a gross outlier, and if
    /// each of them that has a spread keeps some of it; otherwise the mean. Each
    /// is given with the resolution of its values, below which a spread says
    /// nothing.
    pub fn of(samples: &[(Vec<f64>, f64)]) -> Self {
        let gross = |(values, resolution): &(Vec<f64>, f64)| {
            let mut scores = scores(values, *resolution).into_iter();
            values.len() >= FEWEST_TRIMMED
                && scores.any(|score| score.abs() > GROSS_OUTLIER && score.is_finite())
        };
        let keeps_spread = |(values, _): &(Vec<f64>, f64)| {
            let spread = |mean: Option<Mean>| mean.and_then(|mean| mean.variance);
            spread(mean(values)).is_none_or(|variance| variance == 0.0)
                || spread(trimmed_mean(values)).is_none_or(|variance| variance > 0.0)
        };
        match samples.iter().any(gross) && samples.iter().all(keeps_spread) {
            true => Self::TrimmedMean,
            false => Self::Mean,
        }
    }

    /// The estimate of `values` with its interval; `None` without values, or
    /// with NaN. Of few values, and of equal ones, it is the mean.
    pub fn estimate(self, values: &[f64]) -> Option<Mean> {
        let plain = mean(values)?;
        let has_spread = plain.variance.is_some_and(|variance| variance > 0.0);
        let trimmed = match self {
            Self::TrimmedMean if has_spread => trimmed_mean(values),
            Self::Approximate if has_spread => bootstrapped(values),
            Self::Approximate | Self::TrimmedMean | Self::Mean => None,
        };
        Some(Mean {
            is_approximate: self == Self::Approximate,
            ..trimmed.unwrap_or(plain)
        })
    }
}

/// The trimmed mean of at least six values.
pub(super) fn trimmed_mean(values: &[f64]) -> Option<Mean> {
    if values.len() < FEWEST_TRIMMED {
        return None;
    }
    let out = values.len() / TRIMMED_AT_EACH_END;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let kept = &sorted[out..sorted.len() - out];
    let (low, high) = (*kept.first()?, *kept.last()?);
    let estimate = kept.iter().sum::<f64>() / count(kept.len());
    let winsorized = || sorted.iter().map(|value| value.clamp(low, high));
    let centre = winsorized().sum::<f64>() / count(sorted.len());
    let squares: f64 = winsorized().map(|value| (value - centre).powi(2)).sum();
    let freedom = count(kept.len()) - 1.0;
    let variance = squares / (count(kept.len()) * freedom);
    let plain = values.iter().sum::<f64>() / count(values.len());
    estimate.is_finite().then(|| Mean {
        n: values.len(),
        mean: estimate,
        variance: Some(variance),
        freedom,
        ci95: interval(estimate, variance, freedom),
        is_predicted: false,
        is_approximate: false,
        trimmed: Some(Trimmed {
            plain,
            outliers: count_outliers(values),
        }),
    })
}

pub(super) fn count_outliers(values: &[f64]) -> usize {
    let scores = scores(values, 0.0).into_iter();
    scores.filter(|score| score.abs() > OUTLIER).count()
}

/// The modified z-score of each value: its distance from the median, relative
/// to the median of such distances [Iglewicz1993], or to `resolution` if that is
/// larger. Fewer than five values have none.
pub(crate) fn scores(values: &[f64], resolution: f64) -> Vec<f64> {
    if values.len() < FEWEST {
        return Vec::new();
    }
    let middle = median(values.iter().copied());
    let deviation = median(values.iter().map(|value| (value - middle).abs()));
    let deviation = deviation.max(resolution);
    let values = values.iter();
    values
        .map(|value| NORMAL * (value - middle) / deviation)
        .collect()
}

/// The median of at least one value.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let half = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, &mut middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(before) if is_even => f64::midpoint(before, middle),
        _ => middle,
    }
}

#[cfg(test)]
mod tests;
