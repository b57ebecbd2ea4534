//! Keys of no use in a cell.

use anyhow::Error;

/// A key that is honoured in some cells, and means nothing in this one.
pub(crate) struct UnusedKey {
    pub(crate) path: String,
    /// Whether an argument of `--set` wrote it.
    pub(crate) is_set: bool,
    /// The refusal, for a key of no use in any cell.
    pub(crate) why: Error,
}
