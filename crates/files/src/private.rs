//! Temporary folders that only their owner may enter.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use nix::unistd::mkdtemp;

/// The longest path of a folder for temporary files that is used: a socket below it must
/// have a path of at most 107 octets [unix(7)].
const LONGEST: usize = 48;

/// A temporary folder with a short path, which nobody else may enter. It is removed with
/// its contents when this value is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Creates one below `$TMPDIR`, or below `/tmp` if that path is long.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create() -> io::Result<Self> {
        let usual = env::temp_dir();
        let short = usual.is_absolute() && usual.as_os_str().len() <= LONGEST;
        let below = if short { &usual } else { Path::new("/tmp") };
        // Mode 700 [mkdtemp(3)].
        let path = mkdtemp(&below.join("jumbolab-XXXXXX"))?;
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
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
    fn nobody_else_may_enter_and_nothing_is_left() {
        let folder = PrivateFolder::create().unwrap();
        let path = folder.path().to_owned();
        assert!(path.as_os_str().len() <= LONGEST + "/jumbolab-XXXXXX".len());
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(path.join("file"), "content").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
