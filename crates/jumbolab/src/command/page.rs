//! Pages in results folders.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Writes a page as the file `name` of a results folder, whole or not at all, and says
/// where it is.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(folder: &Path, name: &str, page: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    results::replace(&path, |file| Ok(file.write_all(page.as_bytes())?))?;
    Ok(path)
}
