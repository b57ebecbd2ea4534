//! Trials that do not disturb each other, on several threads, stored in order.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::{Context, Result};
use os::interrupt;
use plan::{Plan, Setting, Trial};
use units::Seed;

use super::TrialSink;
use super::job::Job;
use super::order::Slot;
use crate::backend::model::Predictor;
use crate::backend::sim::Simulator;
use crate::interrupted;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// The maximum number of trials that wait for the journal.
const WAITING: usize = 256;

/// An engine whose trials do not disturb each other.
pub(super) trait Engine: Sync {
    /// The measurements of one trial, and its time in seconds. Files of single
    /// packets go to `artifacts`.
    ///
    /// # Errors
    /// The reason why there are none.
    fn run(
        &self,
        setting: &Setting,
        seed: Seed,
        artifacts: ArtifactDir<'_>,
    ) -> Result<(Measurements, f64), String>;
}

impl Engine for Simulator {
    fn run(
        &self,
        setting: &Setting,
        seed: Seed,
        artifacts: ArtifactDir<'_>,
    ) -> Result<(Measurements, f64), String> {
        self.run_and_trace(setting, seed, artifacts)
    }
}

impl Engine for Predictor {
    fn run(
        &self,
        setting: &Setting,
        _: Seed,
        _: ArtifactDir<'_>,
    ) -> Result<(Measurements, f64), String> {
        Ok((self.predict(setting)?, 0.0))
    }
}

/// Runs `slots` on a number of threads, one trial each. The journal has them in
/// the order of `slots`, so it does not depend on the number of threads.
pub(super) fn run(
    engine: &impl Engine,
    threads: usize,
    slots: &[Slot],
    sink: &mut TrialSink<'_>,
) -> Result<()> {
    let plan = sink.plan;
    let results = sink.folder.path().to_owned();
    let of_slot = |position: usize| {
        let slot = slots[position];
        let seed = plan.seed.derive(&format!("repeat/{}", slot.repeat));
        trial(engine, slot.job(&plan.cells[slot.cell]), seed, &results)
    };
    in_order(threads, slots.len(), of_slot, |position, trial| {
        if sink.has_enough() {
            return Ok(false);
        }
        let slot = slots[position];
        sink.progress.trial(&plan.cells[slot.cell], slot.repeat);
        sink.keep(trial)?;
        Ok(true)
    })
}

/// Runs `jobs` for `plan` and hands each trial to `keep` in their order, until it
/// wants no more.
pub(super) fn each(
    engine: &impl Engine,
    threads: usize,
    plan: &Plan,
    jobs: &[Job<'_>],
    results: &Path,
    mut keep: impl FnMut(Trial) -> Result<bool>,
) -> Result<()> {
    let run = |position: usize| {
        let job = jobs[position].clone();
        let seed = plan.seed.derive(&format!("repeat/{}", job.repeat));
        trial(engine, job, seed, results)
    };
    in_order(threads, jobs.len(), run, |_, trial| keep(trial))
}

/// Runs trials 0 to `count` on `threads` threads, and passes the results to `keep`
/// in order until it wants no more. A trial without a result was stopped.
///
/// # Errors
/// Where `keep` fails, a thread cannot be started, or someone asked to stop.
fn in_order(
    threads: usize,
    count: usize,
    trial: impl Fn(usize) -> Option<Trial> + Sync,
    keep: impl FnMut(usize, Trial) -> Result<bool>,
) -> Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for _ in 0..threads.min(count) {
            let (sender, next, stop, trial) = (sender.clone(), &next, &stop, &trial);
            let work = move || {
                // After a stop request, no trial begins, and those that run are
                // stopped: what comes after a hole in the order is not kept.
                while !stop.load(Ordering::Relaxed) && !interrupt::asked() {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    if position >= count {
                        break;
                    }
                    let Some(trial) = trial(position) else { break };
                    if sender.send((position, trial)).is_err() {
                        break;
                    }
                }
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                // The scope waits for those that were started.
                stop.store(true, Ordering::Relaxed);
                return Err(error).context("starting a thread");
            }
        }
        drop(sender);
        let kept = keep_in_order(receiver, keep);
        stop.store(true, Ordering::Relaxed);
        kept
    })?;
    match interrupt::asked() {
        true => Err(interrupted()),
        false => Ok(()),
    }
}

/// Keeps what comes in, each when all before it are kept. What comes after no more
/// is wanted is forgotten, as if it had never been run.
fn keep_in_order(
    receiver: Receiver<(usize, Trial)>,
    mut keep: impl FnMut(usize, Trial) -> Result<bool>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut position = 0;
    for (place, trial) in receiver {
        early.insert(place, trial);
        while let Some(trial) = early.remove(&position) {
            if !keep(position, trial)? {
                return Ok(());
            }
            position += 1;
        }
    }
    Ok(())
}

/// Runs one trial; `None` if someone asked the program to stop before its end.
fn trial(engine: &impl Engine, job: Job<'_>, seed: Seed, results: &Path) -> Option<Trial> {
    let artifacts = ArtifactDir {
        results,
        trial: &job.id,
    };
    match engine.run(job.setting, seed, artifacts) {
        Ok((measurements, seconds)) => Some(Trial {
            seconds,
            ..job.trial(measurements, None)
        }),
        Err(_) if interrupt::asked() => None,
        Err(reason) => Some(job.trial(Default::default(), Some(reason))),
    }
}
