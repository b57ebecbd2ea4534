//! Simulated trials: as many at once as there are threads, kept in their order.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::Result;
use live::interrupt;
use plan::{Plan, Trial};

use super::TrialSink;
use super::order::Slot;
use crate::interrupted;
use crate::recording::ArtifactDir;
use crate::world::sim::Simulator;

/// Trials that may wait for the journal.
const WAITING: usize = 256;

/// Runs `slots` on so many threads, each trial on one. The journal has them in
/// the order of `slots`, so that it is the same however many threads there were.
pub(super) fn run(
    simulator: &Simulator,
    threads: usize,
    slots: &[Slot],
    sink: &mut TrialSink<'_>,
) -> Result<()> {
    let plan = sink.plan;
    let results = sink.folder.path().to_owned();
    let results = results.as_path();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for _ in 0..threads.min(slots.len()) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                // Whoever asks to stop gets what has begun: a place that was
                // taken is always handed in, so that none is missing between.
                while !stop.load(Ordering::Relaxed) && !interrupt::asked() {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&slot) = slots.get(position) else {
                        break;
                    };
                    let trial = trial(simulator, plan, slot, results);
                    if sender.send((position, trial)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let kept = keep_in_order(receiver, slots, sink);
        stop.store(true, Ordering::Relaxed);
        kept
    })?;
    match interrupt::asked() {
        true => Err(interrupted()),
        false => Ok(()),
    }
}

/// Keeps what comes in, each when all before it are kept. What comes after the
/// plan has enough is forgotten, as if it had never been run.
fn keep_in_order(
    receiver: Receiver<(usize, Trial)>,
    slots: &[Slot],
    sink: &mut TrialSink<'_>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut position = 0;
    for (place, trial) in receiver {
        early.insert(place, trial);
        while let Some(trial) = early.remove(&position) {
            if sink.has_enough() {
                return Ok(());
            }
            let slot = slots[position];
            let cell = &sink.plan.cells[slot.cell];
            sink.progress.trial(cell, slot.repeat);
            sink.keep(trial)?;
            position += 1;
        }
    }
    Ok(())
}

fn trial(simulator: &Simulator, plan: &Plan, slot: Slot, results: &Path) -> Trial {
    let cell = &plan.cells[slot.cell];
    let seed = plan.seed.derive(&format!("repeat/{}", slot.repeat));
    let id = slot.id();
    let artifacts = ArtifactDir {
        results,
        trial: &id,
    };
    match simulator.run_and_trace(slot.setting(cell), seed, artifacts) {
        Ok((measurements, seconds)) => Trial {
            seconds,
            ..slot.trial(cell, measurements, None)
        },
        Err(reason) => slot.trial(cell, Default::default(), Some(reason)),
    }
}
