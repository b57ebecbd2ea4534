//! The rows of the answer, in the JSON line of a run.

use analysis::Findings;
use plan::metric::Metric;
use plan::{Factors, ReportRow};
use serde::Serialize;

use crate::section::rows::{self, Absent, Finding, Line};

/// A row, with the field order of the format.
#[derive(Serialize)]
pub(super) struct AnswerRow<'a> {
    title: &'a str,
    metric: &'a str,
    unit: &'static str,
    /// The levels of the cell; absent if the row is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<&'a Factors>,
    baseline: Option<f64>,
    mean: Option<f64>,
    change_percent: Option<f64>,
    change_ci95: Option<[f64; 2]>,
    finding: String,
    /// Absent if it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approximate: bool,
    #[serde(rename = "where")]
    place: Option<&'a str>,
    /// Why the row is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The rows with a figure, and then those without.
pub(super) fn rows<'a>(found: &'a Findings<'_>) -> Vec<AnswerRow<'a>> {
    let measured = rows::lines(found).into_iter().map(measured);
    let absent = rows::absent(found).into_iter().map(absent);
    measured.chain(absent).collect()
}

fn measured(line: Line<'_>) -> AnswerRow<'_> {
    let change = line.comparison.change;
    let mean = |comparison: &analysis::compare::Comparison| comparison.mean.map(|mean| mean.mean);
    AnswerRow {
        factors: Some(&line.comparison.factors),
        baseline: mean(line.baseline),
        mean: mean(line.comparison),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change
            .and_then(|change| change.ci95)
            .map(|interval| [interval.low, interval.high]),
        finding: Finding::of(line.comparison).to_string(),
        approximate: line.comparison.is_approximate(),
        ..bare(line.row)
    }
}

fn absent(Absent { row, why }: Absent<'_>) -> AnswerRow<'_> {
    AnswerRow {
        finding: "left out".to_owned(),
        reason: Some(why),
        ..bare(row)
    }
}

fn bare(row: &ReportRow) -> AnswerRow<'_> {
    AnswerRow {
        title: &row.title,
        metric: &row.metric,
        unit: Metric::named(&row.metric).map_or("", |metric| metric.unit),
        factors: None,
        baseline: None,
        mean: None,
        change_percent: None,
        change_ci95: None,
        finding: String::new(),
        approximate: false,
        place: row.place.as_deref(),
        reason: None,
    }
}
