//! A results folder: `results/NAME-HASH/`, what was run and what it gave.
//!
//! Nothing in it is ever overwritten. The plan is written whole before the
//! first trial; the journal only grows; one process at a time writes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

mod record;

pub(crate) use record::replace;
use record::{PLAN, read_plan, write_plan};
pub use record::{Resumed, RunFacts};

use crate::journal::Journal;
use crate::plan::{Factors, Plan};
use crate::trial::Trial;

/// The version of the folder's layout, see docs/formats.md.
pub const FORMAT: u32 = 1;

const JOURNAL: &str = "trials.jsonl";

/// A results folder, open for more trials and locked against other runs.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    facts: RunFacts,
    journal: Journal,
    trials: Vec<Trial>,
    /// Held as long as the folder is open; the kernel drops it with us.
    _lock: File,
}

impl Folder {
    /// Opens the folder of `plan`: `explicit` (`-o DIR`), or the next free
    /// `NAME-HASH` below `base`. With `resume` an unfinished run is gone on
    /// with; with `force_resume` even by another kernel or program.
    pub fn open(
        base: &Path,
        explicit: Option<&Path>,
        plan: &Plan,
        facts: &RunFacts,
        resume: bool,
        force_resume: bool,
    ) -> Result<Self> {
        let resume = resume || force_resume;
        let path = match explicit {
            Some(path) => path.to_owned(),
            None => choose(base, plan, resume)?,
        };
        let fresh = !path.exists();
        if fresh && resume {
            bail!(
                "{} does not exist: there is nothing to go on with; leave --resume out to begin",
                path.display()
            );
        }
        let lock = prepare(&path)?;
        if path.join(PLAN).exists() {
            check(&path, plan, facts, explicit.is_some(), resume, force_resume)?;
        } else if let Err(error) = write_plan(&path, plan, facts) {
            if fresh {
                // Leave nothing behind; the error that matters is the first.
                let _ = fs::remove_file(path.join(JOURNAL));
                let _ = fs::remove_dir(&path);
            }
            return Err(error);
        }
        let (journal, trials) = Journal::open(&path.join(JOURNAL))?;
        // As recorded: who began it, and who went on by force.
        let facts = read_plan(&path)?.1.facts;
        Ok(Self {
            path,
            facts,
            journal,
            trials,
            _lock: lock,
        })
    }

    /// Reads a folder and changes nothing: the plan as it was written, what
    /// ran it, and the trials that are whole.
    pub fn read(path: &Path) -> Result<(String, RunFacts, Vec<Trial>)> {
        let (text, record) = read_plan(path)?;
        Ok((text, record.facts, Journal::read(&path.join(JOURNAL))?))
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

    /// Whether this repeat of a cell has been run, well or not.
    pub fn holds(&self, factors: &Factors, repeat: u32) -> bool {
        holds(&self.trials, factors, repeat)
    }

    /// Keeps a trial: when this returns, it survives a crash.
    pub fn append(&mut self, trial: Trial) -> Result<()> {
        self.journal.append(&trial)?;
        self.trials.push(trial);
        Ok(())
    }
}

/// The default folder: the last of NAME-HASH, NAME-HASH-2, .. that exists, or
/// the one after it if that is complete and not to be resumed.
fn choose(base: &Path, plan: &Plan, resume: bool) -> Result<PathBuf> {
    let name = format!("{}-{}", plan.name, plan.hash);
    let mut path = base.join(&name);
    for suffix in 2u64.. {
        let next = base.join(format!("{name}-{suffix}"));
        if next.exists() {
            path = next;
            continue;
        }
        if !resume && path.join(PLAN).exists() {
            let complete = complete(plan, &Journal::read(&path.join(JOURNAL))?);
            if complete {
                return Ok(next);
            }
        }
        break;
    }
    Ok(path)
}

/// Makes sure that the folder is there, is ours and nobody else's now.
fn prepare(path: &Path) -> Result<File> {
    let place = path.display();
    fs::create_dir_all(path)
        .with_context(|| format!("cannot create the folder {place}; choose a place with -o DIR"))?;
    let journal = path.join(JOURNAL);
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

/// Whether a folder that holds a plan may be written to.
fn check(
    path: &Path,
    plan: &Plan,
    facts: &RunFacts,
    explicit: bool,
    resume: bool,
    force_resume: bool,
) -> Result<()> {
    let place = path.display();
    let (_, record) = read_plan(path)?;
    if record.hash != plan.hash {
        bail!(
            "{place} belongs to another experiment ({}, this is {}); choose another folder with -o DIR",
            record.hash,
            plan.hash
        );
    }
    let trials = Journal::read(&path.join(JOURNAL))?;
    let complete = complete(plan, &trials);
    if complete && resume {
        return Ok(());
    }
    if complete && explicit {
        bail!(
            "{place} is complete and is never overwritten; choose another folder with -o DIR, or read it with `jumbolab report {place}`"
        );
    }
    if !resume {
        let (done, expected) = (finished(plan, &trials), expected(plan));
        bail!(
            "{place} holds {done} of {expected} trials; add --resume to go on, or -o DIR to begin anew"
        );
    }
    let begun = record.facts.resumed.last();
    let kernel = begun.map_or(&record.facts.kernel, |last| &last.kernel);
    let binary = begun.map_or(&record.facts.binary, |last| &last.binary);
    let mut differing = Vec::new();
    if *kernel != facts.kernel {
        differing.push(format!("kernel {kernel}, now {}", facts.kernel));
    }
    if *binary != facts.binary {
        differing.push(format!("program {binary}, now {}", facts.binary));
    }
    if differing.is_empty() {
        return Ok(());
    }
    if !force_resume {
        bail!(
            "{place} was begun by {}; use --resume=force to mix them, or -o DIR to begin anew",
            differing.join(" and by ")
        );
    }
    let mut mixed = record.facts;
    mixed.resumed.push(Resumed {
        version: facts.version.clone(),
        binary: facts.binary.clone(),
        kernel: facts.kernel.clone(),
    });
    write_plan(path, plan, &mixed)
}

fn holds(trials: &[Trial], factors: &Factors, repeat: u32) -> bool {
    trials
        .iter()
        .any(|trial| trial.repeat == repeat && trial.factors == *factors)
}

/// How many of the plan's trials are in the journal, failed ones included.
fn finished(plan: &Plan, trials: &[Trial]) -> usize {
    let measured = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    measured
        .map(|cell| {
            let run = |&repeat: &u32| holds(trials, &cell.factors, repeat);
            (1..=plan.repeat).filter(run).count()
        })
        .sum()
}

/// Whether nothing of `plan` is left to run.
pub(crate) fn complete(plan: &Plan, trials: &[Trial]) -> bool {
    finished(plan, trials) == expected(plan) || enough(plan, trials)
}

/// Whether `trials` are whole repeats and what the plan waits for has come.
pub(crate) fn enough(plan: &Plan, trials: &[Trial]) -> bool {
    let Some(until) = plan.until else {
        return false;
    };
    let measured = || plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let repeats = trials.iter().map(|trial| trial.repeat).max().unwrap_or(0);
    let whole = measured().all(|cell| {
        let mut repeats = 1..=repeats;
        repeats.all(|repeat| holds(trials, &cell.factors, repeat))
    });
    repeats > 0 && whole && until.met(plan, trials)
}

/// How many trials the plan asks for at most.
pub(crate) fn expected(plan: &Plan) -> usize {
    let measured = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    measured.flat_map(|_| 1..=plan.repeat).count()
}

#[cfg(test)]
mod tests;
