//! Writes pages into results folders.

use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, Builder};

use analysis::Findings;
use anyhow::Result;
use files::Folder;
use lab::recording;
use plan::Trial;
use plan::queue_recording::QueueRecording;
use report::Document;
use results::queue_recording;

use crate::output;

/// The most recorded queues that a page replays packet by packet.
pub(super) const MOST_QUEUES: usize = 4;

/// Writes a page atomically as the file `name` of a results folder; returns its
/// path.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(folder: &Folder, name: &str, page: &str) -> Result<PathBuf> {
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

/// The report of a run in `folder`, with the queues that its trials recorded.
pub(super) fn report(found: &Findings<'_>, folder: &Folder) -> Document {
    report::of_run(found, Some(folder.path())).with_queues(found, &queues(found, folder))
}

/// The recorded queue of the first trial that has one, for each of the first
/// cells. A recording that cannot be read is reported and left out.
fn queues(found: &Findings<'_>, folder: &Folder) -> Vec<QueueRecording> {
    let of_cell = |cell: &plan::Cell| {
        let setting = cell.setting.as_ref().ok()?;
        let mut trials = found.trials.iter();
        let trial = trials.find(|trial| has_files(trial) && *trial.factors == cell.factors)?;
        let from = report::replayed_from(setting);
        let read = match queue_recording::read(folder, trial, from) {
            Ok(None) => recording::excerpt(folder, trial, from),
            read => read,
        };
        match read {
            Ok(recording) => recording,
            Err(error) => {
                output::complain(&error);
                None
            }
        }
    };
    let is_any = found.trials.iter().any(has_files);
    let cells = found.plan.cells.iter().filter(|_| is_any);
    cells.filter_map(of_cell).take(MOST_QUEUES).collect()
}

/// Whether a trial recorded single packets of links.
fn has_files(trial: &Trial) -> bool {
    ["watched", "recordings"]
        .iter()
        .any(|key| trial.evidence.contains_key(key))
}
