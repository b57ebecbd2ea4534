//! A results folder, `results/NAME-HASH/`: the plan and its trials.
//!
//! Nothing in it is ever overwritten. The plan is written completely before the
//! first trial, and a journal only grows. One process at a time writes to a
//! folder. A shard of a run (`--shard`) has its own journal; the run consists
//! of all journals of the folder.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use files::Folder as Files;

mod attempts;
mod places;
mod record;
mod rescue;
mod shard;

use attempts::Attempts;
use record::{PLAN, read_plan, write_plan};
pub use shard::Shard;

use crate::journal::{Journal, StoredEvidence};
use plan::{EvidenceStore, Factors, Plan, Resumed, RunFacts, Trial};
use units::Time;

/// The version of the folder's layout, see docs/reference/formats.md.
pub const FORMAT: u32 = 1;

const JOURNAL: &str = "trials.jsonl";

/// The folder to open, and the purpose.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// The parent of the folders `NAME-HASH`; the next free one is taken.
    pub base: &'a Path,
    /// The folder to use instead (`-o DIR`).
    pub explicit: Option<&'a Path>,
    /// The plan to run.
    pub plan: &'a Plan,
    /// The program and machine that run it.
    pub facts: &'a RunFacts,
    /// Whether to continue an unfinished run.
    pub resume: Resume,
    /// The shard to run; it may start in a folder with other shards.
    pub shard: Option<Shard>,
    /// Whether the given trials complete the plan.
    pub complete: fn(&Plan, &[Trial]) -> bool,
}

/// Whether to continue an unfinished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Reject a folder that holds trials.
    No,
    /// Continue if kernel and program are those that started the run.
    Same,
    /// Continue with any kernel and program; the folder records them.
    Force,
}

/// A run that was begun.
#[derive(Debug)]
pub struct Begun {
    /// The results folder.
    pub path: PathBuf,
    pub facts: RunFacts,
    /// Whether nothing is left to run.
    pub is_complete: bool,
}

/// A results folder, open for new trials and locked against other runs.
#[derive(Debug)]
pub struct Folder {
    files: Files,
    facts: RunFacts,
    journal: Journal,
    /// The evidence of that journal.
    evidence: Arc<dyn EvidenceStore>,
    attempts: Attempts,
    /// The trial that no longer found its journal.
    unkept: Vec<Trial>,
    /// Held while the folder is open; the kernel releases it when the process
    /// ends.
    _lock: File,
}

impl Folder {
    /// Opens the folder described by `opening`.
    ///
    /// # Errors
    /// The folder cannot be written, belongs to another plan, or holds trials
    /// that `opening` does not continue; one line of text.
    pub fn open(opening: &Opening<'_>) -> Result<Self> {
        let &Opening {
            base,
            explicit,
            plan,
            facts,
            shard,
            ..
        } = opening;
        let own = shard.map_or_else(|| JOURNAL.to_owned(), Shard::journal);
        let resume = opening.resume != Resume::No;
        let path = match explicit {
            Some(path) => path.to_owned(),
            None => choose(base, opening)?,
        };
        let fresh = !path.exists();
        if fresh && resume {
            bail!(
                "{} does not exist, so there is nothing to resume; omit --resume to start a run",
                path.display()
            );
        }
        // Other shards do not require --resume.
        let files = Files::create(&path).with_context(|| {
            format!(
                "cannot create the folder {}; choose a place with -o DIR",
                path.display()
            )
        })?;
        let resume = resume || shard.is_some() && !files.holds(&own);
        let lock = prepare(&files, &own)?;
        if files.holds(PLAN) {
            check(&files, opening, resume)?;
        } else if let Err(error) = write_plan(&files, plan, facts) {
            if fresh {
                // Remove the new journal; report only the first error.
                let _ = files.remove(&own);
                let _ = files::remove_folder(&path);
            }
            return Err(error);
        }
        let journal = Journal::open(&files, &own)?;
        let evidence = Arc::new(StoredEvidence::of(&files, &own)?);
        let trials = trials(&files)?;
        // The recorded facts: the program that started the run, and those that
        // continued it by force.
        let facts = read_plan(&files)?.1.facts;
        Ok(Self {
            files,
            facts,
            journal,
            evidence,
            attempts: trials,
            unkept: Vec::new(),
            _lock: lock,
        })
    }

    /// The run that `--resume` would continue: the last one of `plan` in `base`, or the one in
    /// the folder `explicit`, of whatever plan. `None` if there is no such run.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn begun(
        base: &Path,
        explicit: Option<&Path>,
        plan: &Plan,
        complete: fn(&Plan, &[Trial]) -> bool,
    ) -> Result<Option<Begun>> {
        let path = match explicit {
            Some(path) => path.to_owned(),
            None => last(base, plan).0,
        };
        if !path.join(PLAN).exists() {
            return Ok(None);
        }
        let files = open(&path)?;
        let (_, record) = read_plan(&files)?;
        let found = trials(&files)?;
        Ok(Some(Begun {
            is_complete: complete(plan, found.trials()),
            facts: record.facts,
            path,
        }))
    }

    /// Whether the folder that `opening` selects exists.
    pub fn exists(opening: &Opening<'_>) -> bool {
        match opening.explicit {
            Some(path) => path.exists(),
            None => choose(opening.base, opening).is_ok_and(|path| path.exists()),
        }
    }

    /// Reads a folder without changing it: the text of the plan, the facts of
    /// the run, and the complete trials, each the combination of its attempts.
    pub fn read(path: &Path) -> Result<(String, RunFacts, Vec<Trial>)> {
        Self::read_in(&open(path)?)
    }

    /// Reads an open folder as [`Folder::read`].
    pub fn read_in(files: &Files) -> Result<(String, RunFacts, Vec<Trial>)> {
        let (text, record) = read_plan(files)?;
        Ok((text, record.facts, trials(files)?.combined()))
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// The open folder itself, whatever its path leads to by now.
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// The recorded facts: the program that started the run, and those that
    /// continued it by force.
    pub fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// The finished trials, in order of completion of their first attempts. Each
    /// is the combination of its attempts.
    pub fn trials(&self) -> &[Trial] {
        self.attempts.trials()
    }

    /// Reorders the trials in memory; the journal stays as it is.
    pub fn sort(&mut self, into_order: impl FnOnce(&mut [Trial])) {
        self.attempts.sort(into_order);
    }

    /// Changes the trials in memory; the journal stays as it is. The run is complete.
    pub fn change(&mut self, change: impl FnOnce(&mut [Trial])) {
        change(self.attempts.trials_mut());
    }

    /// Whether this repeat of a cell has finished, successfully or not.
    pub fn holds(&self, factors: &Factors, repeat: u32) -> bool {
        self.attempts.holds(factors, repeat)
    }

    /// Appends a trial durably: it survives a crash once this returns.
    pub fn append(&mut self, trial: Trial) -> Result<()> {
        let written = self.journal.append(&trial);
        self.take(trial, written)
    }

    /// Appends a reproducible trial: see [`Journal::append_soon`]. `now` is the
    /// time of a monotonic clock.
    pub fn append_soon(&mut self, trial: Trial, now: Time) -> Result<()> {
        let written = self.journal.append_soon(&trial, now);
        self.take(trial, written)
    }

    /// Checks that all trials are where they were written, as [`Journal::check`].
    pub fn check(&self) -> Result<()> {
        self.journal.check()
    }

    /// Flushes appended trials to disk, and checks them.
    pub fn sync(&mut self) -> Result<()> {
        self.journal.sync()
    }

    /// Takes a trial whose line was `written` at an offset.
    fn take(&mut self, trial: Trial, written: Result<u64>) -> Result<()> {
        match written {
            Ok(offset) => {
                self.attempts.take(trial, &self.evidence, offset);
                Ok(())
            }
            Err(error) => {
                self.unkept.push(trial);
                Err(error)
            }
        }
    }
}

/// The default folder: the last existing one of NAME-HASH, NAME-HASH-2, ..; or
/// the next one if that is complete and not to be resumed.
fn choose(base: &Path, opening: &Opening<'_>) -> Result<PathBuf> {
    let (path, next) = last(base, opening.plan);
    let fresh = opening.resume == Resume::No;
    if fresh && path.join(PLAN).exists() {
        let found = trials(&open(&path)?)?;
        if (opening.complete)(opening.plan, found.trials()) {
            return Ok(next);
        }
    }
    Ok(path)
}

/// The last existing folder of NAME-HASH, NAME-HASH-2, .., or the first if there is none, and
/// the next one.
fn last(base: &Path, plan: &Plan) -> (PathBuf, PathBuf) {
    let name = format!("{}-{}", plan.name, plan.hash);
    let mut path = base.join(&name);
    let mut suffix = 2_u64;
    loop {
        let next = base.join(format!("{name}-{suffix}"));
        if !next.exists() {
            return (path, next);
        }
        path = next;
        suffix += 1;
    }
}

/// Opens the folder of a run.
fn open(path: &Path) -> Result<Files> {
    Files::open(path).with_context(|| {
        format!(
            "cannot read the folder {}; give the folder of a run",
            path.display()
        )
    })
}

/// Checks that a folder is a results folder, and locks it.
fn prepare(files: &Files, journal: &str) -> Result<File> {
    let place = files.path().display();
    let cannot =
        || format!("cannot write in the folder {place}; make it writable or choose -o DIR");
    if !files.holds(PLAN) && !files.holds(journal) {
        let names = files.names().with_context(cannot)?;
        if let Some(name) = names.iter().find(|name| !name.starts_with('.')) {
            bail!(
                "{place} holds {name} and is not a results folder; choose another one with -o DIR"
            );
        }
    }
    let file = files.append(journal).with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(anyhow!(
            "another run is writing to {place}; wait for it or choose another folder with -o DIR"
        )),
        // On file systems without locks the folder stays unlocked.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(error).with_context(cannot),
    }
}

/// Checks whether a folder with a plan may be written to. `resume`: the run
/// continues its existing trials.
fn check(files: &Files, opening: &Opening<'_>, resume: bool) -> Result<()> {
    let &Opening { plan, facts, .. } = opening;
    let place = files.path().display();
    let (_, record) = read_plan(files)?;
    if record.hash != plan.hash {
        bail!(
            "{place} belongs to another experiment ({}, this is {}); choose another folder with -o DIR",
            record.hash,
            plan.hash
        );
    }
    let trials = trials(files)?;
    let trials = trials.trials();
    let complete = (opening.complete)(plan, trials);
    if complete && resume {
        return Ok(());
    }
    if complete && opening.explicit.is_some() {
        bail!(
            "{place} is complete and is never overwritten; choose another folder with -o DIR, or read it with `jumbolab report {place}`"
        );
    }
    if !resume {
        let (done, expected) = (plan.finished_trials(trials), plan.expected_trials());
        if done == 0 && !trials.is_empty() {
            bail!(
                "{place} holds {} trials of a search; add --resume to go on, or -o DIR to begin anew",
                trials.len()
            );
        }
        bail!(
            "{place} holds {done} of {expected} trials; add --resume to go on, or -o DIR to begin anew"
        );
    }
    let begun = record.facts.resumed.last();
    let kernel = begun.map_or_else(|| record.facts.kernel(), |last| last.kernel.clone());
    let binary = begun.map_or(&record.facts.binary, |last| &last.binary);
    let mut differing = Vec::new();
    if let (Some(kernel), Some(now)) = (kernel, facts.kernel())
        && kernel != now
    {
        differing.push(format!("kernel {kernel}, now {now}"));
    }
    if *binary != facts.binary {
        differing.push(format!("program {binary}, now {}", facts.binary));
    }
    if differing.is_empty() {
        return Ok(());
    }
    if opening.resume != Resume::Force {
        bail!(
            "{place} was started by {}; use --resume=force to mix them, or -o DIR to start anew",
            differing.join(" and by ")
        );
    }
    let mut mixed = record.facts.clone();
    mixed.resumed.push(Resumed {
        version: facts.version.clone(),
        binary: facts.binary.clone(),
        kernel: facts.kernel(),
    });
    write_plan(files, plan, &mixed)
}

/// The attempts of all journals of a folder without duplicates, in the order of
/// the journals' names.
fn trials(files: &Files) -> Result<Attempts> {
    let mut names = files.names().with_context(|| {
        format!(
            "cannot read the folder {}; make it readable",
            files.path().display()
        )
    })?;
    names.retain(|name| name.starts_with("trials.") && name.ends_with(".jsonl"));
    let mut all = Attempts::default();
    for name in names {
        let evidence: Arc<dyn EvidenceStore> = Arc::new(StoredEvidence::of(files, &name)?);
        Journal::read(files, &name, |trial, offset| {
            all.take(trial, &evidence, offset);
        })?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
