//! Runs a plan: all repeats of all cells, interleaved. Each trial is written to
//! the journal before the next one begins.
//!
//! This module contains what all backends share: the order of trials, the
//! selection of missing ones, the stop condition and the journal. The execution
//! depends on the backend: `one_by_one` in real time, `side_by_side` for the
//! simulator.

mod job;
#[cfg(target_os = "linux")]
mod one_by_one;
mod order;
#[cfg(target_os = "linux")]
mod rate_check;
mod side_by_side;

use std::num::NonZero;
use std::path::Path;
use std::thread;

use analysis::completion::enough;
#[cfg(target_os = "linux")]
use anyhow::Context as _;
use anyhow::{Result, bail};
use os::{clock, interrupt};
use plan::{Backend, Cell, LeftOut, NamedHosts, Plan, RunFacts, Setting, Trial};
use results::folder::{Folder, Shard};
use results::journal::Lost;

#[cfg(not(target_os = "linux"))]
use crate::backend;
#[cfg(target_os = "linux")]
use crate::backend::hosts::Hosts;
use crate::backend::model::Predictor;
#[cfg(target_os = "linux")]
use crate::backend::real_time::RealTime;
use crate::backend::sim::Simulator;
pub(crate) use job::Job;
#[cfg(target_os = "linux")]
pub use one_by_one::rfc3339;
use order::{Places, Slot, further, order};
pub use order::{sort, trial_ids};

/// The number of consecutive failures that ends a run. So many failures point
/// to the test network, not to the trials.
const MOST_FAILURES_IN_A_ROW: u32 = 5;

/// Receives the progress of a run.
pub trait Progress {
    /// The run has `total` trials, of which `done` were in the journal already.
    fn begin(&mut self, total: usize, done: usize);
    /// A trial begins.
    fn trial(&mut self, cell: &Cell, repeat: u32);
    /// The trial `latest` is in the journal; `trials` holds all trials of `plan`
    /// so far, each once.
    fn done(&mut self, plan: &Plan, trials: &[Trial], latest: &Trial);
    /// `trials` disturbed trials are run again, or more if they are disturbed once more.
    fn again(&mut self, trials: usize);
    /// The run is complete or stops early.
    fn end(&mut self);
}

/// Options of a run that do not affect its results.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions<'a> {
    /// The number of concurrent trials; `None`: the number of CPUs if the backend
    /// supports concurrent trials.
    pub threads: Option<NonZero<usize>>,
    /// The shard to run; `None`: all trials.
    pub shard: Option<Shard>,
    /// Whether to repeat the failed trials of an earlier run.
    pub retry: bool,
    /// The machines to measure between, if the user named some.
    pub named: Option<&'a NamedHosts>,
}

/// A backend that is ready to measure.
pub struct ReadyBackend(Ready);

enum Ready {
    /// Kernels, of this machine or of those that the user names.
    #[cfg(target_os = "linux")]
    RealTime(Box<dyn RealTime>),
    /// Virtual networks, on a number of threads.
    Sim(Simulator, usize),
    /// Closed forms.
    Model(Predictor),
}

impl ReadyBackend {
    /// Prepares the backend for `plan` before anything is written.
    ///
    /// # Errors
    /// One line of text with the remedy: the machine forbids namespaces, lacks
    /// a congestion control or memory, a machine in `named` cannot be reached, or
    /// the backend does not support an option.
    pub fn ready(plan: &Plan, how: RunOptions<'_>) -> Result<Self> {
        interrupt::listen()?;
        if !plan.backend.profile().runs_side_by_side {
            if how.threads.is_some_and(|threads| threads.get() > 1) {
                bail!(
                    "--threads: trials on one machine disturb each other, and only simulated ones run at the same time; add --on sim"
                );
            }
            if how.shard.is_some() {
                bail!("--shard: only simulated trials run in parts; add --on sim");
            }
        }
        Ok(Self(match plan.backend {
            #[cfg(target_os = "linux")]
            Backend::Netns => Ready::RealTime(Box::new(one_by_one::ready(plan)?)),
            #[cfg(target_os = "linux")]
            Backend::Hosts => {
                let named = how
                    .named
                    .context("only `jumbolab run` measures between machines: --on netns or sim")?;
                Ready::RealTime(Box::new(Hosts::ready(plan, named)?))
            }
            Backend::Sim => {
                if let (Some(_), Some(until)) = (how.shard, plan.until) {
                    bail!(
                        "--shard: trials.until = \"{until}\" needs all trials, but a shard has only its own; remove one of the two"
                    );
                }
                let here = || thread::available_parallelism().map_or(1, NonZero::get);
                let threads = how.threads.map_or_else(here, NonZero::get);
                let simulator = Simulator::ready(settings(plan), threads)?;
                Ready::Sim(simulator, threads)
            }
            Backend::Model => Ready::Model(Predictor),
            #[cfg(not(target_os = "linux"))]
            Backend::Netns | Backend::Hosts => return Err(backend::absent(plan.backend)),
        }))
    }

    /// Records the machines that the user named, and leaves out the cells of `plan` that
    /// cannot be measured between them.
    pub fn describe(&self, plan: &mut Plan, facts: &mut RunFacts) {
        let (hosts, left_out): (_, &[(usize, String)]) = match &self.0 {
            #[cfg(target_os = "linux")]
            Ready::RealTime(backend) => (backend.hosts(), backend.left_out()),
            Ready::Sim(..) | Ready::Model(_) => (Vec::new(), &[]),
        };
        facts.hosts = hosts;
        let left_out = left_out.iter().map(|(position, why)| LeftOut {
            cell: plan.cells[*position].factors.to_string(),
            why: why.clone(),
        });
        facts.left_out = left_out.collect();
        facts.leave_out(plan, &[]);
    }

    /// Puts back what was changed on machines that the user named. Returns a sentence for
    /// each setting that is not as before.
    ///
    /// # Errors
    /// A machine is lost; it puts everything back by itself.
    pub fn restore(&mut self) -> Result<Vec<String>> {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Ready::RealTime(backend) => backend.restore(),
            Ready::Sim(..) | Ready::Model(_) => Ok(Vec::new()),
        }
    }

    /// Tests whether this machine carries the rates of the emulated links of
    /// `plan`; returns warnings.
    ///
    /// # Errors
    /// It does not, although no other work runs: one line with the options to
    /// type.
    pub fn check_rates(&self, plan: &Plan) -> Result<Vec<String>> {
        match (&self.0, plan.backend.profile().builds_network) {
            #[cfg(target_os = "linux")]
            (Ready::RealTime(_), true) => rate_check::check(plan),
            _ => Ok(Vec::new()),
        }
    }

    /// Runs the trials of `plan`, or of the shard of `how`, that `folder` lacks,
    /// and on request those that failed.
    ///
    /// # Errors
    /// The journal cannot be written, the test network cannot be built, or the user
    /// asked to stop. Earlier trials are kept.
    pub fn run(
        &mut self,
        plan: &Plan,
        RunOptions { shard, retry, .. }: RunOptions<'_>,
        folder: &mut Folder,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        let ours = |position: usize| shard.is_none_or(|shard| shard.has(position));
        let mut slots: Vec<Slot> = order(plan)
            .enumerate()
            .filter(|(position, slot)| {
                ours(*position) && !folder.holds(&plan.cells[slot.cell].factors, slot.repeat)
            })
            .map(|(_, slot)| slot)
            .collect();
        let failed = |trial: &Trial| retry && trial.failure.is_some();
        let mut again = further(plan, folder.trials(), failed);
        if shard.is_some() && !again.is_empty() {
            let places = Places::of(plan);
            again.retain(|slot| places.of_trial(&slot.id()).is_some_and(ours));
        }
        slots.append(&mut again);
        let done = folder.trials().len();
        progress.begin(slots.len() + done, done);
        let mut sink = TrialSink {
            plan,
            folder,
            progress,
            failures: 0,
        };
        let result = match &mut self.0 {
            #[cfg(target_os = "linux")]
            Ready::RealTime(backend) => one_by_one::run(backend.as_mut(), &slots, &mut sink),
            Ready::Sim(simulator, threads) => {
                side_by_side::run(simulator, *threads, &slots, &mut sink)
            }
            Ready::Model(predictor) => side_by_side::run(predictor, 1, &slots, &mut sink),
        };
        // Trials before an error must survive a crash, too.
        let synced = sink.folder.sync();
        sink.progress.end();
        first_of(result, synced)
    }
}

/// The error of a run whose journal was then synced. That it is lost outranks the others.
pub(crate) fn first_of<T>(result: Result<T>, synced: Result<()>) -> Result<T> {
    match synced {
        Err(error) if error.is::<Lost>() => Err(error),
        synced => result.and_then(|result| synced.map(|()| result)),
    }
}

impl ReadyBackend {
    /// Runs `jobs` for `plan` in their order and hands each trial to `keep`, until
    /// it wants no more. Files of single packets go to `results`.
    ///
    /// # Errors
    /// Where `keep` fails, the test network is lost, or someone asked to stop.
    pub(crate) fn each(
        &mut self,
        plan: &Plan,
        jobs: &[Job<'_>],
        results: &Path,
        keep: impl FnMut(Trial) -> Result<bool>,
    ) -> Result<()> {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Ready::RealTime(backend) => {
                one_by_one::each(backend.as_mut(), plan, jobs, results, keep)
            }
            Ready::Sim(simulator, threads) => {
                side_by_side::each(simulator, *threads, plan, jobs, results, keep)
            }
            Ready::Model(predictor) => side_by_side::each(predictor, 1, plan, jobs, results, keep),
        }
    }
}

/// Keeps the trials of a run as they come.
struct TrialSink<'a> {
    plan: &'a Plan,
    folder: &'a mut Folder,
    progress: &'a mut dyn Progress,
    /// The number of consecutive failures.
    failures: u32,
}

impl TrialSink<'_> {
    /// Whether the stop condition of the plan is met.
    fn has_enough(&self) -> bool {
        enough(self.plan, self.folder.trials())
    }

    fn keep(&mut self, trial: Trial) -> Result<()> {
        // A trial that failed because the machine was busy says nothing of the
        // test network.
        self.failures = match trial.failure {
            Some(_) if trial.is_disturbed() => self.failures,
            Some(_) => self.failures + 1,
            None => 0,
        };
        let latest = trial.clone();
        match self.plan.backend.profile().syncs_every_trial {
            true => self.folder.append(trial)?,
            false => self.folder.append_soon(trial, clock::monotonic())?,
        }
        self.progress.done(self.plan, self.folder.trials(), &latest);
        if self.failures == MOST_FAILURES_IN_A_ROW && !latest.is_disturbed() {
            let factors = latest.factors;
            let reason = latest.failure.unwrap_or_default();
            bail!(
                "{} trials in a row failed, the last one ({factors}) with: {reason}",
                self.failures
            );
        }
        Ok(())
    }
}

/// The settings of the cells of `plan` that this backend can measure.
fn settings(plan: &Plan) -> impl Iterator<Item = &Setting> {
    plan.cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok())
}
