//! Computations from statements of the papers.

mod egan;
mod jumbogram;
mod mred;
mod os;

use serde::Serialize;

use crate::conclusion::Conclusion;
use crate::outcome::digits;
use crate::register::{Evidence, Paper};

/// A printed figure and the computation of it.
#[derive(Debug)]
pub(crate) struct Computation {
    /// The name in the register.
    name: &'static str,
    /// The computation in words and figures.
    how: &'static str,
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

/// A sum of a paper: the claim, the printed figure, and what it is computed to be.
/// The order of fields is that of the JSON object.
#[derive(Debug, Serialize)]
pub struct Sum<'a> {
    /// The name of the paper in the register.
    pub paper: &'a str,
    /// The name of the claim.
    pub id: &'a str,
    /// The claim in words.
    pub claim: &'a str,
    /// The printed figure or bound.
    pub printed: String,
    /// The computed figure.
    pub exact: f64,
    pub unit: &'static str,
    /// The computation in words.
    pub how: &'static str,
    /// Whether the printed figure is right to its last digit, or the bound holds.
    pub verdict: Conclusion,
    /// The reason in one sentence.
    pub why: &'a str,
}

/// The sums of the papers, in their order.
pub fn sums(papers: &[Paper]) -> Vec<Sum<'_>> {
    let claims = papers
        .iter()
        .flat_map(|paper| paper.claims.iter().map(move |claim| (paper, claim)));
    claims
        .filter_map(|(paper, claim)| {
            let computation = find(claim.evidence.computation()?)?;
            Some(Sum {
                paper: &paper.name,
                id: &claim.id,
                claim: &claim.text,
                printed: computation.printed(|value| value.to_string()),
                exact: (computation.exact)(),
                unit: computation.unit,
                how: computation.how,
                verdict: match claim.slip {
                    None => computation.conclusion(&claim.evidence),
                    Some(_) => Conclusion::Slip,
                },
                why: &claim.why,
            })
        })
        .collect()
}

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
    /// Whether the exact figure is within the printed one's rounding or on the stated
    /// side of the bound.
    pub(crate) fn agrees(&self) -> bool {
        let exact = (self.exact)();
        match self.printed {
            Printed::Is(value, rounding) => (exact - value).abs() <= rounding + ROUNDING,
            Printed::AtLeast(bound) => exact >= bound - ROUNDING,
            Printed::AtMost(bound) => exact <= bound + ROUNDING,
        }
    }

    /// The conclusion on a claim with this evidence.
    pub(crate) fn conclusion(&self, evidence: &Evidence) -> Conclusion {
        match evidence {
            Evidence::Tables(_) => Conclusion::Tables(self.agrees()),
            _ => Conclusion::Calculation(self.agrees()),
        }
    }

    /// The printed figure or bound, with its number in the form of `text`.
    fn printed(&self, text: fn(f64) -> String) -> String {
        match self.printed {
            Printed::Is(value, _) => text(value),
            Printed::AtLeast(bound) => format!("at least {}", text(bound)),
            Printed::AtMost(bound) => format!("at most {}", text(bound)),
        }
    }

    /// The exact figure, the printed one and the computation.
    pub(crate) fn figure(&self) -> String {
        let printed = self.printed(digits);
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
            ("mred-80000", 81_274.4),
            ("mred-14000", 13_830.5),
            ("mred-header", -4.0),
            ("mred-290", 290.0),
            ("mred-crc", 11_454.0),
            ("egan-udp-limit", 65_507.0),
            ("2019-throughput-linear", 1.1216),
            ("2019-rtt-linux-sender", 2.0),
            ("2019-cpu-sender", -16.35),
            ("2019-frames-4000", 1273.0),
            ("2019-frames-9000", 561.0),
            ("egan-ratio", 1.8524),
            ("egan-megabyte-rate", 83.16),
            ("egan-megabyte-stages", 0.901_10),
            ("egan-message-time", 0.091_776),
            ("2017-mean", 117.286),
            ("2017-frames-6000", 5.0),
            ("2017-jitter-rows", 0.21875),
            ("2017-table-3", 0.6087),
            ("2017-table-4", 0.487_56),
            ("2017-ber-jumbogram", 342_736.0),
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
        for (printed, agrees) in [
            (Printed::Is(1.3, 0.05), true),
            (Printed::Is(1.4, 0.05), false),
            (Printed::AtLeast(1.25), true),
            (Printed::AtLeast(1.26), false),
            (Printed::AtMost(1.25), true),
            (Printed::AtMost(1.24), false),
        ] {
            assert_eq!(of(printed).agrees(), agrees, "{printed:?}");
        }
    }
}
