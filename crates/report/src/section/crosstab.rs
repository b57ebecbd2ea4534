//! Cross tables for many rows: the levels of the compared factor side by side.

use analysis::Findings;
use document::{Cell, Column, Fit, Table};
use plan::metric::Metric;
use plan::{Level, Plan};

use crate::figure;
use crate::rows::{aligned, factor_cells, factor_names, kinds};

/// Tables with more rows become cross tables.
pub(crate) const MOST_ROWS: usize = 40;

/// The means of a metric: a row for each measured combination of the other
/// factors, a column for each level of the compared one.
pub(crate) fn table(found: &Findings<'_>, metric: &Metric) -> Table {
    let plan = found.plan;
    let mut names = factor_names(plan);
    // The compared factor is the last and heads the columns.
    names.pop();
    let levels = levels(plan);
    let kinds = kinds(plan);
    let column = |level: &Level| {
        let at =
            |cell: &&usize| plan.cells[**cell].factors.level(&plan.compare.factor) == Some(level);
        let rows = kinds.iter().map(|kind| {
            let cell = kind.cells.iter().find(at)?;
            found.find(metric, *cell)
        });
        aligned(rows, figure::mean)
    };
    let columns: Vec<Vec<String>> = levels.iter().map(column).collect();
    let row = |(position, kind): (usize, &crate::rows::Kind)| {
        let figures = columns.iter().map(|column| &column[position]);
        let is_measured = figures.clone().any(|figure| !figure.is_empty());
        let figures = figures.map(|figure| Cell::figure(&**figure));
        let factors = &plan.cells[kind.cells[0]].factors;
        let cells = factor_cells(plan, &names, factors)
            .into_iter()
            .chain(figures);
        is_measured.then(|| cells.collect())
    };
    Table {
        rows: kinds.iter().enumerate().filter_map(row).collect(),
        columns: names
            .iter()
            .map(Column::new)
            .chain(
                levels
                    .iter()
                    .map(|level| Column::new(plan.label(&plan.compare.factor, level))),
            )
            .collect(),
        fit: Fit::Split(names.len()),
        ..Table::default()
    }
}

/// The levels of the compared factor, in the order of the plan.
fn levels(plan: &Plan) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let of_cells = plan.cells.iter();
    for level in of_cells.filter_map(|cell| cell.factors.level(&plan.compare.factor)) {
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};

    #[test]
    fn the_levels_stand_side_by_side_and_no_figure_is_lost() {
        let (plan, trials) = study();
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        let table = table(&found, Metric::named("throughput").unwrap());
        let titles: Vec<&str> = table.columns.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["scenario", "offloads", "1500", "9000"]);
        let rows: Vec<String> = table.rows.iter().map(|row| format!("{row:?}")).collect();
        assert_eq!(rows.len(), 2, "nothing was measured of WS-WS: {rows:?}");
        for figure in ["LU-LU", "off", "948 ± 13", "989 ± 13"] {
            assert!(rows[0].contains(figure), "{figure}: {}", rows[0]);
        }
    }
}
