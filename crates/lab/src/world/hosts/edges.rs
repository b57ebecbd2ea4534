//! The gateways of a network between hosts, and the emulated links between them.
//!
//! Each gateway's machine emulates the direction of the links that leaves it
//! ([`host_agent::edge`](crate::host_agent)). Both begin with a trial and end with it.

use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use live::core_link::Toward;
use live::emulator::{Observation, Report};
use plan::setting::{Domain, Sends, Traffic};
use plan::{HostRole, NamedHost, Plan, Setting};
use proto::link::Fate;
use proto::probe::PathReport;
use units::{Bytes, IpVersion, Seed, Span, Time};

use super::machine::Machine;
use super::network::Layout;
use super::path::{limit, report};
use super::settings;
use crate::agent::{Agents, Failure};
use crate::edge_gateway::EdgeGateway;
use crate::host_agent::{EdgeOrder, EdgeReply, EdgeRequest};
use crate::world::netns::gateways::is_in_udp;

/// The version of IP of such networks.
const IP: IpVersion = IpVersion::V4;

/// The machines that are gateways.
pub(super) struct Edges {
    /// Ingress first.
    machines: [Machine; 2],
}

impl Edges {
    /// Reaches both machines.
    ///
    /// # Errors
    /// One line with the remedy: one cannot be reached, or lacks the privilege.
    pub(super) fn reach([ingress, egress]: &[NamedHost; 2]) -> Result<Self> {
        let machines = [
            Machine::reach(HostRole::Ingress, ingress)?,
            Machine::reach(HostRole::Egress, egress)?,
        ];
        for machine in &machines {
            machine.address(IP)?;
            if !machine.can_change() {
                let (role, host) = (machine.role.name(), machine.agent.host());
                bail!(
                    "host {host}: a gateway needs root there; add become=sudo to --host {role}={host}"
                );
            }
        }
        let [ingress, egress] = &machines;
        if ingress.is(egress) && ingress.address(IP)? == egress.address(IP)? {
            bail!("the ingress and the egress are one machine; name two");
        }
        Ok(Self { machines })
    }

    pub(super) const fn machines(&self) -> &[Machine; 2] {
        &self.machines
    }

    pub(super) const fn machines_mut(&mut self) -> &mut [Machine; 2] {
        &mut self.machines
    }

    /// The positions of cells whose bundles the network between both gateways does not carry,
    /// with the reason.
    ///
    /// # Errors
    /// A machine is lost, or packets between `ends` do not pass both gateways.
    pub(super) fn left_out(
        &self,
        plan: &Plan,
        ends: &[Machine; 2],
    ) -> Result<Vec<(usize, String)>> {
        self.check_way(ends)?;
        let mut left_out = Vec::new();
        let core = |setting: &Setting| {
            let layout = Layout::of(setting.network.graph.as_ref()?).ok()?;
            Some(layout.cores(&setting.network)[0].mtu.bytes())
        };
        let largest = settings(plan).filter_map(core).max().unwrap_or_default();
        let limits = limit(&self.machines, IP, largest)?;
        for (position, cell) in plan.cells.iter().enumerate() {
            let octets = cell.setting.as_ref().ok().and_then(core);
            let mut limits = limits.iter();
            let why = limits.find(|limit| octets > Some(limit.passes));
            left_out.extend(why.map(|limit| (position, format!("does not pass: {}", limit.why))));
        }
        Ok(left_out)
    }

    /// Checks that packets between `ends` pass both gateways, in order.
    fn check_way(&self, [sender, receiver]: &[Machine; 2]) -> Result<()> {
        let [ingress, egress] = &self.machines;
        check_hops(
            &report(sender, receiver, IP, SMALL)?,
            sender,
            receiver,
            [ingress, egress],
        )?;
        check_hops(
            &report(receiver, sender, IP, SMALL)?,
            receiver,
            sender,
            [egress, ingress],
        )
    }

    /// Compares the sender's clock with those of the receiver and of the ingress.
    pub(super) fn compare_clocks(
        &self,
        agents: &mut Agents,
        [sender, receiver]: [IpAddr; 2],
    ) -> Result<(), Failure> {
        let ingress = &self.machines[0];
        let name = ingress.agent.interface_towards(sender)?;
        let address = ingress.address_of(&name, IP);
        let address = address.with_context(|| {
            let host = ingress.agent.host();
            format!("host {host}: {name}, its interface toward the sender, has no address")
        })?;
        agents.compare_all_clocks(receiver, &[(ingress.agent.worker(), address)])
    }

    /// Begins and ends both edges once for each gathering mode of the plan.
    ///
    /// # Errors
    /// As [`Edges::begin`].
    pub(super) fn try_out(&self, plan: &Plan, ends: &[Machine; 2]) -> Result<()> {
        let ends = [ends[0].address(IP)?, ends[1].address(IP)?];
        for gathers in [false, true] {
            let is_so = |setting: &&Setting| {
                let domain = setting.network.domain.as_ref();
                domain.is_some_and(|domain| domain.gather.is_some()) == gathers
            };
            if let Some(setting) = settings(plan).find(is_so) {
                self.begin(setting, ends, plan.seed)?;
                self.end()?;
            }
        }
        Ok(())
    }

    /// Begins both edges for a trial of `setting`, with the sender and the receiver at
    /// `ends`.
    ///
    /// # Errors
    /// A machine lacks something that an edge needs, or is lost.
    pub(super) fn begin(&self, setting: &Setting, ends: [IpAddr; 2], seed: Seed) -> Result<()> {
        let network = &setting.network;
        let graph = network.graph.as_ref().context("a network without nodes")?;
        let layout = Layout::of(graph).map_err(anyhow::Error::msg)?;
        let cores = layout.cores(network);
        let [ingress, egress] = &self.machines;
        let roles = [HostRole::Receiver, HostRole::Sender];
        let ways = [(ingress, egress, ends[1]), (egress, ingress, ends[0])];
        for (number, (near, far, host)) in ways.into_iter().enumerate() {
            let addresses = [near.address(IP)?, far.address(IP)?];
            let next_as = layout.next_as(network, roles[number]).unwrap_or(0);
            let domain = network.domain.as_ref();
            let mut links: Vec<_> = cores.iter().map(|core| network.emulated(core)).collect();
            if number == 1 {
                links.reverse();
            }
            near.agent.begin_edge(EdgeOrder {
                toward: Toward {
                    gateway: addresses[1],
                    hosts: vec![host],
                    mtu: cores[0].mtu.bytes(),
                    links: links.len(),
                },
                links,
                seed: seed.derive(&format!("core/{number}")).get(),
                gateway: domain.and_then(|domain| {
                    let name = graph.nodes[layout.gateways[number]].name.clone();
                    gateway(domain, name, addresses, (host, next_as))
                }),
            })?;
        }
        Ok(())
    }

    /// Ends both edges.
    ///
    /// # Errors
    /// A machine is lost; its edge ends by itself.
    pub(super) fn end(&self) -> Result<()> {
        let [ingress, egress] = &self.machines;
        ingress.agent.end_edge()?;
        egress.agent.end_edge()
    }

    /// The counters of both directions of each core link as those of one link. The processors
    /// of the gateways are not those that trials meter.
    pub(super) fn report(&self) -> Result<Report> {
        let [there, back] = &self.machines;
        let [there, back] = [asked(there)?, asked(back)?];
        let directions = |report: &Report| report.links.clone().into_iter().map(|[out, _]| out);
        // Each machine counts from itself on.
        let both = directions(&there).zip(directions(&back).rev());
        let late = |number: usize| there.late[number].max(back.late[number]);
        Ok(Report {
            links: both.map(|(one, other)| [one, other]).collect(),
            cpu: Span::ZERO,
            departures: there.departures + back.departures,
            late: [late(0), late(1), late(2)],
            scheduling: there.scheduling,
        })
    }

    /// The reason why a trial of `setting`, whose flows are between the machines, says nothing
    /// about the network with this report, if so.
    pub(super) fn bypassed(&self, setting: &Setting, report: &Report) -> Option<String> {
        let nearest = [report.links.first()?[0], report.links.last()?[1]];
        let ways = [HostRole::Sender, HostRole::Receiver].map(|from| sends(setting, from));
        let ways = nearest.iter().zip(ways).zip(&self.machines);
        let mut silent = ways.filter(|((direction, carries), _)| {
            if !carries {
                return false;
            }
            let counted = [Fate::Delivered, Fate::Dropped];
            counted.iter().all(|fate| direction.counters.of(*fate) == 0)
        });
        let (_, machine) = silent.next()?;
        Some(format!(
            "no packet crossed the emulated link from host {}: packets take another way",
            machine.agent.host()
        ))
    }

    /// Restarts the random streams of the core links.
    pub(super) fn reseed(&self, seed: Seed) -> Result<()> {
        for (number, machine) in self.machines.iter().enumerate() {
            let seed = seed.derive(&format!("core/{number}")).get();
            machine.agent.ask_edge(EdgeRequest::Reseed(seed))?;
        }
        Ok(())
    }

    /// Keeps observations of the core links at these places, from the ingress on, from now on.
    pub(super) fn observe(&self, places: Vec<usize>) -> Result<()> {
        let ingress = &self.machines[0].agent;
        ingress.ask_edge(EdgeRequest::Observe(places)).map(drop)
    }

    /// Hands the observations of the link at `place` to `take`, each with the instant at which CLOCK_MONOTONIC of
    /// the ingress showed `begin` nanoseconds.
    pub(super) fn observations(
        &self,
        place: usize,
        begin: u64,
        take: &mut dyn FnMut(Time, Observation),
    ) -> Result<()> {
        let ingress = &self.machines[0].agent;
        loop {
            let reply = ingress.ask_edge(EdgeRequest::Observations(place, begin))?;
            let EdgeReply::Observed(observed) = reply else {
                bail!("unexpected reply of an edge: {reply:?}");
            };
            observed
                .some
                .into_iter()
                .for_each(|one| take(observed.zero, one));
            if observed.are_last {
                return Ok(());
            }
        }
    }
}

/// Whether packets leave the machine `from`: those of flows that begin there, and the
/// acknowledgements of connections that end there.
fn sends(setting: &Setting, from: HostRole) -> bool {
    let Traffic::Flows(flows) = &setting.traffic else {
        return true;
    };
    let mut flows = flows.flows.iter();
    flows.any(|flow| !matches!(flow.sends, Sends::Datagrams { .. }) || flow.from == from.name())
}

/// The size of packets that look for the way.
const SMALL: Bytes = Bytes::new(1_280);

fn asked(machine: &Machine) -> Result<Report> {
    match machine.agent.ask_edge(EdgeRequest::Report)? {
        EdgeReply::Reported(report) => Ok(*report),
        other => bail!("unexpected reply of an edge: {other:?}"),
    }
}

/// The gateway `name` between `addresses`, its own and its peer's, if `domain` gathers: behind
/// the peer is `host`.
fn gateway(
    domain: &Domain,
    name: String,
    addresses: [IpAddr; 2],
    (host, next_as): (IpAddr, u32),
) -> Option<EdgeGateway> {
    /// The length of the prefix of one host.
    const HOST: u8 = 32;
    let gather = domain.gather.as_ref()?;
    Some(EdgeGateway {
        node: name,
        peers: vec![addresses],
        prefixes: vec![(host, HOST, next_as, 0)],
        mtu: gather.mtu,
        trigger: gather.trigger,
        tick: gather.tick,
        share: gather.share,
        // Its machine has the interface.
        way_out: None,
        in_udp: is_in_udp(gather, IP),
        shaping: domain.shaping,
    })
}

/// Checks that the hops of a path from one machine to another pass the gateways in order.
fn check_hops(
    report: &PathReport,
    from: &Machine,
    to: &Machine,
    gateways: [&Machine; 2],
) -> Result<()> {
    let mut hops = report.hops.iter().filter_map(|hop| hop.address);
    for gateway in gateways {
        let has = |address: IpAddr| gateway.addresses().any(|own| own == address);
        if !hops.any(has) {
            let [from, to, by] = [from, to, gateway].map(|machine| machine.agent.host());
            bail!(
                "packets from host {from} to host {to} do not pass host {by}, the {}, or it does not say so: route them there (`ip route add`), and let it answer with ICMP",
                gateway.role.name()
            );
        }
    }
    Ok(())
}
