//! Tables of many rows, folded: the levels of the compared factor side by side.

use comfy_table::{Cell, Row, Table as Grid};

use crate::figure;
use crate::grid::{factor_cells, factor_names, find, grid, side_by_side};
use crate::rows::kinds;
use analysis::compare::Comparison;
use plan::metric::Metric;
use plan::{Level, Plan};

/// A table of more rows is folded.
pub(super) const MOST_ROWS: usize = 40;

/// The means of a metric, a row for each combination of the other factors where it
/// was measured and a
/// column for each level of the compared one; as many columns side by side as
/// the width allows.
pub(super) fn crosstab(
    plan: &Plan,
    comparisons: &[Comparison],
    metric: &Metric,
    width: u16,
) -> Vec<Grid> {
    let columns: Vec<(String, Vec<String>)> = levels(plan)
        .into_iter()
        .map(|level| (level.to_string(), column(plan, comparisons, metric, &level)))
        .collect();
    side_by_side(&columns, width, |columns| means_table(plan, columns, width))
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

/// The means at one level, a row for each combination of the other factors.
fn column(plan: &Plan, comparisons: &[Comparison], metric: &Metric, level: &Level) -> Vec<String> {
    let at = |&cell: &usize| plan.cells[cell].factors.level(&plan.compare.factor) == Some(level);
    let mut column: Vec<String> = kinds(plan)
        .into_iter()
        .map(|kind| {
            let cell = kind.cells.into_iter().find(at);
            let comparison = cell.and_then(|cell| find(comparisons, metric, cell));
            comparison.map_or_else(String::new, figure::mean)
        })
        .collect();
    figure::align(&mut column);
    column
}

fn means_table(plan: &Plan, columns: &[(String, Vec<String>)], width: u16) -> Grid {
    let mut names = factor_names(plan);
    // The compared factor is the last, and heads the columns.
    names.pop();
    let mut grid = grid(width);
    let mut header: Vec<Cell> = names.iter().map(Cell::new).collect();
    header.extend(columns.iter().map(|(level, _)| Cell::new(level)));
    grid.set_header(Row::from(header));
    for (position, kind) in kinds(plan).into_iter().enumerate() {
        if columns
            .iter()
            .all(|(_, column)| column[position].is_empty())
        {
            continue;
        }
        let first = kind.cells[0];
        let mut cells = factor_cells(&names, &plan.cells[first].factors);
        cells.extend(
            columns
                .iter()
                .map(|(_, column)| Cell::new(&column[position])),
        );
        grid.add_row(Row::from(cells));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::compare;
    use plan::metric::Metric;
    use plan::synthetic::study;

    #[test]
    fn the_levels_stand_side_by_side_and_no_figure_is_lost() {
        let (plan, trials) = study();
        let comparisons = compare(&plan, &trials);
        let throughput = Metric::named("throughput").unwrap();
        let [grid] = &crosstab(&plan, &comparisons, throughput, 120)[..] else {
            panic!("120 columns are enough");
        };
        let lines: Vec<Vec<String>> = grid
            .trim_fmt()
            .lines()
            .map(|line| line.split_whitespace().map(str::to_owned).collect())
            .collect();
        assert_eq!(lines[0], ["scenario", "offloads", "1500", "9000"]);
        assert_eq!(
            lines[1],
            ["LU-LU", "off", "948", "±", "13", "989", "±", "13"]
        );
        assert_eq!(lines.len(), 3, "nothing was measured of WS-WS: {lines:?}");
        let narrow = crosstab(&plan, &comparisons, throughput, 30);
        assert_eq!(narrow.len(), 2, "each level has its own grid");
    }
}
