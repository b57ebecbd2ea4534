//! Laws of gaps and sizes: what they are called, what they may be, and what
//! they come to on average.

use super::seen::Seen;

/// What gaps or sizes are drawn from, each with the unit of what it describes:
/// picoseconds for gaps, octets for sizes.
///
/// Nothing is drawn below zero: what a law has there counts as zero. So the
/// distribution above zero stays what it is; means and variances of the laws
/// that reach below zero, normal and Cauchy, are those of what is drawn.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Law {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean: with such gaps packets come as a Poisson
    /// process.
    Exponential(f64),
    /// Uniform between the first and the second.
    Uniform(f64, f64),
    /// One of these, all alike: a value that was seen twice as often stands
    /// there twice. Nothing but zeros where nothing was seen.
    Empirical(Seen),
    /// Normal with this mean and this standard deviation
    /// [Johnson1994 ch 13].
    Normal(f64, f64),
    /// Poisson with the first as mean, in whole multiples of the second: the
    /// law of a count has no scale, so its unit is part of it.
    Poisson(f64, f64),
    /// Pareto with this shape and this scale, which is the least value
    /// [Johnson1994 ch 20].
    Pareto(f64, f64),
    /// Cauchy with this median and this scale, half the distance between the
    /// quartiles [Johnson1994 ch 16].
    Cauchy(f64, f64),
    /// Gamma with this shape and this scale [Johnson1994 ch 17].
    Gamma(f64, f64),
    /// Weibull with this shape and this scale [Johnson1994 ch 21].
    Weibull(f64, f64),
}

/// Why there is no such law, or why packets cannot follow it, and what would be
/// right. The name of what follows the law stands in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLaw {
    /// A parameter is no number, infinite or below zero.
    #[error("must be numbers from 0 on, at least one, the smaller one of two first")]
    Numbers,
    /// A shape from which sums of squares would leave the doubles.
    #[error("must have a shape from 0.05 to 1000")]
    Shape,
    /// A scale of zero, of which there is no such law.
    #[error("must have a scale above 0")]
    Scale,
    /// A count that is too large to be drawn as one.
    #[error("must have a mean above 0 and at most 1000000000 units; make the unit larger")]
    Count,
    /// Gaps that no clock can tell from none.
    #[error("are below a picosecond on average; make them longer")]
    Gaps,
    /// Payloads that no datagram can hold.
    #[error("are larger than any message; 65507 octets are the most on IPv4, 65527 on IPv6")]
    Large,
    /// Periods that are so short that drawing them would be all there is to do.
    #[error("must send for 1 us or more at a time on average; make that longer")]
    Periods,
}

/// Shapes with which means and variances are doubles.
const SHAPES: std::ops::RangeInclusive<f64> = 0.05..=1e3;
/// The most units of a Poisson law.
const LARGEST_COUNT: f64 = 1e9;

impl Law {
    /// Whether there is such a law.
    ///
    /// # Errors
    /// See [`BadLaw`].
    pub fn check(&self) -> Result<(), BadLaw> {
        let number = |number: f64| number.is_finite() && number >= 0.0;
        let numbers = match self {
            Self::Constant(one) | Self::Exponential(one) => number(*one),
            Self::Uniform(least, most) => number(*least) && number(*most) && least <= most,
            Self::Empirical(seen) => !seen.is_empty() && seen.iter().all(|one| number(*one)),
            Self::Normal(one, other)
            | Self::Poisson(one, other)
            | Self::Pareto(one, other)
            | Self::Cauchy(one, other)
            | Self::Gamma(one, other)
            | Self::Weibull(one, other) => number(*one) && number(*other),
        };
        if !numbers {
            return Err(BadLaw::Numbers);
        }
        match *self {
            Self::Pareto(shape, _) | Self::Gamma(shape, _) | Self::Weibull(shape, _)
                if !SHAPES.contains(&shape) =>
            {
                Err(BadLaw::Shape)
            }
            Self::Pareto(_, scale)
            | Self::Gamma(_, scale)
            | Self::Weibull(_, scale)
            | Self::Cauchy(_, scale)
                if scale == 0.0 =>
            {
                Err(BadLaw::Scale)
            }
            Self::Poisson(mean, unit) if !(mean > 0.0 && mean <= LARGEST_COUNT * unit) => {
                Err(BadLaw::Count)
            }
            _ => Ok(()),
        }
    }

    /// The mean of what is drawn; infinite where there is none, as with Cauchy
    /// and with a Pareto whose shape is 1 or less.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Poisson(mean, _) => *mean,
            Self::Uniform(least, most) => f64::midpoint(*least, *most),
            Self::Empirical(seen) => seen.iter().sum::<f64>() / seen.len().max(1) as f64,
            Self::Normal(mean, deviation) => from_zero(*mean, *deviation).0,
            Self::Pareto(shape, scale) if *shape > 1.0 => scale * shape / (shape - 1.0),
            Self::Pareto(..) | Self::Cauchy(..) => f64::INFINITY,
            Self::Gamma(shape, scale) => shape * scale,
            Self::Weibull(shape, scale) => scale * libm::tgamma(1.0 + 1.0 / shape),
        }
    }

    /// The variance of what is drawn, in the square of its unit; infinite where
    /// there is none, as with Cauchy and with a Pareto whose shape is 2 or less.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Exponential(mean) => mean * mean,
            Self::Uniform(least, most) => (most - least).powi(2) / 12.0,
            Self::Empirical(seen) => {
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

    /// The least and the most that is drawn.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Constant(one) => (*one, *one),
            Self::Uniform(least, most) => (*least, *most),
            Self::Empirical(seen) => seen
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

/// Mean and variance of a normal law whose values below zero count as zero,
/// a censored normal law: with z = mean / deviation,
/// the first two moments are m P(z) + s p(z) and (m^2 + s^2) P(z) + m s p(z)
/// [Johnson1994 ch 13.10].
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
