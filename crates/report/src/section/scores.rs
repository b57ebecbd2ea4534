//! How often probers were right about paths whose faults are known.

use std::collections::BTreeSet;

use analysis::Findings;
use analysis::robustness::shares::wilson;
use analysis::scores::{Answers, Score};
use document::{Block, Cell, Column, Fit, Section, Style, Table};
use plan::{Factors, Level};

/// The short names of the metrics of a score, and of its cost with their units.
const NAMES: [&str; 3] = ["verdict", "MTU", "hop"];
const COSTS: [&str; 3] = ["probes", "octets", "ms"];

/// Which of [`NAMES`] every prober answers.
const MTU: usize = 1;

/// The names of the factor whose levels are probers.
const PROBER: [&str; 2] = ["prober", "traffic.prober"];

/// The section; `None` for other traffic.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let whole = table(found, found.scores.len(), true)?;
    let mut blocks = vec![
        Block::heading("Scores"),
        Block::Paragraphs(Style::Plain, answer(found)),
        Block::Table(whole),
    ];
    if let Some(probers) = probers(found) {
        let others = [0, 2].map(Figure::Right).into_iter();
        let all = others.chain((0..COSTS.len()).map(Figure::Cost));
        blocks.extend(
            all.map(|figure| {
                Block::Table(beside(found, &probers, figure, found.scores.len(), true))
            }),
        );
    }
    Some(Section {
        id: "scores",
        blocks,
    })
}

/// The totals of each prober in a sentence, and of the cell with the fewest right trials
/// in another; none for other traffic.
pub(crate) fn answer(found: &Findings<'_>) -> Vec<String> {
    let Some(probers) = probers(found) else {
        return answer_of_one(found);
    };
    let of = |prober: &String| {
        let own = || {
            let scores = found.scores.iter();
            scores.filter(|score| prober_of(found, score).is_some_and(|level| level == *prober))
        };
        let n: usize = own().map(|score| score.n).sum();
        if n == 0 {
            let failure = own().find_map(|score| score.failure.clone());
            return format!("{prober}: {}.", failure.unwrap_or_default());
        }
        let totals = NAMES.iter().enumerate().filter_map(|(place, name)| {
            let answers = sum(own().map(|score| score.right[place]));
            let Answers { right, given } = answers;
            (given > 0).then(|| format!("the right {name} in {right} of {given} answers"))
        });
        let totals: Vec<String> = totals.collect();
        format!("{prober}, {n} investigations: {}.", totals.join(", "))
    };
    probers.iter().map(of).collect()
}

/// The same for one prober, with intervals.
fn answer_of_one(found: &Findings<'_>) -> Vec<String> {
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

/// The prober of a cell, if probers are compared.
fn prober_of(found: &Findings<'_>, score: &Score) -> Option<String> {
    let factors = &found.plan.cells[score.cell].factors;
    let level = PROBER.iter().find_map(|name| factors.level(name));
    level.map(Level::to_string)
}

/// The probers in the plan's order, if there are several.
fn probers(found: &Findings<'_>) -> Option<Vec<String>> {
    let mut known = BTreeSet::new();
    let all = found.scores.iter();
    let probers: Vec<String> = all
        .filter_map(|score| prober_of(found, score))
        .filter(|prober| known.insert(prober.clone()))
        .collect();
    (probers.len() > 1).then_some(probers)
}

/// The number of rows of [`table`] without a limit.
pub(crate) fn rows(found: &Findings<'_>) -> usize {
    match probers(found) {
        Some(_) => by_path(found).len(),
        None => found.scores.len(),
    }
}

/// A row for each of `count` cells, or of `count` paths with their probers side by side,
/// those with the most wrong trials first to be taken, in the plan's order; `None` for
/// other traffic.
pub(crate) fn table(found: &Findings<'_>, count: usize, labels: bool) -> Option<Table> {
    if let Some(probers) = probers(found) {
        return Some(beside(found, &probers, Figure::Right(MTU), count, labels));
    }
    let mut shown: Vec<&Score> = found.scores.iter().collect();
    let names = varied(found, &shown);
    shown.first()?;
    shown.sort_by_key(|score| (std::cmp::Reverse(score.wrong()), score.cell));
    shown.truncate(count);
    shown.sort_by_key(|score| score.cell);
    let columns = (names.iter().map(|name| Column::new(name.as_str())))
        .chain(NAMES.map(|name| Column::right(format!("right {name}"))))
        .chain(COSTS.map(Column::right));
    let figures = || {
        let right = (0..NAMES.len()).map(Figure::Right);
        right.chain((0..COSTS.len()).map(Figure::Cost))
    };
    let row = |score: &&Score| {
        let levels = levels(found, score, &names, labels);
        let figures = figures().map(|figure| Cell::figure(figure.text(Some(score))));
        levels.chain(figures).collect()
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

/// A figure of a score.
#[derive(Clone, Copy)]
enum Figure {
    /// The right answers, of this place in [`NAMES`].
    Right(usize),
    /// The median of this place in [`COSTS`].
    Cost(usize),
}

impl Figure {
    fn text(self, score: Option<&Score>) -> String {
        let Some(score) = score else {
            return String::new();
        };
        if score.failure.is_some() {
            return "not run".to_owned();
        }
        match self {
            Self::Right(place) => match score.right[place] {
                Answers { given: 0, .. } => "-".to_owned(),
                Answers { right, given } => format!("{right} of {given}"),
            },
            Self::Cost(place) => {
                score.cost[place].map_or_else(String::new, |cost| format!("{cost:.0}"))
            }
        }
    }

    fn caption(self) -> String {
        match self {
            Self::Right(MTU) => "Right path MTUs, by prober:".to_owned(),
            Self::Right(place) => format!(
                "Right answers for the {} (-: the prober gave none), by prober:",
                NAMES[place]
            ),
            Self::Cost(0) => "Packets sent (medians), by prober:".to_owned(),
            Self::Cost(1) => "Octets sent (medians), by prober:".to_owned(),
            Self::Cost(_) => "Time in milliseconds (medians), by prober:".to_owned(),
        }
    }
}

/// The scores of each path, which the prober does not belong to, in the plan's order.
fn by_path<'a>(found: &'a Findings<'_>) -> Vec<Vec<&'a Score>> {
    let path = |score: &Score| {
        let Factors(factors) = &found.plan.cells[score.cell].factors;
        let others = factors
            .iter()
            .filter(|(name, _)| !PROBER.contains(&&**name));
        others.cloned().collect::<Vec<_>>()
    };
    let mut paths: Vec<Vec<&Score>> = Vec::new();
    for score in &found.scores {
        let own = path(score);
        match paths.iter_mut().find(|scores| path(scores[0]) == own) {
            Some(scores) => scores.push(score),
            None => paths.push(vec![score]),
        }
    }
    paths
}

/// A row for each of `count` paths, and a column for each prober.
fn beside(
    found: &Findings<'_>,
    probers: &[String],
    figure: Figure,
    count: usize,
    labels: bool,
) -> Table {
    let all: Vec<&Score> = found.scores.iter().collect();
    let mut names = varied(found, &all);
    names.retain(|name| !PROBER.contains(&name.as_str()));
    let mut paths = by_path(found);
    let wrong = |scores: &Vec<&Score>| scores.iter().map(|score| score.wrong()).sum::<usize>();
    let first = |scores: &Vec<&Score>| scores.first().map(|score| score.cell);
    paths.sort_by_key(|scores| (std::cmp::Reverse(wrong(scores)), first(scores)));
    paths.truncate(count);
    paths.sort_by_key(first);
    let row = |scores: &Vec<&Score>| {
        let levels = levels(found, scores[0], &names, labels);
        let figures = probers.iter().map(|prober| {
            let own = |score: &&&Score| prober_of(found, score).as_ref() == Some(prober);
            Cell::figure(figure.text(scores.iter().find(own).copied()))
        });
        levels.chain(figures).collect()
    };
    let columns = names.iter().map(|name| Column::new(name.as_str()));
    Table {
        caption: Some(figure.caption()),
        columns: columns
            .chain(probers.iter().map(|prober| Column::right(prober.as_str())))
            .collect(),
        rows: paths.iter().map(row).collect(),
        fit: Fit::Line,
        ..Table::default()
    }
}

#[cfg(test)]
mod tests;
