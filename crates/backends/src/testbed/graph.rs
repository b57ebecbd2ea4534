//! Addresses and routes of networks that are no path.

use std::collections::VecDeque;
use std::net::IpAddr;

use super::addressing::Plan;
use super::{Graph, Interface, Node, Path, Testbed};
use os::error::Result;

impl Testbed {
    pub fn hosts(&self) -> impl Iterator<Item = &Node> {
        self.nodes
            .iter()
            .filter(|node| node.part == super::Part::Host)
    }

    /// The address to which traffic for the host `name` goes: its own, or that of its
    /// first link. `None` if there is no such node.
    pub fn host_address(&self, path: &Path, name: &str) -> Option<IpAddr> {
        let place = self.nodes.iter().position(|node| node.name == name)?;
        let graph = path.graph.as_ref();
        let own = graph.and_then(|graph| graph.nodes.get(place)?.address);
        let first = self.nodes[place].interfaces.first();
        own.or_else(|| first.map(|first| Plan::of(path).address(first)))
    }

    /// The address with which node `from` sends to node `to`; `None` without a path.
    pub fn address_toward(&self, path: &Path, from: usize, to: usize) -> Option<IpAddr> {
        let link = next_hops(path.graph.as_ref()?, to)[from]?;
        Some(Plan::of(path).address(self.nodes[from].on_link(link)?))
    }

    /// Assigns every interface and every host its address, and routes each subnet and host
    /// over the fewest links.
    pub(super) fn address_graph(&self, path: &Path, graph: &Graph) -> Result<()> {
        let plan = Plan::of(path);
        for (node, interface) in self.interfaces() {
            let address = plan.address(interface);
            let route = &node.namespace.route;
            route.add_address(&interface.name, address, plan.prefix_length())?;
        }
        for (place, vertex) in graph.nodes.iter().enumerate() {
            let hops = next_hops(graph, place);
            let node = &self.nodes[place];
            if let (Some(address), Some(first)) = (vertex.address, node.interfaces.first()) {
                let route = &node.namespace.route;
                route.add_address(&first.name, address, length_of_host(address))?;
            }
            let subnets = node.interfaces.iter().map(|one| {
                let network = plan.network(one.subnet);
                (network, plan.prefix_length())
            });
            let own = vertex.address.map(|own| (own, length_of_host(own)));
            for network in subnets.chain(own) {
                self.route_to(network, place, &hops, plan, graph)?;
            }
        }
        Ok(())
    }

    /// Routes `network`, which is at the node `to`, from every other node.
    fn route_to(
        &self,
        network: (IpAddr, u8),
        to: usize,
        hops: &[Option<usize>],
        plan: Plan,
        graph: &Graph,
    ) -> Result<()> {
        for (from, node) in self.nodes.iter().enumerate() {
            let is_there = |one: &Interface| plan.network(one.subnet) == network.0;
            let Some(link) = hops[from].filter(|_| from != to) else {
                continue;
            };
            let is_unrouted = graph.unrouted.contains(&(from, network.0));
            if is_unrouted || node.interfaces.iter().any(is_there) {
                continue;
            }
            let [first, second] = graph.ends[link];
            let other = if first == from { second } else { first };
            let (Some(out), Some(next)) = (node.on_link(link), self.nodes[other].on_link(link))
            else {
                continue;
            };
            let route = &node.namespace.route;
            route.set_route(network, &out.name, plan.address(next))?;
        }
        Ok(())
    }
}

impl Node {
    /// The interface to a link of a network that is no path.
    pub(super) fn on_link(&self, link: usize) -> Option<&Interface> {
        self.interfaces.iter().find(|one| one.subnet == link)
    }
}

/// The link on which each node sends to node `to`, over the fewest links: among equal ones
/// the first, as in the simulator. Hosts forward nothing.
pub(super) fn next_hops(graph: &Graph, to: usize) -> Vec<Option<usize>> {
    let mut hops = vec![None; graph.nodes.len()];
    let mut seen = vec![false; graph.nodes.len()];
    seen[to] = true;
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        if node != to && !graph.nodes[node].is_router {
            continue;
        }
        for (link, &[first, second]) in graph.ends.iter().enumerate() {
            let other = match node {
                _ if node == first => second,
                _ if node == second => first,
                _ => continue,
            };
            if !seen[other] {
                seen[other] = true;
                hops[other] = Some(link);
                queue.push_back(other);
            }
        }
    }
    hops
}

const fn length_of_host(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::Vertex;

    /// Hosts a, b; routers r, s, t; a - r, r - s, s - b, r - t, t - b, and a - b's links
    /// never used for transit.
    fn graph() -> Graph {
        let vertex = |(name, is_router): (&str, bool)| Vertex {
            name: name.to_owned(),
            is_router,
            address: None,
        };
        let nodes = [
            ("a", false),
            ("r", true),
            ("s", true),
            ("t", true),
            ("b", false),
        ];
        Graph {
            nodes: nodes.map(vertex).to_vec(),
            ends: vec![[0, 1], [1, 2], [2, 4], [1, 3], [3, 4]],
            unrouted: Vec::new(),
        }
    }

    #[test]
    fn routes_take_the_fewest_links_and_the_first_of_equal_ones_and_pass_no_host() {
        let graph = graph();
        assert_eq!(
            next_hops(&graph, 4),
            [Some(0), Some(1), Some(2), Some(4), None]
        );
        // From s to t over r, not over the host b.
        assert_eq!(next_hops(&graph, 3)[2], Some(1));
        let mut apart = graph;
        apart.ends.truncate(1);
        assert_eq!(next_hops(&apart, 4), [None; 5]);
    }
}
