//! The configuration of a gateway with its interfaces.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::machine::{Encapsulation, Settings};
use link::edge::Prefix;
use units::{IpMtu, Span};

use os::clock;
use os::error::Result;
use os::netlink::RouteFilter;
use os::port::Purpose;
use os::random::random;

/// The purpose of ports, for messages.
pub(super) const PURPOSE: Purpose = Purpose {
    noun: "a gateway",
    verb: "forwarding",
};

/// The path to the hosts inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsidePath {
    /// A TUN interface: the kernel routes packets to it.
    Tun {
        /// The interface's name.
        name: String,
        mtu: IpMtu,
    },
    /// Packet sockets on interfaces: hosts behind them send to their Ethernet addresses.
    Packet {
        /// The interfaces' names.
        interfaces: Vec<String>,
        /// The name of a TUN interface to which the egress prefixes are routed: without a
        /// route the kernel would tell hosts that there is none, and packets of this host
        /// would not be aggregated.
        name: String,
        mtu: IpMtu,
        /// The way of frames to the interfaces.
        sending: Sending,
    },
}

/// The way of frames to inside interfaces; all frames from them come through packet
/// sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Rings of AF_XDP where the machine has them, otherwise packet sockets.
    Fastest,
    /// Rings of AF_XDP.
    Ring,
    PacketSocket,
}

impl InsidePath {
    /// The name of the TUN interface.
    pub fn tun(&self) -> &str {
        match self {
            Self::Tun { name, .. } | Self::Packet { name, .. } => name,
        }
    }
}

/// The meaning of a kernel route's attributes for bundles: packets to different
/// autonomous systems behind one gateway do not share bundles [Mulahuwaish s2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextAs {
    /// The realm is the number of the next autonomous system; IPv6 has none.
    #[default]
    Realm,
    Metric,
}

/// The kernel's routes to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Which routes.
    pub filter: RouteFilter,
    /// Where the next autonomous system stands.
    pub next_as: NextAs,
}

/// The origin of the egress table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSource {
    /// Rows of the configuration.
    pub rows: Vec<Prefix>,
    /// Routes of the kernel, which are added.
    pub follow: Option<Follow>,
    /// Addresses of peers as next hops of these routes.
    pub next_hops: Vec<(IpAddr, usize)>,
    /// Whether routes that cover a next hop are left out, because bundles themselves would
    /// be aggregated.
    pub leaves_out_loops: bool,
}

/// The configuration of a gateway.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub inside: InsidePath,
    /// Whether the egress table's prefixes are routed to the TUN interface.
    pub installs_routes: bool,
    /// The interface toward the core; `None`: as the kernel routes.
    pub core: Option<String>,
    /// The name of each peer.
    pub names: Vec<String>,
    /// The router toward each peer, for labels.
    pub label_next_hops: Vec<Option<IpAddr>>,
    /// The settings of the gateway without I/O. Their order of peers is that of
    /// [`Configuration::names`].
    pub settings: Settings,
    /// The egress table.
    pub table: TableSource,
    /// How the gateway uses its processor.
    pub processor: Processor,
}

/// How a gateway uses its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// Whether it runs before all ordinary threads, where the kernel allows it and others
    /// are not starved.
    pub is_first: bool,
    /// The time after an arrival in which it looks for the next one without sleeping.
    pub spin: Span,
}

impl Configuration {
    /// The settings with entropy for keys, each time anew, so that none is drawn twice, and
    /// with the wall clock. ICMP errors have the stated addresses, or those that the kernel chooses for
    /// each.
    ///
    /// # Errors
    /// If the kernel has no entropy.
    pub(super) fn completed(&self) -> Result<Settings> {
        let mut settings = self.settings.clone();
        settings.entropy = random()?;
        let since_start = clock::monotonic().as_nanos();
        settings.unix_nanos = clock::wall_nanos().saturating_sub(since_start);
        let [four, six] = &mut settings.inside;
        four.get_or_insert(Ipv4Addr::UNSPECIFIED.into());
        six.get_or_insert(Ipv6Addr::UNSPECIFIED.into());
        Ok(settings)
    }

    /// The encapsulation of each peer.
    pub(super) fn encapsulations(&self) -> Vec<Encapsulation> {
        let peers = self.settings.peers.iter();
        peers.map(|peer| peer.encapsulation).collect()
    }
}
