//! Figures of the studies, redrawn, on the page only.

use analysis::Findings;
use document::{Block, Section, Style};

use crate::plots::redrawn::figures;

/// The explanation of the figures.
const BESIDE: &str = "This run's data beside the points that the study prints. Settings that the study does not state may differ; the verdicts below judge changes, not absolute values.";

/// The figures that the experiment lists in `[[report.figure]]`.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let figures = figures(found);
    if figures.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::heading("Figures of the study, redrawn"),
        Block::paragraph(Style::Note, BESIDE),
    ];
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "redrawn",
        blocks: vec![Block::Page(blocks)],
    })
}
