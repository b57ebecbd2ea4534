//! Folders whose files are reached without following links.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::input::{at_most, too_large};
use crate::system::{Handle, Kind, Open, has_other_names};

/// The maximum number of temporary files of one name and process that earlier
/// crashes may have left.
const MOST_LEFT: u32 = 1_000;

/// An open folder. Names are those of its direct entries.
#[derive(Debug)]
pub struct Folder {
    folder: Handle,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at a path that the user named; links on the way are
    /// followed.
    ///
    /// # Errors
    /// It does not exist or is not a folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: Handle::open(here(path))?,
            path: path.to_owned(),
        })
    }

    /// Opens the folder at a path that the user named, and creates it if
    /// needed.
    ///
    /// # Errors
    /// It cannot be created or opened.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// The same open folder once more.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            folder: self.folder.try_clone()?,
            path: self.path.clone(),
        })
    }

    /// The path that it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether that path still leads to this folder: nobody removed, renamed or replaced it.
    pub fn is_in_place(&self) -> bool {
        self.folder.is_at(here(&self.path))
    }

    /// Whether the entry `name` still is the open file `file`.
    pub fn is_still(&self, name: &str, file: &File) -> bool {
        self.folder.is_still(name, file)
    }

    /// Opens the folder `name` in this one, and creates it if needed.
    ///
    /// # Errors
    /// It is a link or a file, or cannot be created.
    pub fn folder(&self, name: &str) -> io::Result<Self> {
        match self.create_folder(name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Ok(Self {
            folder: self.folder.folder(name)?,
            path: self.path.join(name),
        })
    }

    /// Creates the folder `name` in this one.
    ///
    /// # Errors
    /// Something of that name exists, or it cannot be created.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        single(name)?;
        self.folder.create_folder(name)
    }

    /// Creates the file `name` for writing.
    ///
    /// # Errors
    /// Something of that name exists, or it cannot be created.
    pub fn create_new(&self, name: &str) -> io::Result<File> {
        self.file(name, Open::New)
    }

    /// Creates the file `name` for writing, for its owner alone.
    ///
    /// # Errors
    /// As [`Folder::create_new`].
    pub(crate) fn create_private(&self, name: &str) -> io::Result<File> {
        self.file(name, Open::NewPrivate)
    }

    /// Opens the file `name` for appending, and creates it if needed.
    ///
    /// # Errors
    /// It is not an ordinary file with a single name, or cannot be written.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let file = self.file(name, Open::Append)?;
        // A second name may be outside of the folder.
        if has_other_names(&file)? {
            return Err(io::Error::other(format!(
                "{name} has other hard links; replace it by a copy"
            )));
        }
        Ok(file)
    }

    /// Reads the file `name`, of at most `most` bytes.
    ///
    /// # Errors
    /// It is larger or not an ordinary file, or cannot be read.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        at_most(self.open_file(name)?, most)?.ok_or_else(|| too_large(most))
    }

    /// Reads the file `name` as [`Folder::read`], as text.
    ///
    /// # Errors
    /// As [`Folder::read`], or it is not UTF-8.
    pub fn read_text(&self, name: &str, most: u64) -> io::Result<String> {
        String::from_utf8(self.read(name, most)?).map_err(|_| {
            io::Error::new(
                ErrorKind::InvalidData,
                "it is not text in UTF-8; save it as such",
            )
        })
    }

    /// Opens the file `name` for reading.
    ///
    /// # Errors
    /// It is not an ordinary file, or cannot be read.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.file(name, Open::Read)
    }

    /// Replaces the file `name` atomically: its new content is written to a
    /// temporary file beside it, which is then renamed.
    ///
    /// # Errors
    /// Something of that name is neither an ordinary file nor a link, or the
    /// content cannot be written; the old file then stays.
    pub fn replace(&self, name: &str, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let place = || self.path.join(name).display().to_string();
        if self.folder.kind(name) == Some(Kind::Other) {
            anyhow::bail!(
                "cannot write {}: not a regular file; name another one",
                place()
            );
        }
        let write = || -> Result<()> {
            let (mut file, temporary) = self.temporary(name)?;
            let written = write(&mut file).and_then(|()| {
                file.sync_all()?;
                self.folder.rename(&temporary, name)?;
                Ok(())
            });
            if written.is_err() {
                let _ = self.remove(&temporary);
            }
            written?;
            // The rename itself must also survive a crash.
            Ok(self.sync()?)
        };
        write().with_context(|| {
            format!(
                "cannot write {}; choose a folder that exists, is writable and has room",
                place()
            )
        })
    }

    /// Whether there is an entry `name`, which may be a link to nothing.
    pub fn holds(&self, name: &str) -> bool {
        self.folder.kind(name).is_some()
    }

    /// Removes the file or link `name`.
    ///
    /// # Errors
    /// It does not exist or cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        single(name)?;
        self.folder.remove(name)
    }

    /// Removes the empty folder `name`.
    ///
    /// # Errors
    /// It is not an empty folder, or cannot be removed.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        single(name)?;
        self.folder.remove_folder(name)
    }

    /// The names of its entries in order, without those that are not UTF-8.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = self.folder.names()?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns once its entries survive a crash.
    ///
    /// # Errors
    /// The disk reports an error.
    pub fn sync(&self) -> io::Result<()> {
        self.folder.sync()
    }

    /// A new temporary file for the next content of `name`, and its name.
    fn temporary(&self, name: &str) -> io::Result<(File, String)> {
        let process = std::process::id();
        let first = std::iter::once(format!(".{name}.{process}.tmp"));
        let later = (2..MOST_LEFT).map(|number| format!(".{name}.{process}-{number}.tmp"));
        for temporary in first.chain(later) {
            match self.create_new(&temporary) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => return Ok((created?, temporary)),
            }
        }
        Err(io::Error::other(format!(
            "{MOST_LEFT} temporary files .{name}.{process}*.tmp are in the way; delete them"
        )))
    }

    fn file(&self, name: &str, how: Open) -> io::Result<File> {
        single(name)?;
        self.folder.file(name, how)
    }
}

/// A path that stands for the working folder where it is empty.
fn here(path: &Path) -> &Path {
    match path == Path::new("") {
        true => Path::new("."),
        false => path,
    }
}

/// Characters that no name has: separators, of any system, and the colon of Windows.
#[cfg(windows)]
const NOT_IN_NAMES: [char; 4] = ['/', '\\', ':', '\0'];
#[cfg(not(windows))]
const NOT_IN_NAMES: [char; 2] = ['/', '\0'];

/// Rejects names that lead out of a folder.
fn single(name: &str) -> io::Result<()> {
    if name.is_empty() || name.contains(NOT_IN_NAMES) || name == "." || name == ".." {
        let why = format!("{} is not the name of a file", name.escape_debug());
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests;
