//! Runs of one experiment in several worlds side by side, and beside what was
//! published: in words, tables and JSON Lines.

mod json;
mod tables;

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use comfy_table::{Cell, Row as GridRow};

use crate::between::Run;
use crate::grid::{grid, keep_figures_whole};
use crate::rows::heading;
use crate::{notes, summary};
use analysis::beside::{Beside, beside};
use analysis::compare::Comparison;
use analysis::statistics::Interval;
pub use json::worlds_json;
use plan::metric::Metric;
pub(super) use tables::{Table, left_out, table};

/// Lays `runs` side by side.
///
/// # Errors
/// One line where they are not of one experiment.
pub(super) fn laid(runs: &[Run<'_>]) -> Result<Beside> {
    let runs: Vec<_> = runs.iter().map(|run| run.found).collect();
    beside(&runs).map_err(|why| anyhow!(why))
}

/// What each run found, where they agree, a table for each metric of the study
/// and the others that two runs have, and the certificates; so many columns wide.
///
/// # Errors
/// One line where the runs are not of one experiment.
pub fn worlds(runs: &[Run<'_>], width: u16) -> Result<String> {
    let all = laid(runs)?;
    let head: Vec<String> = std::iter::once(format!("{}: {}", all.plan.name, all.plan.title))
        .chain(folders(&all, runs))
        .collect();
    let mut text = notes::wrapped(&head, width);
    text.push('\n');
    let answers: Vec<String> = (0..runs.len())
        .flat_map(|run| answers(&all, runs, run))
        .chain(agreement(&all))
        .collect();
    let mut parts = vec![notes::wrapped(&answers, width)];
    for metric in shown(&all) {
        let heading = title(&all, metric);
        let grid = drawn(&table(&all, metric), width);
        parts.push(format!(
            "{}\n{}",
            notes::wrapped(&[heading], width),
            grid.trim_fmt()
        ));
    }
    let notes = [left_out(&all), vec![reading(&all)]].concat();
    parts.push(notes::wrapped(&notes, width));
    let certificates = all.names.iter().zip(runs);
    let certificates: Vec<String> = certificates
        .flat_map(|(name, run)| certificate(name, run))
        .collect();
    parts.push(notes::wrapped(&certificates, width));
    for part in parts.iter().filter(|part| !part.is_empty()) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{part}");
    }
    Ok(text)
}

/// A line for each run: what it is called, and where it is.
fn folders(all: &Beside, runs: &[Run<'_>]) -> Vec<String> {
    let named = all.names.iter().zip(runs);
    named
        .map(|(name, run)| format!("{name}: {}", run.folder.display()))
        .collect()
}

/// What a run says alone.
pub(super) fn answers(all: &Beside, runs: &[Run<'_>], run: usize) -> Vec<String> {
    let before: usize = runs[..run]
        .iter()
        .map(|run| run.found.plan.cells.len())
        .sum();
    let plan = runs[run].found.plan;
    let of_run = before..before + plan.cells.len();
    let own = all
        .comparisons
        .iter()
        .filter(|row| of_run.contains(&row.cell));
    let own: Vec<Comparison> = own
        .map(|row| {
            let mut own = row.clone();
            own.cell -= before;
            own.factors = plan.cells[own.cell].factors.clone();
            own
        })
        .collect();
    let sentences = summary::sentences(plan, &own).into_iter();
    sentences
        .map(|sentence| format!("{}: {sentence}", all.names[run]))
        .collect()
}

/// For each two runs, in how many changes against the baseline they agree.
pub(super) fn agreement(all: &Beside) -> Vec<String> {
    let mut lines = Vec::new();
    for one in 0..all.names.len() {
        for other in one + 1..all.names.len() {
            let parts: Vec<String> = all
                .metrics()
                .into_iter()
                .filter(|metric| metric.table().is_some())
                .filter_map(|metric| {
                    let rows = all.rows(metric);
                    let pairs = rows.iter().filter_map(|row| {
                        Some(range(row.of_runs[one]?)?.meets(range(row.of_runs[other]?)?))
                    });
                    let pairs: Vec<bool> = pairs.collect();
                    let met = pairs.iter().filter(|&&met| met).count();
                    let all = pairs.len();
                    (all > 0).then(|| format!("{} {met} of {all}", metric.name))
                })
                .collect();
            if !parts.is_empty() {
                lines.push(format!(
                    "Changes of which the intervals of {} and {} meet: {}.",
                    all.names[one],
                    all.names[other],
                    parts.join(", ")
                ));
            }
        }
    }
    lines
}

/// The 95 % interval of a change; a single value is its own.
fn range(row: &Comparison) -> Option<Interval> {
    let change = row.change?;
    let percent = change.percent?;
    let alone = Interval {
        low: percent,
        high: percent,
    };
    Some(change.ci95.unwrap_or(alone))
}

/// The metrics of the study that a run measured, and others that two did.
pub(super) fn shown(all: &Beside) -> Vec<&'static Metric> {
    let measured = |metric: &&'static Metric| {
        let rows = all.rows(metric);
        let runs = (0..all.names.len()).filter(|&run| {
            let mut rows = rows.iter().filter_map(|row| row.of_runs[run]);
            rows.any(|row| row.n > 0)
        });
        runs.count() >= if metric.table().is_some() { 1 } else { 2 }
    };
    all.metrics().into_iter().filter(measured).collect()
}

/// What stands above the table of `metric`.
pub(super) fn title(all: &Beside, metric: &Metric) -> String {
    match metric.table() {
        Some(table) => heading(&all.plan, Some(table), metric),
        None => format!("{} ({})", metric.title, metric.unit),
    }
}

/// How the tables are read.
pub(super) fn reading(all: &Beside) -> String {
    format!(
        "± and [..] are 95 % intervals; a column \"%\" is the change against {} = {} of that world, \"paper\" what was published. \
         Each world is judged as in its own report: a difference is found at 5 % over all its comparisons of the metric (Holm) and above its resolution. \
         Worlds have different hosts: their changes are to be compared, rather than their figures.",
        all.plan.compare.factor, all.plan.compare.baseline
    )
}

fn certificate(name: &str, run: &Run<'_>) -> Vec<String> {
    let certificate = &run.found.certificate;
    let word = match certificate.passed {
        true => "passed",
        false => "FAILED; do not rely on its figures",
    };
    let lines = certificate.faults.iter().chain(&certificate.notes);
    let lines = lines.map(|line| format!("  {line}"));
    std::iter::once(format!("Certificate of {name}: {word}"))
        .chain(lines)
        .collect()
}

fn drawn(table: &Table, width: u16) -> comfy_table::Table {
    let mut grid = grid(width);
    grid.set_header(GridRow::from(
        table.header.iter().map(Cell::new).collect::<Vec<_>>(),
    ));
    for row in &table.rows {
        grid.add_row(GridRow::from(row.iter().map(Cell::new).collect::<Vec<_>>()));
    }
    keep_figures_whole(&mut grid, width);
    grid
}

#[cfg(test)]
mod tests;
