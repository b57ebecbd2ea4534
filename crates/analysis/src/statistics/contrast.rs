//! Products and quotients of means, by their logarithms.

use std::collections::BTreeMap;

use super::{Interval, Mean, alone, count, student};
use crate::digits;

/// A product of means divided by a product of other means (a ratio, or a ratio
/// of ratios), with the distribution of its logarithm.
///
/// The means are independent. The logarithm of each is assumed to be normal,
/// with its variance by the delta method. The variances add up, and the degrees
/// of freedom are Welch's and Satterthwaite's [Welch1947] [Satterthwaite1946].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    logarithm: f64,
    /// The standard error of the logarithm.
    error: f64,
    freedom: f64,
}

impl Contrast {
    /// The product of `over` divided by that of `under`. `None` unless all
    /// means are positive and each is of at least two values.
    pub fn of(over: &[&Mean], under: &[&Mean]) -> Option<Self> {
        let (mut logarithm, mut variance, mut squares) = (0.0, 0.0, 0.0);
        let signed = over.iter().map(|mean| (mean, 1.0));
        for (mean, sign) in signed.chain(under.iter().map(|mean| (mean, -1.0))) {
            if mean.mean <= 0.0 {
                return None;
            }
            let part = mean.variance? / (mean.mean * mean.mean);
            logarithm += sign * digits::ln(mean.mean);
            variance += part;
            squares += part.powi(2) / mean.freedom;
        }
        // Without any spread there is no interval to have degrees of freedom.
        let freedom = if squares > 0.0 {
            variance.powi(2) / squares
        } else {
            1.0
        };
        Some(Self {
            logarithm,
            error: variance.sqrt(),
            freedom,
        })
    }

    /// The estimate, in per cent above 1.
    pub fn percent(&self) -> f64 {
        100.0 * digits::exp_m1(self.logarithm)
    }

    /// The two-sided interval at `level`, such as 0.95, in per cent above 1.
    /// `None` if its ends are not finite.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let half = student(self.freedom).inverse_cdf_two_sided(level) * self.error;
        let percent = |logarithm: f64| 100.0 * digits::exp_m1(logarithm);
        Interval {
            low: percent(self.logarithm - half),
            high: percent(self.logarithm + half),
        }
        .finite()
    }

    /// The p-value of the estimate if the true value is 1.
    pub fn p(&self) -> f64 {
        student(self.freedom).p_two_sided(self.logarithm, self.error)
    }
}

/// The mean of several changes in per cent, each from the second mean to the
/// first, and its 95 % interval.
///
/// Each mean has the number of its sample: a sample that several changes share
/// affects all of them. The variance is found by the delta method, the degrees
/// of freedom are Satterthwaite's [Satterthwaite1946]. There is no interval if
/// a mean is of one value; `None` without changes, and unless all means are
/// positive.
pub fn mean_percent(changes: &[[(usize, Mean); 2]]) -> Option<(f64, Option<Interval>)> {
    let mut percent = 0.0;
    // The derivative with respect to the logarithm of each mean.
    let mut slopes: BTreeMap<usize, (f64, Mean)> = BTreeMap::new();
    for [(sample, mean), (baseline, other)] in changes {
        if mean.mean <= 0.0 || other.mean <= 0.0 {
            return None;
        }
        let part = 100.0 * mean.mean / other.mean / count(changes.len());
        percent += part;
        slopes.entry(*sample).or_insert((0.0, *mean)).0 += part;
        slopes.entry(*baseline).or_insert((0.0, *other)).0 -= part;
    }
    let percent = (!changes.is_empty()).then_some(percent - 100.0)?;
    let parts: Option<Vec<(f64, f64)>> = slopes
        .values()
        .map(|(slope, mean)| Some((mean.variance? * (slope / mean.mean).powi(2), mean.freedom)))
        .collect();
    let all_predicted = slopes.values().all(|(_, mean)| mean.is_predicted);
    if all_predicted {
        return Some((percent, alone(percent, true)));
    }
    let interval = parts.and_then(|parts| {
        let variance: f64 = parts.iter().map(|(part, _)| part).sum();
        let square = |(part, freedom): &(f64, f64)| part.powi(2) / freedom;
        let squares: f64 = parts.iter().map(square).sum();
        let freedom = if squares > 0.0 {
            variance.powi(2) / squares
        } else {
            1.0
        };
        let half = student(freedom).inverse_cdf_two_sided(0.95) * variance.sqrt();
        Interval {
            low: percent - half,
            high: percent + half,
        }
        .finite()
    });
    Some((percent, interval))
}
