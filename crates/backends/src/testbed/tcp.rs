//! TCP of the hosts in a test network: the default congestion control of programs, and the
//! settings that all connections have.

use std::net::IpAddr;

use super::addressing::Plan;
use super::graph::next_hops;
use super::{Graph, Node, Part, Path, Tcp, Testbed};
use os::error::{Error, Result};
use os::machine;
use os::netlink::{HostRoute, OfTcp};

impl Tcp {
    /// The settings that are properties of a route.
    fn of_route(&self) -> OfTcp {
        OfTcp {
            congestion: None,
            initial_window: self.initial_window,
            min_rto: self.min_rto,
            acknowledges_each: self.acknowledges_each,
        }
    }

    /// The settings that are parameters of a namespace [LinuxDoc ip-sysctl].
    fn parameters(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let switch = |on: bool, value| if on { value } else { "0" };
        let sack = self.sack.map(|on| ("ipv4/tcp_sack", switch(on, "1")));
        let rack = self.rack.map(|on| ("ipv4/tcp_recovery", switch(on, "1")));
        let probe = self.tail_loss_probe;
        let probe = probe.map(|on| ("ipv4/tcp_early_retrans", switch(on, "3")));
        [sack, rack, probe].into_iter().flatten()
    }
}

impl Testbed {
    /// Gives all hosts the TCP of `path`, on the routes to all other hosts.
    pub(super) fn set_tcp(&self, path: &Path) -> Result<()> {
        if path.tcp.rack == Some(false) && !machine::has_other_loss_detection() {
            return Err(Error::new(
                "switching RACK off",
                "Linux from 6.17 on detects losses by it alone; remove tcp.rack",
            ));
        }
        let parameters: Vec<_> = path.tcp.parameters().collect();
        for host in self.hosts() {
            host.namespace.set_parameters(&parameters)?;
        }
        if path.tcp.of_route() == OfTcp::default() {
            return Ok(());
        }
        match &path.graph {
            Some(graph) => self.set_graph_routes(path, graph),
            None => self.host_routes(path).try_for_each(|(host, route)| {
                let tcp = path.tcp.of_route();
                host.namespace.route.set_host_route(&route, &tcp)
            }),
        }
    }

    /// Routes from the hosts of a network to each other, with the TCP of `path`.
    fn set_graph_routes(&self, path: &Path, graph: &Graph) -> Result<()> {
        let (plan, tcp) = (Plan::of(path), path.tcp.of_route());
        let places = self.nodes.iter().enumerate();
        for (to, host) in places.filter(|(_, node)| node.part == Part::Host) {
            let Some(destination) = self.host_address(path, &host.name) else {
                continue;
            };
            let hops = next_hops(graph, to);
            let others = self.nodes.iter().enumerate();
            for (from, node) in others.filter(|(_, node)| node.part == Part::Host) {
                let Some(link) = hops[from] else { continue };
                let [first, second] = graph.ends[link];
                let next = if first == from { second } else { first };
                let (own, next) = (node.on_link(link), self.nodes[next].on_link(link));
                let Some((own, next)) = own.zip(next) else {
                    continue;
                };
                let gateway = plan.address(next);
                let route = HostRoute {
                    interface: &own.name,
                    destination,
                    gateway: Some(gateway).filter(|gateway| *gateway != destination),
                };
                node.namespace.route.set_host_route(&route, &tcp)?;
            }
        }
        Ok(())
    }

    /// The routes from each host of a path to the other one.
    fn host_routes(&self, path: &Path) -> impl Iterator<Item = (&Node, HostRoute<'_>)> {
        let (plan, last) = (Plan::of(path), self.nodes.len() - 1);
        let gateways = self.gateways(path);
        [(0, last, 0), (last, 0, 1)]
            .into_iter()
            .map(move |(host, other, side)| {
                let (host, other) = (&self.nodes[host], &self.nodes[other]);
                let route = HostRoute {
                    interface: &host.interfaces[0].name,
                    destination: plan.address(&other.interfaces[0]),
                    gateway: gateways.map(|both: [IpAddr; 2]| both[side]),
                };
                (host, route)
            })
    }

    /// Sets the default TCP congestion control of both hosts to `name`.
    ///
    /// A namespace's default is limited to those that the machine's administrator
    /// allows to all users [tcp(7)]. Others are set on the route between the hosts,
    /// where they also override a program's choice before it connects.
    ///
    /// # Errors
    /// If the kernel has no congestion control of this name.
    pub fn set_congestion_control(&self, path: &Path, name: &str) -> Result<()> {
        let tcp = path.tcp.of_route();
        self.host_routes(path)
            .try_for_each(|(host, route)| host.begin_with(name, &route, &tcp))
    }
}

impl Node {
    /// Sets the default congestion control; `route` has the settings `tcp` besides.
    fn begin_with(&self, name: &str, route: &HostRoute<'_>, tcp: &OfTcp) -> Result<()> {
        let default = [("ipv4/tcp_congestion_control", name)];
        match self.namespace.set_parameters(&default) {
            Ok(()) if *tcp == OfTcp::default() => self.namespace.route.remove_host_route(route),
            Ok(()) => self.namespace.route.set_host_route(route, tcp),
            Err(error) if error.source.raw_os_error() == Some(libc::EPERM) => {
                let tcp = OfTcp {
                    congestion: Some(name.to_owned()),
                    ..tcp.clone()
                };
                self.namespace.route.set_host_route(route, &tcp)
            }
            Err(error) => Err(error),
        }
    }
}
