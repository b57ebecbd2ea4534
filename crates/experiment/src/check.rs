//! Checks of backends: settings that are valid but that a backend's engine cannot
//! run.

use anyhow::Result;
use keyfile::{Node, Origin, Table, fault};
use plan::Setting;

/// The reason why a backend rejects a setting, and the place in the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Tables or keys of tables, such as `("links", Some("bottleneck"))`. The
    /// error names the first one that was written, otherwise the file.
    pub places: Vec<(&'static str, Option<String>)>,
    /// One line of text with the problem and the remedy.
    pub why: String,
}

/// A backend's check of a setting before anything runs.
pub type Check = fn(&Setting) -> Result<(), Rejection>;

/// The error for a rejection, at its place in `tree`; `file` is the start of the
/// file.
pub(super) fn place(tree: &Table, file: &Origin, rejection: Rejection) -> anyhow::Error {
    let Rejection { places, why } = rejection;
    let written = places.into_iter().find_map(|(table, name)| {
        let Node { origin, .. } = match name {
            Some(name) => tree.table(table)?.get(&name)?,
            None => tree.get(table)?,
        };
        Some(origin)
    });
    fault(written.unwrap_or(file), why)
}
