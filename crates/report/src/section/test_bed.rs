//! The test bed as a picture, on the page only.

use analysis::Findings;

use crate::document::{Block, Section};
use crate::topology;

/// The nodes, links and flows of the plan.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let beds = topology::of(found.plan);
    (!beds.is_empty()).then(|| Section {
        id: "test-bed",
        blocks: vec![Block::Page(vec![
            Block::heading("Test bed"),
            Block::TestBeds(beds),
        ])],
    })
}
