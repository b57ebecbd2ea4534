//! A results folder: `results/NAME-HASH/`, what was run and what it gave.
//!
//! Nothing in it is ever overwritten. The plan is written whole before the
//! first trial; a journal only grows; one process at a time writes to it. A
//! part of a run (`--shard`) has a journal of its own beside the others, and
//! all of them together are the run.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

mod record;
mod shard;

use record::{PLAN, read_plan, write_plan};
pub use shard::Shard;

use crate::journal::Journal;
use plan::Trial;
use plan::{Factors, Plan, Resumed, RunFacts};
use units::Time;

/// The version of the folder's layout, see docs/formats.md.
pub const FORMAT: u32 = 1;

const JOURNAL: &str = "trials.jsonl";

/// Which folder to open, and for what.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// Where folders called `NAME-HASH` stand; the next free one is taken.
    pub base: &'a Path,
    /// The folder instead (`-o DIR`).
    pub explicit: Option<&'a Path>,
    /// What is run.
    pub plan: &'a Plan,
    /// What runs it.
    pub facts: &'a RunFacts,
    /// Whether an unfinished run is gone on with.
    pub resume: Resume,
    /// The part of the plan that is run; a shard may begin beside others.
    pub shard: Option<Shard>,
    /// Whether trials are all that a plan waits for.
    pub complete: fn(&Plan, &[Trial]) -> bool,
}

/// Whether an unfinished run is gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// A folder that holds trials is left alone.
    No,
    /// By the kernel and the program that began it.
    Same,
    /// By any kernel and program; the folder records them.
    Force,
}

/// A repeat of a cell, whose factors are written out.
type TrialKey = (u32, String);

/// A results folder, open for more trials and locked against other runs.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    facts: RunFacts,
    journal: Journal,
    trials: Vec<Trial>,
    /// What is in them.
    held: BTreeSet<TrialKey>,
    /// Held as long as the folder is open; the kernel drops it with us.
    _lock: File,
}

impl Folder {
    /// Opens the folder that `opening` asks for.
    ///
    /// # Errors
    /// One line where the folder cannot be written, belongs to another plan, or
    /// holds trials that `opening` does not go on with.
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
                "{} does not exist: there is nothing to go on with; leave --resume out to begin",
                path.display()
            );
        }
        // Other shards are no reason to ask for --resume.
        let resume = resume || shard.is_some() && !path.join(&own).exists();
        let lock = prepare(&path, &own)?;
        if path.join(PLAN).exists() {
            check(&path, opening, resume)?;
        } else if let Err(error) = write_plan(&path, plan, facts) {
            if fresh {
                // Leave nothing behind; the error that matters is the first.
                let _ = fs::remove_file(path.join(&own));
                let _ = fs::remove_dir(&path);
            }
            return Err(error);
        }
        let (journal, _) = Journal::open(&path.join(&own))?;
        let trials = trials(&path)?;
        // As recorded: who began it, and who went on by force.
        let facts = read_plan(&path)?.1.facts;
        Ok(Self {
            path,
            facts,
            journal,
            held: trial_keys(&trials),
            trials,
            _lock: lock,
        })
    }

    /// Reads a folder and changes nothing: the plan as it was written, what
    /// ran it, and the trials that are whole.
    pub fn read(path: &Path) -> Result<(String, RunFacts, Vec<Trial>)> {
        let (text, record) = read_plan(path)?;
        Ok((text, record.facts, trials(path)?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What began the run, and what went on with it by force, as recorded.
    pub fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// The trials so far, in the order they finished.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Puts the trials into another order, in memory alone.
    pub fn sort(&mut self, into_order: impl FnOnce(&mut [Trial])) {
        into_order(&mut self.trials);
    }

    /// Whether this repeat of a cell has been run, well or not.
    pub fn holds(&self, factors: &Factors, repeat: u32) -> bool {
        self.held.contains(&(repeat, factors.to_string()))
    }

    /// Keeps a trial: when this returns, it survives a crash.
    pub fn append(&mut self, trial: Trial) -> Result<()> {
        self.journal.append(&trial)?;
        self.take(trial);
        Ok(())
    }

    /// Keeps a trial that can be run again: see [`Journal::append_soon`].
    /// `now` is an instant of a clock that never goes back.
    pub fn append_soon(&mut self, trial: Trial, now: Time) -> Result<()> {
        self.journal.append_soon(&trial, now)?;
        self.take(trial);
        Ok(())
    }

    /// Brings what was kept to the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.journal.sync()
    }

    fn take(&mut self, trial: Trial) {
        self.held.insert((trial.repeat, trial.factors.to_string()));
        self.trials.push(trial);
    }
}

/// The default folder: the last of NAME-HASH, NAME-HASH-2, .. that exists, or
/// the one after it if that is complete and not to be resumed.
fn choose(base: &Path, opening: &Opening<'_>) -> Result<PathBuf> {
    let plan = opening.plan;
    let name = format!("{}-{}", plan.name, plan.hash);
    let mut path = base.join(&name);
    for suffix in 2u64.. {
        let next = base.join(format!("{name}-{suffix}"));
        if next.exists() {
            path = next;
            continue;
        }
        let fresh = opening.resume == Resume::No;
        if fresh && path.join(PLAN).exists() && (opening.complete)(plan, &trials(&path)?) {
            return Ok(next);
        }
        break;
    }
    Ok(path)
}

/// Makes sure that the folder is there, is ours and nobody else's now.
fn prepare(path: &Path, journal: &str) -> Result<File> {
    let place = path.display();
    fs::create_dir_all(path)
        .with_context(|| format!("cannot create the folder {place}; choose a place with -o DIR"))?;
    let journal = path.join(journal);
    let cannot =
        || format!("cannot write in the folder {place}; make it writable or choose -o DIR");
    if !path.join(PLAN).exists() && !journal.exists() {
        let mut entries = fs::read_dir(path).with_context(cannot)?;
        let foreign = entries.find_map(|entry| {
            let name = entry.ok()?.file_name();
            (!name.to_string_lossy().starts_with('.')).then_some(name)
        });
        if let Some(name) = foreign {
            bail!(
                "{place} holds {} and is no results folder; choose another one with -o DIR",
                name.display()
            );
        }
    }
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(journal)
        .with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(anyhow!(
            "another run is writing to {place}; wait for it or choose another folder with -o DIR"
        )),
        // A file system without locks has to do without.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(error).with_context(cannot),
    }
}

/// Whether a folder that holds a plan may be written to. `resume`: trials that
/// are in it are gone on with.
fn check(path: &Path, opening: &Opening<'_>, resume: bool) -> Result<()> {
    let &Opening { plan, facts, .. } = opening;
    let place = path.display();
    let (_, record) = read_plan(path)?;
    if record.hash != plan.hash {
        bail!(
            "{place} belongs to another experiment ({}, this is {}); choose another folder with -o DIR",
            record.hash,
            plan.hash
        );
    }
    let trials = trials(path)?;
    let complete = (opening.complete)(plan, &trials);
    if complete && resume {
        return Ok(());
    }
    if complete && opening.explicit.is_some() {
        bail!(
            "{place} is complete and is never overwritten; choose another folder with -o DIR, or read it with `jumbolab report {place}`"
        );
    }
    if !resume {
        let (done, expected) = (plan.finished_trials(&trials), plan.expected_trials());
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
    let kernel = begun.map_or_else(|| record.facts.kernel(), |last| last.kernel.as_deref());
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
            "{place} was begun by {}; use --resume=force to mix them, or -o DIR to begin anew",
            differing.join(" and by ")
        );
    }
    let mut mixed = record.facts.clone();
    mixed.resumed.push(Resumed {
        version: facts.version.clone(),
        binary: facts.binary.clone(),
        kernel: facts.kernel().map(str::to_owned),
    });
    write_plan(path, plan, &mixed)
}

/// The trials of all journals of a folder, each once, in the order of the
/// journals' names.
fn trials(path: &Path) -> Result<Vec<Trial>> {
    let cannot = || {
        format!(
            "cannot read the folder {}; make it readable",
            path.display()
        )
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(path).with_context(cannot)? {
        let name = entry.with_context(cannot)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("trials.") && name.ends_with(".jsonl") {
            names.push(name);
        }
    }
    names.sort();
    let (mut all, mut held) = (Vec::new(), BTreeSet::new());
    for name in names {
        for trial in Journal::read(&path.join(name))? {
            // A whole run beside a shard may have made it twice, alike.
            if held.insert((trial.repeat, trial.factors.to_string())) {
                all.push(trial);
            }
        }
    }
    Ok(all)
}

fn trial_keys(trials: &[Trial]) -> BTreeSet<TrialKey> {
    let key = |trial: &Trial| (trial.repeat, trial.factors.to_string());
    trials.iter().map(key).collect()
}

#[cfg(test)]
mod tests;
