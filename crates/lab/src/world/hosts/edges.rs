//! The gateways of a network between hosts, and the emulated links between them and to hosts.
//!
//! Each machine emulates the direction of the links that leaves it
//! ([`host_agent::edge`](crate::host_agent)). All begin with a trial and end with it.

mod counters;

use std::collections::BTreeSet;
use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use live::core_link::Toward;
use plan::setting::Domain;
use plan::{HostRole, NamedHost, Plan, Setting};
use proto::probe::PathReport;
use units::{Bytes, IpVersion, Seed};

use super::machine::Machine;
use super::network::Layout;
use super::path::{limit, report};
use super::settings;
use crate::agent::{Agents, Failure};
use crate::edge_gateway::EdgeGateway;
use crate::host_agent::EdgeOrder;
use crate::world::netns::gateways::is_in_udp;

/// The interface into the links between the gateways, and into the link of a host.
const CORE: &str = "jumbocore";
const OF_HOST: &str = "jumbohost";

/// The machines that are gateways.
pub(super) struct Edges {
    /// Ingress first.
    machines: [Machine; 2],
}

impl Edges {
    /// Reaches both machines for networks of these versions of IP.
    ///
    /// # Errors
    /// One line with the remedy: one cannot be reached, or lacks the privilege or an address.
    pub(super) fn reach(
        [ingress, egress]: &[NamedHost; 2],
        versions: &BTreeSet<IpVersion>,
    ) -> Result<Self> {
        let machines = [
            Machine::reach(HostRole::Ingress, ingress)?,
            Machine::reach(HostRole::Egress, egress)?,
        ];
        for machine in &machines {
            for ip in versions {
                machine.address(*ip)?;
            }
            if !machine.can_change() {
                let (role, host) = (machine.role.name(), machine.agent.host());
                bail!(
                    "host {host}: a gateway needs root there; add become=sudo to --host {role}={host}"
                );
            }
        }
        let [ingress, egress] = &machines;
        for ip in versions {
            if ingress.is(egress) && ingress.address(*ip)? == egress.address(*ip)? {
                bail!("the ingress and the egress are one machine; name two");
            }
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
        let mut left_out = Vec::new();
        let core = |setting: &Setting| {
            let layout = Layout::of(setting.network.graph.as_ref()?).ok()?;
            Some(layout.cores(&setting.network)[0].mtu.bytes())
        };
        for ip in versions(plan) {
            self.check_way(ends, ip)?;
            let is_of = |setting: &&Setting| setting.network.ip == ip;
            let largest = settings(plan).filter(is_of).filter_map(core).max();
            let limits = limit(&self.machines, ip, largest.unwrap_or_default())?;
            for (position, cell) in plan.cells.iter().enumerate() {
                let setting = cell.setting.as_ref().ok().filter(is_of);
                let octets = setting.and_then(core);
                let mut limits = limits.iter();
                let why = limits.find(|limit| octets > Some(limit.passes));
                left_out
                    .extend(why.map(|limit| (position, format!("does not pass: {}", limit.why))));
            }
        }
        Ok(left_out)
    }

    /// Checks that packets between `ends` pass both gateways, in order.
    fn check_way(&self, [sender, receiver]: &[Machine; 2], ip: IpVersion) -> Result<()> {
        let [ingress, egress] = &self.machines;
        check_hops(
            &report(sender, receiver, ip, SMALL)?,
            sender,
            receiver,
            [ingress, egress],
        )?;
        check_hops(
            &report(receiver, sender, ip, SMALL)?,
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
        let ip = if sender.is_ipv4() {
            IpVersion::V4
        } else {
            IpVersion::V6
        };
        let address = ingress.address_of(&name, ip);
        let address = address.with_context(|| {
            let host = ingress.agent.host();
            format!("host {host}: {name}, its interface toward the sender, has no address")
        })?;
        agents.compare_all_clocks(receiver, &[(ingress.agent.worker(), address)])
    }

    /// Begins and ends all edges once for each version of IP, gathering mode and choice of
    /// emulated links of the plan.
    ///
    /// # Errors
    /// As [`Edges::begin`].
    pub(super) fn try_out(&self, plan: &Plan, ends: &[Machine; 2]) -> Result<()> {
        let mut tried = BTreeSet::new();
        for setting in settings(plan) {
            let network = &setting.network;
            let domain = network.domain.as_ref();
            let gathers = domain.is_some_and(|domain| domain.gather.is_some());
            let layout = network.graph.as_ref().map(Layout::of);
            let layout = layout.and_then(Result::ok);
            let emulated = layout.map(|layout| layout.emulated_names(network));
            if tried.insert((network.ip, gathers, emulated)) {
                self.begin(setting, ends, plan.seed)?;
                self.end(ends)?;
            }
        }
        Ok(())
    }

    /// Begins all edges for a trial of `setting`, with the sender and the receiver `ends`.
    ///
    /// # Errors
    /// A machine lacks something that an edge needs, or is lost.
    pub(super) fn begin(&self, setting: &Setting, ends: &[Machine; 2], seed: Seed) -> Result<()> {
        let begun = self.begin_all(setting, ends, seed);
        if begun.is_err() {
            // What has begun would be in the way of the next trial.
            let _ = self.end(ends);
        }
        begun
    }

    fn begin_all(&self, setting: &Setting, ends: &[Machine; 2], seed: Seed) -> Result<()> {
        let network = &setting.network;
        let graph = network.graph.as_ref().context("a network without nodes")?;
        let layout = Layout::of(graph).map_err(anyhow::Error::msg)?;
        let hosts = [ends[0].address(network.ip)?, ends[1].address(network.ip)?];
        let cores = layout.cores(network);
        let [ingress, egress] = &self.machines;
        let roles = [HostRole::Receiver, HostRole::Sender];
        let ways = [(ingress, egress, hosts[1]), (egress, ingress, hosts[0])];
        for (number, (near, far, host)) in ways.into_iter().enumerate() {
            let addresses = [near.address(network.ip)?, far.address(network.ip)?];
            let next_as = layout.next_as(network, roles[number]).unwrap_or(0);
            let domain = network.domain.as_ref();
            let mut links: Vec<_> = cores.iter().map(|core| network.emulated(core)).collect();
            if number == 1 {
                links.reverse();
            }
            near.agent.begin_edge(EdgeOrder {
                toward: Toward {
                    interface: CORE.to_owned(),
                    gateway: addresses[1],
                    hosts: vec![host],
                    forwards: true,
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
        for (side, link) in layout.of_hosts(network) {
            let ends = self.ends_of(side, ends);
            let host = ends[0];
            if !host.can_change() {
                let (role, name) = (host.role.name(), host.agent.host());
                bail!(
                    "host {name}: its link {} is emulated, which needs root there; add become=sudo to --host {role}={name}",
                    link.name
                );
            }
            for (number, (machine, to)) in ends
                .into_iter()
                .zip([hosts[1 - side], hosts[side]])
                .enumerate()
            {
                machine.agent.begin_edge(EdgeOrder {
                    toward: Toward {
                        interface: OF_HOST.to_owned(),
                        gateway: to,
                        hosts: vec![to],
                        forwards: number == 1,
                        mtu: link.mtu.bytes(),
                        links: 1,
                    },
                    links: vec![network.emulated(link)],
                    seed: of_host(seed, side, number),
                    gateway: None,
                })?;
            }
        }
        Ok(())
    }

    /// Ends all edges.
    ///
    /// # Errors
    /// A machine is lost; its edge ends by itself.
    pub(super) fn end(&self, ends: &[Machine; 2]) -> Result<()> {
        let mut all = self.machines.iter().chain(ends);
        all.try_for_each(|machine| machine.agent.end_edges())
    }

    /// The ends of the link of the host of a side: its machine, and the gateway's.
    fn ends_of<'a>(&'a self, side: usize, hosts: &'a [Machine; 2]) -> [&'a Machine; 2] {
        [&hosts[side], &self.machines[side]]
    }
}

/// The versions of IP of a plan's networks.
pub(super) fn versions(plan: &Plan) -> BTreeSet<IpVersion> {
    settings(plan).map(|setting| setting.network.ip).collect()
}

/// The size of packets that look for the way.
const SMALL: Bytes = Bytes::new(1_280);

/// The seed of a direction of the emulated link of a host: 0 from the host on.
fn of_host(seed: Seed, side: usize, direction: usize) -> u64 {
    seed.derive(&format!("host/{side}/{direction}")).get()
}

/// The gateway `name` between `addresses`, its own and its peer's, if `domain` gathers: behind
/// the peer is `host`.
fn gateway(
    domain: &Domain,
    name: String,
    addresses: [IpAddr; 2],
    (host, next_as): (IpAddr, u32),
) -> Option<EdgeGateway> {
    let (ip, length) = match host {
        IpAddr::V4(_) => (IpVersion::V4, 32),
        IpAddr::V6(_) => (IpVersion::V6, 128),
    };
    let gather = domain.gather.as_ref()?;
    Some(EdgeGateway {
        node: name,
        peers: vec![addresses],
        prefixes: vec![(host, length, next_as, 0)],
        mtu: gather.mtu,
        trigger: gather.trigger,
        tick: gather.tick,
        share: gather.share,
        // Its machine has the interface.
        way_out: None,
        in_udp: is_in_udp(gather, ip),
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
