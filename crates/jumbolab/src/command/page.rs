//! Writes pages into results folders.

use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, Builder};

use anyhow::Result;
use files::Folder;
use plan::Trial;

use crate::output;

/// Writes a page atomically as the file `name` of a results folder; returns its
/// path.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(folder: &Folder, name: &str, page: &str) -> Result<PathBuf> {
    // Failures of trials may be system errors.
    let page = output::in_words(page);
    folder.replace(name, |file| Ok(file.write_all(page.as_bytes())?))?;
    Ok(folder.path().join(name))
}

/// Does `work` while another thread writes the table of `trials` into `folder`. Returns
/// its outcome, and the path of the table or why it could not be written.
pub(super) fn beside_table<T>(
    folder: &Folder,
    trials: &[Trial],
    work: impl FnOnce() -> T,
) -> (T, Result<PathBuf>) {
    thread::scope(|scope| {
        let write = || write_table(folder, trials);
        let beside = Builder::new().spawn_scoped(scope, write);
        let done = work();
        let table = match beside {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // In a sandbox, whose first process is still to come, no thread can be made.
            Err(_) => write(),
        };
        (done, table)
    })
}

/// Writes the table of `trials` into `folder`; returns its path.
pub(super) fn write_table(folder: &Folder, trials: &[Trial]) -> Result<PathBuf> {
    results::trials::write(folder, trials)?;
    Ok(folder.path().join(results::trials::FILE))
}
