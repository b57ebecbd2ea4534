//! The grids of the terminal's report.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid, presets,
};

use crate::figure;
use analysis::compare::{Comparison, Difference};
use analysis::predicted;
use analysis::split::framing_uncounted;
use plan::metric::Metric;
use plan::{Factors, Plan};

/// What stands beside a row of which no figure is published, where others of its
/// metric have one.
pub(super) const NOT_PRINTED: &str = "not printed";

/// One metric, a row a cell: measured, changed, published, judged. Where the
/// metric is one end of an attribution interval, the other end has a row below.
pub(super) fn study_table(
    plan: &Plan,
    comparisons: &[Comparison],
    metric: &Metric,
    rows: &[&Comparison],
    width: u16,
) -> Grid {
    let names = factor_names(plan);
    let values = rows.iter().any(|row| row.published.value.is_some());
    let claims = rows.iter().any(|row| row.published.claim.is_some());
    let upper = metric.attribution();
    let lines: Vec<&Comparison> = rows
        .iter()
        .flat_map(|&row| {
            let high = upper.and_then(|upper| find(comparisons, upper, row.cell));
            [Some(row), high.filter(|high| high.n > 0)]
        })
        .flatten()
        .collect();
    let mut means: Vec<String> = lines.iter().map(|line| figure::mean(line)).collect();
    let mut changes: Vec<String> = lines.iter().map(|line| figure::change(line)).collect();
    figure::align(&mut means);
    figure::align(&mut changes);
    let papers: Vec<Option<f64>> = lines.iter().map(|line| line.published.value).collect();
    let papers = figure::published(&papers);
    let models = models(plan, &lines);

    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let mut grid = grid(width);
    let mut header: Vec<Cell> = names.iter().map(Cell::new).collect();
    let change = format!("% against {}", plan.compare.baseline);
    header.push(Cell::new(metric.unit));
    header.extend(models.is_some().then(|| right("model".into())));
    header.push(Cell::new(change));
    header.extend(values.then(|| right("paper".into())));
    header.extend(claims.then(|| right("paper %".into())));
    header.push(Cell::new(if claims { "verdict" } else { "" }));
    grid.set_header(Row::from(header));
    let texts = lines.iter().zip(means).zip(changes).zip(papers);
    for (position, (((line, mean), change), paper)) in texts.enumerate() {
        let of_row = line.metric == metric;
        let mut cells = if of_row {
            factor_cells(&names, &line.factors)
        } else {
            names.iter().map(|_| Cell::new("")).collect()
        };
        cells.push(Cell::new(mean));
        cells.extend(models.iter().map(|models| right(models[position].clone())));
        cells.push(Cell::new(change));
        let claim = line.published.claim;
        let claim = claim.map(|claim| figure::signed(claim.percent, 2));
        cells.extend(values.then(|| right(paper)));
        cells.extend(claims.then(|| right(claim.unwrap_or_default())));
        cells.push(Cell::new(if of_row {
            remark(plan, line, is_unprinted(plan, rows, line))
        } else {
            "with all softirq".into()
        }));
        grid.add_row(Row::from(cells));
    }
    keep_figures_whole(&mut grid, width);
    grid
}

/// Whether figures of other rows are published, but none of this one nor of those
/// that it is compared with.
pub(super) fn is_unprinted(plan: &Plan, rows: &[&Comparison], row: &Comparison) -> bool {
    let family = |Factors(factors): &Factors| -> Vec<_> {
        let others = factors.iter();
        let others = others.filter(|(name, _)| *name != plan.compare.factor);
        others.cloned().collect()
    };
    let here = family(&row.factors);
    let mut printed = rows
        .iter()
        .filter(|other| other.published.is_any())
        .peekable();
    row.n > 0 && printed.peek().is_some() && printed.all(|other| family(&other.factors) != here)
}

/// What is to be said of a row; of some no figure is published where others have one.
fn remark(plan: &Plan, row: &Comparison, is_unprinted: bool) -> String {
    let setting = &plan.cells[row.cell].setting;
    let verdict = row.judgement.as_ref().map(|judgement| {
        // Where nothing was measured the reason says more than the verdict.
        if setting.is_err() || row.n == 0 {
            judgement.reason.clone()
        } else {
            judgement.verdict.to_string()
        }
    });
    let difference = match row.difference {
        Some(Difference::NotFound) => Some(figure::none_found(row)),
        Some(Difference::Unknown) => Some("too few trials".to_owned()),
        Some(Difference::Found) | None => None,
    };
    let framing = framing_note(plan, row).map(str::to_owned);
    let unprinted = is_unprinted.then(|| NOT_PRINTED.to_owned());
    let parts: Vec<String> = [verdict, unprinted, difference, framing]
        .into_iter()
        .flatten()
        .collect();
    parts.join("; ")
}

/// Several metrics, a row a cell that was measured; as many metrics side by
/// side as the width allows.
pub(super) fn other_tables(
    plan: &Plan,
    comparisons: &[Comparison],
    metrics: &[&'static Metric],
    order: &[usize],
    width: u16,
) -> Vec<Grid> {
    let measured = |&cell: &usize| {
        let mut here = metrics
            .iter()
            .filter_map(|metric| find(comparisons, metric, cell));
        here.any(|comparison| comparison.n > 0)
    };
    let rows: Vec<usize> = order.iter().copied().filter(measured).collect();
    side_by_side(metrics, width, |metrics| {
        means_table(plan, comparisons, metrics, &rows, width)
    })
}

/// The tables of `columns`, as many of them side by side as the width allows.
pub(super) fn side_by_side<T>(
    columns: &[T],
    width: u16,
    table: impl Fn(&[T]) -> Grid,
) -> Vec<Grid> {
    let mut grids = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut count = rest.len();
        let grid = loop {
            let mut grid = table(&rest[..count]);
            let gap = set_gap(&mut grid, width);
            let widths = grid.column_max_content_widths();
            let taken: u16 = widths.iter().map(|width| width + gap).sum();
            if taken <= width || count == 1 {
                break grid;
            }
            count -= 1;
        };
        grids.push(grid);
        rest = &rest[count..];
    }
    grids
}

/// The means of some metrics side by side.
fn means_table(
    plan: &Plan,
    comparisons: &[Comparison],
    metrics: &[&'static Metric],
    rows: &[usize],
    width: u16,
) -> Grid {
    let names = factor_names(plan);
    let mut grid = grid(width);
    let mut header: Vec<Cell> = names.iter().map(Cell::new).collect();
    let titles = metrics.iter();
    header.extend(titles.map(|metric| Cell::new(format!("{}\n{}", metric.name, metric.unit))));
    grid.set_header(Row::from(header));
    let columns: Vec<Vec<String>> = metrics
        .iter()
        .map(|metric| {
            let print = |&cell: &usize| {
                find(comparisons, metric, cell).map_or_else(String::new, figure::mean)
            };
            let mut column: Vec<String> = rows.iter().map(print).collect();
            figure::align(&mut column);
            column
        })
        .collect();
    for (position, &cell) in rows.iter().enumerate() {
        let mut cells = factor_cells(&names, &plan.cells[cell].factors);
        cells.extend(columns.iter().map(|column| Cell::new(&column[position])));
        grid.add_row(Row::from(cells));
    }
    grid
}

pub(super) fn grid(width: u16) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    grid
}

/// Sets the columns apart, on a narrow terminal by less.
fn set_gap(grid: &mut Grid, width: u16) -> u16 {
    let gap = if width < 100 { 1 } else { 2 };
    for column in grid.column_iter_mut() {
        column.set_padding((0, gap));
    }
    gap
}

/// Lets only the last column wrap, where that leaves it room for a word.
pub(super) fn keep_figures_whole(grid: &mut Grid, width: u16) {
    const WORD: u16 = 12;
    let gap = set_gap(grid, width);
    let widths = grid.column_max_content_widths();
    let Some((_, figures)) = widths.split_last() else {
        return;
    };
    let taken: u16 = figures.iter().map(|width| width + gap).sum();
    if taken + WORD + gap <= width {
        for (column, _) in grid.column_iter_mut().zip(figures) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}

/// The factors' names, the compared one last.
pub(super) fn factor_names(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in plan.cells.iter().flat_map(|cell| &cell.factors.0) {
        if *name != plan.compare.factor && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.push(plan.compare.factor.clone());
    names
}

pub(super) fn factor_cells(names: &[String], factors: &Factors) -> Vec<Cell> {
    names
        .iter()
        .map(|name| {
            Cell::new(
                factors
                    .level(name)
                    .map_or_else(String::new, ToString::to_string),
            )
        })
        .collect()
}

/// One metric in one cell.
pub(super) fn find<'a>(
    comparisons: &'a [Comparison],
    metric: &Metric,
    cell: usize,
) -> Option<&'a Comparison> {
    comparisons
        .iter()
        .find(|comparison| comparison.metric == metric && comparison.cell == cell)
}

/// What the closed forms predict for a figure, where it is one of throughput.
pub(super) fn model(plan: &Plan, comparison: &Comparison) -> Option<f64> {
    let setting = plan.cells[comparison.cell].setting.as_ref().ok()?;
    predicted::goodput(setting).filter(|_| comparison.metric.name == "throughput")
}

/// The predictions for the rows of a table, printed, if there is any.
pub(super) fn models(plan: &Plan, lines: &[&Comparison]) -> Option<Vec<String>> {
    let models: Vec<Option<f64>> = lines.iter().map(|line| model(plan, line)).collect();
    let print = |model: &Option<f64>| model.map_or_else(String::new, figure::predicted);
    let any = models.iter().any(Option::is_some);
    any.then(|| models.iter().map(print).collect())
}

/// What [`framing_uncounted`] says of a figure, where it is one of throughput.
pub(super) fn framing_note(plan: &Plan, comparison: &Comparison) -> Option<&'static str> {
    let setting = plan.cells[comparison.cell].setting.as_ref().ok()?;
    framing_uncounted(setting).filter(|_| comparison.metric.name == "throughput")
}
