//! Runs a plan: every cell as often as asked, interleaved, each trial in the
//! journal before the next begins.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use live::clock::{self, Epoch};
use live::machine::Machine;
use live::transfer::try_congestion_control;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use units::{Seed, Span};

use crate::agent::Failure;
use crate::command_line::CommandLine;
use crate::experiment::{Setting, Traffic};
use crate::folder::{Folder, enough};
use crate::interrupted;
use crate::netns::{Figures, Netns};
use crate::plan::{Cell, Plan};
use crate::recording::Shelf;
use crate::trial::Trial;

/// Trials that may fail one after the other before the run gives up: then
/// the test bed is at fault, not the trial.
const MOST_FAILURES_IN_A_ROW: u32 = 5;

/// Told what a run does, for those who wait for it.
pub trait Watch {
    /// The run holds `total` trials, of which `done` were in the journal.
    fn begin(&mut self, total: usize, done: usize);
    /// A trial begins.
    fn trial(&mut self, cell: &Cell, repeat: u32);
    /// A trial is in the journal: the last of `trials`, all there are of `plan`.
    fn done(&mut self, plan: &Plan, trials: &[Trial]);
    /// All is done, or the run stops early.
    fn end(&mut self);
}

/// Where a run takes place, ready to measure.
pub struct Bench {
    netns: Netns,
}

impl Bench {
    /// Gets what `plan` needs of this machine, before anything is written.
    ///
    /// # Errors
    /// One line with the remedy where the machine forbids namespaces or lacks
    /// a congestion control.
    pub fn ready(plan: &Plan) -> Result<Self> {
        live::interrupt::listen()?;
        let mut netns = Netns::enter()?;
        let settings = plan
            .cells
            .iter()
            .filter_map(|cell| cell.setting.as_ref().ok());
        let names: BTreeSet<_> = settings
            .map(|setting| setting.host.congestion.as_str())
            .collect();
        for name in names {
            try_congestion_control(name).with_context(|| {
                let known = Machine::here().congestion_controls.join(", ");
                format!("host.congestion = {name}: this kernel has {known}; `modprobe tcp_NAME` loads others")
            })?;
        }
        for setting in plan
            .cells
            .iter()
            .filter_map(|cell| cell.setting.as_ref().ok())
        {
            programs(setting)?;
        }
        // What else the machine lacks shows when the first test bed is built.
        if let Some(setting) = plan
            .cells
            .iter()
            .find_map(|cell| cell.setting.as_ref().ok())
        {
            netns.prepare(setting)?;
        }
        Ok(Self { netns })
    }

    /// Runs what `folder` does not hold yet of `plan`.
    ///
    /// # Errors
    /// When the journal cannot be written, the test bed cannot be built, or
    /// someone asked to stop; what was measured before is kept.
    pub fn run(&mut self, plan: &Plan, folder: &mut Folder, watch: &mut dyn Watch) -> Result<()> {
        let order: Vec<Slot> = order(plan)
            .into_iter()
            .filter(|slot| !folder.holds(&plan.cells[slot.cell].factors, slot.repeat))
            .collect();
        let total = order.len() + folder.trials().len();
        watch.begin(total, folder.trials().len());
        let result = self.run_slots(plan, &order, folder, watch);
        watch.end();
        result
    }

    fn run_slots(
        &mut self,
        plan: &Plan,
        order: &[Slot],
        folder: &mut Folder,
        watch: &mut dyn Watch,
    ) -> Result<()> {
        let mut failures = 0;
        for slot in order {
            if live::interrupt::asked() {
                return Err(interrupted());
            }
            if enough(plan, folder.trials()) {
                break;
            }
            let cell = &plan.cells[slot.cell];
            watch.trial(cell, slot.repeat);
            let luck = plan.seed.derive(&format!("luck/{}", slot.id()));
            let trial = self.trial(cell, slot, luck, folder.path())?;
            failures = if trial.failure.is_some() {
                failures + 1
            } else {
                0
            };
            let reason = trial.failure.clone();
            folder.append(trial)?;
            watch.done(plan, folder.trials());
            if failures == MOST_FAILURES_IN_A_ROW {
                let reason = reason.unwrap_or_default();
                bail!(
                    "{failures} trials in a row failed, the last one ({}) with: {reason}",
                    cell.factors
                );
            }
        }
        Ok(())
    }

    fn trial(&mut self, cell: &Cell, slot: &Slot, luck: Seed, results: &Path) -> Result<Trial> {
        let setting = cell
            .setting
            .as_ref()
            .expect("only cells that can be measured have slots");
        let (epoch, begun) = (Epoch::now(), clock::monotonic());
        let id = slot.id();
        let shelf = Shelf {
            results,
            trial: &id,
        };
        let (figures, failure) = match self.netns.measure_and_record(setting, luck, epoch, shelf) {
            Ok(figures) => (figures, None),
            Err(Failure::Transfer(reason)) => (Figures::default(), Some(reason)),
            Err(Failure::Lost(error)) => {
                return Err(error).with_context(|| format!("trial {id} ({})", cell.factors));
            }
        };
        Ok(Trial {
            id,
            factors: cell.factors.clone(),
            repeat: slot.repeat,
            start: rfc3339(epoch.unix_nanos()),
            seconds: clock::monotonic()
                .since(begun)
                .map_or(0.0, Span::as_secs_f64),
            failure,
            flags: figures
                .flags
                .iter()
                .map(|flag| flag.as_str().to_owned())
                .collect(),
            metrics: figures.metrics,
            evidence: figures.evidence,
        })
    }
}

/// That this machine has the user's own programs.
fn programs(setting: &Setting) -> Result<()> {
    let Traffic::Command(command) = &setting.traffic else {
        return Ok(());
    };
    let receiver = command.receiver.as_ref();
    let lines = [("sender", Some(&command.sender)), ("receiver", receiver)];
    for (key, line) in lines {
        if let Some(program) = line.and_then(CommandLine::missing_program) {
            bail!(
                "traffic.{key}: this machine has no program `{program}`; install it, or write its path"
            );
        }
    }
    Ok(())
}

/// A place in the order of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    cell: usize,
    repeat: u32,
}

impl Slot {
    fn id(self) -> String {
        trial_id(self.cell, self.repeat)
    }
}

/// The name of a trial: its cell's place in the plan, and which repeat.
pub fn trial_id(cell: usize, repeat: u32) -> String {
    format!("c{cell:02}-r{repeat:02}")
}

/// The names of all trials of `plan` that this world can run.
pub fn trial_ids(plan: &Plan) -> Vec<String> {
    order(plan).into_iter().map(Slot::id).collect()
}

/// Every repeat is a block that holds each cell once, in an order of its own:
/// whatever drifts during the run strikes all cells alike [Fisher1935 s26].
fn order(plan: &Plan) -> Vec<Slot> {
    let measured: Vec<usize> = (0..plan.cells.len())
        .filter(|&cell| plan.cells[cell].setting.is_ok())
        .collect();
    let mut generator = ChaCha8Rng::seed_from_u64(Seed::derive(plan.seed, "order").get());
    (1..=plan.repeat)
        .flat_map(|repeat| {
            let mut block: Vec<Slot> = measured.iter().map(|&cell| Slot { cell, repeat }).collect();
            block.shuffle(&mut generator);
            block
        })
        .collect()
}

/// An instant in UTC with milliseconds [RFC3339 s5.6].
fn rfc3339(unix_nanos: u64) -> String {
    let instant = SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_nanos);
    humantime::format_rfc3339_millis(instant).to_string()
}
