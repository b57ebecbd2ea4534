//! Jackknife intervals of statistics other than means.

use super::{Interval, Mean, mean};

/// A statistic of several values, and the contribution of each value
/// [Miller1974].
#[derive(Clone, Debug, PartialEq)]
pub struct Jackknife {
    /// The statistic.
    pub estimate: f64,
    /// The pseudo-values: `n` times the statistic, minus `n - 1` times that of
    /// the other values. For a mean, they are the values themselves.
    pseudo: Vec<f64>,
}

impl Jackknife {
    /// The jackknife of `figure`, which computes the statistic of all `n`
    /// values or of all but one.
    pub fn of(n: usize, figure: impl Fn(Option<usize>) -> f64) -> Self {
        let estimate = figure(None);
        let all = super::count(n);
        let pseudo = |left: usize| all * estimate - (all - 1.0) * figure(Some(left));
        Self {
            estimate,
            pseudo: (0..n).map(pseudo).collect(),
        }
    }

    /// Its 95 % interval, centred on the statistic; `None` for a single value.
    pub fn interval(&self) -> Option<Interval> {
        let half = mean(&self.pseudo)?.ci95?.half();
        Interval {
            low: self.estimate - half,
            high: self.estimate + half,
        }
        .finite()
    }

    /// The difference from `other` by paired contributions: those in the same
    /// position, as many as both have.
    pub fn above(&self, other: &Self) -> Option<Mean> {
        let pairs = self.pseudo.iter().zip(&other.pseudo);
        mean(&pairs.map(|(own, other)| own - other).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 5] = [3.0, 1.0, 4.0, 1.5, 5.0];

    fn average(left: Option<usize>) -> f64 {
        let kept: Vec<f64> = VALUES
            .iter()
            .enumerate()
            .filter(|(place, _)| Some(*place) != left)
            .map(|(_, value)| *value)
            .collect();
        kept.iter().sum::<f64>() / super::super::count(kept.len())
    }

    #[test]
    fn of_a_mean_it_is_students_interval() {
        let found = Jackknife::of(VALUES.len(), average);
        let student = mean(&VALUES).unwrap();
        let (own, known) = (found.interval().unwrap(), student.ci95.unwrap());
        assert!((found.estimate - student.mean).abs() < 1e-12);
        assert!((own.low - known.low).abs() < 1e-12 && (own.high - known.high).abs() < 1e-12);
    }

    #[test]
    fn of_a_square_it_is_that_of_the_delta_method_nearly() {
        // The standard error of m^2 is 2 m times that of m, but for terms of
        // higher order.
        let found = Jackknife::of(VALUES.len(), |left| average(left).powi(2));
        let student = mean(&VALUES).unwrap();
        let half = 2.0 * student.mean * student.ci95.unwrap().half();
        assert!((found.interval().unwrap().half() / half - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_figure_is_as_far_above_another_as_its_values_say() {
        let one = Jackknife::of(VALUES.len(), average);
        let other = Jackknife::of(VALUES.len(), |left| average(left) - 2.0);
        let above = one.above(&other).unwrap();
        assert!((above.mean - 2.0).abs() < 1e-12);
        assert!(above.ci95.unwrap().half() < 1e-12);
    }

    #[test]
    fn a_single_value_has_no_interval() {
        assert_eq!(Jackknife::of(1, |_| 2.0).interval(), None);
    }
}
