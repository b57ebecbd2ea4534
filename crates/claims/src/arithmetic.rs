//! Computations from statements of the papers.

mod egan;
mod jumbogram;
mod mred;
mod os;

use analysis::verdict::Verdict;

use crate::outcome::digits;

/// A printed figure and the computation of it.
#[derive(Debug)]
pub(crate) struct Computation {
    /// The name in the register.
    name: &'static str,
    /// The computation in words and figures.
    how: &'static str,
    /// The unit.
    unit: &'static str,
    /// The printed value.
    printed: Printed,
    /// The computed value.
    exact: fn() -> f64,
}

/// A statement of a paper about a number.
#[derive(Clone, Copy, Debug)]
enum Printed {
    /// A figure, and how far rounding in print may have moved it.
    Is(f64, f64),
    /// A lower bound.
    AtLeast(f64),
    /// An upper bound.
    AtMost(f64),
}

/// Distances that binary fractions make.
const ROUNDING: f64 = 1e-9;

/// The computation of this name.
pub(crate) fn find(name: &str) -> Option<&'static Computation> {
    all().find(|computation| computation.name == name)
}

fn all() -> impl Iterator<Item = &'static Computation> {
    [mred::ALL, egan::ALL, jumbogram::ALL, os::ALL]
        .into_iter()
        .flatten()
}

impl Computation {
    /// Reproduced if the exact figure is within the printed one's rounding or on
    /// the stated side of the bound.
    pub(crate) fn verdict(&self) -> Verdict {
        let exact = (self.exact)();
        let agrees = match self.printed {
            Printed::Is(value, rounding) => (exact - value).abs() <= rounding + ROUNDING,
            Printed::AtLeast(bound) => exact >= bound - ROUNDING,
            Printed::AtMost(bound) => exact <= bound + ROUNDING,
        };
        match agrees {
            true => Verdict::Reproduced,
            false => Verdict::NotReproduced,
        }
    }

    /// The exact figure, the printed one and the computation.
    pub(crate) fn figure(&self) -> String {
        let printed = match self.printed {
            Printed::Is(value, _) => digits(value),
            Printed::AtLeast(bound) => format!("at least {}", digits(bound)),
            Printed::AtMost(bound) => format!("at most {}", digits(bound)),
        };
        let unit = match self.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let exact = digits((self.exact)());
        format!("{exact}{unit}; printed {printed} ({})", self.how)
    }
}

/// The values of a row of a table that satisfy a condition.
#[expect(clippy::cast_precision_loss, reason = "a row has few cells")]
fn count<const N: usize>(row: [f64; N], condition: fn(f64) -> bool) -> f64 {
    row.into_iter().filter(|&value| condition(value)).count() as f64
}

/// The changes from one row to another in per cent.
fn changes<const N: usize>(from: [f64; N], to: [f64; N]) -> [f64; N] {
    std::array::from_fn(|at| 100.0 * (to[at] / from[at] - 1.0))
}

/// The largest value of a row.
fn largest<const N: usize>(row: [f64; N]) -> f64 {
    row.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// The smallest value of a row.
fn smallest<const N: usize>(row: [f64; N]) -> f64 {
    row.into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::register::papers;

    #[test]
    fn each_computation_has_one_name_and_a_claim() {
        let papers = papers().unwrap();
        let claims = papers.iter().flat_map(|paper| &paper.claims);
        let used: BTreeSet<&str> = claims
            .filter_map(|claim| claim.evidence.computation())
            .collect();
        let names: Vec<&str> = all().map(|one| one.name).collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), distinct.len());
        assert_eq!(distinct, used);
    }

    #[test]
    fn computations_give_the_figures_that_were_checked_by_hand() {
        for (name, exact) in [
            ("mred-drop", 3.0588),
            ("mred-throughput", 1.6630),
            ("mred-equation", -14.0),
            ("mred-saved-rate", 31.297),
            ("egan-ratio", 1.8524),
            ("egan-rate", 83.16),
            ("2017-mean", 117.286),
            ("2017-frames-6000", 5.0),
            ("2019-throughput-gain", 33.60),
            ("2019-frames-1500", 3502.0),
        ] {
            let found = (find(name).unwrap().exact)();
            assert!((found / exact - 1.0).abs() < 2e-4, "{name}: {found}");
        }
    }

    #[test]
    fn a_verdict_allows_for_rounding_and_no_more() {
        let of = |printed| Computation {
            name: "",
            how: "",
            unit: "",
            printed,
            exact: || 1.25,
        };
        for (printed, verdict) in [
            (Printed::Is(1.3, 0.05), Verdict::Reproduced),
            (Printed::Is(1.4, 0.05), Verdict::NotReproduced),
            (Printed::AtLeast(1.25), Verdict::Reproduced),
            (Printed::AtLeast(1.26), Verdict::NotReproduced),
            (Printed::AtMost(1.25), Verdict::Reproduced),
            (Printed::AtMost(1.24), Verdict::NotReproduced),
        ] {
            assert_eq!(of(printed).verdict(), verdict, "{printed:?}");
        }
    }
}
