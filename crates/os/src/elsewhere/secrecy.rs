//! Secrets in files, on systems other than Linux.

use std::io;
use std::path::Path;

use secret::Secret;

/// Reads the secret in the file at `path`, without the final line break. On these systems
/// nothing keeps it out of core dumps and swap.
///
/// # Errors
/// The file is open to others, too small or too large, or cannot be read.
pub fn read_secret(path: &Path) -> io::Result<Secret> {
    let bytes = files::read_secret(path, Secret::LONGEST)?;
    Secret::of_file(bytes).ok_or_else(|| io::Error::other("a secret must have 8 to 4096 bytes"))
}
