//! Folders whose files are reached without following links.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::input::{at_most, too_large};

/// The permissions of new files and folders, less the umask.
const FILE_MODE: Mode = Mode::from_bits_truncate(0o666);
const PRIVATE_MODE: Mode = Mode::from_bits_truncate(0o600);
/// The flags of a file that must not exist.
const NEW: OFlag = OFlag::O_WRONLY
    .union(OFlag::O_CREAT)
    .union(OFlag::O_EXCL)
    .union(OFlag::O_CLOEXEC);
const FOLDER_MODE: Mode = Mode::from_bits_truncate(0o777);

/// The maximum number of temporary files of one name and process that earlier
/// crashes may have left.
const MOST_LEFT: u32 = 1_000;

/// An open folder. Names are those of its direct entries.
#[derive(Debug)]
pub struct Folder {
    folder: File,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at a path that the user named; links on the way are
    /// followed.
    ///
    /// # Errors
    /// It does not exist or is not a folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let folder = nix::fcntl::open(here(path), flags, Mode::empty())?;
        Ok(Self {
            folder: folder.into(),
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
        let found = fs::metadata(here(&self.path));
        let same = |found: fs::Metadata, own: fs::Metadata| {
            (found.dev(), found.ino()) == (own.dev(), own.ino())
        };
        found.is_ok_and(|found| self.folder.metadata().is_ok_and(|own| same(found, own)))
    }

    /// Whether the entry `name` still is the open file `file`.
    pub fn is_still(&self, name: &str, file: &File) -> bool {
        let found = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| {
            let is_same =
                |own: fs::Metadata| (found.st_dev, found.st_ino) == (own.dev(), own.ino());
            file.metadata().is_ok_and(is_same)
        })
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
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let folder = openat(&self.folder, name, flags, Mode::empty());
        Ok(Self {
            folder: folder.map_err(|error| not_followed(error, name))?.into(),
            path: self.path.join(name),
        })
    }

    /// Creates the folder `name` in this one.
    ///
    /// # Errors
    /// Something of that name exists, or it cannot be created.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        single(name)?;
        Ok(mkdirat(&self.folder, name, FOLDER_MODE)?)
    }

    /// Creates the file `name` for writing.
    ///
    /// # Errors
    /// Something of that name exists, or it cannot be created.
    pub fn create_new(&self, name: &str) -> io::Result<File> {
        self.file(name, NEW, FILE_MODE)
    }

    /// Creates the file `name` for writing, for its owner alone.
    ///
    /// # Errors
    /// As [`Folder::create_new`].
    pub(crate) fn create_private(&self, name: &str) -> io::Result<File> {
        self.file(name, NEW, PRIVATE_MODE)
    }

    /// Opens the file `name` for appending, and creates it if needed.
    ///
    /// # Errors
    /// It is not an ordinary file with a single name, or cannot be written.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT;
        let file = self.ordinary(name, flags)?;
        // A second name may be outside of the folder.
        if file.metadata()?.nlink() > 1 {
            return Err(io::Error::other(format!(
                "{name} has other hard links; replace it by a copy"
            )));
        }
        Ok(file)
    }

    /// Reads the file `name`, of at most `most` octets.
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
        String::from_utf8(self.read(name, most)?)
            .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
    }

    /// Opens the file `name` for reading.
    ///
    /// # Errors
    /// It is not an ordinary file, or cannot be read.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.ordinary(name, OFlag::O_RDONLY)
    }

    /// Replaces the file `name` atomically: its new content is written to a
    /// temporary file beside it, which is then renamed.
    ///
    /// # Errors
    /// Something of that name is neither an ordinary file nor a link, or the
    /// content cannot be written; the old file then stays.
    pub fn replace(&self, name: &str, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let place = || self.path.join(name).display().to_string();
        if let Some(kind) = self.kind(name)
            && !kind.is_replaceable()
        {
            anyhow::bail!(
                "cannot write {}: not a regular file; name another one",
                place()
            );
        }
        let write = || -> Result<()> {
            let (mut file, temporary) = self.temporary(name)?;
            let written = write(&mut file).and_then(|()| {
                file.sync_all()?;
                renameat(&self.folder, temporary.as_str(), &self.folder, name)?;
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
                "cannot write {}; make room or make the folder writable",
                place()
            )
        })
    }

    /// Whether there is an entry `name`, which may be a link to nothing.
    pub fn holds(&self, name: &str) -> bool {
        self.kind(name).is_some()
    }

    /// Removes the file or link `name`.
    ///
    /// # Errors
    /// It does not exist or cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        single(name)?;
        Ok(unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes the empty folder `name`.
    ///
    /// # Errors
    /// It is not an empty folder, or cannot be removed.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        single(name)?;
        Ok(unlinkat(&self.folder, name, UnlinkatFlags::RemoveDir)?)
    }

    /// The names of its entries in order, without those that are not UTF-8.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let mut entries = Dir::from_fd(openat(&self.folder, ".", flags, Mode::empty())?)?;
        let mut names = Vec::new();
        for entry in entries.iter() {
            let name = entry?.file_name().to_str().map(str::to_owned);
            names.extend(name.ok().filter(|name| name != "." && name != ".."));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns once its entries survive a crash.
    ///
    /// # Errors
    /// The disk reports an error.
    pub fn sync(&self) -> io::Result<()> {
        self.folder.sync_all()
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

    /// Opens an ordinary file. A pipe would block without O_NONBLOCK, which
    /// does nothing to ordinary files [open(2)].
    fn ordinary(&self, name: &str, flags: OFlag) -> io::Result<File> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = self.file(name, flags, FILE_MODE);
        match file {
            // A pipe or a socket without a reader.
            Err(error) if error.raw_os_error() == Some(Errno::ENXIO as i32) => {
                Err(not_ordinary(name))
            }
            Ok(file) if !file.metadata()?.is_file() => Err(not_ordinary(name)),
            file => file,
        }
    }

    fn file(&self, name: &str, flags: OFlag, mode: Mode) -> io::Result<File> {
        single(name)?;
        let file = openat(&self.folder, name, flags, mode);
        Ok(file.map_err(|error| not_followed(error, name))?.into())
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        let found = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        Some(Kind(found.st_mode))
    }
}

/// A path that stands for the working folder where it is empty.
fn here(path: &Path) -> &Path {
    match path == Path::new("") {
        true => Path::new("."),
        false => path,
    }
}

/// The type of an entry, of the bits of its mode [inode(7)].
struct Kind(nix::libc::mode_t);

impl Kind {
    /// Whether a rename may replace it: a file, or a link itself.
    fn is_replaceable(&self) -> bool {
        use nix::libc::{S_IFLNK, S_IFMT, S_IFREG};
        [S_IFREG, S_IFLNK].contains(&(self.0 & S_IFMT))
    }
}

/// Refuses names that lead out of a folder.
fn single(name: &str) -> io::Result<()> {
    if name.is_empty() || name.contains(['/', '\0']) || name == "." || name == ".." {
        let why = format!("{} is not the name of a file", name.escape_debug());
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(())
}

/// The error of opening `name`, in words where it is a link.
fn not_followed(error: Errno, name: &str) -> io::Error {
    match error {
        // Of a folder, a link is ENOTDIR [open(2)].
        Errno::ELOOP | Errno::ENOTDIR | Errno::EMLINK => io::Error::other(format!(
            "{name} is a symbolic link or of another kind, and links are not followed here; \
             replace it by what it stands for"
        )),
        error => error.into(),
    }
}

fn not_ordinary(name: &str) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        format!("{name} is not an ordinary file; remove it"),
    )
}

#[cfg(test)]
mod tests;
