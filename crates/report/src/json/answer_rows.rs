//! The rows of the answer, in the JSON line of a run.

use analysis::Findings;
use analysis::answer::{Absent, Row};
use plan::metric::Metric;
use plan::{Factors, ReportRow};
use serde::Serialize;

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
    reason: Option<&'a str>,
}

/// The rows with a figure, and then those without.
pub(super) fn rows<'a>(found: &'a Findings<'_>) -> Vec<AnswerRow<'a>> {
    let measured = found.answer.rows.iter().map(measured);
    let absent = found.answer.absent.iter().map(absent);
    measured.chain(absent).collect()
}

fn measured<'a>(line: &'a Row<'_>) -> AnswerRow<'a> {
    let change = line.comparison.change;
    let mean = |comparison: &analysis::compare::Comparison| comparison.mean.map(|mean| mean.mean);
    AnswerRow {
        factors: Some(&line.comparison.factors),
        baseline: mean(&line.baseline),
        mean: mean(&line.comparison),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change
            .and_then(|change| change.ci95)
            .map(|interval| [interval.low, interval.high]),
        finding: line.finding.to_string(),
        approximate: line.comparison.is_approximate(),
        ..bare(line.declared)
    }
}

fn absent<'a>(Absent { declared, why }: &'a Absent<'_>) -> AnswerRow<'a> {
    AnswerRow {
        finding: "left_out".to_owned(),
        reason: Some(why),
        ..bare(declared)
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
