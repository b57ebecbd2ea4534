//! A domain, whose edges aggregate packets into bundles and unpack them [Salyers2007].

mod check;

use std::net::IpAddr;

use link::edge::{Exit, longest_match};
use queue::{AggregatorSettings, Encapsulation, Tick, Trigger};
use tcp::React;
use units::Bytes;

use crate::Prefix;
pub use check::BadDomain;

/// A domain of a network. Its inner routers forward bundles by their outer header, like
/// any packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The edges: routers at the border.
    pub edges: Vec<Edge>,
    /// The addresses of hosts, each with the index of its node in the scenario.
    pub addresses: Vec<(usize, IpAddr)>,
    /// The egress of each prefix. Packets to hosts without an address or a matching
    /// prefix are not aggregated.
    pub table: Vec<Prefix>,
    /// The outer destination of bundles.
    pub destination: Destination,
    /// Whether packets leave the egress with the gaps that they had at the ingress
    /// [Mulahuwaish s2.B].
    pub shaping: bool,
}

/// A router at the border of a domain; it unpacks bundles whose egress it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Index of its node in the scenario.
    pub node: usize,
    /// The settings for aggregation packets that enter the domain; `None`: no aggregation.
    pub aggregate: Option<Ingress>,
}

/// The settings of an ingress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ingress {
    /// The largest bundle, in bytes of IP.
    pub mtu: Bytes,
    /// The condition under which a bundle is sent.
    pub trigger: Trigger,
    /// Bytes of IP that each bundle adds; see [`Encapsulation::header`].
    pub header: Bytes,
    /// Bytes of IP that each packet in a bundle adds.
    pub entry: Bytes,
    /// The unit of waiting times.
    pub tick: Tick,
    /// See [`AggregatorSettings::share`].
    pub share: f64,
}

impl Ingress {
    /// The settings for a queue. Sizes are those of IP packets here.
    pub(crate) const fn settings(&self) -> AggregatorSettings {
        AggregatorSettings {
            mtu: self.mtu,
            whole: self.mtu,
            trigger: self.trigger,
            encapsulation: Encapsulation {
                header: self.header,
                entry: self.entry,
                framing: Bytes::ZERO,
            },
            tick: self.tick,
            share: self.share,
        }
    }
}

/// The outer destination of bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The router that unpacks them.
    Egress,
    /// The destination of their first packet, which is behind that router
    /// [Mulahuwaish s2.A].
    FirstPacket,
    /// No address: routers switch bundles by label, along a path from ingress to egress
    /// [RFC3031]. The path is the shortest one, or leads via the given routers.
    Label(Vec<ExplicitRoute>),
}

/// The routers via which bundles reach an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplicitRoute {
    /// The autonomous system behind the exit.
    pub next_as: u32,
    /// The edge that unpacks the bundles.
    pub egress: usize,
    /// The routers in the order of the path, by their indices in the scenario; the path
    /// between them is the shortest one.
    pub via: Vec<usize>,
}

/// A queue that notifies TCP sources of dropped segments, by packets that travel back
/// like any others [Mulahuwaish s3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notices {
    /// The index of its link in the scenario, and the direction, 0 or 1.
    pub direction: (usize, usize),
    /// The reaction of notified sources.
    pub react: React,
}

/// The exit of packets to each node, by the node's number.
pub(crate) fn exits(domain: &Domain, nodes: usize) -> Vec<Option<Exit>> {
    let mut exits = vec![None; nodes];
    for (node, address) in &domain.addresses {
        exits[*node] = longest_match(&domain.table, *address).map(Prefix::exit);
    }
    exits
}

impl Domain {
    /// The same domain with renumbered nodes; `number` maps indices to numbers.
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

    /// All node indices that the domain refers to.
    pub(crate) fn named(&self) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().map(|edge| edge.node);
        let hosts = self.addresses.iter().map(|(node, _)| *node);
        let detours = self.detours().iter();
        edges
            .chain(hosts)
            .chain(self.table.iter().map(|row| row.egress))
            .chain(detours.flat_map(|one| one.via.iter().copied().chain([one.egress])))
    }

    /// The detours of bundles that do not take the shortest path.
    pub(crate) fn detours(&self) -> &[ExplicitRoute] {
        match &self.destination {
            Destination::Label(detours) => detours,
            Destination::Egress | Destination::FirstPacket => &[],
        }
    }

    /// The nodes to which routes are needed.
    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().map(|edge| edge.node);
        let via = self.detours().iter().flat_map(|detour| &detour.via);
        edges.chain(via.copied())
    }
}
