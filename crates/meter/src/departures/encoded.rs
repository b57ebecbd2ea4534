//! Distributions in control messages.

use wire::control;

use super::Law;

impl Law {
    /// The distribution in a control message; `None` for observed values, which have no
    /// parameters.
    pub fn to_wire(&self) -> Option<control::Law> {
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
            Self::Empirical(_) => return None,
        };
        Some(control::Law {
            family,
            parameters: [first.to_bits(), second.to_bits()],
        })
    }

    /// The distribution that a control message states; `None` if no such one exists.
    pub fn of_wire(law: &control::Law) -> Option<Self> {
        let [first, second] = law.parameters.map(f64::from_bits);
        let law = match law.family {
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
        law.check().is_ok().then_some(law)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_the_same_behind_the_wire_and_a_wrong_one_is_none() {
        for law in [
            Law::Constant(1500.0),
            Law::Exponential(0.5),
            Law::Uniform(1.0, 2.0),
            Law::Normal(512.0, 64.0),
            Law::Poisson(5e9, 1e9),
            Law::Pareto(1.5, 40.0),
            Law::Cauchy(500.0, 50.0),
            Law::Gamma(2.0, 250.0),
            Law::Weibull(0.8, 500.0),
        ] {
            assert_eq!(Law::of_wire(&law.to_wire().unwrap()), Some(law));
        }
        for (family, first) in [(0, f64::NAN), (1, -1.0), (5, 1e300), (9, 1.0)] {
            let law = control::Law {
                family,
                parameters: [first.to_bits(), 1_f64.to_bits()],
            };
            assert_eq!(Law::of_wire(&law), None);
        }
    }
}
