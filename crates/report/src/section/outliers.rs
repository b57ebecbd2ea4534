//! Outliers among the trials of each cell.

use analysis::Findings;
use analysis::outliers::Outlier;
use document::Section;
use plan::Plan;

use crate::figure;

/// A line for each cell and metric with outliers.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let lines = found.outliers.iter();
    let heading = match figure::trimmed(&found.comparisons).is_some() {
        true => {
            "Outliers, far from the median of their cell; only trimmed means (†) leave trials out"
        }
        false => "Outliers, far from the median of their cell; all results include them",
    };
    Section::listed(
        "outliers",
        heading,
        lines.map(|outlier| line(found.plan, outlier)).collect(),
    )
}

/// The cell, the number of outliers, their side, and the farthest one.
fn line(plan: &Plan, outlier: &Outlier<'_>) -> String {
    let side = match (outlier.above, outlier.below) {
        (0, _) => "all below",
        (_, 0) => "all above",
        _ => "around",
    };
    let (id, farthest) = outlier.farthest;
    let interval = outlier.median_ci95;
    let figures = [
        outlier.median,
        farthest,
        interval.low,
        interval.high,
        outlier.mean,
    ];
    let [middle, farthest, low, high, mean] = figures.map(figure::four_digits);
    format!(
        "{}, {}: {} of {}, {side} the median {middle} [{low}, {high}] (mean of all {mean}), farthest {farthest} {} ({id})",
        outlier.metric.name,
        figure::cell(plan, outlier.factors),
        outlier.above + outlier.below,
        outlier.n,
        outlier.metric.unit
    )
}
