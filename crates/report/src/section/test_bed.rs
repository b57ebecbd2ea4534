//! The test network as a drawing, on the page only.

use analysis::Findings;
use document::{Block, Section};

use crate::topology;

/// The nodes, links and flows of the plan.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let beds = topology::of(found.plan);
    (!beds.is_empty()).then(|| {
        let drawings = beds.iter().map(topology::figure).map(Block::Svg);
        let blocks = std::iter::once(Block::heading("Test network")).chain(drawings);
        Section {
            id: "test-bed",
            blocks: vec![Block::Page(blocks.collect())],
        }
    })
}
