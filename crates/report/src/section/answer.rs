//! The answer at a glance: the changes by the headline's level of the compared factor
//! in the metrics of the study, for each series.

use analysis::Findings;
use analysis::compare::{Comparison, Difference};
use document::{Block, Cell, Column, Emphasis, Fit, Style, Table};
use plan::metric::Metric;

use crate::figure;
use crate::rows::answer_metrics;
use crate::series::{Series, series};

/// The explanation of the table.
const INTERVALS: &str = "Of a hundred such intervals about 95 hold the true change. Where chance or the resolution of the instrument could be the reason of a change, no difference is found.";

/// One row per series, one column per metric; empty without comparisons.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let plan = found.plan;
    let rows: Vec<(Series, usize)> = series(plan)
        .into_iter()
        .filter_map(|series| {
            let last = last(found, &series)?;
            Some((series, last))
        })
        .collect();
    let measured = |metric: &&'static Metric| {
        let mut last = rows.iter().map(|&(_, cell)| cell);
        last.any(|cell| {
            found
                .find(metric, cell)
                .is_some_and(|row| row.change.is_some())
        })
    };
    let mut metrics = answer_metrics(found);
    metrics.retain(measured);
    let (factor, baseline) = (&plan.compare.factor, &plan.compare.baseline);
    let level = rows.first();
    let Some(level) = level.and_then(|&(_, cell)| plan.cells[cell].factors.level(factor)) else {
        return Vec::new();
    };
    let names_rows = rows.len() > 1;
    let row = |(series, cell): &(Series, usize)| {
        let name = names_rows.then(|| Cell::Text(series.name.clone()));
        let changes = metrics
            .iter()
            .map(|metric| change(found.find(metric, *cell)));
        name.into_iter().chain(changes).collect()
    };
    let titles = metrics.iter().map(|metric| Column::new(metric.title));
    let table = Table {
        caption: Some(format!(
            "Change in per cent, {factor} {} against {}, with its 95 % interval",
            plan.label(factor, level),
            plan.label(factor, baseline)
        )),
        columns: (names_rows.then(Column::default).into_iter())
            .chain(titles)
            .collect(),
        rows: rows.iter().map(row).collect(),
        fit: Fit::Glance,
        ..Table::default()
    };
    vec![
        Block::Table(table),
        Block::paragraph(Style::Note, INTERVALS),
    ]
}

/// The compared cell of a series with the headline's level, or else the last one.
fn last(found: &Findings<'_>, series: &Series) -> Option<usize> {
    let level = found.answer.level.as_ref();
    let compared = |cell: &&usize| {
        let mut here = found.comparisons.iter().filter(|row| row.cell == **cell);
        found.plan.cells[**cell].setting.is_ok() && here.any(|row| row.change.is_some())
    };
    let factor = &found.plan.compare.factor;
    let is_asked = |cell: &&usize| found.plan.cells[**cell].factors.level(factor) == level;
    let cells = || series.cells.iter().rev().filter(compared);
    cells().find(is_asked).or_else(|| cells().next()).copied()
}

fn change(comparison: Option<&Comparison>) -> Cell {
    let Some((comparison, change)) = comparison.and_then(|row| Some((row, row.change?))) else {
        return Cell::Text(String::new());
    };
    let (tone, words) = match (comparison.difference, comparison.improves()) {
        (Some(Difference::Found), true) => (Emphasis::Good, "better".to_owned()),
        (Some(Difference::Found), false) => (Emphasis::Bad, "worse".to_owned()),
        (Some(Difference::NotFound), _) => (Emphasis::Neutral, figure::none_found(comparison)),
        (Some(Difference::Unknown) | None, _) => (Emphasis::Neutral, "too few trials".to_owned()),
    };
    let words = match comparison.is_approximate() {
        true => format!("approximate: {words}"),
        false => words,
    };
    let text = figure::change(comparison);
    let (percent, interval) = match change.percent {
        None => ("-", "no per cent of 0"),
        Some(_) => text.split_once(' ').unwrap_or((&text, "")),
    };
    Cell::Change {
        percent: percent.to_owned(),
        interval: interval.to_owned(),
        words,
        tone,
    }
}
