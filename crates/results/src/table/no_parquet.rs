//! The same functions in a program that was built without Parquet.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use files::Folder;

use super::{Column, Values};

/// Whether this program writes Parquet.
pub(crate) const HAS_PARQUET: bool = false;

/// Rejects.
pub fn write_table(_path: &Path, _columns: &[Column]) -> Result<()> {
    super::require_parquet()
}

/// Rejects.
pub fn write_table_in(_folder: &Folder, _name: &str, _columns: &[Column]) -> Result<()> {
    super::require_parquet()
}

/// Rejects.
pub(crate) fn write_groups(
    _path: &Path,
    _fields: &[Column],
    _next: &mut dyn FnMut() -> Result<Option<Vec<Column>>>,
) -> Result<()> {
    super::require_parquet()
}

/// Rejects.
pub(crate) fn write_parts(
    _folder: &Folder,
    _name: &str,
    _fields: &[Column],
    _rows: usize,
    _part: impl Fn(usize, Range<usize>) -> Values,
) -> Result<()> {
    super::require_parquet()
}
