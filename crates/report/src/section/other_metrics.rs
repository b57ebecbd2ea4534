//! Metrics that are not of the study: folded plots and a table of all of them.

use analysis::Findings;
use document::{Block, Cell, Column, Fit, Section, Style, Table};
use plan::metric::Metric;

use crate::figure;
use crate::plots::Frame;
use crate::rows::{
    aligned, factor_cells, factor_names, first_metrics, is_zero, metric_column, other_metrics,
    rows_in_order,
};
use crate::section::crosstab::MOST_ROWS;
use crate::section::metrics::drawn;

/// Folded plots, and a table of several metrics, one row per measured cell.
/// Metrics that were zero in every trial share one line.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let (plan, comparisons) = (found.plan, &found.comparisons);
    let others = other_metrics(plan, comparisons);
    let (zero, metrics): (Vec<&Metric>, Vec<&Metric>) =
        (others.into_iter()).partition(|metric| is_zero(comparisons, metric));
    let zero = (first_metrics(plan, comparisons).into_iter())
        .filter(|metric| is_zero(comparisons, metric))
        .chain(zero);
    let zero: Vec<&str> = zero.map(|metric| metric.name).collect();
    let zero = (!zero.is_empty()).then(|| {
        let line = format!("Zero in every trial: {}.", zero.join(", "));
        Block::paragraph(Style::Plain, line)
    });
    let order = rows_in_order(plan);
    if !is_measured(found, &metrics, &order) {
        return Some(Section {
            id: "other-metrics",
            blocks: vec![Block::heading("Other metrics"), zero?],
        });
    }
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name).collect();
    let names = names.join(", ");
    let on_terminal = match order.len() > MOST_ROWS {
        true => vec![Block::list(vec![format!(
            "{names}: see the page, table of {} rows",
            order.len()
        )])],
        false => whole(found, &metrics, &order),
    };
    let frame = Frame::of(plan, found.trials, comparisons);
    let figures = drawn(&frame, metrics.iter().copied());
    let fold = Block::Fold {
        summary: format!("Table and plots of {} other metrics", metrics.len()),
        blocks: (whole(found, &metrics, &order).into_iter())
            .chain(figures.into_iter().map(Block::Figure))
            .collect(),
    };
    let names = Block::paragraph(Style::Note, names);
    let blocks = [
        Some(Block::heading("Other metrics")),
        Some(Block::Terminal(on_terminal)),
        zero,
        Some(Block::Page(vec![names, fold])),
    ];
    Some(Section {
        id: "other-metrics",
        blocks: blocks.into_iter().flatten().collect(),
    })
}

/// The table of `metrics` and what is to be said about it.
fn whole(found: &Findings<'_>, metrics: &[&'static Metric], order: &[usize]) -> Vec<Block> {
    let notes = metrics.iter().filter_map(|metric| {
        let rows = order.iter().filter_map(|&cell| found.find(metric, cell));
        Some(format!("{}: {}", metric.name, figure::notes(rows)?))
    });
    let notes: Vec<String> = notes.collect();
    let note = (!notes.is_empty()).then(|| Block::paragraph(Style::Note, notes.join("; ")));
    let table = Block::Table(table(found, metrics, order));
    std::iter::once(table).chain(note).collect()
}

fn is_measured(found: &Findings<'_>, metrics: &[&'static Metric], cells: &[usize]) -> bool {
    let measured = |cell: &usize| {
        let mut here = metrics.iter();
        here.any(|metric| found.find(metric, *cell).is_some_and(|row| row.n > 0))
    };
    cells.iter().any(measured)
}

fn table(found: &Findings<'_>, metrics: &[&'static Metric], order: &[usize]) -> Table {
    let order = order.iter().copied();
    let rows: Vec<usize> = order
        .filter(|&cell| is_measured(found, metrics, &[cell]))
        .collect();
    let names = factor_names(found.plan);
    let columns: Vec<Vec<String>> = metrics
        .iter()
        .map(|metric| {
            let rows = rows.iter().map(|&cell| found.find(metric, cell));
            aligned(rows, figure::mean)
        })
        .collect();
    let row = |(position, &cell): (usize, &usize)| {
        let figures = columns.iter();
        let figures = figures.map(|column| Cell::figure(&*column[position]));
        factor_cells(found.plan, &names, &found.plan.cells[cell].factors)
            .into_iter()
            .chain(figures)
            .collect()
    };
    let of_metrics = metrics.iter().map(|metric| metric_column(metric));
    Table {
        columns: names.iter().map(Column::new).chain(of_metrics).collect(),
        rows: rows.iter().enumerate().map(row).collect(),
        fit: Fit::Split(names.len()),
        ..Table::default()
    }
}
