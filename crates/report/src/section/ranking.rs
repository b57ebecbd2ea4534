//! Settings ranked by their distance from printed values.

mod text;

use analysis::Findings;
use analysis::ranking::Ranked;
use plan::{Level, Plan, Ranking};

use crate::document::{Block, Cell, Column, Fit, Section, Style, Table};
use text::{PrintedFigures, varied};

/// The number of settings on a terminal; the page and JSON have all.
const SHOWN: usize = 15;

/// The numbers of settings for which terminal and page show the changes by
/// other levels; JSON has all.
const CHANGED: [usize; 2] = [5, 40];

/// The ranking section; `None` if the plan ranks nothing.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let (plan, ranked) = (found.plan, found.ranking.as_slice());
    let ranking = plan.ranking.as_ref().filter(|_| !ranked.is_empty())?;
    let figures = PrintedFigures::of(ranking);
    let names = varied(plan);
    let answer = text::answer(plan, ranking, ranked);
    let mut blocks = vec![
        Block::heading("Ranking"),
        Block::Paragraphs(Style::Plain, answer),
        Block::Table(nearest(plan, ranking, &figures, &names, ranked)),
    ];
    if ranked.iter().any(|one| !one.others.is_empty()) {
        blocks.push(Block::Page(vec![Block::subheading(&plan.compare.factor)]));
        blocks.push(Block::Table(changes(plan, &figures, ranked)));
        blocks.push(Block::Paragraphs(Style::Plain, text::totals(plan, ranked)));
    }
    blocks.push(Block::paragraph(
        Style::Plain,
        "The smallest distance for each level",
    ));
    blocks.push(Block::list(text::levels(&names, ranked)));
    Some(Section {
        id: "ranking",
        blocks,
    })
}

/// The nearest setting and what other levels of the compared factor change there, a
/// sentence each; none if the plan ranks nothing.
pub(crate) fn answer(found: &Findings<'_>) -> Vec<String> {
    let (plan, ranked) = (found.plan, found.ranking.as_slice());
    let (Some(ranking), Some(first)) = (&plan.ranking, ranked.first()) else {
        return Vec::new();
    };
    text::nearest(plan, ranking, first, ranked)
}

/// The `count` nearest settings with one line each and levels as written; the means
/// of the printed values only if `means`.
pub(crate) fn table(found: &Findings<'_>, count: usize, means: bool) -> Option<Table> {
    let (plan, ranked) = (found.plan, found.ranking.as_slice());
    let ranking = plan.ranking.as_ref().filter(|_| !ranked.is_empty())?;
    let figures = PrintedFigures::of(ranking);
    let names = varied(plan);
    let counted = !ranking.countings.is_empty();
    let mut columns = vec![Column::right("#")];
    columns.extend(names.iter().map(Column::new));
    columns.extend(counted.then(|| Column::new("counted")));
    columns.push(Column::right("distance"));
    columns.extend(means.then(|| figures.columns()).into_iter().flatten());
    let row = |(place, one): (usize, &Ranked)| {
        let level = |name: &String| one.factors.level(name).map(Level::to_string);
        let mut cells = vec![Cell::figure((place + 1).to_string())];
        cells.extend(
            names
                .iter()
                .map(|name| Cell::Text(level(name).unwrap_or_default())),
        );
        cells.extend(counted.then(|| Cell::Text(text::first_counting(ranking, one))));
        cells.push(Cell::figure(format!("{:.2}", one.distance)));
        let measured = one.figures.iter().enumerate().filter(|_| means);
        cells.extend(measured.map(|(place, figure)| Cell::figure(figures.bare(place, figure))));
        cells
    };
    Some(Table {
        caption: Some("Distances from the printed values, nearest settings first:".to_owned()),
        columns,
        rows: ranked.iter().take(count).enumerate().map(row).collect(),
        fit: Fit::Line,
        ..Table::default()
    })
}

/// One row per setting: its factors, counting method, distance, and the mean of
/// each printed value.
fn nearest(
    plan: &Plan,
    ranking: &Ranking,
    figures: &PrintedFigures<'_>,
    names: &[String],
    ranked: &[Ranked],
) -> Table {
    let counted = !ranking.countings.is_empty();
    let mut columns = vec![Column::right("#")];
    columns.extend(names.iter().map(Column::new));
    columns.extend(counted.then(|| Column::new("counted")));
    columns.push(Column::new("distance"));
    columns.extend(figures.columns());
    let row = |(place, one): (usize, &Ranked)| {
        let mut cells = vec![Cell::figure((place + 1).to_string())];
        // A terminal has no room for the labels.
        cells.extend(names.iter().map(|name| {
            let level = one.factors.level(name);
            let [label, level] = match level {
                Some(level) => [plan.label(name, level), level.to_string()],
                None => [String::new(), String::new()],
            };
            Cell::Figure(label, Some(level))
        }));
        let countings = || {
            Cell::Figure(
                text::countings(ranking, one),
                Some(text::first_counting(ranking, one)),
            )
        };
        cells.extend(counted.then(countings));
        cells.push(Cell::figure(text::distance(one)));
        let measured = one.figures.iter().enumerate();
        cells.extend(measured.map(|(place, figure)| {
            let bare = figures.bare(place, figure);
            Cell::Figure(figures.mean(place, figure), Some(bare))
        }));
        cells
    };
    Table {
        columns,
        rows: ranked.iter().enumerate().map(row).collect(),
        brief_rows: Some(SHOWN),
        ..Table::default()
    }
}

/// For each setting its values with intervals, the probability of the printed
/// gaps between two seeds, and a row for the changes by each other level.
fn changes(plan: &Plan, figures: &PrintedFigures<'_>, ranked: &[Ranked]) -> Table {
    let [on_terminal, on_page] = CHANGED.map(|most| &ranked[..ranked.len().min(most)]);
    let mut columns = vec![Column::right("#"), Column::new(&plan.compare.factor)];
    columns.extend(figures.gaps());
    let row = |first: String, second: String, cells: Vec<String>| -> Vec<Cell> {
        let head = [Cell::figure(first), Cell::Text(second)];
        let cells = cells.into_iter().map(Cell::figure);
        head.into_iter().chain(cells).collect()
    };
    let mut rows = Vec::new();
    for (place, one) in on_page.iter().enumerate() {
        let measured = one.figures.iter().enumerate();
        let means = measured.map(|(place, figure)| figures.mean(place, figure));
        let baseline = plan.compare.baseline.to_string();
        rows.push(row((place + 1).to_string(), baseline, means.collect()));
        let chances = one.figures.iter();
        let chances = chances.map(|figure| text::separation(figure.separation.as_ref()));
        rows.push(row(String::new(), "two seeds".into(), chances.collect()));
        for other in &one.others {
            let changes = other.changes.iter().enumerate();
            let changes = changes.map(|(place, change)| figures.change(place, change.as_ref()));
            rows.push(row(
                String::new(),
                other.level.to_string(),
                changes.collect(),
            ));
        }
    }
    let of_setting = |one: &Ranked| 2 + one.others.len();
    Table {
        caption: Some(text::changes_heading(plan)),
        columns,
        rows,
        brief_rows: Some(on_terminal.iter().map(of_setting).sum()),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests;
