//! JSON lines of paired differences: one object per cell.

use analysis::Findings;
use analysis::paired::metrics;
use analysis::statistics::Interval;
use document::json_line;
use plan::Factors;
use serde::Serialize;

/// One cell, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    factors: &'a Factors,
    baseline: String,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    metric: &'static str,
    unit: &'static str,
    n: usize,
    mean: Option<f64>,
    ci95: Option<Interval>,
}

/// One object per cell, without line ends.
pub(super) fn lines(found: &Findings<'_>) -> Vec<String> {
    let (metrics, compare) = (metrics(found.plan), &found.plan.compare);
    let lines = found.paired.iter().map(|one| {
        let differences = metrics.iter().zip(&one.changes);
        json_line(&Line {
            kind: "paired_differences",
            factors: one.factors,
            baseline: format!("{}={}", compare.factor, compare.baseline),
            differences: differences
                .map(|(metric, change)| Difference {
                    metric: metric.name,
                    unit: metric.unit,
                    n: change.map_or(0, |change| change.n),
                    mean: change.map(|change| change.mean),
                    ci95: change.and_then(|change| change.ci95),
                })
                .collect(),
        })
    });
    lines.collect()
}
