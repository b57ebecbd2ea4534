//! Temporary folders that only their owner may enter.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use nix::unistd::mkdtemp;

/// The longest path of a folder for temporary files that is used: a socket below it must
/// have a path of at most 107 bytes [unix(7)].
const LONGEST: usize = 48;

/// How the name of each begins; no other file of the program has such a name.
const PREFIX: &str = "jumbolab.";

/// The most folders that are made until one is locked.
const MOST_ATTEMPTS: usize = 8;

/// A temporary folder with a short path, which nobody else may enter. It is removed with
/// its contents when this value is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// The open folder with a lock that ends with the process, however it ends.
    _lock: File,
}

impl PrivateFolder {
    /// Creates one below `$TMPDIR`, or below `/tmp` if that path is long. Removes empty
    /// ones there of processes that were killed.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create() -> io::Result<Self> {
        let usual = env::temp_dir();
        let short = usual.is_absolute() && usual.as_os_str().len() <= LONGEST;
        let below = if short { &usual } else { Path::new("/tmp") };
        remove_abandoned(below);
        // Somebody may have taken it for abandoned before it is locked.
        for _ in 0..MOST_ATTEMPTS {
            // Mode 700 [mkdtemp(3)].
            let path = mkdtemp(&below.join(format!("{PREFIX}XXXXXX")))?;
            if let Ok(lock) = File::open(&path)
                && lock.try_lock().is_ok()
                && path.exists()
            {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(io::Error::other("other processes remove each new one"))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the empty folders below `below` that no process has locked.
fn remove_abandoned(below: &Path) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_named = name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_named
            && is_folder
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            // It stays unless it is empty.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // Nothing else can be done if this fails. Links inside are removed, not followed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn abandoned_ones_are_removed_and_no_others() {
        let below = tempfile::tempdir().unwrap();
        let at = |name: &str| below.path().join(name);
        for name in [
            "jumbolab.aaaaaa",
            "jumbolab.bbbbbb",
            "jumbolab.cccccc",
            "other",
        ] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("jumbolab.bbbbbb/file"), "content").unwrap();
        let lock = File::open(at("jumbolab.cccccc")).unwrap();
        lock.try_lock().unwrap();
        fs::write(at("jumbolab.dddddd"), "content").unwrap();
        std::os::unix::fs::symlink(at("other"), at("jumbolab.eeeeee")).unwrap();
        remove_abandoned(below.path());
        assert!(!at("jumbolab.aaaaaa").exists());
        for name in ["bbbbbb", "cccccc", "dddddd", "eeeeee"] {
            assert!(at(&format!("jumbolab.{name}")).exists(), "{name}");
        }
        assert!(at("other").exists());
        drop(lock);
        remove_abandoned(below.path());
        assert!(!at("jumbolab.cccccc").exists());
    }

    #[test]
    fn nobody_else_may_enter_and_nothing_is_left() {
        let folder = PrivateFolder::create().unwrap();
        let path = folder.path().to_owned();
        assert!(path.as_os_str().len() <= LONGEST + "/jumbolab.XXXXXX".len());
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(path.join("file"), "content").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
