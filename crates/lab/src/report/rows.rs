//! Which rows and metrics the reports have, and in which order.

use crate::compare::Comparison;
use crate::metric::{Metric, Table};
use crate::plan::{Factors, Level, Plan};
use crate::report::grid::find;

/// Metrics of the compact table below the study's.
const OTHERS: [&str; 10] = [
    "echo_time",
    "rtt_transfer",
    "rtt_tcp",
    "delay",
    "delay_p99",
    "jitter_ditg",
    "ipdv_p95",
    "loss",
    "retransmissions",
    "cpu_softirq",
];

/// The metrics of the study's tables, table by table.
pub(super) fn study_metrics(comparisons: &[Comparison]) -> Vec<(Table, &'static Metric)> {
    let of_table = |table| {
        metrics_of(comparisons)
            .filter(move |metric| metric.table == Some(table))
            .map(move |metric| (table, metric))
    };
    Table::ALL.into_iter().flat_map(of_table).collect()
}

/// The metrics of the compact table that were measured, and those of flows.
pub(super) fn other_metrics(comparisons: &[Comparison]) -> Vec<&'static Metric> {
    let others = OTHERS
        .iter()
        .filter_map(|name| metrics_of(comparisons).find(|metric| metric.name == *name));
    let of_flows = metrics_of(comparisons).filter(|metric| metric.name.contains('/'));
    others.chain(of_flows).collect()
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

/// The cells, those that are compared with one another together.
pub(super) fn rows_in_order(plan: &Plan) -> Vec<usize> {
    let kinds = kinds(plan).into_iter();
    kinds.flat_map(|kind| kind.cells).collect()
}

/// Cells that are compared with one another: they differ in nothing but the
/// compared factor.
pub(super) struct Kind {
    /// The factors that they share.
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

/// What stands above the table of `metric`.
pub(super) fn heading(plan: &Plan, table: Table, metric: &Metric) -> String {
    let sources: Vec<&str> = plan
        .published
        .iter()
        .filter(|published| published.metric == metric.name)
        .map(|published| published.source.as_str())
        .collect();
    let number = if plan.published.is_empty() {
        String::new()
    } else {
        format!("Table {}. ", table.number())
    };
    let against = sources
        .first()
        .map_or_else(String::new, |source| format!(", held against {source}"));
    format!("{number}{} ({}){against}", metric.title, metric.unit)
}

/// The metrics that are compared, in the catalogue's order.
fn metrics_of(comparisons: &[Comparison]) -> impl Iterator<Item = &'static Metric> {
    let first = |comparison: &&Comparison| comparison.cell == 0;
    comparisons.iter().filter(first).map(|first| first.metric)
}

/// The rows without those that could only repeat the paper: a cell that is not
/// measured here shows what was published for it, once, and nothing where
/// nothing was.
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
