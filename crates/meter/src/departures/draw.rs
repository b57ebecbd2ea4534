//! Samplers of distributions.

use rand::{Rng, RngExt as _};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution as _, Gamma, Poisson, StandardNormal};
use units::Seed;

use super::distribution::Distribution;
use super::seen::Seen;

/// The largest value drawn, slightly below the largest `u64`.
const MOST: f64 = 1.8e19;

/// A distribution with a random stream of its own, independent of all others.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    sampler: Sampler,
    generator: ChaCha8Rng,
    /// The fraction cut off the previous value. It is carried over, so means are exact
    /// although each value is rounded down.
    rest: f64,
}

impl Stream {
    pub(super) fn new(distribution: Distribution, seed: Seed) -> Self {
        Self {
            sampler: Sampler::of(distribution),
            generator: ChaCha8Rng::seed_from_u64(seed.get()),
            rest: 0.0,
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        let drawn = self.sampler.draw(&mut self.generator) + self.rest;
        let whole = drawn.floor();
        self.rest = drawn - whole;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number that is not below zero"
        )]
        let whole = whole as u64;
        whole
    }
}

/// A distribution prepared for drawing.
#[derive(Clone, Debug)]
pub(super) enum Sampler {
    /// A distribution without preparation.
    Plain(Distribution),
    /// A Poisson count, and the unit that it multiplies.
    Poisson(Poisson<f64>, f64),
    /// A gamma distribution of shape 1 or more and scale 1; the scale; for a shape below 1, its
    /// inverse.
    Gamma(Gamma<f64>, f64, Option<f64>),
    /// Values in order, and the place of the next one.
    Series(Seen, usize),
}

impl Sampler {
    /// A distribution that [`Distribution::check`] rejects yields zeros only.
    pub(super) fn of(distribution: Distribution) -> Self {
        if distribution.check().is_err() {
            return Self::Plain(Distribution::Constant(0.0));
        }
        match distribution {
            Distribution::Poisson(mean, unit) => match Poisson::new(mean / unit) {
                Ok(count) => Self::Poisson(count, unit),
                // The mean is so small that it counts as zero.
                Err(_) => Self::Plain(Distribution::Constant(0.0)),
            },
            Distribution::Gamma(shape, scale) => {
                // A shape below 1 is the distribution of the next shape times a power of a
                // uniform variate [Marsaglia2000 s6]. The power is computed here to be
                // the same on every machine; that of `rand_distr` may differ if another
                // crate enables its feature std.
                let inverse = (shape < 1.0).then(|| 1.0 / shape);
                let whole = shape + f64::from(u8::from(inverse.is_some()));
                match Gamma::new(whole, 1.0) {
                    Ok(gamma) => Self::Gamma(gamma, scale, inverse),
                    Err(_) => Self::Plain(Distribution::Constant(0.0)),
                }
            }
            Distribution::Series(seen) => Self::Series(seen, 0),
            distribution => Self::Plain(distribution),
        }
    }

    /// A value of zero or more.
    pub(super) fn draw(&mut self, generator: &mut ChaCha8Rng) -> f64 {
        let drawn = match self {
            Self::Plain(distribution) => plain(distribution, generator),
            Self::Poisson(count, unit) => count.sample(generator) * *unit,
            Self::Gamma(gamma, scale, inverse) => {
                let one = gamma.sample(generator);
                let power = inverse.map_or(1.0, |inverse| {
                    libm::pow(1.0 - generator.random::<f64>(), inverse)
                });
                one * power * *scale
            }
            Self::Series(seen, next) => {
                let value = seen[*next];
                *next = (*next + 1) % seen.len();
                value
            }
        };
        drawn.clamp(0.0, MOST)
    }
}

/// Draws by inversion, except for the normal distribution.
fn plain(distribution: &Distribution, generator: &mut impl Rng) -> f64 {
    // In [0, 1), so the logarithms and powers below never take zero.
    let mut uniform = || generator.random::<f64>();
    match distribution {
        Distribution::Constant(value) => *value,
        Distribution::Exponential(mean) => -mean * libm::log1p(-uniform()),
        Distribution::Uniform(least, most) => least + (most - least) * uniform(),
        Distribution::Empirical(seen) => seen[generator.random_range(0..seen.len())],
        Distribution::Normal(mean, deviation) => {
            let normal: f64 = generator.sample(StandardNormal);
            mean + deviation * normal
        }
        Distribution::Pareto(shape, scale) => scale * libm::pow(1.0 - uniform(), -1.0 / shape),
        Distribution::Cauchy(median, scale) => {
            median + scale * libm::tan(std::f64::consts::PI * (uniform() - 0.5))
        }
        Distribution::Weibull(shape, scale) => {
            scale * libm::pow(-libm::log1p(-uniform()), 1.0 / shape)
        }
        // Handled by prepared samplers, see above.
        Distribution::Poisson(..) | Distribution::Gamma(..) | Distribution::Series(_) => 0.0,
    }
}
