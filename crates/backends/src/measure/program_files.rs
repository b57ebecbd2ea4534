//! The folder in which programs of the user leave files of a trial.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use files::Folder;

use crate::recording::ArtifactDir;

/// The parent folder in the results folder.
const FOLDER: &str = "files";

/// The folder of one trial, removed if nothing was left there.
pub(super) struct ProgramFiles {
    name: String,
    path: PathBuf,
    parent: Folder,
}

impl ProgramFiles {
    /// Creates a folder that does not exist yet: an aborted trial may have left
    /// one.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub(super) fn begin(artifacts: ArtifactDir<'_>) -> Result<Self> {
        let operation = || format!("making a folder in {}", artifacts.results.display());
        let parent = artifacts.folder(FOLDER)?;
        let results = std::path::absolute(artifacts.results).context("finding the results")?;
        let plain = artifacts.trial.to_owned();
        let later = (2..).map(|number: u64| format!("{}-{number}", artifacts.trial));
        for name in std::iter::once(plain).chain(later) {
            match parent.create_folder(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.with_context(operation)?;
                    let path = results.join(FOLDER).join(&name);
                    return Ok(Self { name, path, parent });
                }
            }
        }
        unreachable!("numbers do not end")
    }

    /// The absolute path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The files left there, in order of name, as paths relative to the results
    /// folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let operation = || format!("reading {}", self.path.display());
        let folder = self.parent.folder(&self.name).with_context(operation)?;
        let names = folder.names().with_context(operation)?;
        let place = Path::new(FOLDER).join(&self.name);
        Ok(names.into_iter().map(|name| place.join(name)).collect())
    }
}

impl Drop for ProgramFiles {
    fn drop(&mut self) {
        // A non-empty folder stays.
        let _ = self.parent.remove_folder(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_stays_and_the_next_trial_of_that_name_has_another_folder() {
        let results = tempfile::tempdir().unwrap();
        let artifacts = ArtifactDir {
            results: results.path(),
            trial: "c01-r01",
        };
        let empty = ProgramFiles::begin(artifacts).unwrap();
        let path = empty.path().to_owned();
        assert!(path.is_absolute() && path.ends_with("files/c01-r01"));
        assert!(empty.files().unwrap().is_empty());
        drop(empty);
        assert!(!path.exists());

        let first = ProgramFiles::begin(artifacts).unwrap();
        for name in ["b.txt", "a.txt"] {
            std::fs::write(first.path().join(name), "x").unwrap();
        }
        let names = ["files/c01-r01/a.txt", "files/c01-r01/b.txt"];
        assert_eq!(first.files().unwrap(), names.map(PathBuf::from));
        drop(first);
        let second = ProgramFiles::begin(artifacts).unwrap();
        assert!(path.join("a.txt").exists());
        assert!(second.path().ends_with("files/c01-r01-2"));
    }
}
