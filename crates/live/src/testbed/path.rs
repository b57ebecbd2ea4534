//! A path as it is asked for.

use proto::link::Settings;
use units::{Bytes, IpMtu, IpVersion, Rate};

use super::interface::Offloads;

/// The kind of node between two links of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarder {
    /// Routers, which forward IP.
    Router,
    /// Switches, which bridge frames.
    Switch,
}

/// Where the hosts' addresses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Set by hand.
    Static,
    /// Given by the router's Router Advertisements [RFC4861 s4.2].
    Router,
}

/// A link that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The largest IP packet.
    pub mtu: IpMtu,
    /// Who paces it.
    pub medium: Medium,
}

/// Who paces a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Medium {
    /// The kernel's token bucket.
    Kernel {
        /// The rate, Ethernet framing included, or as fast as the machine.
        rate: Option<Rate>,
        /// The depth of the bucket.
        burst: Bytes,
        /// What may wait in front of it.
        buffer: Bytes,
    },
    /// An emulator, as these settings say: towards the receiver, and back.
    Emulated(Box<[Settings; 2]>),
}

impl Medium {
    /// The rate, Ethernet framing included, if it has one.
    pub const fn rate(&self) -> Option<Rate> {
        match self {
            Self::Kernel { rate, .. } => *rate,
            Self::Emulated(directions) => directions[0].rate,
        }
    }
}

/// A path that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// What stands between its links.
    pub middle: Forwarder,
    /// The protocol that gets addresses and routes.
    pub ip: IpVersion,
    /// Who gives the addresses.
    pub addresses: Addresses,
    /// Segmentation and receive offloads of every interface.
    pub offloads: bool,
    /// The links, sender first; a middle node between each two.
    pub links: Vec<Link>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It sends or receives.
    Host,
    /// It stands between two links.
    Forwarder(Forwarder),
}

impl Path {
    /// What the interfaces of its nodes offload.
    pub(super) fn offloads(&self) -> Offloads {
        let emulated = |link: &Link| matches!(link.medium, Medium::Emulated(_));
        match self.offloads {
            false => Offloads::None,
            true if self.links.iter().any(emulated) => Offloads::AboveTheWire,
            true => Offloads::All,
        }
    }

    /// The nodes in order, sender first, by name and part.
    pub(super) fn node_names(&self) -> Vec<(String, Part)> {
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
