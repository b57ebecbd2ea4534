//! Writes pages into results folders.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Writes a page atomically as the file `name` of a results folder; returns its
/// path.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(folder: &Path, name: &str, page: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    files::replace(&path, |file| Ok(file.write_all(page.as_bytes())?))?;
    Ok(path)
}
