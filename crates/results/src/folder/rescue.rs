//! What a run saves when its journal is gone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use files::Folder as Files;
use plan::Plan;
use units::Time;

use super::record::write_plan;
use super::{Folder, JOURNAL};
use crate::journal::{Journal, Lost};

/// The most folders of earlier rescues.
const MOST: u32 = 1_000;

impl Folder {
    /// The `error` of a run. If the journal was lost, all trials that are still in memory are
    /// saved in a new folder, which the error then names.
    pub fn rescued(&self, plan: &Plan, error: Error) -> Error {
        let Some(Lost(why)) = error.downcast_ref::<Lost>() else {
            return error;
        };
        let count = self.attempts.trials().len() + self.unkept.len();
        Lost(match self.saved(plan) {
            Ok((place, evidence)) => format!(
                "{why}; the {count} trials that were in memory are saved in {}, without files of single packets and programs{evidence}; go on there with -o and --resume",
                place.display()
            ),
            Err(second) => format!("{why}; {count} trials are lost: {second:#}"),
        })
        .into()
    }

    /// Saves the trials in a new folder beside the lost one, or where there is room.
    /// Returns the folder, and what is missing there.
    fn saved(&self, plan: &Plan) -> Result<(PathBuf, &'static str)> {
        let path = self.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or(&plan.name);
        let temporary = std::env::temp_dir();
        let beside = path.parent().unwrap_or_else(|| Path::new(""));
        let mut failure = None;
        for base in [beside, Path::new(""), &temporary] {
            match fresh(base, name).and_then(|files| self.save(&files, plan).map(|()| files)) {
                Ok(files) => {
                    let read = self
                        .attempts
                        .every()
                        .all(|trial| trial.evidence.failure().is_none());
                    let missing = match read {
                        true => "",
                        false => ", and without the evidence of some that could not be read again",
                    };
                    return Ok((files.path().to_owned(), missing));
                }
                // The first place is the one that the user looks at.
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
        Err(failure.context("no place for them")?)
    }

    fn save(&self, files: &Files, plan: &Plan) -> Result<()> {
        write_plan(files, plan, &self.facts)?;
        let mut journal = Journal::open(files, JOURNAL)?;
        for trial in self.attempts.every().chain(&self.unkept) {
            journal.append_soon(trial, Time::ZERO)?;
        }
        journal.sync()
    }
}

/// A new folder below `base`, called after `name`.
fn fresh(base: &Path, name: &str) -> Result<Files> {
    let cannot = || format!("cannot write in the folder {}", base.display());
    let base = Files::open(base).with_context(cannot)?;
    for number in 1..MOST {
        let name = match number {
            1 => format!("{name}-rescued"),
            more => format!("{name}-rescued-{more}"),
        };
        if !base.holds(&name) {
            base.create_folder(&name).with_context(cannot)?;
            return base.folder(&name).with_context(cannot);
        }
    }
    bail!("{MOST} folders {name}-rescued are in the way; move them")
}
