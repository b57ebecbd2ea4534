//! Detects disturbances of a trial: load of the machine, clock steps, drops in
//! front of the links, and the emulator's state.

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
    /// The difference between wall clock and monotonic clock, in nanoseconds.
    wall_offset: i64,
    machine: Machine,
    coordinator: Process,
    drops: u64,
    emulator: Report,
}

/// The disturbances of a trial.
pub(super) struct Disturbance {
    /// The use of the machine.
    pub(super) machine: MachineUse,
    /// CPU time of this process.
    pub(super) coordinator: Span,
    /// Packets dropped by the kernel's queues in front of the links.
    pub(super) drops: u64,
    /// The steps of the wall clock, in nanoseconds.
    pub(super) clock_step: i64,
    /// The report of the emulator, if there is one.
    pub(super) emulator: Option<Report>,
}

impl Before {
    /// Reads all meters before a trial between `pairs` sends.
    ///
    /// # Errors
    /// A meter cannot be read.
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

    /// The changes since then.
    ///
    /// # Errors
    /// [`Failure::Disturbed`] if the emulator could not keep up.
    pub(super) fn disturbance(&self, pairs: &mut [Pair<'_>]) -> Result<Disturbance, Failure> {
        let (machine, coordinator) = sample(pairs)?;
        // The kernel's counters have 32 bits and wrap around.
        let drops = queue_drops(pairs)?.saturating_sub(self.drops);
        let clock_step = clock::wall_offset_nanos() - self.wall_offset;
        let mut emulator = None;
        if let Some((pair, report)) = emulated(pairs)? {
            let report = report.since(&self.emulator);
            if let Some(why) = pair.meters.invalid(&report) {
                return Err(Failure::Disturbed(why));
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
    /// Packets dropped in front of the links and on emulated links.
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
    /// Adds evidence of disturbances.
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

/// The pair with emulated links, if any, and the emulator's report; lateness
/// since the last report.
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
