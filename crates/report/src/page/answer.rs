//! The answer at a glance: what the last level of the compared factor changes
//! in the metrics of the study, for each series.

use maud::{Markup, html};

use super::series::{Series, series};
use crate::figure;
use crate::grid::find;
use crate::rows::study_metrics;
use analysis::compare::{Comparison, Difference};
use plan::Plan;
use plan::metric::{Better, Metric};

/// A row a series, a column a metric; nothing where nothing is compared.
pub(super) fn table(plan: &Plan, comparisons: &[Comparison]) -> Markup {
    let rows: Vec<(Series, usize)> = series(plan)
        .into_iter()
        .filter_map(|series| {
            let last = last(plan, comparisons, &series)?;
            Some((series, last))
        })
        .collect();
    let measured = |metric: &&'static Metric| {
        let mut last = rows.iter().map(|&(_, cell)| cell);
        last.any(|cell| find(comparisons, metric, cell).is_some_and(|row| row.change.is_some()))
    };
    let metrics: Vec<&'static Metric> = study_metrics(plan, comparisons)
        .into_iter()
        .map(|(_, metric)| metric)
        .filter(measured)
        .collect();
    let Some(&(_, first)) = rows.first() else {
        return html! {};
    };
    let (factor, baseline) = (&plan.compare.factor, &plan.compare.baseline);
    let level = plan.cells[first].factors.level(factor);
    html! {
        @if let Some(level) = level {
            p.caption { "Change in per cent, " (factor) " " (level) " against " (baseline) ", with its 95 % interval" }
            div.scroll { table.answer {
                thead { tr {
                    @if rows.len() > 1 { th {} }
                    @for metric in &metrics { th scope="col" { (metric.title) } }
                } }
                tbody { @for (series, cell) in &rows { tr {
                    @if rows.len() > 1 { th scope="row" { (series.name) } }
                    @for metric in &metrics { (change(find(comparisons, metric, *cell))) }
                } } }
            } }
            p.note {
                "Of a hundred such intervals about 95 hold the true change. Where chance or the resolution of the instrument "
                "could be the reason of a change, no difference is found."
            }
        }
    }
}

/// The last cell of a series that was measured and compared.
fn last(plan: &Plan, comparisons: &[Comparison], series: &Series) -> Option<usize> {
    let compared = |cell: &&usize| {
        let mut here = comparisons.iter().filter(|row| row.cell == **cell);
        plan.cells[**cell].setting.is_ok() && here.any(|row| row.change.is_some())
    };
    series.cells.iter().rev().find(compared).copied()
}

fn change(comparison: Option<&Comparison>) -> Markup {
    let Some((comparison, change)) = comparison.and_then(|row| Some((row, row.change?))) else {
        return html! { td {} };
    };
    let improves = match comparison.metric.better {
        Better::Higher => change.difference > 0.0,
        Better::Lower => change.difference < 0.0,
    };
    let (class, word) = match (comparison.difference, improves) {
        (Some(Difference::Found), true) => ("better", "better"),
        (Some(Difference::Found), false) => ("worse", "worse"),
        (Some(Difference::NotFound), _) => ("none", "no difference found"),
        (Some(Difference::Unknown) | None, _) => ("none", "too few trials"),
    };
    let text = figure::change(comparison);
    let (percent, interval) = text.split_once(' ').unwrap_or((&text, ""));
    html! { td class=(class) { b { (percent) } " " span.interval { (interval) } " " span.word { (word) } } }
}
