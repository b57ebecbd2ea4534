//! Descriptions of paths.

use std::net::IpAddr;

use link::Settings;
use link::middlebox::Rule;
use units::{Bytes, IpMtu, IpVersion, Rate, Span};

use super::interface::Offloads;

/// The kind of node between two links of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarder {
    /// Routers, which forward IP.
    Router,
    /// Switches, which bridge frames.
    Switch,
}

/// The source of the hosts' addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Set statically.
    Static,
    /// Derived from the router's Router Advertisements [RFC4861 s4.2].
    Router,
}

/// A link to build.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The largest IP packet, in bytes.
    pub mtu: IpMtu,
    /// The implementation of the link.
    pub medium: Medium,
}

/// Implementations of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Medium {
    /// The kernel's token bucket.
    Kernel {
        /// The rate, Ethernet framing included; `None`: unlimited.
        rate: Option<Rate>,
        /// Depth of the bucket.
        burst: Bytes,
        /// Size of the queue in front of it.
        buffer: Bytes,
    },
    /// An emulated link.
    Emulated {
        /// Its settings toward the receiver, and back.
        directions: Box<[Settings; 2]>,
        /// The rules for packets in front of it; forward is toward the receiver.
        rules: Vec<Rule>,
    },
}

impl Medium {
    /// The rate, Ethernet framing included, if it has one.
    pub const fn rate(&self) -> Option<Rate> {
        match self {
            Self::Kernel { rate, .. } => *rate,
            Self::Emulated { directions, .. } => directions[0].rate,
        }
    }
}

/// The settings of TCP of all hosts; absent ones are as the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Segments of the first window.
    pub initial_window: Option<u32>,
    /// The least retransmission timeout, in whole milliseconds.
    pub min_rto: Option<Span>,
    /// Whether every segment is acknowledged at once.
    pub acknowledges_each: bool,
    /// Whether receivers acknowledge selectively.
    pub sack: Option<bool>,
    /// Whether senders detect losses by the times of their segments.
    pub rack: Option<bool>,
    /// Whether senders probe for the loss of their last segments.
    pub tail_loss_probe: Option<bool>,
}

/// A path to build.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The kind of nodes between its links.
    pub middle: Forwarder,
    /// The version of IP for addresses and routes.
    pub ip: IpVersion,
    /// The source of the addresses.
    pub addresses: Addresses,
    /// Whether interfaces use segmentation and receive offloads.
    pub offloads: bool,
    /// The largest number of TCP segments in a packet; `None`: as the offloads say.
    pub segments_per_packet: Option<u32>,
    /// TCP of its hosts.
    pub tcp: Tcp,
    /// The links, sender first, with a node between each two; with `graph` in any order.
    pub links: Vec<Link>,
    /// The nodes and the ends of the links of a network that is no path.
    pub graph: Option<Graph>,
}

/// Nodes, and the links between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub nodes: Vec<Vertex>,
    /// The nodes at both ends of each link.
    pub ends: Vec<[usize; 2]>,
    /// Nodes that have no route of their own to an address of a host.
    pub unrouted: Vec<(usize, IpAddr)>,
}

/// A node of a network that is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    pub name: String,
    /// Whether it forwards packets.
    pub is_router: bool,
    /// The address of a host besides those of its links, to which traffic goes.
    pub address: Option<IpAddr>,
}

/// The function of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A sender or receiver.
    Host,
    /// A node between two links.
    Forwarder(Forwarder),
}

impl Path {
    /// The offloads of the interfaces of its nodes.
    pub(super) fn offloads(&self) -> Offloads {
        let emulated = |link: &Link| matches!(link.medium, Medium::Emulated { .. });
        match self.offloads {
            false if self.segments_per_packet.is_some_and(|count| count > 1) => Offloads::OfTcp,
            false => Offloads::None,
            true if self.links.iter().any(emulated) => Offloads::AboveTheWire,
            true => Offloads::All,
        }
    }

    /// The nodes at the ends of link `number`.
    pub(super) fn ends(&self, number: usize) -> [usize; 2] {
        match &self.graph {
            Some(graph) => graph.ends[number],
            None => [number, number + 1],
        }
    }

    /// Names and functions of the nodes in order, sender first.
    pub(super) fn node_names(&self) -> Vec<(String, Part)> {
        if let Some(graph) = &self.graph {
            let part = |node: &Vertex| match node.is_router {
                true => Part::Forwarder(Forwarder::Router),
                false => Part::Host,
            };
            let nodes = graph.nodes.iter();
            return nodes.map(|node| (node.name.clone(), part(node))).collect();
        }
        let word = match self.middle {
            Forwarder::Router => "router",
            Forwarder::Switch => "switch",
        };
        let last = self.links.len().saturating_sub(1);
        let middles = (1..=last).map(|number| match last {
            1 => word.to_owned(),
            _ => format!("{word}{number}"),
        });
        let host = |name: &str| (name.to_owned(), Part::Host);
        std::iter::once(host("sender"))
            .chain(middles.map(|name| (name, Part::Forwarder(self.middle))))
            .chain([host("receiver")])
            .collect()
    }
}
