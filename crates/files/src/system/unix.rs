//! Unix: calls relative to an open folder [open(2)].

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, FcntlArg, OFlag, fcntl, openat, renameat};
use nix::libc::{S_IFLNK, S_IFMT, S_IFREG};
use nix::sys::stat::{Mode, fstatat, mkdirat};
use nix::unistd::{Uid, UnlinkatFlags, User, geteuid, unlinkat};

use super::{Kind, Open, not_followed, not_ordinary, not_regular};

/// The permissions of new files and folders, less the umask.
const FILE_MODE: Mode = Mode::from_bits_truncate(0o666);
const PRIVATE_MODE: Mode = Mode::from_bits_truncate(0o600);
const FOLDER_MODE: Mode = Mode::from_bits_truncate(0o777);

/// An open folder.
const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// A file that must not exist.
const NEW: OFlag = OFlag::O_WRONLY
    .union(OFlag::O_CREAT)
    .union(OFlag::O_EXCL)
    .union(OFlag::O_CLOEXEC);

/// An ordinary file that may exist. A pipe would block without O_NONBLOCK, which does nothing
/// to ordinary files [open(2)].
const ORDINARY: OFlag = OFlag::O_NOFOLLOW
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_CLOEXEC);

/// All permissions of the group and of others [inode(7)].
const OF_OTHERS: u32 = 0o077;

/// The permission of the group to read, which also stands for a list of single readers
/// [acl(5)].
const READ_BY_GROUP: u32 = 0o040;

/// The variable that names the folder in which systemd hands over credentials
/// [systemd.exec(5)].
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// An open folder; names are those of its direct entries.
#[derive(Debug)]
pub(crate) struct Handle(File);

impl Handle {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(nix::fcntl::open(path, FOLDER, Mode::empty())?.into()))
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Whether `path` leads to this folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let found = fs::metadata(path).ok().map(|found| identity(&found));
        found.is_some() && found == self.0.metadata().ok().map(|own| identity(&own))
    }

    /// Whether the entry `name` is the open file `file`.
    pub(crate) fn is_still(&self, name: &str, file: &File) -> bool {
        let found = self.file(name, Open::Read);
        let found = found.and_then(|found| found.metadata());
        found.is_ok_and(|found| {
            let is_same = |own: Metadata| identity(&found) == identity(&own);
            file.metadata().is_ok_and(is_same)
        })
    }

    /// Opens a folder in this one; a link is not followed.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Self> {
        let folder = openat(&self.0, name, FOLDER | OFlag::O_NOFOLLOW, Mode::empty());
        Ok(Self(folder.map_err(|error| rejected(error, name))?.into()))
    }

    pub(crate) fn create_folder(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, FOLDER_MODE)?)
    }

    /// Opens a regular file; a link is not followed.
    pub(crate) fn file(&self, name: &str, how: Open) -> io::Result<File> {
        let (flags, mode) = match how {
            Open::New => (NEW, FILE_MODE),
            Open::NewPrivate => (NEW, PRIVATE_MODE),
            Open::Append => {
                let appending = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT;
                (ORDINARY | appending, FILE_MODE)
            }
            Open::Read => (ORDINARY | OFlag::O_RDONLY, FILE_MODE),
        };
        match openat(&self.0, name, flags, mode) {
            // A pipe or a socket without a reader.
            Err(Errno::ENXIO) => Err(not_ordinary(name)),
            Err(error) => Err(rejected(error, name)),
            Ok(file) => {
                let file = File::from(file);
                match file.metadata()?.is_file() {
                    true => Ok(file),
                    false => Err(not_ordinary(name)),
                }
            }
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or a link itself.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)?)
    }

    /// The names of its entries, without those that are not UTF-8.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut entries = Dir::from_fd(openat(&self.0, ".", FOLDER, Mode::empty())?)?;
        let mut names = Vec::new();
        for entry in entries.iter() {
            let name = entry?.file_name().to_str().map(str::to_owned);
            names.extend(name.ok().filter(|name| name != "." && name != ".."));
        }
        Ok(names)
    }

    /// Returns once its entries survive a crash.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    pub(crate) fn kind(&self, name: &str) -> Option<Kind> {
        let found = fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        Some(
            match [S_IFREG, S_IFLNK].contains(&(found.st_mode & S_IFMT)) {
                true => Kind::Replaceable,
                false => Kind::Other,
            },
        )
    }
}

/// The error of opening `name`.
fn rejected(error: Errno, name: &str) -> io::Error {
    match error {
        // Of a folder, a link is ENOTDIR [open(2)].
        Errno::ELOOP | Errno::ENOTDIR | Errno::EMLINK => not_followed(name),
        error => error.into(),
    }
}

/// The file system of a file and its number in it.
fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Whether two paths lead to the same file.
pub(crate) fn are_same(first: &Path, second: &Path) -> bool {
    let file = |path| fs::metadata(path).ok().map(|found| identity(&found));
    file(first).is_some() && file(first) == file(second)
}

/// Whether a file has hard links of other names.
pub(crate) fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

/// Reads at an offset, up to the end.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(bytes, offset)
}

/// Opens a regular file. A pipe would block without O_NONBLOCK, which does nothing to regular
/// files [open(2)].
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file: File = nix::fcntl::open(path, flags, Mode::empty())?.into();
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

/// Opens a pipe or a device for writing.
pub(crate) fn open_device(path: &Path) -> io::Result<File> {
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

/// Rejects the file of a secret that others than the user of this process and root can open.
pub(crate) fn reject_shared(path: &Path, found: &Metadata) -> io::Result<()> {
    let credentials = std::env::var_os(CREDENTIALS).map(PathBuf::from);
    reject_shared_with(path, found, geteuid().as_raw(), credentials.as_deref())
}

/// Rejects the file of a secret that others than `user` and root can open; `credentials` is
/// the folder of a service manager.
fn reject_shared_with(
    path: &Path,
    found: &Metadata,
    user: u32,
    credentials: Option<&Path>,
) -> io::Result<()> {
    let (owner, mode) = (found.uid(), found.permissions().mode());
    let others = match credentials.is_some() && path.parent() == credentials {
        // The service manager lists the user of the service as a reader.
        true => OF_OTHERS & !READ_BY_GROUP,
        false => OF_OTHERS,
    };
    let path = path.display();
    let why = if owner != user && owner != 0 {
        let new = User::from_uid(Uid::from_raw(user)).ok().flatten();
        let new = new.map_or_else(|| user.to_string(), |user| user.name);
        let sudo = if user == 0 { "" } else { "sudo " };
        format!("it belongs to another user; type: {sudo}chown {new} {path}; chmod 600 {path}")
    } else if mode & others != 0 {
        format!("other users may read or change it; type: chmod 600 {path}")
    } else {
        return Ok(());
    };
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

/// Whether its owner alone may open a file.
pub(crate) fn is_private(found: &Metadata) -> bool {
    found.permissions().mode() & OF_OTHERS == 0
}

#[cfg(test)]
mod tests;
