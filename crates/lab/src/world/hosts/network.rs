//! A network that is no path, laid over four machines: the hosts of each side are one machine,
//! the first and the last router two gateways, and the links between these are emulated.

use std::collections::BTreeMap;

use experiment::Refusal;
use plan::setting::{
    Flow, Flows, Graph, Link, MtuBy, Network, Queue, Role, Route, Traffic, Wiring,
};
use plan::{HostRole, Setting};
use units::Span;

use crate::world::netns::check::check_network;
use crate::world::netns::gateways::route_to;

/// The places of a network's nodes.
pub(super) struct Layout {
    /// The wires between the gateways from the ingress on, each with the number of its link.
    cores: Vec<(usize, usize)>,
    /// The nodes that are the gateways, ingress first.
    pub(super) gateways: [usize; 2],
    /// The machine of each host, by the host's name.
    machines: BTreeMap<String, HostRole>,
    /// The number of the link of each host of either side.
    access: [Vec<usize>; 2],
}

impl Layout {
    /// The places of the nodes of `graph`: a row of routers, from the first end of each link to
    /// the second, and hosts with a link to the first or the last of these each.
    pub(super) fn of(graph: &Graph) -> Result<Self, String> {
        let is_router = |node: usize| graph.nodes[node].role == Role::Router;
        let wires = || graph.wires.iter().enumerate();
        let between = wires().filter(|(_, wire)| wire.ends.iter().all(|end| is_router(*end)));
        let between: Vec<(usize, &Wiring)> = between.collect();
        let routers = (0..graph.nodes.len()).filter(|node| is_router(*node));
        let row = row(&between).filter(|row| row.len() + 1 == routers.count());
        let row = row.ok_or("two gateways are the ends of a row of routers, each link written from the ingress to the egress")?;
        let gateways = [row[0].1.ends[0], row[row.len() - 1].1.ends[1]];
        let roles = [HostRole::Sender, HostRole::Receiver];
        let mut machines = BTreeMap::new();
        let mut access = [const { Vec::new() }; 2];
        for (number, other) in
            wires().filter(|(number, _)| row.iter().all(|(core, _)| core != number))
        {
            let [one, two] = other.ends;
            let (host, router) = if is_router(one) {
                (two, one)
            } else {
                (one, two)
            };
            let side = gateways.iter().position(|gateway| *gateway == router);
            let name = graph.nodes[host].name.clone();
            let (Some(side), Role::Host) = (side, graph.nodes[host].role) else {
                let name = &graph.wires[number].name;
                return Err(format!("the link {name} joins no host to a gateway"));
            };
            access[side].push(other.link);
            if machines.insert(name.clone(), roles[side]).is_some() {
                return Err(format!(
                    "the host {name} has two links, and its machine has one"
                ));
            }
        }
        Ok(Self {
            cores: row.iter().map(|(core, wire)| (*core, wire.link)).collect(),
            gateways,
            machines,
            access,
        })
    }

    /// The emulated links from the ingress to the egress; at least one.
    pub(super) fn cores<'a>(&self, network: &'a Network) -> Vec<&'a Link> {
        let cores = self.cores.iter();
        cores.map(|(_, link)| &network.links[*link]).collect()
    }

    /// The names of the emulated links between the gateways.
    pub(super) fn core_names(&self, network: &Network) -> String {
        names(self.cores(network))
    }

    /// The names of all emulated links.
    pub(super) fn emulated_names(&self, network: &Network) -> String {
        let of_hosts = self.of_hosts(network).map(|(_, link)| link);
        names(self.cores(network).into_iter().chain(of_hosts))
    }

    /// The emulated links of hosts, each with the side of its machine: 0 for the sender's. A
    /// machine that is several hosts has none, because it has one address.
    pub(super) fn of_hosts<'a>(
        &'a self,
        network: &'a Network,
    ) -> impl Iterator<Item = (usize, &'a Link)> {
        let sides = self.access.iter().enumerate();
        sides.filter_map(|(side, links)| match links[..] {
            [link] => {
                let link = &network.links[link];
                to_emulate(link).map(|_| (side, link))
            }
            _ => None,
        })
    }

    /// The place of a wire among the emulated links.
    pub(super) fn place(&self, wire: usize) -> Option<usize> {
        self.cores.iter().position(|(core, _)| *core == wire)
    }

    /// The links that are those of the machines.
    fn real<'a>(&'a self, network: &'a Network) -> impl Iterator<Item = &'a Link> {
        let links = network.links.iter().enumerate();
        let others = links.filter(|(number, _)| self.cores.iter().all(|(_, core)| core != number));
        others.map(|(_, link)| link)
    }

    /// The same setting with flows between the machines instead of the hosts on them.
    pub(super) fn between_machines(&self, setting: &Setting) -> Setting {
        let mut setting = setting.clone();
        if let Traffic::Flows(flows) = &mut setting.traffic {
            for flow in &mut flows.flows {
                for end in [&mut flow.from, &mut flow.to] {
                    // All copies of a flow are on one machine.
                    if let Some(role) = self.machines.get(&Flow::end(end, 1)) {
                        role.name().clone_into(end);
                    }
                }
            }
        }
        setting
    }

    /// The number of the next autonomous system of the hosts of a machine, which is that of
    /// all of them.
    pub(super) fn next_as(&self, network: &Network, role: HostRole) -> Option<u32> {
        let routes = self.routes(network, role);
        let mut numbers = routes.map(|route| route.next_as);
        let first = numbers.next()?;
        numbers.all(|other| other == first).then_some(first)
    }

    /// The routes to the hosts of a machine.
    fn routes<'a>(
        &'a self,
        network: &'a Network,
        role: HostRole,
    ) -> impl Iterator<Item = &'a Route> {
        let graph = network.graph.iter();
        let hosts = graph.flat_map(|graph| graph.nodes.iter().enumerate());
        let hosts = hosts.filter(move |(_, node)| self.machines.get(&node.name) == Some(&role));
        let domain = network.domain.as_ref();
        hosts.filter_map(move |(place, _)| {
            let domain = domain?;
            let mut addresses = domain.addresses.iter();
            let (_, address) = addresses.find(|(node, _)| *node == place)?;
            route_to(domain, *address)
        })
    }
}

/// The wires of `all` in a row, each from the end of the one before, if they are one.
fn row<'a>(all: &[(usize, &'a Wiring)]) -> Option<Vec<(usize, &'a Wiring)>> {
    let begins = |node: usize| all.iter().find(move |(_, wire)| wire.ends[0] == node);
    let is_first =
        |(_, wire): &&(usize, &Wiring)| all.iter().all(|(_, other)| other.ends[1] != wire.ends[0]);
    let mut row = vec![*all.iter().find(is_first)?];
    while let Some(next) = begins(row[row.len() - 1].1.ends[1])
        && row.len() < all.len()
    {
        row.push(*next);
    }
    (row.len() == all.len()).then_some(row)
}

/// Refuses what two gateways and two machines cannot be or honour, by name.
pub(super) fn check(setting: &Setting, graph: &Graph) -> Result<(), Refusal> {
    check_network(setting, graph)?;
    let network = &setting.network;
    let of_network =
        |key: &str, why: &str| refusal("network", key, format!("network.{key}: {why}"));
    let layout = Layout::of(graph).map_err(|why| {
        let why = format!("between hosts {why}; --on netns or --on sim");
        of_network("shape", &why)
    })?;
    if network.mtu_by == MtuBy::Segment {
        let why = "connections of a network between hosts have the MTU of the interfaces: write \"interface\"";
        return Err(of_network("mtu_by", why));
    }
    let mut mtus = layout.real(network).map(|link| link.mtu);
    let first = mtus.next();
    if mtus.any(|other| Some(other) != first) {
        let why = "the hosts of a network between hosts are two machines with one MTU: give their links the same one";
        return Err(of_network("mtu", why));
    }
    let cores = layout.cores(network);
    if let Some(other) = cores.iter().find(|link| link.mtu != cores[0].mtu) {
        let name = &other.name;
        let why = format!(
            "links.{name}.mtu: links in a row between two gateways have one MTU, because nothing between them cuts packets: write that of {}",
            cores[0].name
        );
        return Err(refusal("links", name, why));
    }
    for link in layout.real(network) {
        let is_emulated = layout
            .of_hosts(network)
            .any(|(_, one)| one.name == link.name);
        let of_many = to_emulate(link).filter(|_| !is_emulated);
        if let Some((key, neutral)) = of_many.or_else(|| counted(link)) {
            let name = &link.name;
            let why = format!(
                "links.{name}.{key}: this link is the network between hosts as it is, and emulated are only those between gateways ({}), which alone have counters, and that of a machine with one host: write {neutral} for it, below [on.hosts.links.{name}] for this world alone",
                layout.core_names(network)
            );
            return Err(refusal("links", name, why));
        }
    }
    if let Some(domain) = network
        .domain
        .as_ref()
        .filter(|domain| domain.gather.is_some())
    {
        let is_edge = |gateway: &usize| domain.edges.contains(gateway);
        if !layout.gateways.iter().all(is_edge) {
            let why = "domain.edges: between hosts both routers are gateways: name both";
            return Err(refusal("domain", "edges", why.to_owned()));
        }
        for role in [HostRole::Sender, HostRole::Receiver] {
            if layout.next_as(network, role).is_none() {
                let why = format!(
                    "domain.routes: the hosts of the {} are one machine with one address: give the routes to all of them one next_as, and none without a route",
                    role.name()
                );
                return Err(refusal("domain", "routes", why));
            }
        }
    }
    let Traffic::Flows(flows) = &setting.traffic else {
        return Ok(());
    };
    check_flows(&layout, flows)
}

fn check_flows(layout: &Layout, flows: &Flows) -> Result<(), Refusal> {
    for flow in &flows.flows {
        let machine = |end: &str, number: u32| layout.machines.get(&Flow::end(end, number));
        let ends = |number| [&flow.from, &flow.to].map(|end| machine(end, number).copied());
        let first = ends(1);
        let why = if first[0] == first[1] {
            "its two hosts are on one machine; a flow crosses the gateways"
        } else if (2..=flow.count).any(|number| ends(number) != first) {
            "its copies go both ways between the machines; write two flows"
        } else {
            continue;
        };
        let why = format!("flows.{}: {why}, or --on netns", flow.name);
        return Err(refusal("flows", &flow.name, why));
    }
    Ok(())
}

fn names<'a>(links: impl IntoIterator<Item = &'a Link>) -> String {
    let names: Vec<&str> = links.into_iter().map(|link| &*link.name).collect();
    names.join(", ")
}

/// The first key of a link which asks for something that an emulator does, and the value
/// that asks for nothing.
fn to_emulate(link: &Link) -> Option<(&'static str, &'static str)> {
    let asked = &link.impairments;
    let other_queue = match &asked.queue {
        Queue::DropTail => false,
        Queue::Law(spec) => !matches!(**spec, queue::Spec::DropTail { .. }),
        Queue::DropFront => true,
    };
    first([
        (link.rate.is_some(), "rate", "\"none\""),
        (asked.delay > Span::ZERO, "delay", "\"0s\""),
        (asked.jitter > Span::ZERO, "jitter", "\"0s\""),
        (asked.loss > 0.0, "loss", "0"),
        (asked.bit_error_rate > 0.0, "bit_error_rate", "0"),
        (asked.reorder > 0.0, "reorder", "0"),
        (asked.duplicate > 0.0, "duplicate", "0"),
        (other_queue, "queue", "\"droptail\""),
    ])
}

/// The first key of a link which asks for counters, and the value that asks for none.
fn counted(link: &Link) -> Option<(&'static str, &'static str)> {
    first([
        (!link.counted.windows.is_empty(), "windows", "none"),
        (link.counted.series.is_some(), "series", "none"),
        (link.counted.losses.is_some(), "losses", "none"),
    ])
}

/// The key and the neutral value of the first one that is asked for.
fn first<const N: usize>(
    keys: [(bool, &'static str, &'static str); N],
) -> Option<(&'static str, &'static str)> {
    let mut keys = keys.into_iter();
    keys.find(|(is_asked, ..)| *is_asked)
        .map(|(_, key, neutral)| (key, neutral))
}

fn refusal(table: &'static str, key: &str, why: String) -> Refusal {
    Refusal {
        places: vec![(table, Some(key.to_owned())), (table, None)],
        why,
    }
}
