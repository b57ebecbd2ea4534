//! A domain at whose edges packets are gathered into bundles and let out again
//! [Salyers2007].

mod check;

use std::net::IpAddr;

use proto::edge::{Exit, longest_match};
use proto::tcp::React;
use queue::{Carriage, GatherSettings, Tick, Trigger};
use units::Bytes;

use crate::Prefix;
pub use check::BadDomain;

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Its place in the scenario.
    pub node: usize,
    /// How it gathers what enters the domain, if it does.
    pub gather: Option<Ingress>,
}

/// How packets are gathered that enter a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// See [`GatherSettings::share`].
    pub share: f64,
}

impl Ingress {
    /// As a queue gets it. Sizes are those of IP packets here.
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
            share: self.share,
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
    /// the shortest one, or goes via what is named here.
    Label(Vec<Detour>),
}

/// Via which routers bundles get to an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The autonomous system behind the exit.
    pub next_as: u32,
    /// The edge that unpacks them.
    pub egress: usize,
    /// The routers, by their places in the scenario, in the order in which
    /// they are passed; between them the path is the shortest one.
    pub via: Vec<usize>,
}

/// A queue that notifies TCP sources when it drops a segment, with packets that
/// travel back as any others [Mulahuwaish s3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notices {
    /// Its link by the place in the scenario, and the direction, 0 or 1.
    pub direction: (usize, usize),
    /// How notified sources react.
    pub react: React,
}

/// Where packets to each node leave the domain, by the node's number.
pub(crate) fn exits(domain: &Domain, nodes: usize) -> Vec<Option<Exit>> {
    let mut exits = vec![None; nodes];
    for (node, address) in &domain.addresses {
        exits[*node] = longest_match(&domain.table, *address).map(Prefix::exit);
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

    /// How bundles travel, where they do not take the shortest path.
    pub(crate) fn detours(&self) -> &[Detour] {
        match &self.destination {
            Destination::Label(detours) => detours,
            Destination::Egress | Destination::FirstPacket => &[],
        }
    }

    /// The nodes to which paths must be known.
    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().map(|edge| edge.node);
        let via = self.detours().iter().flat_map(|detour| &detour.via);
        edges.chain(via.copied())
    }
}
