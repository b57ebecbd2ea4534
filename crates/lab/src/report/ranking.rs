//! Which settings come nearest to printed figures: grids and lines for a
//! terminal; `words` has what the page says too.

pub(super) mod json;
pub(super) mod words;

use std::fmt::{self, Write as _};

use comfy_table::{Cell, CellAlignment, Row, Table as Grid};

use crate::plan::{Plan, Ranking};
use crate::ranking::{Ranked, ranked};
use crate::report::grid::{factor_cells, grid, keep_figures_whole};
use crate::report::notes;
use crate::trial::Trial;
use words::{Figures, varied};

/// Settings that are shown in a terminal; the page and JSON have all.
const SHOWN: usize = 15;

/// Settings of which it is shown what other levels change.
const CHANGED: usize = 5;

/// What stands above the first table.
pub(super) const HEADING: &str = "Ranking";

/// The ranking with what belongs to it; nothing where a plan ranks nothing.
pub(super) fn write(text: &mut String, plan: &Plan, trials: &[Trial], width: u16) -> fmt::Result {
    let ranked = ranked(plan, trials);
    let (Some(ranking), false) = (&plan.ranking, ranked.is_empty()) else {
        return Ok(());
    };
    let figures = Figures::of(ranking);
    let answer = notes::wrapped(&words::answer(plan, ranking, &ranked), width);
    writeln!(text, "\n{HEADING}\n{answer}")?;
    let names = varied(plan);
    let nearest = &ranked[..ranked.len().min(SHOWN)];
    let table = nearest_table(ranking, &figures, &names, nearest, width);
    writeln!(text, "\n{}", table.trim_fmt())?;
    if ranked.iter().any(|one| !one.others.is_empty()) {
        let heading = words::changes_heading(plan);
        writeln!(text, "\n{}", notes::wrapped(&[heading], width))?;
        let nearest = &ranked[..ranked.len().min(CHANGED)];
        let table = changes_table(plan, &figures, nearest, width);
        writeln!(text, "{}", table.trim_fmt())?;
        let totals = notes::wrapped(&words::totals(plan, &ranked), width);
        writeln!(text, "\n{totals}")?;
    }
    let levels = notes::wrapped(&words::levels(&names, &ranked), width);
    writeln!(text, "\n{levels}")
}

/// A row a setting: its factors, how it is counted, how far it is, and each
/// figure with the probability that two seeds are a gap apart.
fn nearest_table(
    ranking: &Ranking,
    figures: &Figures<'_>,
    names: &[String],
    nearest: &[Ranked],
    width: u16,
) -> Grid {
    let mut grid = grid(width);
    let mut header: Vec<Cell> = vec![Cell::new("#")];
    header.extend(names.iter().map(Cell::new));
    header.extend((!ranking.ways.is_empty()).then(|| Cell::new("counted")));
    header.push(Cell::new("distance"));
    header.extend(figures.titles().map(Cell::new));
    grid.set_header(Row::from(header));
    for (place, one) in nearest.iter().enumerate() {
        let mut cells = vec![right(&(place + 1).to_string())];
        cells.extend(factor_cells(names, &one.factors));
        cells.extend((!ranking.ways.is_empty()).then(|| Cell::new(words::ways(ranking, one))));
        cells.push(Cell::new(words::distance(one)));
        let measured = one.figures.iter().enumerate();
        cells.extend(measured.map(|(place, figure)| Cell::new(figures.mean(place, figure))));
        grid.add_row(Row::from(cells));
    }
    keep_figures_whole(&mut grid, width);
    grid
}

/// For each setting a row for each other level: what it changes. Above them how
/// probable the printed gap is between two seeds.
fn changes_table(plan: &Plan, figures: &Figures<'_>, nearest: &[Ranked], width: u16) -> Grid {
    let mut grid = grid(width);
    let mut header: Vec<Cell> = vec![Cell::new("#"), Cell::new(&plan.compare.factor)];
    header.extend(figures.gaps().map(Cell::new));
    grid.set_header(Row::from(header));
    for (place, one) in nearest.iter().enumerate() {
        let mut cells = vec![right(&(place + 1).to_string()), Cell::new("two seeds")];
        let chances = one.figures.iter();
        cells.extend(chances.map(|figure| Cell::new(words::apart(figure.apart.as_ref()))));
        grid.add_row(Row::from(cells));
        for other in &one.others {
            let mut cells = vec![Cell::new(""), Cell::new(&other.level)];
            let changes = other.changes.iter().enumerate();
            cells.extend(
                changes.map(|(place, change)| Cell::new(figures.change(place, change.as_ref()))),
            );
            grid.add_row(Row::from(cells));
        }
    }
    keep_figures_whole(&mut grid, width);
    grid
}

fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

#[cfg(test)]
mod tests;
