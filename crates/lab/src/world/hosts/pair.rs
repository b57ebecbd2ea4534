//! The meters of two machines, and their programs.

use std::cell::RefCell;

use anyhow::{Context, Result, bail};
use live::emulator::{Observation, Report};
use live::meter::{Machine as Processors, Process};
use live::stalls::Stalls;
use live::testbed::{Fragments, SentPackets};
use plan::Setting;
use units::{Seed, Span, Time};

use super::edges::Edges;
use super::machine::Machine;
use super::network::Layout;
use crate::agent::Clocks;
use crate::host_agent::Metered;
use crate::link_window::LinkWindow;
use crate::measure::{End, IdleWaits, Meters, Program, Programs, RoleUse, spare};
use crate::world::netns::emulator_lateness::invalid;

/// Links that no edge emulates have no counters.
const UNOBSERVED: &str = "links between hosts are not observed";

/// The meters of both machines, and of a router. One machine under two names counts once.
pub(super) struct HostMeters<'a> {
    pub(super) ends: &'a [Machine; 2],
    pub(super) router: Option<&'a Machine>,
    /// The edges of a network, the clocks of all machines, and the places of links.
    pub(super) edges: Option<(&'a Edges, Clocks, Layout)>,
    pub(super) setting: &'a Setting,
    pub(super) idle_waits: &'a RefCell<IdleWaits>,
}

impl HostMeters<'_> {
    /// All machines.
    fn all(&self) -> impl Iterator<Item = &Machine> {
        let edges = self.edges.iter();
        let edges = edges.flat_map(|(edges, ..)| edges.machines());
        self.ends.iter().chain(self.router).chain(edges)
    }

    fn edges(&self) -> Result<&(&Edges, Clocks, Layout)> {
        let edges = self.edges.as_ref();
        edges.context(UNOBSERVED)
    }

    /// Each end once.
    fn machines(&self) -> &[Machine] {
        let [sender, receiver] = self.ends;
        match sender.is(receiver) {
            true => &self.ends[..1],
            false => self.ends,
        }
    }

    fn is_idle(&self) -> Result<bool> {
        for machine in self.machines() {
            let sample = machine.agent.machine()?;
            if sample.running() > spare(sample.processors()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Meters for HostMeters<'_> {
    fn machine(&self) -> Result<Processors> {
        let samples = self
            .machines()
            .iter()
            .map(|machine| machine.agent.machine());
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
            .try_for_each(|machine| machine.agent.begin_stalls())
    }

    fn end_stalls(&mut self) -> Result<Stalls> {
        let mut all = Stalls::default();
        for machine in self.machines() {
            let stalls = machine.agent.end_stalls()?;
            all.total = all.total.max(stalls.total);
            all.cpu += stalls.cpu;
        }
        Ok(all)
    }

    fn begin_hosts(&mut self, watches_clock: bool) -> Result<()> {
        for machine in self.all() {
            machine.agent.begin_metering(Metered {
                interfaces: machine.interface_names(),
                watches_clock,
            })?;
        }
        Ok(())
    }

    fn end_hosts(&mut self) -> Result<Vec<RoleUse>> {
        let all: Vec<&Machine> = self.all().collect();
        let mut hosts = Vec::new();
        for (number, machine) in all.iter().enumerate() {
            hosts.push(RoleUse {
                role: machine.role,
                is_shared: all[..number].iter().any(|earlier| earlier.is(machine)),
                used: machine.agent.end_metering()?,
            });
        }
        Ok(hosts)
    }

    fn coordinator(&self) -> Result<Process> {
        // The machine of the coordinator is not metered; those agents are that answer
        // these requests.
        let mut all = Process::default();
        for end in self.ends {
            let process = end.agent.process()?;
            all.cpu += process.cpu;
            all.waited += process.waited;
        }
        Ok(all)
    }

    fn queue_drops(&self) -> Result<u64> {
        let drops = self
            .ends
            .iter()
            .map(|end| end.agent.queue_drops(end.interface_name()));
        drops.sum()
    }

    fn fragments(&self) -> Result<Vec<(String, Fragments)>> {
        let ip = self.setting.network.ip;
        let counts = self.ends.iter();
        let counts = counts.map(|end| Ok((end.role.name().to_owned(), end.agent.fragments(ip)?)));
        counts.collect()
    }

    fn sent(&self) -> Result<SentPackets> {
        bail!("probes are counted in networks that a world builds")
    }

    fn restart_links(&mut self, seed: Seed) -> Result<()> {
        let edges = self.edges.as_ref();
        edges.map_or(Ok(()), |(edges, _, layout)| {
            edges.reseed(layout.of_hosts(&self.setting.network), self.ends, seed)
        })
    }

    fn emulator(&mut self) -> Result<Option<Report>> {
        let edges = self.edges.as_ref();
        let report = edges.map(|(edges, _, layout)| {
            edges.report(layout.of_hosts(&self.setting.network), self.ends)
        });
        report.transpose()
    }

    fn invalid(&self, report: &Report) -> Option<String> {
        let (edges, _, layout) = self.edges.as_ref()?;
        edges
            .bypassed(self.setting, layout, self.ends, report)
            .or_else(|| invalid(self.setting, report))
    }

    /// Of all links only those between the gateways can be asked for.
    fn observe(&mut self, links: Vec<(usize, bool)>) -> Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        let (edges, _, layout) = self.edges()?;
        let places = links.iter();
        let places = places.map(|(wire, heads)| Some((layout.place(*wire)?, *heads)));
        let places = places.collect::<Option<_>>();
        edges.observe(places.context(UNOBSERVED)?)
    }

    /// `begin` is on the sender's clock.
    fn observations(
        &mut self,
        wire: usize,
        begin: u64,
        take: &mut dyn FnMut(Time, Observation),
    ) -> Result<()> {
        /// The place of the ingress among the other machines.
        const INGRESS: usize = 0;
        let (edges, clocks, layout) = self.edges()?;
        let place = layout.place(wire).context(UNOBSERVED)?;
        edges.observations(place, clocks.on_other(INGRESS, begin), take)
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
            let theirs = end.agent.default_congestion()?;
            if theirs != name {
                bail!(
                    "host.congestion = {name}: programs on host {} begin with {theirs}; add --set host.congestion={theirs}",
                    end.agent.host()
                );
            }
        }
        Ok(())
    }

    fn probe_by_tcp(&self) -> Result<()> {
        bail!("the settings of a host's TCP are its administrator's")
    }

    fn listeners(&self) -> Result<usize> {
        let count = self.end(End::Receiver).agent.listeners()?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn start(&self, end: End, words: &[String]) -> Result<Box<dyn Program + '_>> {
        Ok(Box::new(self.end(end).agent.start_program(words)?))
    }
}
