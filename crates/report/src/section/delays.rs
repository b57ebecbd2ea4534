//! Distributions of round-trip times, on the page only.

use analysis::Findings;
use document::{Block, Section};

use crate::plots::delays::figures;

/// The distributions of trials that hold percentiles.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let figures = figures(found);
    if figures.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::heading("Distributions")];
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "distributions",
        blocks: vec![Block::Page(blocks)],
    })
}
