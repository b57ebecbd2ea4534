//! Findings about the local host, and which of them concern a path.

use core::net::IpAddr;

use units::{Bytes, Span};

use super::Syns;
use crate::machine::report::VLAN_TAG;

/// A finding about the local host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LocalFinding {
    #[serde(flatten)]
    pub problem: LocalProblem,
    /// The command that mends it.
    pub command: String,
}

/// What limits packets of the local host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum LocalProblem {
    /// A route sets a smaller MTU than its interface has.
    RouteMtu {
        route: String,
        interface: String,
        mtu: Bytes,
        locked: bool,
    },
    /// A route sets a larger MTU than its interface has.
    RouteMtuTooLarge {
        route: String,
        interface: String,
        mtu: Bytes,
        interface_mtu: Bytes,
    },
    /// The kernel caches a path MTU that an ICMP error reported.
    CachedPathMtu {
        address: IpAddr,
        interface: String,
        mtu: Bytes,
        /// The time until the kernel forgets it.
        #[serde(rename = "expires_s", with = "units::with_unit::seconds")]
        expires: Option<Span>,
    },
    /// IPv6 uses a smaller MTU than the interface has.
    Ipv6Mtu {
        interface: String,
        mtu: Bytes,
        interface_mtu: Bytes,
    },
    /// The interface below carries smaller packets.
    SmallBelow {
        interface: String,
        mtu: Bytes,
        below: String,
        below_mtu: Bytes,
        /// The largest packet that leaves in one piece.
        #[serde(rename = "fits_bytes")]
        fits: Bytes,
    },
    /// A port of a bridge or bond takes smaller packets.
    SmallPort {
        interface: String,
        mtu: Bytes,
        port: String,
        port_mtu: Bytes,
    },
    /// The other end of a veth pair takes smaller packets.
    SmallPeer {
        interface: String,
        mtu: Bytes,
        peer: String,
        peer_mtu: Bytes,
    },
    /// A rule of nftables lowers the MSS of TCP.
    MssClamp {
        /// The address family and the name of its table.
        table: String,
        chain: String,
        /// Its place in the chain, from 1.
        rule: u32,
        syns: Syns,
        mss: Bytes,
        /// The largest packet of TCP with that MSS.
        #[serde(rename = "packet_bytes")]
        packet: Bytes,
        /// The interface of its SYNs; `None`: any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
        /// Whether it changes some SYNs only.
        conditional: bool,
    },
    /// TCP never searches the path MTU itself, or always.
    TcpMtuProbing {
        /// The setting: 0 or 2.
        value: u32,
        /// The MSS in bytes with which TCP begins.
        base_mss: Option<u32>,
    },
    /// IPv4 does not discover path MTUs.
    NoPathMtuDiscovery { value: u32 },
}

impl LocalProblem {
    /// Whether settings contradict each other, whatever the paths support. The others are
    /// limits that may be intended.
    pub const fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::RouteMtuTooLarge { .. }
                | Self::SmallBelow { .. }
                | Self::SmallPort { .. }
                | Self::SmallPeer { .. }
        )
    }

    /// Whether it makes packets of this host smaller than a path supports, or loses them.
    pub const fn is_limit(&self) -> bool {
        !matches!(
            self,
            Self::TcpMtuProbing { .. }
                | Self::NoPathMtuDiscovery { .. }
                | Self::MssClamp {
                    conditional: true,
                    ..
                }
        )
    }
}

/// What the probes of a path found, as far as the local host is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Measured {
    /// The size that was asked for.
    pub(in crate::machine) asked: Bytes,
    /// The largest packet that reached the far end.
    pub(in crate::machine) passed: Option<Bytes>,
    /// The largest answer, if it is known how large answers may be.
    pub(in crate::machine) answered: Option<Bytes>,
    /// Whether larger ones are dropped silently on their way to the far end.
    pub(in crate::machine) has_hole: bool,
    /// Whether this host made fragments of packets of a tunnel.
    pub(in crate::machine) fragments_outside: bool,
}

impl LocalProblem {
    /// Whether it changes what this host sends on the path, or explains what was found.
    pub(in crate::machine) fn concerns(&self, path: Measured) -> bool {
        match self {
            // Probes ignore it. An interface takes four bytes more than its MTU, so that a
            // path may pass more than routes may be given.
            Self::RouteMtu { mtu, .. }
            | Self::CachedPathMtu { mtu, .. }
            | Self::Ipv6Mtu { mtu, .. } => {
                let passed = path.passed.unwrap_or(Bytes::ZERO);
                *mtu + VLAN_TAG < passed
            }
            Self::SmallBelow { fits, .. } => *fits < path.asked && !path.fragments_outside,
            // Whether the packets take this port is not known unless they are lost there.
            Self::SmallPort { port_mtu: mtu, .. } | Self::SmallPeer { peer_mtu: mtu, .. } => {
                path.passed.is_some_and(|passed| passed <= *mtu + VLAN_TAG)
            }
            Self::MssClamp { syns, packet, .. } => {
                let delivered = match syns {
                    Syns::Arriving => path.passed,
                    Syns::Leaving => path.answered.or(path.passed),
                    Syns::Forwarded => None,
                };
                delivered.is_some_and(|delivered| *packet + VLAN_TAG < delivered)
            }
            Self::TcpMtuProbing { value: 0, .. } => path.has_hole,
            Self::RouteMtuTooLarge { .. }
            | Self::TcpMtuProbing { .. }
            | Self::NoPathMtuDiscovery { .. } => true,
        }
    }
}
