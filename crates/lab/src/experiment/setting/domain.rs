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
    /// Whether bundles are addressed to where their first packet goes, not to
    /// the router that unpacks them.
    pub to_first_packet: bool,
    /// Whether packets leave bundles with the gaps with which they came.
    pub shaping: bool,
}

/// A row of a domain's routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}
