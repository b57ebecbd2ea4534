//! Trials that stand apart from the others of their cell, in words.

use crate::figure;
use crate::figure::four_digits;
use crate::section::Section;
use analysis::Findings;
use analysis::outliers::Outlier;
use plan::Plan;

/// The trials that stand apart.
pub(super) struct Outliers;

impl Section for Outliers {
    fn heading(&self) -> &'static str {
        "Outliers, far from the median of their cell; they are kept in every figure"
    }

    fn lines(&self, found: &Findings<'_>) -> Vec<String> {
        let line = |outlier: &Outlier<'_>| line(found.plan, outlier);
        found.outliers.iter().map(line).collect()
    }
}

/// Where, how many, on which side, and the farthest.
fn line(plan: &Plan, outlier: &Outlier<'_>) -> String {
    let side = match (outlier.above, outlier.below) {
        (0, _) => "all below",
        (_, 0) => "all above",
        _ => "around",
    };
    let (id, farthest) = outlier.farthest;
    let [middle, farthest] = [outlier.median, farthest].map(four_digits);
    format!(
        "{}, {}: {} of {}, {side} {middle}, farthest {farthest} {} ({id})",
        outlier.metric.name,
        figure::cell(plan, outlier.factors),
        outlier.above + outlier.below,
        outlier.n,
        outlier.metric.unit
    )
}
