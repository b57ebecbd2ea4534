//! Outputs at paths that the user named.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::Mode;

use crate::Folder;

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
        Ok(found) if !found.is_file() => {
            // A pipe without a reader would make its writer wait [open(2)].
            let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
            let file: File = match nix::fcntl::open(path, flags, Mode::empty()) {
                Err(Errno::ENXIO) => {
                    let why = "nobody reads from it; start its reader first";
                    return Err(io::Error::new(ErrorKind::BrokenPipe, why));
                }
                opened => opened?.into(),
            };
            if file.metadata()?.is_file() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
            fcntl(&file, FcntlArg::F_SETFL(flags & !OFlag::O_NONBLOCK))?;
            Ok(file)
        }
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
            "cannot write {}; make room or make the folder writable",
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
    let file = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((file(first), file(second)), (Ok(first), Ok(second)) if first == second)
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_pipe_is_written_to_if_it_has_a_reader_and_makes_nobody_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let error = open_sink(&path).unwrap_err().to_string();
        assert!(error.contains("nobody reads from it"), "{error}");
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
        let mut reader: File = nix::fcntl::open(&path, flags, Mode::empty())
            .unwrap()
            .into();
        let mut writer = open_sink(&path).unwrap();
        writer.write_all(b"line").unwrap();
        let flags = fcntl(&writer, FcntlArg::F_GETFL).unwrap();
        assert!(!OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK));
        let mut octets = [0; 4];
        reader.read_exact(&mut octets).unwrap();
        assert_eq!(&octets, b"line");
    }
}
