//! What cells change run by run: a grid for a terminal, cells of text for the
//! page, objects for programs.

use analysis::Findings;
use comfy_table::{Cell, Row, Table as Grid};
use maud::html;
use serde::Serialize;

use crate::figure::{four_digits, signed};
use crate::grid::{factor_cells, factor_names, grid, keep_figures_whole};
use crate::json::{json_line, pair};
use crate::notes;
use crate::section::{Part, Place, Section};
use analysis::paired::{Paired, metrics};
use analysis::statistics::{Interval, Mean};
use plan::{Factors, Plan};

/// What cells change run by run.
pub(super) struct Differences;

impl Section for Differences {
    fn heading(&self) -> &'static str {
        "Differences"
    }

    fn text(&self, found: &Findings<'_>, width: u16) -> (Place, String) {
        let table = table(found.plan, &found.paired);
        let text = table.map_or_else(String::new, |table| table.text(width));
        (Place::Tables, text)
    }

    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        let markup = html! {
            @if let Some(table) = table(found.plan, &found.paired) {
                section #differences {
                    h2 { (self.heading()) }
                    p.note { (table.heading) "." }
                    div.scroll { table {
                        thead { tr {
                            @for name in table.names.iter().chain(&table.metrics) { th scope="col" { (name) } }
                        } }
                        tbody { @for (factors, figures) in &table.rows { tr {
                            @for name in &table.names { td { @if let Some(level) = factors.level(name) { (level) } } }
                            @for figure in figures { td.figure { (figure) } }
                        } } }
                    } }
                }
            }
        };
        vec![Part {
            place: Place::Tables,
            markup,
            plots: Vec::new(),
        }]
    }

    fn json(&self, found: &Findings<'_>) -> Vec<String> {
        json_lines(found.plan, &found.paired)
    }
}

/// A heading, and rows of text below the names of columns.
struct Table<'a> {
    heading: String,
    names: Vec<String>,
    metrics: Vec<String>,
    rows: Vec<(&'a Factors, Vec<String>)>,
}

/// The differences, written; nothing where a plan asks for none.
fn table<'a>(plan: &Plan, pairs: &[Paired<'a>]) -> Option<Table<'a>> {
    if pairs.is_empty() {
        return None;
    }
    let heading = format!(
        "Differences against {} {}, run by run with the same seeds, with their 95 % intervals, each for itself",
        plan.compare.factor, plan.compare.baseline
    );
    let titles = metrics(plan).into_iter();
    let row = |pair: &Paired<'a>| {
        let cells = pair.changes.iter().map(|change| written(change.as_ref()));
        (pair.factors, cells.collect())
    };
    Some(Table {
        heading,
        names: factor_names(plan),
        metrics: titles
            .map(|metric| format!("{}\n{}", metric.name, metric.unit))
            .collect(),
        rows: pairs.iter().map(row).collect(),
    })
}

impl Table<'_> {
    /// The table below its heading, for a terminal of so many columns.
    fn text(&self, width: u16) -> String {
        let heading = notes::wrapped(std::slice::from_ref(&self.heading), width);
        format!("{heading}\n{}", self.grid(width).trim_fmt())
    }

    fn grid(&self, width: u16) -> Grid {
        let mut grid = grid(width);
        let header = self.names.iter().chain(&self.metrics);
        grid.set_header(Row::from(header.map(Cell::new).collect::<Vec<_>>()));
        for (factors, figures) in &self.rows {
            let mut cells = factor_cells(&self.names, factors);
            cells.extend(figures.iter().map(Cell::new));
            grid.add_row(Row::from(cells));
        }
        keep_figures_whole(&mut grid, width);
        grid
    }
}

/// A difference to as many places as its interval has figures to tell.
fn written(change: Option<&Mean>) -> String {
    let Some(change) = change else {
        return String::new();
    };
    match change.ci95 {
        None => four_digits(change.mean),
        Some(Interval { low, high }) => {
            let places = places((high - low) / 2.0);
            let mean = signed(change.mean, places);
            format!("{mean} [{low:.places$}, {high:.places$}]")
        }
    }
}

/// Digits behind the point that show two figures of `half`, up to 6.
fn places(half: f64) -> usize {
    (0..6)
        .zip([10.0, 1.0, 0.1, 0.01, 0.001, 0.0001])
        .find(|(_, least)| half >= *least)
        .map_or(2, |(places, _)| places)
}

/// One cell. The order of fields is the format's.
#[derive(Serialize)]
struct Line<'a> {
    /// Whoever looks for the line of a metric passes over it.
    metric: Option<&'a str>,
    paired: &'a Factors,
    against: String,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    of: &'static str,
    unit: &'static str,
    n: usize,
    mean: Option<f64>,
    ci95: Option<[f64; 2]>,
}

/// One object a cell, without line ends.
fn json_lines(plan: &Plan, pairs: &[Paired<'_>]) -> Vec<String> {
    let metrics = metrics(plan);
    let lines = pairs.iter().map(|one| {
        let differences = metrics.iter().zip(&one.changes);
        json_line(&Line {
            metric: None,
            paired: one.factors,
            against: format!("{}={}", plan.compare.factor, plan.compare.baseline),
            differences: differences
                .map(|(metric, change)| Difference {
                    of: metric.name,
                    unit: metric.unit,
                    n: change.map_or(0, |change| change.n),
                    mean: change.map(|change| change.mean),
                    ci95: change.and_then(|change| change.ci95).map(pair),
                })
                .collect(),
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::paired::paired;
    use plan::synthetic::{cell, factors, plan, trial};

    #[test]
    fn differences_stand_in_a_table_and_in_lines() {
        let cells = vec![cell(factors(1500)), cell(factors(9000))];
        let mut plan = plan(cells, 2, Vec::new());
        plan.paired = vec!["loss".into()];
        let trials = [
            trial(factors(1500), 1, &[("loss", 4.0)]),
            trial(factors(9000), 1, &[("loss", 3.0)]),
            trial(factors(1500), 2, &[("loss", 8.0)]),
            trial(factors(9000), 2, &[("loss", 6.0)]),
        ];
        let pairs = paired(&plan, &trials);
        let table = table(&plan, &pairs).unwrap();
        // -1 and -2: the mean -1.5, and 12.706 times 0.5 to either side.
        let text = table.grid(100).to_string();
        assert!(text.contains("-1.5 [-7.9, 4.9]"), "{text}");
        let lines = json_lines(&plan, &pairs);
        let begin = r#"{"metric":null,"paired":{"mtu":9000},"against":"mtu=1500","differences":[{"of":"loss","unit":"%","n":2,"mean":-1.5,"#;
        assert!(lines[0].starts_with(begin), "{}", lines[0]);
        plan.paired.clear();
        assert!(super::table(&plan, &paired(&plan, &trials)).is_none());
    }
}
