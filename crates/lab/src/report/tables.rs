//! The report for a terminal.

use std::fmt::{self, Write as _};
use std::path::Path;

use crate::certificate::certify;
use crate::compare::{Comparison, compare};
use crate::folder::{RunFacts, complete, expected};
use crate::metric::{Metric, Table};
use crate::plan::{Factors, Level, Plan};
use crate::report::grid::{find, other_tables, study_table};
use crate::report::{notes, outliers, summary, verdicts};
use crate::trial::Trial;

/// Metrics of the compact table below the study's.
const OTHERS: [&str; 8] = [
    "rtt_transfer",
    "rtt_tcp",
    "delay",
    "jitter_ditg",
    "ipdv_p95",
    "loss",
    "retransmissions",
    "cpu_softirq",
];

/// The tables of the study with what was measured, the other metrics, the
/// certificate, and where the folder is: colourless, and so many columns wide.
/// A narrow terminal gets more lines, not less.
pub fn tables(
    plan: &Plan,
    trials: &[Trial],
    facts: &RunFacts,
    folder: Option<&Path>,
    width: u16,
) -> String {
    let comparisons = compare(plan, trials);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, plan, trials, facts, &comparisons, folder, width);
    text
}

fn write_all(
    text: &mut String,
    plan: &Plan,
    trials: &[Trial],
    facts: &RunFacts,
    comparisons: &[Comparison],
    folder: Option<&Path>,
    width: u16,
) -> fmt::Result {
    let failed = trials
        .iter()
        .filter(|trial| trial.failure.is_some())
        .count();
    writeln!(text, "{}: {}", plan.name, plan.title)?;
    let (done, all) = (trials.len() - failed, expected(plan));
    let certificate = certify(facts, trials);
    let certified = match certificate.passed {
        true => "certificate passed",
        false => "certificate FAILED: do not rely on these figures, see below",
    };
    let incomplete = match (complete(plan, trials), plan.until) {
        (false, _) => " The run is incomplete: go on with --resume.".to_owned(),
        (true, Some(until)) if trials.len() < all => format!(" Stopped early, as asked: {until}."),
        (true, _) => String::new(),
    };
    let counts = format!(
        "{done} of {all} trials finished, {failed} failed and left out; {certified}.{incomplete}"
    );
    writeln!(text, "{}", notes::wrapped(&[counts], width))?;
    let sentences = summary::sentences(plan, comparisons);
    if !sentences.is_empty() {
        writeln!(text, "\n{}", notes::wrapped(&sentences, width))?;
    }
    let order = rows_in_order(plan);
    for table in Table::ALL {
        let metrics: Vec<&'static Metric> = metrics_of(comparisons)
            .filter(|metric| metric.table == Some(table))
            .collect();
        for metric in metrics {
            let rows = order
                .iter()
                .filter_map(|&cell| find(comparisons, metric, cell));
            let rows = without_repeats(plan, metric, rows.collect());
            let heading = heading(plan, table, metric);
            writeln!(text, "\n{}", notes::wrapped(&[heading], width))?;
            let grid = study_table(plan, comparisons, metric, &rows, width);
            writeln!(text, "{}", grid.trim_fmt())?;
        }
    }
    let lists = [
        ("Verdicts", verdicts::lines(plan, comparisons)),
        (
            "Open: about so many trials a cell (--repeat) would settle it",
            verdicts::open(plan, comparisons),
        ),
        (
            "Outliers, far from the median of their cell; they are kept in every figure",
            outliers::lines(plan, trials),
        ),
    ];
    for (heading, lines) in lists {
        if !lines.is_empty() {
            let indented: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
            writeln!(text, "\n{heading}\n{}", notes::wrapped(&indented, width))?;
        }
    }
    let others: Vec<&'static Metric> = OTHERS
        .iter()
        .filter_map(|name| metrics_of(comparisons).find(|metric| metric.name == *name))
        .collect();
    for grid in other_tables(plan, comparisons, &others, &order, width) {
        writeln!(text, "\nOther metrics\n{}", grid.trim_fmt())?;
    }
    writeln!(text, "\n{}", notes::explanation(plan, comparisons, width))?;
    writeln!(text, "\n{}", notes::certificate(&certificate, width))?;
    if let Some(folder) = folder {
        writeln!(text, "\nResults: {}", folder.display())?;
    }
    Ok(())
}

/// The metrics that are compared, in the catalogue's order.
fn metrics_of(comparisons: &[Comparison]) -> impl Iterator<Item = &'static Metric> {
    let first = |comparison: &&Comparison| comparison.cell == 0;
    comparisons.iter().filter(first).map(|first| first.metric)
}

/// The cells, those that are compared with one another together.
fn rows_in_order(plan: &Plan) -> Vec<usize> {
    let kind = |factors: &Factors| -> Vec<_> {
        let other = |(name, _): &&(String, _)| *name != plan.compare.factor && name != "copy";
        factors.0.iter().filter(other).cloned().collect()
    };
    let mut kinds: Vec<(Vec<_>, Vec<usize>)> = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let this = kind(&cell.factors);
        match kinds.iter_mut().find(|(other, _)| *other == this) {
            Some((_, cells)) => cells.push(position),
            None => kinds.push((this, vec![position])),
        }
    }
    kinds.into_iter().flat_map(|(_, cells)| cells).collect()
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

fn heading(plan: &Plan, table: Table, metric: &Metric) -> String {
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

#[cfg(test)]
mod tests;
