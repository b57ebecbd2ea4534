//! Flows and queues over time, on the page only.

use analysis::Findings;

use crate::document::{Block, Section, Style};
use crate::plots::time_series::figures;

/// The explanation of the plots.
const MEANS: &str = "Means over the trials, interval by interval; bands are their 95 % intervals, each for itself, from three trials on. A band is cut where it would rule the axis.";

/// Time series of flows and links.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let figures = figures(found);
    if figures.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::heading("Over time"),
        Block::paragraph(Style::Note, MEANS),
    ];
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "over-time",
        blocks: vec![Block::Page(blocks)],
    })
}
