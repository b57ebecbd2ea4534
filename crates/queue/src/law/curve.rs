//! From an average length to a probability.

/// RED's probability over the average length of the queue [Floyd1993 s4].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Curve {
    /// Below this average nothing happens; in the unit of the average.
    pub min: f64,
    /// At this average the probability is [`Curve::max_probability`].
    pub max: f64,
    /// The probability at [`Curve::max`], from 0 to 1.
    pub max_probability: f64,
    /// Whether it goes on to 1 at twice [`Curve::max`], instead of jumping to
    /// 1 there and then [Floyd2000].
    pub gentle: bool,
}

impl Curve {
    /// The probability at `average`, from 0 to 1.
    pub fn probability(&self, average: f64) -> f64 {
        if average < self.min {
            0.0
        } else if average < self.max {
            self.max_probability * (average - self.min) / (self.max - self.min)
        } else if self.gentle {
            let beyond = (average - self.max) / self.max;
            (self.max_probability + (1.0 - self.max_probability) * beyond).min(1.0)
        } else {
            1.0
        }
    }

    /// The average from which on the probability is 1.
    pub fn end(&self) -> f64 {
        if self.gentle {
            2.0 * self.max
        } else {
            self.max
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve = Curve {
        min: 5.0,
        max: 15.0,
        max_probability: 0.1,
        gentle: true,
    };

    #[test]
    fn the_gentle_curve_is_linear_in_pieces_and_continuous() {
        for (average, probability) in [
            (0.0, 0.0),
            (4.999, 0.0),
            (5.0, 0.0),
            (7.5, 0.025),
            (10.0, 0.05),
            (15.0, 0.1),
            (20.0, 0.4),
            (22.5, 0.55),
            (30.0, 1.0),
            (31.0, 1.0),
        ] {
            assert!((CURVE.probability(average) - probability).abs() < 1e-12);
        }
        for knot in [5.0, 15.0, 30.0] {
            let near = CURVE.probability(knot - 1e-13) - CURVE.probability(knot + 1e-13);
            assert!(near.abs() < 1e-12, "continuous at {knot}");
        }
        assert!((CURVE.end() - 30.0).abs() < 1e-12);
    }

    #[test]
    fn without_gentleness_the_end_is_at_once() {
        let hard = Curve {
            gentle: false,
            ..CURVE
        };
        assert!((hard.probability(14.999_999) - 0.1).abs() < 1e-7);
        assert!((hard.probability(15.0) - 1.0).abs() < 1e-12);
        assert!((hard.end() - 15.0).abs() < 1e-12);
    }
}
