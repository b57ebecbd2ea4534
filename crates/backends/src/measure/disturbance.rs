//! Detects disturbances of a pass of a trial: load of the machine, clock steps,
//! drops in front of the links, and the emulator's state.

mod rule;

use anyhow::{Context, Result};
use emulator::Report;
use link::PacketOutcome;
use os::cpu_time::{Machine, MachineUse, Process};
use os::stalls::Stalls;
use os::{clock, kernel_clock};
use plan::{DisturbedPass, Flag, Setting, evidence};
use units::Span;

use super::Pair;
use super::hosts::{self, RoleUse};
use super::passes::ratio;
use crate::agent::Failure;
use crate::measurements::Measurements;
pub(crate) use rule::spare;

/// The number and the interval of looks at the processes that are still running
/// at the end of a pass: the ends of the pass need a moment to go to sleep.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Span = Span::from_micros(300);

/// Whether stalls of CPUs are metered during a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StallMetering {
    On,
    /// The meter would add its own CPU time to the metered one.
    Off,
}

/// The state before a pass.
pub(super) struct Before {
    /// The difference between wall clock and monotonic clock of both ends and of this
    /// process, in nanoseconds.
    wall_offsets: [i64; 3],
    machine: Machine,
    /// The processor time of both ends and of this process.
    processes: [Process; 3],
    drops: Option<u64>,
    emulator: Report,
    idle_wait: Span,
    stall_metering: StallMetering,
}

/// The disturbances of a pass, or of all passes of a trial together.
#[derive(Clone)]
pub(super) struct Disturbance {
    pub(super) machine: MachineUse,
    /// CPU time of both ends, of this process and of the stall meter; `None`: the programs of the
    /// user are not known.
    pub(super) ours: Option<Span>,
    /// The largest part of that time that may be in user mode.
    pub(super) ours_in_user_mode: Span,
    /// The stalls of the CPU with the longest ones.
    pub(super) stalled: Span,
    /// The longer time for which an end was runnable and had no CPU.
    pub(super) waited: Span,
    /// Packets dropped by the kernel's queues in front of the links; `None` where a system
    /// does not count them.
    pub(super) drops: Option<u64>,
    /// The steps of the wall clock, in nanoseconds.
    pub(super) clock_step: i64,
    /// The report of the emulator, if there is one.
    pub(super) emulator: Option<Report>,
    /// Its reports before and after the pass, from its start on.
    pub(super) counts: [Report; 2],
    /// Why the emulator's frames cannot be used, if they cannot.
    pub(super) invalid: Option<String>,
    /// The time for which the pass waited until the machine was idle.
    pub(super) idle_wait: Span,
    /// The use of the machines that the user named.
    pub(super) hosts: Vec<RoleUse>,
}

/// Runs `pass`, and reports how it was disturbed.
///
/// # Errors
/// [`Failure::Disturbed`] if it failed while the machine was disturbed.
pub(super) fn watched<T>(
    pair: &mut Pair<'_>,
    stall_metering: StallMetering,
    pass: impl FnOnce(&mut Pair<'_>) -> Result<T, Failure>,
) -> Result<(T, Disturbance), Failure> {
    let before = Before::look(pair, stall_metering)?;
    let result = pass(pair);
    if let Err(Failure::Lost(error)) = result {
        return Err(Failure::Lost(error));
    }
    let disturbance = before.disturbance(pair)?;
    match result {
        Ok(result) => Ok((result, disturbance)),
        Err(Failure::Transfer(why)) => Err(disturbance.failure(why)),
        Err(failure) => Err(failure),
    }
}

impl Before {
    /// Waits until the machine is idle, within the retry limit of the plan, and
    /// reads all meters.
    ///
    /// # Errors
    /// A meter cannot be read.
    pub(super) fn look(pair: &mut Pair<'_>, stall_metering: StallMetering) -> Result<Self> {
        let idle_wait = pair.meters.wait_until_idle()?;
        if stall_metering == StallMetering::On {
            let begun = pair.meters.begin_stalls();
            begun.context("metering stalls")?;
        }
        let metered = pair.meters.begin_hosts(stall_metering == StallMetering::On);
        metered.context("metering the hosts")?;
        let emulator = pair.meters.emulator()?.unwrap_or_default();
        let (processes, wall_offsets) = samples(pair)?;
        Ok(Self {
            wall_offsets,
            drops: pair.meters.queue_drops().context("counting drops")?,
            emulator,
            idle_wait,
            stall_metering,
            processes,
            machine: pair.meters.machine().context("metering the machine")?,
        })
    }

    /// The changes since then.
    ///
    /// # Errors
    /// A meter cannot be read.
    pub(super) fn disturbance(self, pair: &mut Pair<'_>) -> Result<Disturbance> {
        let meters = &pair.meters;
        let machine = meters.machine().context("metering the machine")?;
        let mut machine = machine.since(&self.machine);
        for _ in 1..LOOKS {
            if machine.running <= Some(rule::spare(machine.processors)) {
                break;
            }
            clock::sleep(BETWEEN_LOOKS);
            machine.running = machine.running.min(meters.machine()?.running());
        }
        let hosts = pair.meters.end_hosts().context("metering the hosts")?;
        let stalls = match self.stall_metering {
            StallMetering::On => pair.meters.end_stalls().context("metering stalls")?,
            StallMetering::Off => Stalls::default(),
        };
        let (now, wall_offsets) = samples(pair)?;
        let steps = [0, 1, 2].map(|number| wall_offsets[number] - self.wall_offsets[number]);
        let clock_step = match pair.agents.share_a_clock()? {
            true => steps[2],
            false if steps[0].abs() > steps[1].abs() => steps[0],
            false => steps[1],
        };
        let [sender, receiver, ours] = [0, 1, 2].map(|number| now[number] - self.processes[number]);
        let drops = pair.meters.queue_drops().context("counting drops")?;
        let after = pair.meters.emulator()?;
        let emulator = { after.clone() }.map(|report| report.since(&self.emulator));
        let invalid = emulator.as_ref().and_then(|one| pair.meters.invalid(one));
        Ok(Disturbance {
            machine,
            ours: Some(sender.cpu + receiver.cpu + ours.cpu + stalls.cpu),
            ours_in_user_mode: sender.user + receiver.user + ours.user + stalls.cpu,
            stalled: stalls.total,
            waited: sender.waited.max(receiver.waited),
            // The kernel's counters have 32 bits and wrap around.
            drops: drops
                .zip(self.drops)
                .map(|(now, before)| now.saturating_sub(before)),
            clock_step,
            emulator,
            counts: [self.emulator, after.unwrap_or_default()],
            invalid,
            idle_wait: self.idle_wait,
            hosts,
        })
    }
}

impl Disturbance {
    /// Packets dropped in front of the links and on emulated links.
    pub(super) fn dropped(&self) -> u64 {
        self.drops.unwrap_or(0) + self.emulator.as_ref().map_or(0, lost_by)
    }

    /// The share of the machine's time that the hypervisor took.
    pub(super) fn stolen(&self) -> f64 {
        let all = self.machine.elapsed * self.machine.processors;
        ratio(self.machine.steal.unwrap_or_default(), all)
    }

    /// A lower bound for the number of CPUs used by others meanwhile. 0 if our own
    /// processes are not known.
    pub(super) fn others(&self) -> f64 {
        ratio(self.unexplained(), self.machine.elapsed)
    }

    /// The CPU time of the machine, without that of others if they disturbed the pass: at
    /// least what they used in user mode.
    pub(super) fn busy(&self) -> Span {
        let machine = &self.machine;
        if self.ours.is_none() || self.reason().is_none() {
            return machine.busy;
        }
        let others = machine.user - (self.ours_in_user_mode + self.of_emulator());
        machine.busy - others.max(self.unexplained())
    }

    /// The CPU time that nothing of ours explains. Soft interrupts during our processes
    /// are in both totals. Nothing, where a system does not state them: they may be the rest.
    fn unexplained(&self) -> Span {
        let Some((ours, softirq)) = self.ours.zip(self.machine.softirq) else {
            return Span::ZERO;
        };
        self.machine.busy - (softirq + ours + self.of_emulator())
    }

    fn of_emulator(&self) -> Span {
        let emulator = self.emulator.as_ref();
        emulator.map_or(Span::ZERO, |report| report.cpu)
    }

    /// By how much slews may have bent the line of both clocks' offset.
    pub(super) fn slewed(&self) -> Span {
        hosts::slewed(&self.hosts)
    }

    /// The failure of a pass for the reason `why`.
    pub(super) fn failure(&self, why: String) -> Failure {
        match self.reason() {
            Some(reason) => Failure::Disturbed(format!("{why}; meanwhile {reason}")),
            None => Failure::Transfer(why),
        }
    }

    /// Fails a trial whose only pass has no valid result.
    pub(super) fn valid(&self) -> Result<(), Failure> {
        match &self.invalid {
            Some(why) => Err(Failure::Disturbed(why.clone())),
            None => Ok(()),
        }
    }

    /// Adds a later pass of the same trial.
    pub(super) fn add(&mut self, later: &Self) {
        let (all, more) = (&mut self.machine, &later.machine);
        all.elapsed += more.elapsed;
        all.busy += more.busy;
        all.user += more.user;
        all.softirq = sum(all.softirq, more.softirq);
        all.steal = sum(all.steal, more.steal);
        all.backlog_drops = sum(all.backlog_drops, more.backlog_drops);
        all.running = all.running.max(more.running);
        self.ours = sum(self.ours, later.ours);
        self.ours_in_user_mode += later.ours_in_user_mode;
        self.stalled += later.stalled;
        self.waited += later.waited;
        self.drops = sum(self.drops, later.drops);
        self.clock_step += later.clock_step;
        self.idle_wait += later.idle_wait;
        hosts::add(&mut self.hosts, &later.hosts);
        self.invalid = self.invalid.take().or_else(|| later.invalid.clone());
        match (&mut self.emulator, &later.emulator) {
            (Some(all), Some(more)) => {
                let [first, _] = &self.counts;
                let [_, last] = &later.counts;
                *all = last.clone().over(first, [all, more]);
                self.counts[1].clone_from(last);
            }
            (all @ None, Some(more)) => {
                *all = Some(more.clone());
                self.counts.clone_from(&later.counts);
            }
            (_, None) => {}
        }
    }
}

/// The sum of what both state.
fn sum<T: std::ops::Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    Some(one? + other?)
}

impl Measurements {
    /// Adds evidence of disturbances.
    pub(super) fn take_disturbance(&mut self, setting: &Setting, disturbance: &Disturbance) {
        if let Some(emulator) = &disturbance.emulator {
            self.take_emulator(emulator);
            self.take_crossed(setting, emulator);
        }
        self.take_hosts(&disturbance.hosts);
        self.note(evidence::QUEUE_DROPS, disturbance.drops);
        self.note(evidence::BACKLOG_DROPS, disturbance.machine.backlog_drops);
        self.note(evidence::CLOCK_STEP_US, disturbance.clock_step / 1_000);
        let stalled = disturbance.stalled;
        self.note(evidence::STALLED_MS, stalled.as_millis_f64());
        if disturbance.machine.steal.is_some() {
            self.note(evidence::STEAL_PERCENT, 100.0 * disturbance.stolen());
        }
        if disturbance.ours.is_some() && disturbance.machine.softirq.is_some() {
            self.note(evidence::OTHERS_PROCESSORS, disturbance.others());
        }
        let waited = disturbance.idle_wait;
        if waited > Span::ZERO {
            self.note(evidence::IDLE_WAIT_SECONDS, waited.as_secs_f64());
        }
    }

    /// Notes how many unauthenticated peers the receiver rejected, if any.
    pub(super) fn take_rejected_peers(&mut self, rejected_peers: u64) {
        if rejected_peers > 0 {
            self.note(evidence::REJECTED_PEERS, rejected_peers);
        }
    }

    /// Flags a trial of one pass if it was disturbed.
    pub(super) fn judge(&mut self, disturbance: &Disturbance) {
        let reason = disturbance.reason();
        self.disturbed_by(reason.map(DisturbedPass::of_trial));
    }

    /// Flags a trial with disturbed passes.
    pub(super) fn disturbed_by(&mut self, passes: impl IntoIterator<Item = DisturbedPass>) {
        self.disturbed.extend(passes);
        if !self.disturbed.is_empty() {
            self.flags.push(Flag::Disturbed);
        }
    }
}

/// The CPU times and the wall clocks of both ends and of this process.
fn samples(pair: &mut Pair<'_>) -> Result<([Process; 3], [i64; 3])> {
    let samples = pair.agents.samples().context("metering the ends")?;
    let [sender, receiver] = samples.map(|sample| sample.process);
    let [near, far] = samples.map(|sample| sample.wall_offset);
    let coordinator = pair.meters.coordinator();
    let coordinator = coordinator.context("metering the coordinator")?;
    let offsets = [near, far, kernel_clock::wall_offset_nanos()];
    Ok(([sender, receiver, coordinator], offsets))
}

/// Packets that the emulator did not carry.
fn lost_by(emulator: &Report) -> u64 {
    let outcomes = [
        PacketOutcome::Dropped,
        PacketOutcome::Lost,
        PacketOutcome::Damaged,
        PacketOutcome::TooBig,
    ];
    outcomes.map(|outcome| emulator.of(outcome)).iter().sum()
}
