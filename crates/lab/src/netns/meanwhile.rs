//! What else happened while a trial sent: to the machine, its clock, the queues in
//! front of the links and the emulator.

use anyhow::{Context, Result};
use live::clock;
use live::emulator::Report;
use live::meter::{Machine, MachineUse, Process};
use proto::link::Fate;
use serde_json::json;
use units::Span;

use super::figures::ratio;
use super::keeping_up::invalid;
use super::{Failure, Figures, Netns};
use plan::Setting;

/// How everything stood before.
pub(super) struct Before {
    /// The wall clock ahead of the monotonic one, in nanoseconds.
    wall_offset: i64,
    machine: Machine,
    conductor: Process,
    drops: u64,
    emulator: Report,
}

/// What changed.
pub(super) struct Meanwhile {
    /// What the machine did.
    pub(super) machine: MachineUse,
    /// Processor time of this process.
    pub(super) conductor: Span,
    /// Packets dropped by the kernel's queues in front of the links.
    pub(super) drops: u64,
    /// How far the wall clock was moved, in nanoseconds.
    pub(super) clock_step: i64,
    /// What the emulator did, if there is one.
    pub(super) emulator: Option<Report>,
}

impl Netns {
    /// Looks before anything of a trial of `setting` is sent.
    pub(super) fn before(&mut self, setting: &Setting) -> Result<Before> {
        let wall_offset = clock::wall_offset_nanos();
        let (machine, conductor) = sample()?;
        Ok(Before {
            wall_offset,
            machine,
            conductor,
            drops: self.queue_drops(setting)?,
            emulator: self.emulator_report(setting)?.unwrap_or_default(),
        })
    }

    /// What happened since `before`.
    ///
    /// # Errors
    /// [`Failure::Transfer`] where the emulator could not keep up.
    pub(super) fn meanwhile(
        &mut self,
        setting: &Setting,
        before: &Before,
    ) -> Result<Meanwhile, Failure> {
        let (machine, conductor) = sample()?;
        // The kernel counts in 32 bits, and starts again from 0.
        let drops = self.queue_drops(setting)?.saturating_sub(before.drops);
        let clock_step = clock::wall_offset_nanos() - before.wall_offset;
        let emulator = self.emulator_report(setting)?;
        let emulator = emulator.map(|report| report.since(&before.emulator));
        if let Some(why) = emulator.as_ref().and_then(|one| invalid(setting, one)) {
            return Err(Failure::Transfer(why));
        }
        Ok(Meanwhile {
            machine: machine.since(&before.machine),
            conductor: conductor.cpu - before.conductor.cpu,
            drops,
            clock_step,
            emulator,
        })
    }
}

impl Meanwhile {
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

impl Figures {
    /// What bears witness of what else happened.
    pub(super) fn take_meanwhile(&mut self, setting: &Setting, meanwhile: &Meanwhile) {
        if let Some(emulator) = &meanwhile.emulator {
            self.take_emulator(emulator);
            self.take_crossed(setting, emulator);
        }
        self.note("queue_drops", json!(meanwhile.drops));
        self.note("clock_step_us", json!(meanwhile.clock_step / 1_000));
        self.note("steal_percent", json!(100.0 * meanwhile.stolen()));
    }
}

/// The accounts of the machine and of this process.
fn sample() -> Result<(Machine, Process)> {
    let machine = Machine::sample().context("metering the machine")?;
    let conductor = Process::sample().context("metering the conductor")?;
    Ok((machine, conductor))
}

/// Packets that the emulator did not carry.
fn lost_by(emulator: &Report) -> u64 {
    let fates = [Fate::Dropped, Fate::Lost, Fate::Damaged, Fate::TooBig];
    fates.map(|fate| emulator.of(fate)).iter().sum()
}
