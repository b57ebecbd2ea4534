//! A domain at whose edges packets are gathered into bundles and let out again
//! [Salyers2007].

use std::net::IpAddr;

use queue::{BadGather, Carriage, GatherSettings, Tick, Trigger};
use units::Bytes;

use crate::labels;
use crate::prefixes::longest_match;
use crate::routes::{Routes, walk};
use crate::way::mtu;
use crate::{Prefix, Role, Scenario};

/// A domain of a network. Routers inside of it forward bundles by their outer
/// header, as any packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The routers at its border.
    pub edges: Vec<Edge>,
    /// The addresses of hosts, each with its node's place in the scenario.
    pub addresses: Vec<(usize, IpAddr)>,
    /// Through which edge each prefix is reached. A packet to a host without a
    /// row, or without an address, is not gathered.
    pub table: Vec<Prefix>,
    /// Where bundles are addressed to.
    pub destination: Destination,
    /// Whether packets leave bundles with the gaps with which they came
    /// [Mulahuwaish s2.B].
    pub shaping: bool,
}

/// A router at the border of a domain: it unpacks what is addressed through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its place in the scenario.
    pub node: usize,
    /// How it gathers what enters the domain, if it does.
    pub gather: Option<Ingress>,
}

/// How packets are gathered that enter a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// The octets of IP that a bundle may have.
    pub mtu: Bytes,
    /// When a bundle goes.
    pub trigger: Trigger,
    /// Octets of IP that each bundle adds; see [`Carriage::header`].
    pub header: Bytes,
    /// Octets of IP that each packet in it adds.
    pub entry: Bytes,
    /// In what it says how long packets waited.
    pub tick: Tick,
}

impl Ingress {
    /// As a queue is told. Sizes are those of IP packets here.
    pub(crate) const fn settings(&self) -> GatherSettings {
        GatherSettings {
            mtu: self.mtu,
            trigger: self.trigger,
            carriage: Carriage {
                header: self.header,
                entry: self.entry,
                framing: Bytes::ZERO,
            },
            tick: self.tick,
        }
    }
}

/// Where a bundle is addressed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To the router that unpacks it.
    Egress,
    /// To where its first packet goes, which is behind that router
    /// [Mulahuwaish s2.A].
    FirstPacket,
    /// To nobody: routers switch it by its label, along a path that was laid
    /// from where it was gathered to where it is unpacked [RFC3031]. That is
    /// the shortest one, or goes by way of what is named here.
    Label(Vec<Detour>),
}

/// By way of which routers bundles get to an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The autonomous system behind the exit.
    pub next_as: u32,
    /// The edge that unpacks them.
    pub egress: usize,
    /// The routers, by their places in the scenario, in the order in which
    /// they are passed; between them the way is the shortest one.
    pub via: Vec<usize>,
}

/// A queue that tells sources of TCP when it drops a segment, with packets that
/// travel back as any others [Mulahuwaish s3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notices {
    /// Its link by the place in the scenario, and the direction, 0 or 1.
    pub way: (usize, usize),
    /// What sources do that it tells.
    pub react: React,
}

/// What a source does that is told of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// It sends the segment again.
    Retransmit,
    /// It also reduces its window, once for what is under way.
    RetransmitAndReduce,
}

/// A domain that there cannot be in a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDomain {
    /// A number that is no node's.
    #[error("a domain names node number {0}, which is not there; nodes count from 0")]
    NoSuchNode(usize),
    /// An edge that forwards nothing, or not by addresses.
    #[error("node `{0}` is at the edge of a domain; make it a router")]
    NoRouter(String),
    /// A direction of no link.
    #[error(
        "direction {1} of link number {0} is not there; links count from 0, directions are 0 and 1"
    )]
    NoSuchWay(usize, usize),
    /// A router that is an edge twice.
    #[error("router `{0}` is at the edge of the domain twice; keep one of them")]
    Twice(String),
    /// No rows.
    #[error("a domain without prefixes gathers nothing; give its table a row")]
    NoPrefixes,
    /// A row that is no prefix.
    #[error("{network}/{length} is no prefix; its bits behind the length must be 0")]
    Prefix {
        /// Its address.
        network: IpAddr,
        /// Its length.
        length: u8,
    },
    /// Two rows for the same addresses.
    #[error("{network}/{length} is in the table twice; keep one of the rows")]
    Overlap {
        /// Its address.
        network: IpAddr,
        /// Its length.
        length: u8,
    },
    /// A row that leads through a node which is no edge.
    #[error(
        "{network}/{length} leaves through `{node}`, which is no edge of the domain; make it one"
    )]
    NoEdge {
        /// The prefix.
        network: IpAddr,
        /// Its length.
        length: u8,
        /// The node.
        node: String,
    },
    /// Packets cannot be gathered so.
    #[error("router `{node}`: {why}")]
    Gather {
        /// The router.
        node: String,
        /// Why not.
        why: BadGather,
    },
    /// The way of a flow does not pass the edge through which it is said to
    /// leave.
    #[error("flow `{flow}` does not pass `{egress}` behind `{ingress}`; correct the row of `{to}`")]
    Astray {
        /// The flow.
        flow: String,
        /// Where it is gathered.
        ingress: String,
        /// Where it is to leave.
        egress: String,
        /// The host it goes to.
        to: String,
    },
    /// Routers that no link connects.
    #[error("there is no path from `{from}` to `{egress}` by way of the routers that are named")]
    NoPath {
        /// Where it begins.
        from: String,
        /// Where it ends.
        egress: String,
    },
    /// A link that a full bundle does not pass.
    #[error(
        "link `{link}` carries {largest} B and bundles of `{ingress}` have up to {mtu} B; make them smaller"
    )]
    TooBig {
        /// The link.
        link: String,
        /// What it carries.
        largest: u32,
        /// Where they are gathered.
        ingress: String,
        /// How large they are.
        mtu: u64,
    },
    /// A link on which packets arrive twice.
    #[error(
        "link `{0}` duplicates packets, which bundles do not survive here; take `duplicate` away"
    )]
    Duplicates(String),
}

/// Where a packet leaves: the next autonomous system and the node.
pub(crate) type Exit = (u32, usize);

/// Where packets to each node leave the domain, by the node's number.
pub(crate) fn exits(domain: &Domain, nodes: usize) -> Vec<Option<Exit>> {
    let mut exits = vec![None; nodes];
    for (node, address) in &domain.addresses {
        let row = longest_match(&domain.table, *address);
        exits[*node] = row.map(|row| (row.next_as, row.egress));
    }
    exits
}

impl Domain {
    /// The same with other numbers of nodes, `number` for each place.
    pub(crate) fn renumbered(mut self, number: impl Fn(usize) -> usize) -> Self {
        for edge in &mut self.edges {
            edge.node = number(edge.node);
        }
        for (node, _) in &mut self.addresses {
            *node = number(*node);
        }
        for row in &mut self.table {
            row.egress = number(row.egress);
        }
        if let Destination::Label(detours) = &mut self.destination {
            for detour in detours {
                detour.egress = number(detour.egress);
                for router in &mut detour.via {
                    *router = number(*router);
                }
            }
        }
        self.edges.sort_by_key(|edge| edge.node);
        self
    }

    /// All places that it names.
    pub(crate) fn named(&self) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().map(|edge| edge.node);
        let hosts = self.addresses.iter().map(|(node, _)| *node);
        let detours = self.detours().iter();
        edges
            .chain(hosts)
            .chain(self.table.iter().map(|row| row.egress))
            .chain(detours.flat_map(|one| one.via.iter().copied().chain([one.egress])))
    }

    /// By way of what bundles travel, where they do not take the shortest way.
    pub(crate) fn detours(&self) -> &[Detour] {
        match &self.destination {
            Destination::Label(detours) => detours,
            Destination::Egress | Destination::FirstPacket => &[],
        }
    }

    /// The nodes to which ways must be known.
    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().map(|edge| edge.node);
        let via = self.detours().iter().flat_map(|detour| &detour.via);
        edges.chain(via.copied())
    }

    /// Looks for everything that could go wrong in `scenario`.
    pub(crate) fn check(&self, scenario: &Scenario, routes: &Routes) -> Result<(), BadDomain> {
        self.check_edges(scenario)?;
        self.check_table(scenario)?;
        for link in &scenario.links {
            if link.ways.iter().any(|way| way.duplicate > 0.0) {
                return Err(BadDomain::Duplicates(link.name.clone()));
            }
        }
        let exits = exits(self, scenario.nodes.len());
        for flow in &scenario.flows {
            for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
                if let Some(exit) = exits[to] {
                    self.check_way(scenario, routes, &flow.name, [from, to], exit)?;
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
            if let Some(ingress) = edge.gather {
                let node = || node.name.clone();
                let check = ingress.settings().check();
                check.map_err(|why| BadDomain::Gather { node: node(), why })?;
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

    /// Follows a flow: behind each edge that gathers it comes the one where it
    /// leaves, and every link between them carries a full bundle.
    fn check_way(
        &self,
        scenario: &Scenario,
        routes: &Routes,
        flow: &str,
        [from, to]: [usize; 2],
        exit: Exit,
    ) -> Result<(), BadDomain> {
        let egress = exit.1;
        let name = |node: usize| scenario.nodes[node].name.clone();
        let path = walk(scenario, routes, from, to);
        let leaves = path.iter().position(|(node, _)| *node == egress);
        for (place, (node, _)) in path.iter().enumerate() {
            let edge = self.edges.iter().find(|edge| edge.node == *node);
            let Some(ingress) = edge.and_then(|edge| edge.gather) else {
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
            for (_, way) in bundles {
                let link = &scenario.links[way / 2];
                let largest = mtu(&link.ways[way % 2]);
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
