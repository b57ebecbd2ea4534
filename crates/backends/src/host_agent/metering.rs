//! Meters of a host over a pass: its processors, energy, interfaces and clock.

use anyhow::Result;
use os::cpu_time::Machine;
use os::energy::Energy;
use os::kernel_clock::SlewWatch;
use os::nic::Counters;
use serde::{Deserialize, Serialize};
use units::Span;

/// The parts of a metering.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metered {
    /// The interfaces whose counters are read.
    pub(crate) interfaces: Vec<String>,
    /// Whether the rate of the wall clock is watched. Its thread uses a little CPU time.
    pub(crate) watches_clock: bool,
}

/// The meters of this host at the beginning of a pass.
pub(super) struct Metering {
    nics: Vec<(String, Counters)>,
    clock: Option<SlewWatch>,
    energy: Option<Energy>,
    machine: Machine,
}

/// The use of a host's resources, and the counts of its interfaces, during a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostUse {
    /// The length of the pass there.
    pub(crate) elapsed: Span,
    /// Processor time that was not idle.
    pub(crate) busy: Span,
    /// The length of a tick of this account.
    pub(crate) tick: Span,
    /// The joules of its processors, if it can meter them.
    pub(crate) joules: Option<f64>,
    /// The counts of each interface.
    pub(crate) nics: Vec<(String, Counters)>,
    /// The largest difference between its wall clock and an even one; see [`SlewWatch`].
    pub(crate) slewed: Span,
}

impl Metering {
    /// Begins to meter; processors last, so that they are not metered with the rest.
    pub(super) fn begin(metered: Metered) -> Result<Self> {
        Ok(Self {
            nics: counters(metered.interfaces)?,
            clock: metered.watches_clock.then(SlewWatch::start).transpose()?,
            energy: Energy::sample().ok(),
            machine: Machine::sample()?,
        })
    }

    /// The use since then.
    pub(super) fn end(self) -> Result<HostUse> {
        let machine = Machine::sample()?.since(&self.machine);
        let energy = self.energy.zip(Energy::sample().ok());
        let slewed = self.clock.map(SlewWatch::end).transpose()?;
        let names = self.nics.iter().map(|(name, _)| name.clone()).collect();
        let before = self.nics.iter().map(|(_, counters)| counters);
        let now = counters(names)?.into_iter().zip(before);
        Ok(HostUse {
            elapsed: machine.elapsed,
            busy: machine.busy,
            tick: os::cpu_time::tick(),
            joules: energy.and_then(|(before, now)| now.joules_since(&before)),
            nics: now
                .map(|((name, now), before)| (name, now.since(before)))
                .collect(),
            slewed: slewed.unwrap_or_default(),
        })
    }
}

fn counters(names: Vec<String>) -> Result<Vec<(String, Counters)>> {
    let sample = |name: String| Ok((name.clone(), Counters::sample(&name)?));
    names.into_iter().map(sample).collect()
}

impl HostUse {
    /// Adds a later pass of the same trial.
    pub(crate) fn add(&mut self, later: &Self) {
        self.elapsed += later.elapsed;
        self.busy += later.busy;
        self.joules = self
            .joules
            .zip(later.joules)
            .map(|(one, other)| one + other);
        for ((_, all), (_, more)) in self.nics.iter_mut().zip(&later.nics) {
            *all = all.and(more);
        }
        self.slewed = self.slewed.max(later.slewed);
    }
}
