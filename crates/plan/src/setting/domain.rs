//! Domains whose edges aggregate packets into bundles.

use std::net::IpAddr;

use queue::AggregatorSettings;

/// A domain of a network: its edges aggregate entering packets into bundles and
/// unpack them where they leave [Salyers2007].
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The routers at the border of the domain, as node indices.
    pub edges: Vec<usize>,
    /// The aggregation settings; `None`: the domain forwards single packets, and
    /// all else is unchanged.
    pub aggregate: Option<AggregatorSettings>,
    /// The addresses of hosts, each with its node index.
    pub addresses: Vec<(usize, IpAddr)>,
    /// The edge for each prefix.
    pub routes: Vec<Route>,
    /// The forwarding key of bundles.
    pub destination: Destination,
    /// Whether packets leave a bundle with the gaps of their arrival.
    pub shaping: bool,
}

/// The key by which routers between the edges forward bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The address of the egress router.
    Egress,
    /// The destination address of the first packet.
    FirstPacket,
    /// An MPLS label [RFC3031].
    Label,
}

/// A route of a domain's routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The first address of the prefix.
    pub network: IpAddr,
    /// The prefix length in bits.
    pub length: u8,
    /// The autonomous system behind the edge. A bundle never mixes packets to
    /// different systems.
    pub next_as: u32,
    /// The egress edge, as a node index.
    pub egress: usize,
    /// The nodes that bundles are switched through; empty: the shortest path.
    pub via: Vec<usize>,
}
