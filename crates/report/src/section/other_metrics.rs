//! Metrics without a table of their own.

use analysis::Findings;
use plan::metric::Metric;

use crate::document::{Block, Cell, Column, Fit, Section, Style, Table};
use crate::figure;
use crate::rows::{
    aligned, factor_cells, factor_names, metric_column, other_metrics, rows_in_order,
};
use crate::section::crosstab::MOST_ROWS;

/// A table of several metrics, one row per measured cell.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let metrics = other_metrics(found.plan, &found.comparisons);
    let order = rows_in_order(found.plan);
    let table = table(found, &metrics, &order)?;
    let heading = || Block::heading("Other metrics");
    let notes = metrics.iter().filter_map(|metric| {
        let rows = order.iter().filter_map(|&cell| found.find(metric, cell));
        Some(format!("{}: {}", metric.name, figure::trimmed(rows)?))
    });
    let notes: Vec<String> = notes.collect();
    let whole = |table| {
        let note = Block::paragraph(Style::Note, notes.join("; "));
        let note = (!notes.is_empty()).then_some(note);
        let blocks = [Some(heading()), Some(Block::Table(table)), note];
        blocks.into_iter().flatten().collect()
    };
    let blocks = if order.len() > MOST_ROWS {
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name).collect();
        let brief = format!(
            "{}: see the page, table of {} rows",
            names.join(", "),
            order.len()
        );
        vec![
            Block::Terminal(vec![heading(), Block::list(vec![brief])]),
            Block::Page(whole(table)),
        ]
    } else {
        whole(table)
    };
    Some(Section { id: "", blocks })
}

fn table(found: &Findings<'_>, metrics: &[&'static Metric], order: &[usize]) -> Option<Table> {
    let measured = |cell: usize| {
        let mut here = metrics.iter();
        here.any(|metric| found.find(metric, cell).is_some_and(|row| row.n > 0))
    };
    let order = order.iter().copied();
    let rows: Vec<usize> = order.filter(|&cell| measured(cell)).collect();
    if rows.is_empty() {
        return None;
    }
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
    Some(Table {
        columns: names.iter().map(Column::new).chain(of_metrics).collect(),
        rows: rows.iter().enumerate().map(row).collect(),
        fit: Fit::Split(names.len()),
        ..Table::default()
    })
}
