//! The meters of two machines, and their programs.

use std::cell::RefCell;

use crate::testbed::SentPackets;
use anyhow::{Context, Result, bail};
use emulator::{Observation, Report};
use os::cpu_time::{Machine as Processors, Process};
use os::fragments::Fragments;
use os::stalls::Stalls;
use plan::Setting;
use units::{Seed, Span, Time};

use super::machine::Machine;
use crate::host_agent::{
    BeginMetering, BeginStalls, CountDrops, CountFragments, CountListeners, DefaultCongestion,
    EndMetering, EndStalls, Metered, SampleMachine, SampleProcess,
};
use crate::link_window::LinkWindow;
use crate::measure::{End, IdleWaits, Meters, Program, Programs, RoleUse, spare};

/// The meters of both machines, and of a router. One machine under two names counts once.
pub(super) struct HostMeters<'a> {
    pub(super) ends: &'a [Machine; 2],
    pub(super) router: Option<&'a Machine>,
    pub(super) setting: &'a Setting,
    pub(super) idle_waits: &'a RefCell<IdleWaits>,
}

impl HostMeters<'_> {
    /// Each machine once.
    fn machines(&self) -> &[Machine] {
        let [sender, receiver] = self.ends;
        match sender.is(receiver) {
            true => &self.ends[..1],
            false => self.ends,
        }
    }

    fn is_idle(&self) -> Result<bool> {
        for machine in self.machines() {
            let sample = machine.agent.call(&SampleMachine())?;
            if sample.running() > Some(spare(sample.processors())) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Meters for HostMeters<'_> {
    fn machine(&self) -> Result<Processors> {
        let machines = self.machines().iter();
        let samples = machines.map(|machine| machine.agent.call(&SampleMachine()));
        let mut samples = samples.collect::<Result<Vec<_>>>()?.into_iter();
        let first = samples.next().context("there is no machine")?;
        Ok(samples.fold(first, Processors::and))
    }

    fn wait_until_idle(&mut self) -> Result<Span> {
        self.idle_waits.borrow_mut().until(|| self.is_idle())
    }

    fn begin_stalls(&mut self) -> Result<()> {
        self.machines()
            .iter()
            .try_for_each(|machine| machine.agent.call(&BeginStalls()))
    }

    fn end_stalls(&mut self) -> Result<Stalls> {
        let mut all = Stalls::default();
        for machine in self.machines() {
            // The facts of a machine state that it does not meter them.
            let Some(stalls) = machine.agent.call(&EndStalls())? else {
                continue;
            };
            all.total = all.total.max(stalls.total);
            all.cpu += stalls.cpu;
        }
        Ok(all)
    }

    fn begin_hosts(&mut self, watches_clock: bool) -> Result<()> {
        for machine in self.ends.iter().chain(self.router) {
            machine.agent.call(&BeginMetering(Metered {
                interfaces: machine.interface_names(),
                watches_clock,
            }))?;
        }
        Ok(())
    }

    fn end_hosts(&mut self) -> Result<Vec<RoleUse>> {
        let all: Vec<&Machine> = self.ends.iter().chain(self.router).collect();
        let mut hosts = Vec::new();
        for (number, machine) in all.iter().enumerate() {
            hosts.push(RoleUse {
                role: machine.role,
                is_shared: all[..number].iter().any(|earlier| earlier.is(machine)),
                used: machine.agent.call(&EndMetering())?,
            });
        }
        Ok(hosts)
    }

    fn coordinator(&self) -> Result<Process> {
        // The machine of the coordinator is not metered; those agents are that answer
        // these requests.
        let mut all = Process::default();
        for end in self.ends {
            let process = end.agent.call(&SampleProcess())?;
            all.cpu += process.cpu;
            all.waited += process.waited;
        }
        Ok(all)
    }

    fn queue_drops(&self) -> Result<Option<u64>> {
        let interface = |end: &Machine| end.interface_name().to_owned();
        let drops = self.ends.iter();
        drops
            .map(|end| end.agent.call(&CountDrops(interface(end))))
            .sum()
    }

    fn fragments(&self) -> Result<Vec<(String, Fragments)>> {
        let ip = self.setting.network.ip;
        let counts = self.ends.iter();
        let counts = counts.map(|end| {
            let counts = end.agent.call(&CountFragments(ip))?;
            Ok(counts.map(|counts| (end.role.name().to_owned(), counts)))
        });
        counts.filter_map(Result::transpose).collect()
    }

    fn sent(&self) -> Result<SentPackets> {
        bail!("probes are counted in networks that a backend builds")
    }

    fn restart_links(&mut self, _: Seed) -> Result<()> {
        Ok(())
    }

    fn emulator(&mut self) -> Result<Option<Report>> {
        Ok(None)
    }

    fn invalid(&self, _: &Report) -> Option<String> {
        None
    }

    fn observe(&mut self, _: Vec<(usize, bool)>) -> Result<()> {
        bail!("links between hosts are not observed")
    }

    fn observations(
        &mut self,
        _: usize,
        _: u64,
        _: &mut dyn FnMut(Time, Observation),
    ) -> Result<()> {
        bail!("links between hosts are not observed")
    }

    fn window(&mut self, _: usize, _: u64, _: u64) -> Result<Option<LinkWindow>> {
        bail!("the links between hosts have no emulator")
    }
}

/// Both machines, for programs of the user.
pub(super) struct HostPrograms<'a> {
    pub(super) ends: &'a [Machine; 2],
}

impl HostPrograms<'_> {
    fn end(&self, end: End) -> &Machine {
        match end {
            End::Sender => &self.ends[0],
            End::Receiver => &self.ends[1],
        }
    }
}

impl Programs for HostPrograms<'_> {
    fn set_congestion_control(&self, name: &str) -> Result<()> {
        // The default of a whole machine is its administrator's; a program has it unless
        // it chooses another.
        for end in self.ends {
            let Some(theirs) = end.agent.call(&DefaultCongestion())? else {
                bail!(
                    "host.congestion = {name}: the system of host {} does not state with which one programs begin",
                    end.agent.host()
                );
            };
            if theirs != name {
                bail!(
                    "host.congestion = {name}: programs on host {} begin with {theirs}; add --set host.congestion={theirs}",
                    end.agent.host()
                );
            }
        }
        Ok(())
    }

    fn listeners(&self) -> Result<usize> {
        self.end(End::Receiver).agent.call(&CountListeners())
    }

    fn start(&self, end: End, words: &[String]) -> Result<Box<dyn Program + '_>> {
        Ok(Box::new(self.end(end).agent.start_program(words)?))
    }
}
