//! Runs a plan: every cell as often as asked, interleaved, each trial in the
//! journal before the next begins.
//!
//! What is the same in every world is here: the order, what is left to run,
//! when to stop, what is kept. How trials are run is each world's own:
//! `one_by_one` on this machine, `side_by_side` in the simulator.

mod job;
mod one_by_one;
mod order;
mod side_by_side;

use std::num::NonZero;
use std::path::Path;
use std::thread;

use analysis::completion::enough;
use anyhow::{Result, bail};
use live::{clock, interrupt};
use plan::{Cell, Plan, Setting, Trial, World};
use results::folder::{Folder, Shard};

use crate::interrupted;
use crate::world::netns::Netns;
use crate::world::sim::Simulator;
pub(crate) use job::Job;
use order::{Slot, order};
pub use order::{sort, trial_ids};

/// Trials that may fail one after the other before the run gives up: then
/// the test bed is at fault, not the trial.
const MOST_FAILURES_IN_A_ROW: u32 = 5;

/// Receives the progress of a run, for those who wait for it.
pub trait Progress {
    /// The run holds `total` trials, of which `done` were in the journal.
    fn begin(&mut self, total: usize, done: usize);
    /// A trial begins.
    fn trial(&mut self, cell: &Cell, repeat: u32);
    /// A trial is in the journal: the last of `trials`, all there are of `plan`.
    fn done(&mut self, plan: &Plan, trials: &[Trial]);
    /// All is done, or the run stops early.
    fn end(&mut self);
}

/// How a plan is run, as far as that changes no figure.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Trials that run at the same time; `None`: as many as the machine has
    /// processors, where the world allows more than one.
    pub threads: Option<NonZero<usize>>,
    /// The part of the trials that is run; `None`: all.
    pub shard: Option<Shard>,
}

/// Where a run takes place, ready to measure.
pub enum Bench {
    /// On this machine's kernel.
    Netns(Box<Netns>),
    /// In virtual networks, on so many threads.
    Sim(Simulator, usize),
}

impl Bench {
    /// Gets what `plan` needs of this machine, before anything is written.
    ///
    /// # Errors
    /// One line with the remedy where the machine forbids namespaces, lacks
    /// a congestion control or memory, or where the world cannot run like this.
    pub fn ready(plan: &Plan, how: How) -> Result<Self> {
        interrupt::listen()?;
        match plan.world {
            World::Netns => {
                if how.threads.is_some_and(|threads| threads.get() > 1) {
                    bail!(
                        "--threads: trials on one machine disturb each other; only the world `sim` runs several at once"
                    );
                }
                if how.shard.is_some() {
                    bail!("--shard: only the world `sim` runs in parts");
                }
                Ok(Self::Netns(Box::new(one_by_one::ready(plan)?)))
            }
            World::Sim => {
                if let (Some(_), Some(until)) = (how.shard, plan.until) {
                    bail!(
                        "--shard: trials.until = \"{until}\" looks at all trials, and a part has its own; take one of the two away"
                    );
                }
                let here = || thread::available_parallelism().map_or(1, NonZero::get);
                let threads = how.threads.map_or_else(here, NonZero::get);
                let simulator = Simulator::ready(settings(plan), threads)?;
                Ok(Self::Sim(simulator, threads))
            }
        }
    }

    /// Runs what `folder` does not hold yet of `plan`, or of its shard.
    ///
    /// # Errors
    /// When the journal cannot be written, the test bed cannot be built, or
    /// someone asked to stop; what was measured before is kept.
    pub fn run(
        &mut self,
        plan: &Plan,
        shard: Option<Shard>,
        folder: &mut Folder,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        let ours = |position: usize| shard.is_none_or(|shard| shard.has(position));
        let slots: Vec<Slot> = order(plan)
            .into_iter()
            .enumerate()
            .filter(|(position, slot)| {
                ours(*position) && !folder.holds(&plan.cells[slot.cell].factors, slot.repeat)
            })
            .map(|(_, slot)| slot)
            .collect();
        let done = folder.trials().len();
        progress.begin(slots.len() + done, done);
        let mut sink = TrialSink {
            plan,
            folder,
            progress,
            failures: 0,
        };
        let result = match self {
            Self::Netns(netns) => one_by_one::run(netns, &slots, &mut sink),
            Self::Sim(simulator, threads) => {
                side_by_side::run(simulator, *threads, &slots, &mut sink)
            }
        };
        // Also what came before an error is to survive.
        let synced = sink.folder.sync();
        sink.progress.end();
        result.and(synced)
    }
}

impl Bench {
    /// Runs `jobs` for `plan` in their order and hands each trial to `keep`, until
    /// it wants no more. Files of single packets go to `results`.
    ///
    /// # Errors
    /// Where `keep` fails, the test bed is lost, or someone asked to stop.
    pub(crate) fn each(
        &mut self,
        plan: &Plan,
        jobs: &[Job<'_>],
        results: &Path,
        mut keep: impl FnMut(Trial) -> Result<bool>,
    ) -> Result<()> {
        match self {
            Self::Netns(netns) => {
                for job in jobs {
                    if interrupt::asked() {
                        return Err(interrupted());
                    }
                    let seed = plan.seed.derive(&format!("luck/{}", job.id));
                    if !keep(one_by_one::trial(netns, job.clone(), seed, results)?)? {
                        break;
                    }
                }
                Ok(())
            }
            Self::Sim(simulator, threads) => {
                let run = |position: usize| {
                    let job = jobs[position].clone();
                    let seed = plan.seed.derive(&format!("repeat/{}", job.repeat));
                    side_by_side::trial(simulator, job, seed, results)
                };
                side_by_side::in_order(*threads, jobs.len(), run, |_, trial| keep(trial))
            }
        }
    }
}

/// Keeps the trials of a run as they come.
struct TrialSink<'a> {
    plan: &'a Plan,
    folder: &'a mut Folder,
    progress: &'a mut dyn Progress,
    /// How many failed one after the other.
    failures: u32,
}

impl TrialSink<'_> {
    /// Whether nothing more is to be run.
    fn is_done(&self) -> Result<bool> {
        match interrupt::asked() {
            true => Err(interrupted()),
            false => Ok(self.has_enough()),
        }
    }

    /// Whether the plan has what it waits for.
    fn has_enough(&self) -> bool {
        enough(self.plan, self.folder.trials())
    }

    fn keep(&mut self, trial: Trial) -> Result<()> {
        self.failures = if trial.failure.is_some() {
            self.failures + 1
        } else {
            0
        };
        let (factors, reason) = (trial.factors.clone(), trial.failure.clone());
        match self.plan.world.profile().syncs_every_trial {
            true => self.folder.append(trial)?,
            false => self.folder.append_soon(trial, clock::monotonic())?,
        }
        self.progress.done(self.plan, self.folder.trials());
        if self.failures == MOST_FAILURES_IN_A_ROW {
            let reason = reason.unwrap_or_default();
            bail!(
                "{} trials in a row failed, the last one ({factors}) with: {reason}",
                self.failures
            );
        }
        Ok(())
    }
}

/// What is asked for in the cells of `plan` that can be measured.
fn settings(plan: &Plan) -> impl Iterator<Item = &Setting> {
    plan.cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok())
}
