//! Distributions of gaps and sizes: names, valid parameters, and moments.

use super::seen::Seen;

/// A distribution of gaps or sizes, in the unit of the quantity: picoseconds for gaps,
/// bytes for sizes.
///
/// No value is below zero: negative values of a distribution are replaced by zero. The
/// distribution above zero is unchanged; means and variances of distributions that extend below
/// zero, normal and Cauchy, are those of the replaced values.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distribution {
    /// A constant value.
    Constant(f64),
    /// Exponential with this mean; such gaps make a Poisson process.
    Exponential(f64),
    /// Uniform between the first and the second value.
    Uniform(f64, f64),
    /// One of the observed values, each equally likely; a value observed twice is
    /// listed twice. Zeros if there are none.
    Empirical(Seen),
    /// The observed values in their order, from the first one again after the last. Zeros if
    /// there are none.
    Series(Seen),
    /// Normal with this mean and standard deviation [Johnson1994 ch 13].
    Normal(f64, f64),
    /// Poisson with the first value as mean, in multiples of the second: a count has no
    /// scale, so the unit is part of the distribution.
    Poisson(f64, f64),
    /// Pareto with this shape and this scale, which is the minimum [Johnson1994 ch 20].
    Pareto(f64, f64),
    /// Cauchy with this median and this scale, half of the interquartile range
    /// [Johnson1994 ch 16].
    Cauchy(f64, f64),
    /// Gamma with this shape and this scale [Johnson1994 ch 17].
    Gamma(f64, f64),
    /// Weibull with this shape and this scale [Johnson1994 ch 21].
    Weibull(f64, f64),
}

/// Reasons for which a distribution is invalid or unusable for packets, with the remedy. The
/// message follows the name of the quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDistribution {
    /// A parameter is not a number, infinite or negative.
    #[error("must be numbers of 0 or more, at least one; write the smaller of two first")]
    Numbers,
    /// A shape whose sums of squares would overflow a double.
    #[error("must have a shape from 0.05 to 1000; write another one")]
    Shape,
    /// A scale of zero, for which the distribution is undefined.
    #[error("must have a scale above 0; write another one")]
    Scale,
    /// A count too large to draw.
    #[error("must have a mean above 0 and at most 1000000000 units; make the unit larger")]
    Count,
    /// Gaps too small for a clock.
    #[error("are below a picosecond on average; make them longer")]
    Gaps,
    /// Payloads larger than any datagram.
    #[error("are larger than any message; write at most 65507 bytes on IPv4, 65527 on IPv6")]
    Large,
    /// Periods so short that drawing them would take all the time.
    #[error("must send for 1 us or more at a time on average; make that longer")]
    Periods,
}

/// Shapes whose means and variances fit a double.
const SHAPES: std::ops::RangeInclusive<f64> = 0.05..=1e3;
/// The most units of a Poisson distribution.
const LARGEST_COUNT: f64 = 1e9;

impl Distribution {
    /// Checks the parameters.
    ///
    /// # Errors
    /// See [`BadDistribution`].
    pub fn check(&self) -> Result<(), BadDistribution> {
        let number = |number: f64| number.is_finite() && number >= 0.0;
        let numbers = match self {
            Self::Constant(one) | Self::Exponential(one) => number(*one),
            Self::Uniform(least, most) => number(*least) && number(*most) && least <= most,
            Self::Empirical(seen) | Self::Series(seen) => {
                !seen.is_empty() && seen.iter().all(|one| number(*one))
            }
            Self::Normal(one, other)
            | Self::Poisson(one, other)
            | Self::Pareto(one, other)
            | Self::Cauchy(one, other)
            | Self::Gamma(one, other)
            | Self::Weibull(one, other) => number(*one) && number(*other),
        };
        if !numbers {
            return Err(BadDistribution::Numbers);
        }
        match *self {
            Self::Pareto(shape, _) | Self::Gamma(shape, _) | Self::Weibull(shape, _)
                if !SHAPES.contains(&shape) =>
            {
                Err(BadDistribution::Shape)
            }
            Self::Pareto(_, scale)
            | Self::Gamma(_, scale)
            | Self::Weibull(_, scale)
            | Self::Cauchy(_, scale)
                if scale == 0.0 =>
            {
                Err(BadDistribution::Scale)
            }
            Self::Poisson(mean, unit) if !(mean > 0.0 && mean <= LARGEST_COUNT * unit) => {
                Err(BadDistribution::Count)
            }
            _ => Ok(()),
        }
    }

    /// The mean of the drawn values; infinite if it does not exist, as with Cauchy and
    /// with a Pareto shape of 1 or less.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Poisson(mean, _) => *mean,
            Self::Uniform(least, most) => f64::midpoint(*least, *most),
            Self::Empirical(seen) | Self::Series(seen) => {
                seen.iter().sum::<f64>() / seen.len().max(1) as f64
            }
            Self::Normal(mean, deviation) => from_zero(*mean, *deviation).0,
            Self::Pareto(shape, scale) if *shape > 1.0 => scale * shape / (shape - 1.0),
            Self::Pareto(..) | Self::Cauchy(..) => f64::INFINITY,
            Self::Gamma(shape, scale) => shape * scale,
            Self::Weibull(shape, scale) => scale * libm::tgamma(1.0 + 1.0 / shape),
        }
    }

    /// The variance of the drawn values, in the square of their unit; infinite if it
    /// does not exist, as with Cauchy and with a Pareto shape of 2 or less.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Exponential(mean) => mean * mean,
            Self::Uniform(least, most) => (most - least).powi(2) / 12.0,
            Self::Empirical(seen) | Self::Series(seen) => {
                let mean = self.mean();
                let squares: f64 = seen.iter().map(|one| (one - mean).powi(2)).sum();
                squares / seen.len().max(1) as f64
            }
            Self::Normal(mean, deviation) => from_zero(*mean, *deviation).1,
            Self::Poisson(mean, unit) => mean * unit,
            Self::Pareto(shape, scale) if *shape > 2.0 => {
                scale * scale * shape / ((shape - 1.0).powi(2) * (shape - 2.0))
            }
            Self::Pareto(..) | Self::Cauchy(..) => f64::INFINITY,
            Self::Gamma(shape, scale) => shape * scale * scale,
            Self::Weibull(shape, scale) => {
                let mean = libm::tgamma(1.0 + 1.0 / shape);
                scale * scale * (libm::tgamma(1.0 + 2.0 / shape) - mean * mean)
            }
        }
    }

    /// The minimum and the maximum of the drawn values.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Constant(one) => (*one, *one),
            Self::Uniform(least, most) => (*least, *most),
            Self::Empirical(seen) | Self::Series(seen) => seen
                .iter()
                .fold((f64::INFINITY, 0.0), |(least, most), one| {
                    (least.min(*one), most.max(*one))
                }),
            Self::Normal(mean, 0.0) => (*mean, *mean),
            Self::Pareto(_, scale) => (*scale, f64::INFINITY),
            Self::Exponential(_)
            | Self::Normal(..)
            | Self::Poisson(..)
            | Self::Cauchy(..)
            | Self::Gamma(..)
            | Self::Weibull(..) => (0.0, f64::INFINITY),
        }
    }
}

/// Mean and variance of a normal distribution whose negative values are replaced by zero, a
/// censored normal distribution. With z = mean / deviation, the first two moments are m P(z) + s
/// p(z) and (m^2 + s^2) P(z) + m s p(z) [Johnson1994 ch 13.10].
fn from_zero(mean: f64, deviation: f64) -> (f64, f64) {
    if deviation == 0.0 {
        return (mean, 0.0);
    }
    let z = mean / deviation;
    let above = 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
    let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
    let first = mean * above + deviation * density;
    let second = (mean * mean + deviation * deviation) * above + mean * deviation * density;
    (first, (second - first * first).max(0.0))
}
