//! Validation of a domain in its network.

use std::net::IpAddr;

use link::edge::Exit;
use queue::BadAggregator;

use super::{Destination, Domain, exits};
use crate::direction::mtu;
use crate::labels;
use crate::routes::{Routes, walk};
use crate::{Prefix, Role, Scenario};

/// A domain that is invalid in its network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDomain {
    /// An index of no node.
    #[error("a domain refers to node number {0}, which does not exist; nodes count from 0")]
    NoSuchNode(usize),
    /// An edge that is not a router.
    #[error("node `{0}` is at the edge of a domain; make it a router")]
    NoRouter(String),
    /// A direction of a link that does not exist.
    #[error(
        "direction {1} of link number {0} does not exist; links count from 0, directions are 0 and 1"
    )]
    NoSuchDirection(usize, usize),
    /// A router listed as an edge twice.
    #[error("router `{0}` is listed twice as an edge of the domain; keep one of them")]
    Twice(String),
    /// An empty table.
    #[error("a domain without prefixes aggregates nothing; add a row to its table")]
    NoPrefixes,
    /// An entry that is not a prefix.
    #[error("{network}/{length} is not a prefix; its bits behind the length must be 0")]
    Prefix {
        /// Network address of the prefix.
        network: IpAddr,
        /// Length of the prefix in bits.
        length: u8,
    },
    /// Two entries for the same addresses.
    #[error("{network}/{length} is in the table twice; keep one of the rows")]
    Overlap {
        /// Network address of the prefix.
        network: IpAddr,
        /// Length of the prefix in bits.
        length: u8,
    },
    /// An entry that leads through a node which is not an edge.
    #[error(
        "{network}/{length} leaves through `{node}`, which is not an edge of the domain; make it one"
    )]
    NoEdge {
        /// Network address of the prefix.
        network: IpAddr,
        /// Length of the prefix in bits.
        length: u8,
        /// Name of the node.
        node: String,
    },
    /// Settings with which packets cannot be aggregated.
    #[error("router `{node}`: {why}")]
    Aggregator {
        /// Name of the router.
        node: String,
        /// The fault in the settings.
        why: BadAggregator,
    },
    /// A flow whose path does not pass its egress.
    #[error("flow `{flow}` does not pass `{egress}` behind `{ingress}`; correct the row of `{to}`")]
    Astray {
        /// Name of the flow.
        flow: String,
        /// The edge that aggregates it.
        ingress: String,
        /// The edge that should unpack it.
        egress: String,
        /// The destination host.
        to: String,
    },
    /// Routers without a connection.
    #[error("there is no path from `{from}` to `{egress}` via the routers given")]
    NoPath {
        /// Start of the path.
        from: String,
        /// End of the path.
        egress: String,
    },
    /// A link whose MTU is smaller than a full bundle.
    #[error(
        "link `{link}` supports {largest} B and bundles of `{ingress}` have up to {mtu} B; make them smaller"
    )]
    TooBig {
        /// Name of the link.
        link: String,
        /// The largest packet that it carries, in bytes.
        largest: u32,
        /// The edge that aggregates the bundles.
        ingress: String,
        /// The largest bundle, in bytes.
        mtu: u64,
    },
    /// A link that duplicates packets.
    #[error(
        "link `{0}` duplicates packets, which is not supported with bundles; remove `duplicate`"
    )]
    Duplicates(String),
}

impl Domain {
    /// Checks the domain in `scenario`.
    pub(crate) fn check(&self, scenario: &Scenario, routes: &Routes) -> Result<(), BadDomain> {
        self.check_edges(scenario)?;
        self.check_table(scenario)?;
        for link in &scenario.links {
            if link
                .directions
                .iter()
                .any(|direction| direction.duplicate > 0.0)
            {
                return Err(BadDomain::Duplicates(link.name.clone()));
            }
        }
        let exits = exits(self, scenario.nodes.len());
        for flow in &scenario.flows {
            for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
                if let Some(exit) = exits[to] {
                    self.check_path(scenario, routes, &flow.name, [from, to], exit)?;
                }
            }
        }
        Ok(())
    }

    fn check_edges(&self, scenario: &Scenario) -> Result<(), BadDomain> {
        for edge in &self.edges {
            let node = &scenario.nodes[edge.node];
            if node.role != Role::Router {
                return Err(BadDomain::NoRouter(node.name.clone()));
            }
            if let Some(ingress) = edge.aggregate {
                let node = || node.name.clone();
                let check = ingress.settings().check();
                check.map_err(|why| BadDomain::Aggregator { node: node(), why })?;
            }
        }
        match self
            .edges
            .windows(2)
            .find(|pair| pair[0].node == pair[1].node)
        {
            Some(pair) => Err(BadDomain::Twice(scenario.nodes[pair[0].node].name.clone())),
            None => Ok(()),
        }
    }

    fn check_table(&self, scenario: &Scenario) -> Result<(), BadDomain> {
        if self.table.is_empty() {
            return Err(BadDomain::NoPrefixes);
        }
        for (place, row) in self.table.iter().enumerate() {
            let (network, length) = (row.network, row.length);
            if !row.is_sound() {
                return Err(BadDomain::Prefix { network, length });
            }
            let same = |other: &Prefix| (other.network, other.length) == (network, length);
            if self.table[..place].iter().any(same) {
                return Err(BadDomain::Overlap { network, length });
            }
            if !self.edges.iter().any(|edge| edge.node == row.egress) {
                let node = scenario.nodes[row.egress].name.clone();
                return Err(BadDomain::NoEdge {
                    network,
                    length,
                    node,
                });
            }
        }
        Ok(())
    }

    /// Checks the path of a flow: behind each edge that aggregates it is its egress, and
    /// every link between them carries a full bundle.
    fn check_path(
        &self,
        scenario: &Scenario,
        routes: &Routes,
        flow: &str,
        [from, to]: [usize; 2],
        exit: Exit,
    ) -> Result<(), BadDomain> {
        let egress = exit.egress;
        let name = |node: usize| scenario.nodes[node].name.clone();
        let path = walk(scenario, routes, from, to);
        let leaves = path.iter().position(|(node, _)| *node == egress);
        for (place, (node, _)) in path.iter().enumerate() {
            let edge = self.edges.iter().find(|edge| edge.node == *node);
            let Some(ingress) = edge.and_then(|edge| edge.aggregate) else {
                continue;
            };
            if *node == egress {
                continue;
            }
            let no_path = || BadDomain::NoPath {
                from: name(*node),
                egress: name(egress),
            };
            let bundles = match self.destination {
                Destination::Egress => walk(scenario, routes, *node, egress),
                Destination::FirstPacket => path[place..leaves.unwrap_or(place)].to_vec(),
                Destination::Label(_) => {
                    labels::path(self, scenario, routes, *node, exit).ok_or_else(no_path)?
                }
            };
            if leaves.is_none_or(|leaves| leaves < place) || bundles.is_empty() {
                return Err(BadDomain::Astray {
                    flow: flow.to_owned(),
                    ingress: name(*node),
                    egress: name(egress),
                    to: name(to),
                });
            }
            for (_, direction) in bundles {
                let link = &scenario.links[direction / 2];
                let largest = mtu(&link.directions[direction % 2]);
                if u64::from(largest) < ingress.mtu.get() {
                    return Err(BadDomain::TooBig {
                        link: link.name.clone(),
                        largest,
                        ingress: name(*node),
                        mtu: ingress.mtu.get(),
                    });
                }
            }
        }
        Ok(())
    }
}
