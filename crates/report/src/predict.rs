//! Predictions of closed forms: tables, JSON Lines and a drawing.

mod chart;
mod costs;
mod limit;
mod optimal;
mod overhead;
#[cfg(test)]
mod tests;
mod transfer;
mod waits;

use document::{Block, Cell, Column, Document, Fit, Section, Style, Table};
use model::{Sizes, Stack};
use units::{Bytes, Rate};

use chart::Chart;
pub use costs::{CostPredictions, PredictedSeries, of_costs};
pub use limit::of_limit;
pub use optimal::{Chosen, of_optimal};
pub use overhead::of_overhead;
pub use transfer::{Sent, of_transfer};
pub use waits::{BUNDLE_FRAMING, Bundles, Waits, of_bundles, of_waits};

/// The answer to a question that needs no measurement.
pub struct Prediction {
    /// The tables.
    pub document: Document,
    /// The same as JSON Lines.
    pub lines: Vec<String>,
    chart: Chart,
}

impl Prediction {
    /// The drawing of the figures against the MTU, as an SVG file.
    pub fn svg(&self) -> String {
        self.chart.svg()
    }
}

/// The MTUs of a curve up to the largest one asked for, but at least to 9216, the
/// largest that common switches take.
fn curve(stack: &Stack, mtus: impl IntoIterator<Item = u64>) -> Vec<(u64, Sizes)> {
    const COMMON: u64 = 9216;
    const POINTS: u64 = 120;
    let most = mtus.into_iter().max().unwrap_or(0).max(COMMON);
    let step = most.div_ceil(POINTS);
    let mtus = (1..=most.div_ceil(step)).map(|place| (place * step).min(most));
    let sizes = |mtu| Some((mtu, stack.largest(Bytes::new(mtu)).ok()?));
    mtus.filter_map(sizes).collect()
}

/// A document of a title, sentences and tables.
fn document(title: String, notes: Vec<String>, tables: Vec<Table>) -> Document {
    let head = Block::Title {
        name: "predict".to_owned(),
        title: title.clone(),
        badges: Vec::new(),
    };
    let mut blocks: Vec<Block> = tables.into_iter().map(Block::Table).collect();
    if !notes.is_empty() {
        blocks.push(Block::Paragraphs(Style::Note, notes));
    }
    Document {
        title,
        head: vec![head],
        sections: vec![Section { id: "", blocks }],
    }
}

/// A table whose first `keys` columns name the row.
fn table(keys: usize, columns: &[&str], rows: Vec<Vec<String>>) -> Table {
    let column = |(place, title): (usize, &&str)| match place < keys {
        true => Column::new(*title),
        false => Column::right(*title),
    };
    let row = |cells: Vec<String>| {
        let cell = |(place, text)| match place < keys {
            true => Cell::Text(text),
            false => Cell::figure(text),
        };
        cells.into_iter().enumerate().map(cell).collect()
    };
    Table {
        columns: columns.iter().enumerate().map(column).collect(),
        rows: rows.into_iter().map(row).collect(),
        fit: Fit::Split(keys),
        ..Table::default()
    }
}

/// A share in per cent with two places.
fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// The unit in which figures of a rate are stated, and its bits per second.
fn unit_of(rate: Rate) -> (&'static str, f64) {
    match rate.bits_per_second() {
        0..1_000_000 => ("kbit/s", 1e3),
        1_000_000..10_000_000_000 => ("Mbit/s", 1e6),
        _ => ("Gbit/s", 1e9),
    }
}
