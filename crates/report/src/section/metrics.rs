//! The plots of the study's metrics, on the page only.

use analysis::Findings;
use document::{Block, Figure, Section, Style};
use plan::metric::Metric;

use crate::plots::Frame;
use crate::plots::metrics::figure;
use crate::rows::{first_metrics, is_zero};

/// The explanation of the plots.
const SYMBOLS: &str = "Large symbols are means with their 95 % intervals, small ones single trials: an open cross carries a note, such as other work on the processors, an X a fault; of a cell's others the first 500 are shown. Open diamonds are published figures. An arrow ends an interval that goes on beyond the axis. Changes are against the baseline, a row each: a filled symbol where a difference was found. A click on a name in the legend hides or shows it; a pointer on a symbol says what it is.";

/// A plot of each measured metric of the study. Of metrics that were zero in
/// every trial, and are published nowhere, their table says so.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let (plan, comparisons) = (found.plan, &found.comparisons);
    let frame = Frame::of(plan, found.trials, comparisons);
    let metrics = first_metrics(plan, comparisons).into_iter();
    let metrics = metrics.filter(|metric| !is_zero(comparisons, metric));
    let figures = drawn(&frame, metrics);
    if figures.is_empty() {
        return None;
    }
    let mut blocks = opening(SYMBOLS);
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "plots-section",
        blocks: vec![Block::Page(blocks)],
    })
}

/// The blocks above plots of metrics.
pub(crate) fn opening(note: &str) -> Vec<Block> {
    vec![
        Block::heading("Plots"),
        Block::paragraph(Style::Note, note),
        no_script(),
    ]
}

/// The words in place of plots in a browser without scripts.
pub(crate) fn no_script() -> Block {
    Block::paragraph(
        Style::NoScript,
        "The plots need JavaScript; the tables below contain the same values.",
    )
}

/// The figures of the measured ones of `metrics`.
pub(crate) fn drawn(
    frame: &Frame<'_>,
    metrics: impl IntoIterator<Item = &'static Metric>,
) -> Vec<Figure> {
    let metrics = metrics.into_iter();
    metrics.filter_map(|metric| figure(frame, metric)).collect()
}
