//! What could have disturbed a trial while it sent: changes of the machine, its clock, the queues in
//! front of the links and the emulator.

use anyhow::{Context, Result};
use live::clock;
use live::emulator::Report;
use live::meter::{Machine, MachineUse, Process};
use plan::Setting;
use proto::link::Fate;
use serde_json::json;
use units::Span;

use super::Pair;
use super::passes::ratio;
use crate::agent::Failure;
use crate::measurements::Measurements;

/// The state before a trial.
pub(super) struct Before {
    /// The wall clock ahead of the monotonic one, in nanoseconds.
    wall_offset: i64,
    machine: Machine,
    coordinator: Process,
    drops: u64,
    emulator: Report,
}

/// What changed during a trial and may have disturbed it.
pub(super) struct Disturbance {
    /// What the machine did.
    pub(super) machine: MachineUse,
    /// Processor time of this process.
    pub(super) coordinator: Span,
    /// Packets dropped by the kernel's queues in front of the links.
    pub(super) drops: u64,
    /// How far the wall clock was moved, in nanoseconds.
    pub(super) clock_step: i64,
    /// What the emulator did, if there is one.
    pub(super) emulator: Option<Report>,
}

impl Before {
    /// Looks before anything of a trial is sent between `pairs`.
    ///
    /// # Errors
    /// Where a meter cannot be read.
    pub(super) fn look(pairs: &mut [Pair<'_>]) -> Result<Self> {
        let wall_offset = clock::wall_offset_nanos();
        let (machine, coordinator) = sample(pairs)?;
        let drops = queue_drops(pairs)?;
        let emulator = emulated(pairs)?.map(|(_, report)| report);
        Ok(Self {
            wall_offset,
            machine,
            coordinator,
            drops,
            emulator: emulator.unwrap_or_default(),
        })
    }

    /// What happened since then.
    ///
    /// # Errors
    /// [`Failure::Transfer`] where the emulator could not keep up.
    pub(super) fn disturbance(&self, pairs: &mut [Pair<'_>]) -> Result<Disturbance, Failure> {
        let (machine, coordinator) = sample(pairs)?;
        // The kernel counts in 32 bits, and starts again from 0.
        let drops = queue_drops(pairs)?.saturating_sub(self.drops);
        let clock_step = clock::wall_offset_nanos() - self.wall_offset;
        let mut emulator = None;
        if let Some((pair, report)) = emulated(pairs)? {
            let report = report.since(&self.emulator);
            if let Some(why) = pair.meters.invalid(&report) {
                return Err(Failure::Transfer(why));
            }
            emulator = Some(report);
        }
        Ok(Disturbance {
            machine: machine.since(&self.machine),
            coordinator: coordinator.cpu - self.coordinator.cpu,
            drops,
            clock_step,
            emulator,
        })
    }
}

impl Disturbance {
    /// Packets that the path dropped: in front of the links, and on emulated ones.
    pub(super) fn dropped(&self) -> u64 {
        self.drops + self.emulator.as_ref().map_or(0, lost_by)
    }

    /// The share of the machine's time that the hypervisor took.
    pub(super) fn stolen(&self) -> f64 {
        let all = self.machine.elapsed * self.machine.processors;
        ratio(self.machine.steal, all)
    }
}

impl Measurements {
    /// What shows what else happened.
    pub(super) fn take_disturbance(&mut self, setting: &Setting, disturbance: &Disturbance) {
        if let Some(emulator) = &disturbance.emulator {
            self.take_emulator(emulator);
            self.take_crossed(setting, emulator);
        }
        self.note("queue_drops", json!(disturbance.drops));
        self.note("clock_step_us", json!(disturbance.clock_step / 1_000));
        self.note("steal_percent", json!(100.0 * disturbance.stolen()));
    }
}

/// CPU times of the machine and of this process.
fn sample(pairs: &[Pair<'_>]) -> Result<(Machine, Process)> {
    let meters = &pairs[0].meters;
    let machine = meters.machine().context("metering the machine")?;
    let coordinator = meters.coordinator().context("metering the coordinator")?;
    Ok((machine, coordinator))
}

/// Packets dropped by the kernel's queues of all paths.
fn queue_drops(pairs: &[Pair<'_>]) -> Result<u64> {
    let mut drops = 0;
    for pair in pairs {
        drops += pair.meters.queue_drops().context("counting drops")?;
    }
    Ok(drops)
}

/// The pair whose links are emulated, if there is one, and what the emulator
/// did so far; lateness since it was last asked.
fn emulated<'p, 'a>(pairs: &'p mut [Pair<'a>]) -> Result<Option<(&'p Pair<'a>, Report)>> {
    for pair in pairs {
        if let Some(report) = pair.meters.emulator()? {
            return Ok(Some((pair, report)));
        }
    }
    Ok(None)
}

/// Packets that the emulator did not carry.
fn lost_by(emulator: &Report) -> u64 {
    let fates = [Fate::Dropped, Fate::Lost, Fate::Damaged, Fate::TooBig];
    fates.map(|fate| emulator.of(fate)).iter().sum()
}
