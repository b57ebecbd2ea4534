//! Which settings come nearest to printed figures: grids and lines for a
//! terminal; `words` has what the page says too.

mod html;
mod json;
mod words;

use analysis::Findings;
use comfy_table::{Cell, CellAlignment, Row, Table as Grid};

use crate::grid::{factor_cells, grid, keep_figures_whole};
use crate::notes;
use crate::section::{Part, Place, Section};
use analysis::ranking::Ranked;
use plan::{Plan, Ranking};
use words::{Figures, varied};

/// Settings that are shown in a terminal; the page and JSON have all.
const SHOWN: usize = 15;

/// Settings of which it is shown what other levels change.
const CHANGED: usize = 5;

/// Which settings come nearest to printed figures.
pub(super) struct Nearest;

impl Section for Nearest {
    fn heading(&self) -> &'static str {
        "Ranking"
    }

    fn text(&self, found: &Findings<'_>, width: u16) -> (Place, String) {
        let text = text(self.heading(), found.plan, &found.ranking, width);
        (Place::Answer, text)
    }

    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        vec![Part {
            place: Place::Answer,
            markup: html::section(self.heading(), found.plan, &found.ranking),
            plots: Vec::new(),
        }]
    }

    fn json(&self, found: &Findings<'_>) -> Vec<String> {
        json::lines(found.plan, &found.ranking)
    }
}

/// The ranking with what belongs to it; nothing where a plan ranks nothing.
fn text(heading: &str, plan: &Plan, ranked: &[Ranked], width: u16) -> String {
    let (Some(ranking), false) = (&plan.ranking, ranked.is_empty()) else {
        return String::new();
    };
    let figures = Figures::of(ranking);
    let answer = notes::wrapped(&words::answer(plan, ranking, ranked), width);
    let mut parts = vec![format!("{heading}\n{answer}")];
    let names = varied(plan);
    let nearest = &ranked[..ranked.len().min(SHOWN)];
    let table = nearest_table(ranking, &figures, &names, nearest, width);
    parts.push(table.trim_fmt());
    if ranked.iter().any(|one| !one.others.is_empty()) {
        let heading = notes::wrapped(&[words::changes_heading(plan)], width);
        let nearest = &ranked[..ranked.len().min(CHANGED)];
        let table = changes_table(plan, &figures, nearest, width);
        parts.push(format!("{heading}\n{}", table.trim_fmt()));
        parts.push(notes::wrapped(&words::totals(plan, ranked), width));
    }
    parts.push(notes::wrapped(&words::levels(&names, ranked), width));
    parts.join("\n\n")
}

/// A row a setting: its factors, how it is counted, how far it is, and the mean
/// of each figure below the printed one.
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
    header.extend(figures.printed().map(|figure| right(&figure)));
    grid.set_header(Row::from(header));
    for (place, one) in nearest.iter().enumerate() {
        let mut cells = vec![right(&(place + 1).to_string())];
        cells.extend(factor_cells(names, &one.factors));
        cells.extend((!ranking.ways.is_empty()).then(|| Cell::new(words::first_way(ranking, one))));
        cells.push(Cell::new(words::distance(one)));
        let measured = one.figures.iter().enumerate();
        cells.extend(measured.map(|(place, figure)| right(&figures.bare(place, figure))));
        grid.add_row(Row::from(cells));
    }
    keep_figures_whole(&mut grid, width);
    grid
}

/// For each setting its own figures with their intervals, how probable the
/// printed gaps are between two seeds, and a row for what each other level changes.
fn changes_table(plan: &Plan, figures: &Figures<'_>, nearest: &[Ranked], width: u16) -> Grid {
    let mut grid = grid(width);
    let mut header: Vec<Cell> = vec![Cell::new("#"), Cell::new(&plan.compare.factor)];
    header.extend(figures.gaps().map(Cell::new));
    grid.set_header(Row::from(header));
    let mut row = |first: &str, second: &str, cells: Vec<String>| {
        let cells = cells.iter().map(Cell::new);
        let head = [right(first), Cell::new(second)];
        grid.add_row(Row::from(head.into_iter().chain(cells).collect::<Vec<_>>()));
    };
    for (place, one) in nearest.iter().enumerate() {
        let measured = one.figures.iter().enumerate();
        let means = measured.map(|(place, figure)| figures.mean(place, figure));
        let baseline = plan.compare.baseline.to_string();
        row(&(place + 1).to_string(), &baseline, means.collect());
        let chances = one.figures.iter();
        let chances = chances.map(|figure| words::apart(figure.apart.as_ref()));
        row("", "two seeds", chances.collect());
        for other in &one.others {
            let changes = other.changes.iter().enumerate();
            let changes = changes.map(|(place, change)| figures.change(place, change.as_ref()));
            row("", &other.level.to_string(), changes.collect());
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
