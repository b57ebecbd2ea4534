//! Refusals by a world: what its engine cannot run of a setting that reads well.

use anyhow::Result;
use plan::Setting;

use super::tree::{Node, Origin, Table, fault};

/// Why a world refuses a setting, and where an experiment says what it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Tables or keys of tables, e.g. `("links", Some("bottleneck"))`. The first
    /// one that is written is named with the reason; where none is, the file.
    pub places: Vec<(&'static str, Option<String>)>,
    /// One line that says what is wrong and what would be right.
    pub why: String,
}

/// A world's check of a setting, made before anything runs.
pub type Check = fn(&Setting) -> Result<(), Refusal>;

/// Names the place in `tree` that a refusal is about; `file` is where the
/// file begins.
pub(super) fn place(tree: &Table, file: &Origin, refusal: Refusal) -> anyhow::Error {
    let Refusal { places, why } = refusal;
    let written = places.into_iter().find_map(|(table, name)| {
        let Node { origin, .. } = match name {
            Some(name) => tree.table(table)?.get(&name)?,
            None => tree.get(table)?,
        };
        Some(origin)
    });
    fault(written.unwrap_or(file), why)
}
