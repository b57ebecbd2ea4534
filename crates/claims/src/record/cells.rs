//! Figures of single cells, for the pages that quote them.

use std::collections::BTreeMap;

use analysis::Findings;
use analysis::compare::Comparison;
use analysis::paired;
use plan::{Level, Plan};
use serde::{Deserialize, Serialize};

use super::measured::{Measured, measured};

/// A metric in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfCell {
    pub metric: String,
    /// The unit of `mean` and `paired`.
    pub unit: String,
    pub cell: BTreeMap<String, Level>,
    pub mean: Measured,
    /// The change against the baseline in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Measured>,
    /// The mean difference from the baseline of trials with the same seed, where
    /// the experiment asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<Measured>,
}

/// Each metric that the experiment compares, publishes or claims, in each cell
/// that was measured.
pub(super) fn of_cells(found: &Findings<'_>) -> Vec<OfCell> {
    let plan = found.plan;
    let all = found.comparisons.iter();
    let named = all.filter(|comparison| is_named(plan, comparison.metric.name));
    named.filter_map(|one| of_cell(found, one)).collect()
}

fn is_named(plan: &Plan, metric: &str) -> bool {
    let published = plan.published.iter().map(|one| &one.metric);
    let claimed = plan.claims.iter().map(|one| &one.metric);
    let mut names = plan
        .leading
        .iter()
        .chain(&plan.paired)
        .chain(published)
        .chain(claimed);
    names.any(|name| name == metric)
}

fn of_cell(found: &Findings<'_>, one: &Comparison) -> Option<OfCell> {
    let mean = one.mean?;
    let change = one.change.as_ref();
    let percent = change.and_then(|change| change.percent);
    let column = paired::metrics(found.plan)
        .iter()
        .position(|metric| metric.name == one.metric.name);
    let difference = column.and_then(|column| {
        let mut pairs = found.paired.iter();
        let pair = pairs.find(|pair| *pair.factors == one.factors)?;
        pair.changes.get(column).copied().flatten()
    });
    Some(OfCell {
        metric: one.metric.name.to_owned(),
        unit: one.metric.unit.to_owned(),
        cell: one.factors.0.iter().cloned().collect(),
        mean: measured(mean.mean, mean.ci95),
        change: percent.map(|percent| measured(percent, change.and_then(|change| change.ci95))),
        paired: difference.map(|difference| measured(difference.mean, difference.ci95)),
    })
}
