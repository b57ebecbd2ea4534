//! Outputs at paths that the user named.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context, Result};

use crate::{Folder, system};

/// Creates the folder at `path`, and those above it.
///
/// # Errors
/// It cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Removes the empty folder at `path`.
///
/// # Errors
/// It is not an empty folder, or cannot be removed.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// Creates a file for writing.
///
/// # Errors
/// Something exists at that path, or it cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    let (folder, name) = parts(path)?;
    Folder::open(folder)?.create_new(name)
}

/// Creates a file for writing as [`create_new`] that only its owner may read or change.
///
/// # Errors
/// As [`create_new`].
pub fn create_private(path: &Path) -> io::Result<File> {
    let (folder, name) = parts(path)?;
    Folder::open(folder)?.create_private(name)
}

/// Opens the file at `path` for appending, and creates it if needed.
///
/// # Errors
/// It is not an ordinary file with a single name, or cannot be written.
pub fn append(path: &Path) -> io::Result<File> {
    let (folder, name) = parts(path)?;
    Folder::open(folder)?.append(name)
}

/// Removes the file or link at `path`.
///
/// # Errors
/// It does not exist or cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    let (folder, name) = parts(path)?;
    Folder::open(folder)?.remove(name)
}

/// Creates a file for writing, or opens a pipe or a device, which has no
/// content to lose.
///
/// # Errors
/// Nobody reads from the pipe; an ordinary file or a link to nothing exists at that path, or it cannot be
/// created.
pub fn open_sink(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => system::open_device(path),
        _ => create_new(path),
    }
}

/// Replaces the file at `path` as [`Folder::replace`].
///
/// # Errors
/// As [`Folder::replace`].
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let cannot = || {
        format!(
            "cannot write {}; choose a folder that exists, is writable and has room",
            path.display()
        )
    };
    let (folder, name) = parts(path).with_context(cannot)?;
    Folder::open(folder)
        .with_context(cannot)?
        .replace(name, write)
}

/// Whether two paths lead to the same file.
pub fn are_same(first: &Path, second: &Path) -> bool {
    system::are_same(first, second)
}

/// The folder of a path and its last name.
fn parts(path: &Path) -> io::Result<(&Path, &str)> {
    let name = path.file_name().and_then(|name| name.to_str());
    match (path.parent(), name) {
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "this is not the name of a file in UTF-8",
        )),
    }
}
