//! Windows: no calls relative to an open folder. A link is opened as such and rejected; between
//! two calls somebody may still put another folder in the place of one.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{Kind, Open, not_followed, not_ordinary, not_regular};

/// Opens a link itself [CreateFileW].
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// A folder; names are those of its direct entries.
#[derive(Debug)]
pub(crate) struct Handle {
    path: PathBuf,
    /// Keeps the folder from being replaced while it is open.
    folder: same_file::Handle,
}

impl Handle {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let folder = same_file::Handle::from_path(path)?;
        let path = path.to_owned();
        Ok(Self { path, folder })
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Self::open(&self.path)
    }

    /// Whether `path` leads to this folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        same_file::Handle::from_path(path).is_ok_and(|found| found == self.folder)
    }

    /// Whether the entry `name` is the open file `file`.
    pub(crate) fn is_still(&self, name: &str, file: &File) -> bool {
        let found = self.file(name, Open::Read);
        let found = found.and_then(same_file::Handle::from_file);
        let own = file.try_clone().and_then(same_file::Handle::from_file);
        matches!((found, own), (Ok(found), Ok(own)) if found == own)
    }

    /// Opens a folder in this one; a link is not followed.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Self::open(&path),
            false => Err(not_followed(name)),
        }
    }

    pub(crate) fn create_folder(&self, name: &str) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// Opens a regular file; a link is not followed.
    pub(crate) fn file(&self, name: &str, how: Open) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match how {
            Open::New | Open::NewPrivate => options.write(true).create_new(true),
            Open::Append => options.append(true).create(true),
            Open::Read => options.read(true),
        };
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        let file = options.open(self.path.join(name))?;
        let found = file.metadata()?;
        match found.is_file() {
            true => Ok(file),
            false if found.is_symlink() => Err(not_followed(name)),
            false => Err(not_ordinary(name)),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Removes a file or a link itself.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// The names of its entries, without those that are not Unicode.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    /// NTFS writes the entries of folders to its own journal.
    pub(crate) const fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn kind(&self, name: &str) -> Option<Kind> {
        let found = fs::symlink_metadata(self.path.join(name)).ok()?;
        Some(match found.is_file() || found.is_symlink() {
            true => Kind::Replaceable,
            false => Kind::Other,
        })
    }
}

/// Whether two paths lead to the same file.
pub(crate) fn are_same(first: &Path, second: &Path) -> bool {
    same_file::is_same_file(first, second).unwrap_or(false)
}

/// The standard library does not tell the number of names here.
pub(crate) const fn has_other_names(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Reads at an offset, up to the end.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(bytes, offset)
}

/// Opens a regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

/// Opens a pipe or a device for writing.
pub(crate) fn open_device(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Access lists decide who may open a file, and are not read.
pub(crate) const fn reject_shared(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Access lists are not read: no file counts as private.
pub(crate) const fn is_private(_: &Metadata) -> bool {
    false
}
