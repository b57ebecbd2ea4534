//! The facts that `doctor` aggregates before it judges.

use os::energy::Energy;
use os::host_changes::management_interface;
use os::kernel_clock::Synchronisation;
use os::machine::{Machine, has_program};
use os::nic::{self, Nic};
use os::precision::{self, Reading, TimingError, Wait};
use os::processes::Processes;
use os::stamps::{self, Stamps};
use os::{clock, cpu_time, kernel_clock, privileged};
use units::Span;

use super::attempt::{Attempt, attempt};

/// The observation time of the idle machine.
const WATCH: Span = Span::from_millis(400);

/// The interval of the timer test: 1000 per second.
const INTERVAL: Span = Span::from_millis(1);

/// The number of waits of each kind.
const WAITS: u64 = 500;

/// The number of datagrams over loopback.
const DATAGRAMS: u64 = 100;

/// All facts that the judgement uses.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Whether the user is real root and needs no user namespace.
    pub privileged: bool,
    /// The hardware and system.
    pub machine: Machine,
    /// The outcome of building a test network in a worker.
    pub attempt: Attempt,
    /// The load by other processes.
    pub load: Load,
    pub clock: Clock,
    /// Receive stamps on loopback, or the reason why they could not be tested.
    pub stamps: Result<Stamps, String>,
    /// The timing error of waits by kind, or the reason why it could not be tested.
    pub waits: [(Wait, Result<TimingError, String>); 3],
    /// Physical interfaces, or the reason why they could not be listed.
    pub nics: Result<Vec<Nic>, String>,
    /// The interface that carries the ssh connection to this process.
    pub management: Option<String>,
    /// Whether `ssh` is installed, which the backend `hosts` will need.
    pub ssh: bool,
    /// Whether `iperf3` is installed, for comparison.
    pub iperf3: bool,
}

/// The load by other processes while this one was idle.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The mean number of busy CPUs.
    pub busy: f64,
    /// The share of CPU time taken by the hypervisor, in per cent.
    pub steal_percent: f64,
    /// The power that the processors take, in watts; absent where it cannot be read.
    pub watts: Option<f64>,
    /// The busiest processes, with the number of CPUs that each used.
    pub busiest: Vec<(String, f64)>,
}

/// The clock of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// The current clock source.
    pub source: String,
    /// The available clock sources.
    pub available: Vec<String>,
    /// The resolution that the kernel reports.
    pub resolution: Span,
    /// The cost and the smallest step of a reading.
    pub reading: Reading,
    /// The steps of the wall clock during the observation, in nanoseconds.
    pub wall_step_nanos: i64,
    /// How well a time service keeps the wall clock; absent where the kernel does not
    /// say.
    pub synchronisation: Option<Synchronisation>,
    /// The length of the observation.
    pub watched: Span,
}

impl Facts {
    /// Collects the facts of this machine, for some seconds; `watch` is called
    /// at each step.
    ///
    /// # Errors
    /// The kernel has no CPU times or no clock.
    pub fn here(mut watch: impl FnMut(&str)) -> anyhow::Result<Self> {
        let (begun, wall_before) = (clock::monotonic(), kernel_clock::wall_offset_nanos());
        watch("processor load");
        let load = Load::here()?;
        watch("the clock");
        let (reading, stamps) = (precision::reading(), stamps::try_loopback(DATAGRAMS));
        let waits = [Wait::Sleep, Wait::Timer, Wait::Pacer].map(|wait| {
            watch("timers and pacing");
            let late = precision::measure(wait, INTERVAL, WAITS);
            (wait, late.map_err(|error| error.to_string()))
        });
        watch("namespaces and links");
        let attempt = attempt();
        watch("interfaces");
        Ok(Self {
            privileged: privileged(),
            machine: Machine::here(),
            attempt,
            load,
            stamps: stamps.map_err(|error| error.to_string()),
            waits,
            nics: nic::all().map_err(|error| error.to_string()),
            management: management_interface().unwrap_or_default(),
            ssh: has_program("ssh"),
            iperf3: has_program("iperf3"),
            clock: Clock {
                source: kernel_clock::source(),
                available: kernel_clock::available_sources(),
                resolution: kernel_clock::resolution()?,
                reading,
                synchronisation: Synchronisation::read().ok(),
                wall_step_nanos: kernel_clock::wall_offset_nanos().saturating_sub(wall_before),
                watched: clock::monotonic().since(begun).unwrap_or_default(),
            },
        })
    }
}

impl Load {
    fn here() -> anyhow::Result<Self> {
        let (machine, processes) = (cpu_time::Machine::sample()?, Processes::sample());
        let energy = Energy::sample();
        clock::sleep(WATCH);
        let joules = energy.and_then(|before| Ok(Energy::sample()?.joules_since(&before)));
        let used = cpu_time::Machine::sample()?.since(&machine);
        let share = |span: Span| span.as_secs_f64() / used.elapsed.as_secs_f64();
        let busiest = Processes::sample().since(&processes);
        Ok(Self {
            busy: share(used.busy),
            steal_percent: 100.0 * share(used.steal.unwrap_or_default())
                / f64::from(u32::try_from(used.processors.max(1)).unwrap_or(u32::MAX)),
            watts: joules
                .ok()
                .flatten()
                .map(|joules| joules / used.elapsed.as_secs_f64()),
            busiest: busiest
                .into_iter()
                .take(3)
                .map(|(name, span)| (name, share(span)))
                .collect(),
        })
    }
}

/// A command that needs root, as this user types it.
pub(super) fn as_root(facts: &Facts, command: &str) -> String {
    if facts.privileged {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}
