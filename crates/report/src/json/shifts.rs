//! JSON lines of changes between two runs: one object per metric and cell.

use analysis::compare::{Comparison, Difference, Shift};
use analysis::statistics::{Interval, Mean};
use document::json_line;
use plan::Factors;
use serde::Serialize;

use crate::diff::{Run, shifts};

/// One object per metric and cell that both runs measured, without line ends;
/// docs/reference/json.md is the schema.
pub fn changes_json(first: &Run<'_>, second: &Run<'_>) -> Vec<String> {
    let shifts = shifts(&first.found, &second.found);
    shifts.iter().map(|shift| json_line(&line(shift))).collect()
}

/// One line, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    metric: &'a str,
    unit: &'a str,
    factors: &'a Factors,
    n: [usize; 2],
    mean: [Option<f64>; 2],
    ci95: [Option<Interval>; 2],
    change_percent: Option<f64>,
    change_ci95: Option<Interval>,
    difference: Option<Difference>,
    excluded_above_percent: Option<f64>,
    gain_change_percent: Option<f64>,
    gain_change_ci95: Option<Interval>,
    /// Present if one of the means is a trimmed one: the means of all trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain_mean: Option<[Option<f64>; 2]>,
    /// Present if one of the means is a trimmed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<[&'static str; 2]>,
    /// Present if the change is approximate.
    #[serde(skip_serializing_if = "Option::is_none")]
    approximate: Option<bool>,
}

fn line(shift: &Shift) -> Line<'_> {
    let both = [&shift.before, &shift.after];
    let change = shift.after.change;
    let is_trimmed = |cell: &Comparison| cell.mean.is_some_and(|mean| mean.trimmed.is_some());
    let is_any = both.iter().any(|cell| is_trimmed(cell));
    let plain = |mean: Mean| mean.trimmed.map_or(mean.mean, |trimmed| trimmed.plain);
    let name = |cell: &Comparison| match is_trimmed(cell) {
        true => "trimmed_mean",
        false => "mean",
    };
    Line {
        kind: "change",
        metric: shift.after.metric.name,
        unit: shift.after.metric.unit,
        factors: &shift.after.factors,
        n: both.map(|cell| cell.n),
        mean: both.map(|cell| cell.mean.map(|mean| mean.mean)),
        ci95: both.map(|cell| cell.mean.and_then(|mean| mean.ci95)),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change.and_then(|change| change.ci95),
        difference: shift.after.difference,
        excluded_above_percent: change.and_then(|change| change.excluded_above),
        gain_change_percent: shift.gain.map(|gain| gain.percent()),
        gain_change_ci95: shift.gain.and_then(|gain| gain.interval(0.95)),
        plain_mean: is_any.then(|| both.map(|cell| cell.mean.map(plain))),
        estimate: is_any.then(|| both.map(name)),
        approximate: shift.after.is_approximate().then_some(true),
    }
}
