//! A metric in all backends as a table, for terminal and page.

use std::collections::BTreeMap;

use analysis::across_backends::{AcrossBackends, BACKEND, Row};
use analysis::compare::{Comparison, Difference};
use analysis::statistics::difference;
use document::{Cell, Column, Emphasis, Remark, Table};
use plan::Level;
use plan::metric::Metric;

use crate::figure;

/// `metric`, a row for each combination of levels: of each backend that measured
/// it the mean and its change, what was published, and what each says of that.
pub(super) fn table(all: &AcrossBackends, metric: &Metric) -> Table {
    let rows = all.rows(metric);
    let mut factors: Vec<&String> = Vec::new();
    let compared = &all.plan.compare.factor;
    let held = held(all);
    let is_held = |name: &String| held.iter().any(|(other, _)| *other == name);
    for (name, _) in rows.iter().flat_map(|row| &row.factors.0) {
        if name != compared && !factors.contains(&name) && !is_held(name) {
            factors.push(name);
        }
    }
    factors.push(compared);
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    for name in factors {
        let label = |row: &Row<'_>| {
            let level = row.factors.level(name);
            level.map(|level| all.plan.label(name, level))
        };
        let levels = rows.iter().map(|row| label(row).unwrap_or_default());
        columns.push((name.clone(), levels.collect()));
    }
    let measured = |run: &usize| {
        let mut cells = rows.iter().filter_map(|row| row.of_runs[*run]);
        cells.any(|cell| cell.n > 0)
    };
    for run in (0..all.names.len()).filter(measured) {
        let name = &all.names[run];
        let column = |print: fn(&Comparison) -> String| {
            let figures = rows
                .iter()
                .map(|row| row.of_runs[run].map(|row| print(&readable(row))));
            let mut figures: Vec<String> = figures.map(Option::unwrap_or_default).collect();
            figure::align(&mut figures);
            figures
        };
        columns.push((name.clone(), column(figure::mean)));
        columns.push((format!("{name} %"), column(figure::change)));
    }
    if let [one, other] = all.names.as_slice()
        && all.plan.leading.iter().any(|name| name == metric.name)
    {
        let less = rows.iter().map(less).collect();
        columns.push((format!("{other} less {one}"), less));
    }
    let published =
        |of: fn(&analysis::verdict::PublishedFigures) -> Option<f64>| -> Vec<Option<f64>> {
            rows.iter().map(|row| of(row.published()?)).collect()
        };
    let values = published(|figures| figures.value);
    let claims = published(|figures| figures.claim.as_ref().map(|claim| claim.percent));
    if values.iter().any(Option::is_some) {
        columns.push(("paper".into(), figure::published(&values)));
    }
    if claims.iter().any(Option::is_some) {
        let print =
            |claim: &Option<f64>| claim.map_or_else(String::new, |claim| figure::signed(claim, 2));
        columns.push(("paper %".into(), claims.iter().map(print).collect()));
    }
    let cells = |(position, row): (usize, &Row<'_>)| {
        let figures = columns.iter();
        let figures = figures.map(|(_, cells)| Cell::figure(&*cells[position]));
        figures.chain([Cell::Remarks(remarks(all, row))]).collect()
    };
    Table {
        rows: rows.iter().enumerate().map(cells).collect(),
        columns: (columns.iter().map(|(name, _)| Column::new(name)))
            .chain([Column::default()])
            .collect(),
        ..Table::default()
    }
}

/// The mean of the second of two runs less that of the first.
fn less(row: &Row<'_>) -> String {
    let mean = |run: usize| row.of_runs[run]?.mean;
    let Some((one, other)) = mean(0).zip(mean(1)) else {
        return String::new();
    };
    let apart = other.mean - one.mean;
    match difference(&other, &one) {
        Some(interval) => figure::with_interval(apart, interval),
        None => figure::four_digits(apart),
    }
}

/// The factors, other than the compared one, of which every cell has the same level.
pub(super) fn held(all: &AcrossBackends) -> Vec<(&String, &Level)> {
    let Some((first, others)) = all.plan.cells.split_first() else {
        return Vec::new();
    };
    let of_run = |(name, _): &&(String, Level)| name != BACKEND && *name != all.plan.compare.factor;
    let factors = first.factors.0.iter().filter(of_run);
    factors
        .filter(|(name, level)| {
            let mut others = others.iter().map(|cell| cell.factors.level(name));
            others.all(|other| other == Some(level))
        })
        .map(|(name, level)| (name, level))
        .collect()
}

/// A row as a table of several backends can show it: simulated figures are exact,
/// and beside measured ones more than five digits, or two places of a per cent,
/// say nothing.
fn readable(row: &Comparison) -> Comparison {
    const DIGITS: f64 = 1e-4;
    const PERCENT: f64 = 0.01;
    let mut readable = row.clone();
    let finest = row.mean.map_or(0.0, |mean| DIGITS * mean.mean.abs());
    readable.resolution = Some(row.resolution.unwrap_or(0.0).max(finest));
    readable.resolution_percent = Some(row.resolution_percent.unwrap_or(0.0).max(PERCENT));
    readable
}

/// A line for each run that lacks cells: how many, and why.
pub(super) fn left_out(all: &AcrossBackends) -> Vec<String> {
    let mut lines = Vec::new();
    for name in &all.names {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for cell in &all.plan.cells {
            let backend = cell.factors.level(BACKEND).map(Level::to_string);
            if let Err(why) = &cell.setting
                && backend.as_ref() == Some(name)
            {
                *reasons.entry(why).or_default() += 1;
            }
        }
        let reasons: Vec<String> = reasons
            .iter()
            .map(|(why, cells)| format!("{cells} cells ({why})"))
            .collect();
        if !reasons.is_empty() {
            lines.push(format!("Not in {name}: {}.", reasons.join(", ")));
        }
    }
    lines
}

/// The remarks of each backend that measured a row: its verdict on what was
/// published, and whether it found no difference.
fn remarks(all: &AcrossBackends, row: &Row<'_>) -> Vec<Remark> {
    let remarks = all.names.iter().zip(&row.of_runs);
    let remarks = remarks.filter_map(|(name, of_run)| Some((name, of_backend((*of_run)?)?)));
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (name, words) in remarks {
        match groups.iter_mut().find(|(_, other)| *other == words) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], words)),
        }
    }
    let groups = groups.into_iter().map(|(names, words)| {
        let words = format!("{}: {words}", names.join(", "));
        Remark::new(Emphasis::Neutral, words)
    });
    groups.collect()
}

fn of_backend(row: &Comparison) -> Option<String> {
    if row.n == 0 {
        return None;
    }
    let difference = match row.difference {
        Some(Difference::NotFound) => Some(figure::none_found(row)),
        Some(Difference::Unknown) => Some("too few trials".to_owned()),
        Some(Difference::Found) | None => None,
    };
    let judgement = row.judgement.as_ref();
    let verdict = judgement.map(|judgement| judgement.verdict.to_string());
    let words: Vec<String> = verdict.into_iter().chain(difference).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
