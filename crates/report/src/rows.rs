//! Selects rows and metrics of reports, and their order.

use analysis::Findings;
use analysis::compare::{Comparison, find};
use analysis::decomposition::framing_uncounted;
use analysis::predicted;
use analysis::verdict::Verdict;
use document::{Cell, Column, Emphasis};
use plan::metric::{Metric, Shown, THROUGHPUT};
use plan::{Factors, Level, Plan};

use crate::figure;

/// The metrics with tables of their own: those that the plan names; or those that are shown
/// first, and others with published values.
pub(super) fn first_metrics(plan: &Plan, comparisons: &[Comparison]) -> Vec<&'static Metric> {
    if !plan.leading.is_empty() {
        let measured = |name: &String| metrics_of(comparisons).find(|metric| metric.name == name);
        return plan.leading.iter().filter_map(measured).collect();
    }
    let first = metrics_of(comparisons).filter(|metric| metric.is_shown_first());
    let published = metrics_of(comparisons)
        .filter(|metric| !metric.is_shown_first() && is_published(comparisons, metric));
    first.chain(published).collect()
}

/// The metrics of the answer, then others with tables of their own.
pub(super) fn answer_metrics(found: &Findings<'_>) -> Vec<&'static Metric> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    let named = found.answer.metrics.iter().copied();
    for metric in named.chain(first_metrics(found.plan, &found.comparisons)) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

/// The tone of a verdict.
pub(super) const fn tone(verdict: Verdict) -> Emphasis {
    match verdict {
        Verdict::Reproduced => Emphasis::Good,
        Verdict::NotReproduced => Emphasis::Bad,
        Verdict::NotMeasured | Verdict::Inconclusive | Verdict::DirectionOnly | Verdict::InSome => {
            Emphasis::Neutral
        }
    }
}

/// The measured metrics of the compact table: those that are otherwise shown first,
/// others of the catalogue, those of flows, and those of windows.
pub(super) fn other_metrics(plan: &Plan, comparisons: &[Comparison]) -> Vec<&'static Metric> {
    let first = first_metrics(plan, comparisons);
    let rank = |metric: &&'static Metric| match metric.shown {
        Shown::First => 0,
        Shown::Compact if metric.is_of_window() => 3,
        Shown::Compact if metric.is_of_flow() => 2,
        Shown::Compact | Shown::Json => 1,
    };
    let mut others: Vec<&'static Metric> = metrics_of(comparisons)
        .filter(|metric| metric.shown != Shown::Json)
        .filter(|metric| !first.contains(metric))
        .collect();
    others.sort_by_key(rank);
    others
}

/// Whether every trial measured 0 of `metric`, and nothing else is published:
/// one line says what a plot and a table of it would.
pub(super) fn is_zero(comparisons: &[Comparison], metric: &Metric) -> bool {
    let rows = || comparisons.iter().filter(|row| row.metric == metric);
    let is_zero = |row: &Comparison| {
        row.mean.as_ref().is_none_or(|mean| {
            mean.mean == 0.0 && mean.ci95.is_none_or(|interval| interval.is_exact(0.0))
        })
    };
    rows().any(|row| row.n > 0) && rows().all(is_zero) && !rows().any(|row| row.published.is_any())
}

/// Whether a cell has a published value of `metric`, which is not a single-flow
/// metric.
fn is_published(comparisons: &[Comparison], metric: &Metric) -> bool {
    let mut rows = comparisons.iter().filter(|row| row.metric == metric);
    !metric.is_of_flow()
        && rows.any(|row| row.published.value.is_some() || row.published.claim.is_some())
}

/// The rows of a metric's own table.
pub(super) fn study_rows<'a>(
    plan: &Plan,
    comparisons: &'a [Comparison],
    metric: &Metric,
) -> Vec<&'a Comparison> {
    let rows = rows_in_order(plan)
        .into_iter()
        .filter_map(|cell| find(comparisons, metric, cell));
    without_repeats(plan, metric, rows.collect())
}

/// The cells in order, compared ones together.
pub(super) fn rows_in_order(plan: &Plan) -> Vec<usize> {
    let kinds = kinds(plan).into_iter();
    kinds.flat_map(|kind| kind.cells).collect()
}

/// The factors' names, the compared one last.
pub(super) fn factor_names(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in plan.cells.iter().flat_map(|cell| &cell.factors.0) {
        if *name != plan.compare.factor && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.push(plan.compare.factor.clone());
    names
}

/// The levels of the named factors in words, one cell each.
pub(super) fn factor_cells(plan: &Plan, names: &[String], factors: &Factors) -> Vec<Cell> {
    let level = |name: &String| {
        let level = factors.level(name);
        level.map_or_else(String::new, |level| plan.label(name, level))
    };
    names.iter().map(|name| Cell::Text(level(name))).collect()
}

/// Numbers of one column with aligned decimal points.
pub(super) fn aligned<'a>(
    rows: impl IntoIterator<Item = Option<&'a Comparison>>,
    print: fn(&Comparison) -> String,
) -> Vec<String> {
    let figures = rows
        .into_iter()
        .map(|row| row.map_or_else(String::new, print));
    let mut figures: Vec<String> = figures.collect();
    figure::align(&mut figures);
    figures
}

/// The heading of a metric's column; a terminal shows the name only.
pub(super) fn metric_column(metric: &Metric) -> Column {
    Column {
        unit: metric.unit.to_owned(),
        brief: Some(format!("{}\n{}", metric.name, metric.unit)),
        ..Column::new(metric.title)
    }
}

/// The prediction of the closed forms, for throughput.
pub(super) fn model(plan: &Plan, comparison: &Comparison) -> Option<f64> {
    let setting = plan.cells[comparison.cell].setting.as_ref().ok()?;
    predicted::goodput(setting).filter(|_| comparison.metric.name == THROUGHPUT.name)
}

/// The note of [`framing_uncounted`], for throughput.
pub(super) fn framing_note(plan: &Plan, comparison: &Comparison) -> Option<&'static str> {
    let setting = plan.cells[comparison.cell].setting.as_ref().ok()?;
    framing_uncounted(setting).filter(|_| comparison.metric.name == THROUGHPUT.name)
}

/// Cells that are compared with one another: they differ only in the compared
/// factor.
pub(super) struct Kind {
    /// Their common factors.
    pub(super) factors: Vec<(String, Level)>,
    /// Their positions in the plan, in its order.
    pub(super) cells: Vec<usize>,
}

/// The kinds of cells of a plan, in the order in which they appear in it.
pub(super) fn kinds(plan: &Plan) -> Vec<Kind> {
    let shared = |factors: &Factors| -> Vec<_> {
        let other = |(name, _): &&(String, _)| *name != plan.compare.factor && name != "copy";
        factors.0.iter().filter(other).cloned().collect()
    };
    let mut kinds: Vec<Kind> = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let factors = shared(&cell.factors);
        match kinds.iter_mut().find(|kind| kind.factors == factors) {
            Some(kind) => kind.cells.push(position),
            None => kinds.push(Kind {
                factors,
                cells: vec![position],
            }),
        }
    }
    kinds
}

/// The heading of the table of `metric`.
pub(super) fn heading(plan: &Plan, metric: &Metric) -> String {
    let sources: Vec<&str> = plan
        .published
        .iter()
        .filter(|published| published.metric == metric.name)
        .map(|published| published.source.as_str())
        .collect();
    let against = sources
        .first()
        .map_or_else(String::new, |source| format!(", held against {source}"));
    format!("{} ({}){against}", metric.title, metric.unit)
}

/// The metrics that are compared, in the catalogue's order.
fn metrics_of(comparisons: &[Comparison]) -> impl Iterator<Item = &'static Metric> {
    let first = |comparison: &&Comparison| comparison.cell == 0;
    comparisons.iter().filter(first).map(|first| first.metric)
}

/// The rows without mere repetitions of the publication: an unmeasured cell
/// shows its published values once, and is omitted without any.
fn without_repeats<'a>(
    plan: &Plan,
    metric: &Metric,
    rows: Vec<&'a Comparison>,
) -> Vec<&'a Comparison> {
    if plan.published.is_empty() {
        return rows;
    }
    let named_by_paper = |name: &str| {
        let of_metric = plan
            .published
            .iter()
            .filter(|row| row.metric == metric.name);
        name == plan.compare.factor
            || of_metric
                .into_iter()
                .any(|row| row.factors.level(name).is_some())
    };
    let mut seen: Vec<Vec<&(String, Level)>> = Vec::new();
    rows.into_iter()
        .filter(|row| {
            let cell = &plan.cells[row.cell];
            if cell.setting.is_ok() {
                return true;
            }
            let key: Vec<_> = cell
                .factors
                .0
                .iter()
                .filter(|(name, _)| named_by_paper(name))
                .collect();
            let new = key.len() > 1 && !seen.contains(&key);
            seen.push(key);
            new
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::compare;
    use plan::metric::METRICS;
    use plan::synthetic::{cell, factors, plan, trial};

    #[test]
    fn every_metric_that_is_measured_is_shown_unless_its_entry_says_in_json() {
        let plan = plan(vec![cell(factors(1500))], 1, Vec::new());
        let metrics: Vec<(&str, f64)> = METRICS.iter().map(|metric| (metric.name, 1.0)).collect();
        let comparisons = compare(&plan, &[trial(factors(1500), 1, &metrics)]);
        let shown: Vec<&Metric> = first_metrics(&plan, &comparisons)
            .into_iter()
            .chain(other_metrics(&plan, &comparisons))
            .collect();
        for metric in METRICS {
            let times = shown.iter().filter(|&&one| one == metric).count();
            let expected = usize::from(metric.shown != Shown::Json);
            assert_eq!(times, expected, "{}", metric.name);
        }
    }
}
