//! Distributions in control messages.

use wire::control;

use super::Distribution;

impl Distribution {
    /// The distribution in a control message; `None` for observed values, which have no
    /// parameters.
    pub fn to_wire(&self) -> Option<control::Distribution> {
        let (family, first, second) = match self {
            Self::Constant(value) => (0, *value, 0.0),
            Self::Exponential(mean) => (1, *mean, 0.0),
            Self::Uniform(least, most) => (2, *least, *most),
            Self::Normal(mean, deviation) => (3, *mean, *deviation),
            Self::Poisson(mean, unit) => (4, *mean, *unit),
            Self::Pareto(shape, scale) => (5, *shape, *scale),
            Self::Cauchy(median, scale) => (6, *median, *scale),
            Self::Gamma(shape, scale) => (7, *shape, *scale),
            Self::Weibull(shape, scale) => (8, *shape, *scale),
            Self::Empirical(_) | Self::Series(_) => return None,
        };
        Some(control::Distribution {
            family,
            parameters: [first.to_bits(), second.to_bits()],
        })
    }

    /// The distribution that a control message states; `None` if no such one exists.
    pub fn of_wire(distribution: &control::Distribution) -> Option<Self> {
        let [first, second] = distribution.parameters.map(f64::from_bits);
        let distribution = match distribution.family {
            0 => Self::Constant(first),
            1 => Self::Exponential(first),
            2 => Self::Uniform(first, second),
            3 => Self::Normal(first, second),
            4 => Self::Poisson(first, second),
            5 => Self::Pareto(first, second),
            6 => Self::Cauchy(first, second),
            7 => Self::Gamma(first, second),
            8 => Self::Weibull(first, second),
            _ => return None,
        };
        distribution.check().is_ok().then_some(distribution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_the_same_behind_the_wire_and_a_wrong_one_is_none() {
        for distribution in [
            Distribution::Constant(1500.0),
            Distribution::Exponential(0.5),
            Distribution::Uniform(1.0, 2.0),
            Distribution::Normal(512.0, 64.0),
            Distribution::Poisson(5e9, 1e9),
            Distribution::Pareto(1.5, 40.0),
            Distribution::Cauchy(500.0, 50.0),
            Distribution::Gamma(2.0, 250.0),
            Distribution::Weibull(0.8, 500.0),
        ] {
            assert_eq!(
                Distribution::of_wire(&distribution.to_wire().unwrap()),
                Some(distribution)
            );
        }
        for (family, first) in [(0, f64::NAN), (1, -1.0), (5, 1e300), (9, 1.0)] {
            let distribution = control::Distribution {
                family,
                parameters: [first.to_bits(), 1_f64.to_bits()],
            };
            assert_eq!(Distribution::of_wire(&distribution), None);
        }
    }
}
