//! The protocols of packets that probe a path, and of those that a fault concerns.

use units::IpVersion;

/// A protocol over IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Protocol {
    /// ICMP [RFC792] or ICMPv6 [RFC4443], errors included. Probes are echo requests.
    Icmp,
    /// UDP [RFC768]. Probes are datagrams to a reflector, or else to a port that should be
    /// closed: the far end answers with port unreachable.
    Udp,
    /// TCP [RFC9293]. Probes are segments with SYN, and data in larger ones: the far end
    /// answers with SYN/ACK or RST.
    Tcp,
}

impl Protocol {
    /// The protocol of this number [RFC791 s3.1] [RFC8200 s4.1].
    pub fn of(number: u8, version: IpVersion) -> Option<Self> {
        Some(match (number, version) {
            (1, IpVersion::V4) | (58, IpVersion::V6) => Self::Icmp,
            (6, _) => Self::Tcp,
            (17, _) => Self::Udp,
            _ => return None,
        })
    }

    /// The name in experiments and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Icmp => "icmp",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }

    /// The name in text.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Icmp => "ICMP",
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}
