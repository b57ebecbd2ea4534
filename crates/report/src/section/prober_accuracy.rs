//! How often investigations were right about paths whose faults are known.

use analysis::Findings;
use analysis::prober_accuracy::{Answers, Score};
use analysis::sensitivity::shares::wilson;
use document::{Block, Cell, Column, Fit, Section, Style, Table};
use plan::Factors;

/// The short names of the metrics of a score, and of its cost with their units.
const NAMES: [&str; 3] = ["verdict", "MTU", "hop"];
const COSTS: [&str; 3] = ["probes", "bytes", "ms"];

/// The section; `None` for other traffic.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let whole = table(found, found.scores.len(), true)?;
    Some(Section {
        id: "scores",
        blocks: vec![
            Block::heading("Scores"),
            Block::Paragraphs(Style::Plain, answer(found)),
            Block::Table(whole),
        ],
    })
}

/// The totals in a sentence, with intervals, and those of the cell with the fewest right
/// trials in another; none for other traffic.
pub(crate) fn answer(found: &Findings<'_>) -> Vec<String> {
    let scores = &found.scores;
    let n: usize = scores.iter().map(|score| score.n).sum();
    if n == 0 {
        return Vec::new();
    }
    let totals = NAMES.iter().enumerate().filter_map(|(place, name)| {
        let Answers { right, given } = sum(scores.iter().map(|score| score.right[place]));
        let share = wilson(right, given);
        let [low, high] = [share.low, share.high].map(|share| 100.0 * share);
        let of = if given == n {
            String::new()
        } else {
            format!(" of {given}")
        };
        (given > 0).then(|| {
            format!("{right}{of} have the right {name} (95 % interval {low:.2} to {high:.2} %)")
        })
    });
    let totals: Vec<String> = totals.collect();
    let mut sentences = vec![format!(
        "Of {n} investigations of paths with known faults, {}.",
        totals.join(", ")
    )];
    let worst = scores.iter().filter(|score| score.n > 0).max_by(|a, b| {
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

fn sum(answers: impl Iterator<Item = Answers>) -> Answers {
    answers.fold(Answers::default(), |all, one| Answers {
        right: all.right + one.right,
        given: all.given + one.given,
    })
}

/// A row for each of `count` cells, those with the most wrong trials first to be taken, in the
/// plan's order; `None` for other traffic.
pub(crate) fn table(found: &Findings<'_>, count: usize, labels: bool) -> Option<Table> {
    let mut shown: Vec<&Score> = found.scores.iter().collect();
    let names = varied(found, &shown);
    shown.first()?;
    shown.sort_by_key(|score| (std::cmp::Reverse(score.wrong()), score.cell));
    shown.truncate(count);
    shown.sort_by_key(|score| score.cell);
    let columns = (names.iter().map(|name| Column::new(name.as_str())))
        .chain(NAMES.map(|name| Column::right(format!("right {name}"))))
        .chain(COSTS.map(Column::right));
    let row = |score: &&Score| {
        let levels = levels(found, score, &names, labels);
        levels.chain(figures(score)).collect()
    };
    Some(Table {
        caption: Some(
            "Investigations that were right, and medians of their probes, bytes and time:"
                .to_owned(),
        ),
        columns: columns.collect(),
        rows: shown.iter().map(row).collect(),
        fit: Fit::Line,
        ..Table::default()
    })
}

/// The factors that vary between `scores`.
fn varied<'p>(found: &Findings<'p>, scores: &[&Score]) -> Vec<&'p String> {
    let plan = found.plan;
    let factors = |score: &Score| &plan.cells[score.cell].factors;
    let Some(first) = scores.first() else {
        return Vec::new();
    };
    let Factors(of_first) = factors(first);
    let names = of_first.iter().map(|(name, _)| name);
    let varies = |name: &&String| {
        let level = |score: &Score| factors(score).level(name);
        scores.iter().any(|score| level(score) != level(first))
    };
    names.filter(varies).collect()
}

/// The levels of the factors `names` of a cell.
fn levels<'a>(
    found: &'a Findings<'_>,
    score: &Score,
    names: &'a [&String],
    labels: bool,
) -> impl Iterator<Item = Cell> + 'a {
    let plan = found.plan;
    let factors = &plan.cells[score.cell].factors;
    names.iter().map(move |name| {
        let level = factors.level(name).map(|level| match labels {
            true => plan.label(name, level),
            false => level.to_string(),
        });
        Cell::Text(level.unwrap_or_default())
    })
}

/// The right answers of a score, and the medians of its cost.
fn figures(score: &Score) -> Vec<Cell> {
    let right = score.right.iter().map(|answers| match answers {
        Answers { given: 0, .. } => "-".to_owned(),
        Answers { right, given } => format!("{right} of {given}"),
    });
    let cost = score.cost.iter();
    let cost = cost.map(|cost| cost.map_or_else(String::new, |cost| format!("{cost:.0}")));
    let text = |figure| match score.failure {
        Some(_) => "not run".to_owned(),
        None => figure,
    };
    right
        .chain(cost)
        .map(|figure| Cell::figure(text(figure)))
        .collect()
}

#[cfg(test)]
mod tests;
