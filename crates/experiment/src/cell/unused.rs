//! Keys without effect in a cell.

use anyhow::Error;

/// A key that has an effect in some cells, but not in this one.
pub(crate) struct UnusedKey {
    pub(crate) path: String,
    /// Whether an argument of `--set` wrote it.
    pub(crate) is_set: bool,
    /// The error if the key has no effect in any cell.
    pub(crate) why: Error,
}
