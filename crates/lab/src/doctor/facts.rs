//! What `doctor` looks at before it judges.

use live::machine::{Machine, has_program};
use live::nic::{self, Nic};
use live::precision::{self, Lateness, Reading, Wait};
use live::processes::Processes;
use live::stamps::{self, Stamps};
use live::{clock, meter, privileged};
use units::Span;

use super::attempt::{Attempt, attempt};

/// For how long the machine is watched while we do nothing.
const WATCH: Span = Span::from_millis(400);

/// The grid of the waits: 1000 a second.
const INTERVAL: Span = Span::from_millis(1);

/// Waits of each kind.
const WAITS: u64 = 500;

/// Datagrams over loopback.
const DATAGRAMS: u64 = 100;

/// All that the judgement knows.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Whether it is a real root, who needs no user namespace.
    pub privileged: bool,
    /// What the machine is.
    pub machine: Machine,
    /// What came of a test bed, tried in a worker.
    pub attempt: Attempt,
    /// What others do with the processors.
    pub load: Load,
    /// The clock.
    pub clock: Clock,
    /// Receive stamps on loopback, or why they could not be tried.
    pub stamps: Result<Stamps, String>,
    /// How late waits end, by kind, or why they could not be tried.
    pub waits: [(Wait, Result<Lateness, String>); 3],
    /// Interfaces with hardware below them, or why they could not be listed.
    pub nics: Result<Vec<Nic>, String>,
    /// Whether `ssh` is there, which other hosts will be reached by.
    pub ssh: bool,
    /// Whether `iperf3` is there, to compare with.
    pub iperf3: bool,
}

/// What others did with the processors while we did nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Processors that were busy, on average.
    pub busy: f64,
    /// Of all processors' time, what the hypervisor gave to others, in per cent.
    pub steal_percent: f64,
    /// The busiest processes with the processors that each used.
    pub busiest: Vec<(String, f64)>,
}

/// The clock of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// What drives it.
    pub source: String,
    /// What else could.
    pub available: Vec<String>,
    /// The smallest step as the kernel declares it.
    pub resolution: Span,
    /// What a reading costs and tells.
    pub reading: Reading,
    /// How far the wall clock was moved while we looked, in nanoseconds.
    pub wall_step_nanos: i64,
    /// For how long we looked.
    pub watched: Span,
}

impl Facts {
    /// Looks at this machine, for some seconds; `watch` is notified of each step.
    ///
    /// # Errors
    /// When the kernel keeps no CPU times or has no clock.
    pub fn here(mut watch: impl FnMut(&str)) -> anyhow::Result<Self> {
        let (begun, wall_before) = (clock::monotonic(), clock::wall_offset_nanos());
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
            ssh: has_program("ssh"),
            iperf3: has_program("iperf3"),
            clock: Clock {
                source: clock::source(),
                available: clock::available_sources(),
                resolution: clock::resolution()?,
                reading,
                wall_step_nanos: clock::wall_offset_nanos().saturating_sub(wall_before),
                watched: clock::monotonic().since(begun).unwrap_or_default(),
            },
        })
    }
}

impl Load {
    fn here() -> anyhow::Result<Self> {
        let (machine, processes) = (meter::Machine::sample()?, Processes::sample());
        clock::sleep(WATCH);
        let used = meter::Machine::sample()?.since(&machine);
        let share = |span: Span| span.as_secs_f64() / used.elapsed.as_secs_f64();
        let busiest = Processes::sample().since(&processes);
        Ok(Self {
            busy: share(used.busy),
            steal_percent: 100.0 * share(used.steal)
                / f64::from(u32::try_from(used.processors.max(1)).unwrap_or(u32::MAX)),
            busiest: busiest
                .into_iter()
                .take(3)
                .map(|(name, span)| (name, share(span)))
                .collect(),
        })
    }
}
