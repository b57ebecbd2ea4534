//! How often a prober was right about paths whose faults are known.

use analysis::Findings;
use analysis::robustness::shares::wilson;
use analysis::scores::Score;
use plan::{Factors, Level};

use crate::document::{Block, Cell, Column, Fit, Section, Style, Table};

/// The short names of the metrics of a score, and of its cost with their units.
const NAMES: [&str; 3] = ["verdict", "MTU", "hop"];
const COSTS: [&str; 3] = ["probes", "octets", "ms"];

/// The section; `None` for other traffic.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let table = table(found, found.scores.len(), true)?;
    Some(Section {
        id: "scores",
        blocks: vec![
            Block::heading("Scores"),
            Block::Paragraphs(Style::Plain, answer(found)),
            Block::Table(table),
        ],
    })
}

/// The totals over all cells in a sentence, and the cell with the fewest right trials in
/// another; none for other traffic.
pub(crate) fn answer(found: &Findings<'_>) -> Vec<String> {
    let scores = &found.scores;
    let n: usize = scores.iter().map(|score| score.n).sum();
    if n == 0 {
        return Vec::new();
    }
    let totals = NAMES.iter().enumerate().map(|(place, name)| {
        let right = scores.iter().map(|score| score.right[place]).sum();
        let share = wilson(right, n);
        let [low, high] = [share.low, share.high].map(|share| 100.0 * share);
        format!("{right} have the right {name} (95 % interval {low:.2} to {high:.2} %)")
    });
    let totals: Vec<String> = totals.collect();
    let mut sentences = vec![format!(
        "Of {n} investigations of paths with known faults, {}.",
        totals.join(", ")
    )];
    let worst = scores.iter().max_by(|a, b| {
        let share = |score: &Score| score.wrong() as f64 / score.n as f64;
        share(a).total_cmp(&share(b)).then(b.cell.cmp(&a.cell))
    });
    sentences.extend(worst.filter(|score| score.wrong() > 0).map(|score| {
        format!(
            "Most were wrong with {}: {} of {}.",
            found.plan.labelled(&found.plan.cells[score.cell].factors),
            score.wrong(),
            score.n
        )
    }));
    sentences
}

/// A row for each of `count` cells, those with the most wrong trials first to be taken, in
/// the plan's order; `None` for other traffic.
pub(crate) fn table(found: &Findings<'_>, count: usize, labels: bool) -> Option<Table> {
    let plan = found.plan;
    let mut shown: Vec<&Score> = found.scores.iter().collect();
    let first = *shown.first()?;
    shown.sort_by_key(|score| (std::cmp::Reverse(score.wrong()), score.cell));
    shown.truncate(count);
    shown.sort_by_key(|score| score.cell);
    let factors = |score: &Score| &plan.cells[score.cell].factors;
    let Factors(of_first) = factors(first);
    let varies = |name: &&String| {
        let level = |score: &Score| factors(score).level(name);
        found
            .scores
            .iter()
            .any(|score| level(score) != level(first))
    };
    let names: Vec<&String> = of_first
        .iter()
        .map(|(name, _)| name)
        .filter(varies)
        .collect();
    let columns = (names.iter().map(|name| Column::new(name.as_str())))
        .chain(NAMES.map(|name| Column::right(format!("right {name}"))))
        .chain(COSTS.map(Column::right));
    let row = |score: &&Score| {
        let text = |name: &&String, level: &Level| match labels {
            true => plan.label(name, level),
            false => level.to_string(),
        };
        let level = |name: &&String| factors(score).level(name).map(|level| text(name, level));
        let right = |right: usize| Cell::figure(format!("{right} of {}", score.n));
        let cost = |cost: Option<f64>| {
            Cell::figure(cost.map_or_else(String::new, |cost| format!("{cost:.0}")))
        };
        (names
            .iter()
            .map(|name| Cell::Text(level(name).unwrap_or_default())))
        .chain(score.right.map(right))
        .chain(score.cost.map(cost))
        .collect()
    };
    Some(Table {
        caption: Some(
            "Investigations that were right, and medians of their probes, octets and time:"
                .to_owned(),
        ),
        columns: columns.collect(),
        rows: shown.iter().map(row).collect(),
        fit: Fit::Line,
        ..Table::default()
    })
}

#[cfg(test)]
mod tests;
