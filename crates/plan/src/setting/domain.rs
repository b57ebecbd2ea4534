//! Domains at whose edges packets are gathered.

use std::net::IpAddr;

use queue::GatherSettings;

/// A domain of a network: packets are gathered into bundles where they enter
/// it, and let out where they leave [Salyers2007].
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The routers at its border, by their place among the nodes.
    pub edges: Vec<usize>,
    /// How packets are gathered there; `None`: none are, and all else is as if
    /// they were.
    pub gather: Option<GatherSettings>,
    /// The addresses of hosts, each with its node's place.
    pub addresses: Vec<(usize, IpAddr)>,
    /// Through which edge each prefix is reached.
    pub routes: Vec<Route>,
    /// What bundles are forwarded by.
    pub destination: Destination,
    /// Whether packets leave bundles with the gaps with which they came.
    pub shaping: bool,
}

/// What bundles are forwarded by between the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The address of the router that unpacks them.
    Egress,
    /// The address to which their first packet goes.
    FirstPacket,
    /// A label [RFC3031].
    Label,
}

/// A row of a domain's routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The first address of the prefix.
    pub network: IpAddr,
    /// How many leading bits make it.
    pub length: u8,
    /// The autonomous system behind the edge; packets to different ones are
    /// never together.
    pub next_as: u32,
    /// The edge through which it is reached, by its place among the nodes.
    pub egress: usize,
    /// The nodes via which its bundles are switched, if not along the
    /// shortest path.
    pub via: Vec<usize>,
}
