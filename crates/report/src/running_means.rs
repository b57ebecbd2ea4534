//! The means so far of a run in progress, as a table for a terminal.

use std::collections::BTreeSet;

use analysis::compare::{Comparison, by_cell, estimators, in_cell};
use plan::metric::{DELAY, Metric, THROUGHPUT};
use plan::{Cell, Level, Plan, Trial};

use crate::figure;

/// The metrics that are shown if the experiment names none.
const USUAL: [&str; 2] = [THROUGHPUT.name, DELAY.name];

/// The most metrics beside one another.
const MOST_METRICS: usize = 3;

/// The fewest columns of a cell's name that are worth a second metric.
const SHORTEST_NAME: usize = 24;

/// The most letters of a level that says little without the name of its factor, as
/// `on` does. A number says little, too.
const MOST_TERSE: usize = 3;

/// Running means of the headline's metrics with their 95 % intervals: a heading and
/// a line for each cell that has trials, in lines of at most `width` columns. Of
/// more than `rows` cells the first ones are shown and the others counted.
pub fn running_means(plan: &Plan, trials: &[Trial], rows: usize, width: usize) -> Vec<String> {
    let metrics = metrics(plan, trials);
    let by_cell = by_cell(plan, trials);
    let begun: Vec<usize> = (0..by_cell.len())
        .filter(|&cell| !by_cell[cell].is_empty())
        .collect();
    if metrics.is_empty() || rows == 0 {
        return Vec::new();
    }
    // Lines for the heading and for the number of other cells.
    let shown = match begun.len() < rows {
        true => begun.len(),
        false => rows.saturating_sub(2),
    };
    let names = names(plan, &begun[..shown]);
    let columns = metrics.iter().map(|metric| {
        let estimators = estimators(plan, metric, &by_cell);
        let cells = begun[..shown].iter().map(|&cell| {
            in_cell(
                plan,
                metric,
                (cell, &plan.cells[cell]),
                &by_cell[cell],
                estimators[cell],
            )
        });
        let cells: Vec<Comparison> = cells.collect();
        let mean = |cell: &Comparison| match cell.n {
            0 => String::new(),
            _ => figure::mean(cell),
        };
        let mut means: Vec<String> = cells.iter().map(mean).collect();
        figure::align(&mut means);
        let heading = format!("{} ({})", metric.name, metric.unit);
        padded(std::iter::once(heading).chain(means).collect())
    });
    let mut columns: Vec<Vec<String>> = columns.collect();
    let counts = begun[..shown]
        .iter()
        .map(|&cell| by_cell[cell].len().to_string());
    let counts = std::iter::once("trials".to_owned()).chain(counts);
    columns.push(counts.collect());
    // As many metrics as leave room for the names.
    let room = |columns: &[Vec<String>]| {
        let taken = columns.iter().map(|column| letters(&column[0]).max(6) + 2);
        width.saturating_sub(taken.sum())
    };
    while columns.len() > 2 && room(&columns) < SHORTEST_NAME {
        columns.remove(columns.len() - 2);
    }
    let longest = names.iter().map(|name| letters(name)).max().unwrap_or(0);
    let length = longest.min(room(&columns));
    let heading = std::iter::once(String::new());
    let lines = heading.chain(names).enumerate().map(|(row, name)| {
        let name = cut(&name, length);
        let cells: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
        cut(&format!("{name:length$}  {}", cells.join("  ")), width)
    });
    let mut lines: Vec<String> = lines.collect();
    if shown < begun.len() {
        lines.push(cut(
            &format!("and {} other cells", begun.len() - shown),
            width,
        ));
    }
    lines
}

/// The metrics of the headline that were measured.
fn metrics(plan: &Plan, trials: &[Trial]) -> Vec<&'static Metric> {
    let usual = USUAL.map(ToOwned::to_owned);
    let chosen = [&plan.report.metrics[..], &plan.leading, &usual];
    let is_measured = |metric: &&'static Metric| {
        trials
            .iter()
            .any(|trial| trial.metrics.contains_key(metric.name))
    };
    let measured = chosen.iter().map(|names| -> Vec<&'static Metric> {
        let known = names.iter().filter_map(|name| Metric::named(name));
        known.filter(is_measured).take(MOST_METRICS).collect()
    });
    { measured }
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The names of cells: the labels of their levels, without factors that have one
/// level.
fn names(plan: &Plan, cells: &[usize]) -> Vec<String> {
    let level = |cell: &Cell, factor: &str| cell.factors.level(factor).map(ToString::to_string);
    let differs = |factor: &str| {
        let levels: BTreeSet<_> = plan.cells.iter().map(|cell| level(cell, factor)).collect();
        levels.len() > 1
    };
    let first = plan.cells.first().map(|cell| cell.factors.0.as_slice());
    let telling: BTreeSet<&str> = { first.unwrap_or_default().iter() }
        .map(|(factor, _)| factor.as_str())
        .filter(|factor| differs(factor))
        .collect();
    let name = |&cell: &usize| {
        let factors = plan.cells[cell].factors.0.iter();
        let telling = factors.filter(|(factor, _)| telling.contains(factor.as_str()));
        let levels: Vec<String> = telling
            .map(|(factor, level)| match level {
                Level::Text(_) if letters(&plan.label(factor, level)) > MOST_TERSE => {
                    plan.label(factor, level)
                }
                Level::Text(_) | Level::Integer(_) | Level::Float(_) => {
                    format!("{factor} {}", plan.label(factor, level))
                }
            })
            .collect();
        levels.join(", ")
    };
    cells.iter().map(name).collect()
}

/// Texts of equal length.
fn padded(texts: Vec<String>) -> Vec<String> {
    let length = texts.iter().map(|text| letters(text)).max().unwrap_or(0);
    texts
        .into_iter()
        .map(|text| format!("{text:length$}"))
        .collect()
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

/// The first `length` letters, with a sign where some are missing.
fn cut(text: &str, length: usize) -> String {
    match letters(text) <= length {
        true => text.to_owned(),
        false => {
            let kept = text.chars().take(length.saturating_sub(1));
            kept.chain((length > 0).then_some('…')).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::study;

    #[test]
    fn means_stand_below_the_names_of_their_metrics() {
        let (plan, trials) = study();
        let lines = running_means(&plan, &trials[..3], 10, 100);
        assert_eq!(
            lines,
            [
                "                               throughput (Mbit/s)  trials",
                "LU-LU, offloads off, mtu 1500  948 ± 13             2",
                "LU-LU, offloads off, mtu 9000  988                  1",
            ]
        );
        assert!(running_means(&plan, &[], 10, 100).is_empty());
    }

    #[test]
    fn the_metrics_of_the_headline_come_first() {
        let (mut plan, trials) = study();
        plan.report.metrics = vec!["no such metric".into(), "throughput".into()];
        plan.leading = vec!["delay".into()];
        let lines = running_means(&plan, &trials[..3], 10, 100);
        assert!(lines[0].contains("throughput (Mbit/s)"), "{lines:?}");
    }

    #[test]
    fn a_small_window_has_few_short_lines() {
        let (plan, trials) = study();
        let begun = running_means(&plan, &trials, 100, 100).len() - 1;
        assert!(begun > 2);
        let lines = running_means(&plan, &trials, 3, 100);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2], format!("and {} other cells", begun - 1));
        for width in [10, 30, 60] {
            let lines = running_means(&plan, &trials, 9, width);
            assert!(lines.iter().all(|line| letters(line) <= width), "{lines:?}");
        }
    }
}
