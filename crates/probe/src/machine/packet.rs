//! The packets that a driver sends, and the answers to them.

use core::net::IpAddr;

use units::Bytes;

use link::Protocol;
use wire::ip_packet::IpPacket;

/// Whom a probe is addressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The far end of the path.
    FarEnd,
    /// A router that was seen on the path.
    Router(IpAddr),
}

/// The size of the answer that a probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplySize {
    /// As the far end answers by itself: an echo reply and a reflected packet are as
    /// large as the probe, other answers are small.
    Same,
    /// Small, which only a reflector can do: the answer proves the forward direction alone.
    Small,
}

/// One packet to send, or one packet in fragments.
///
/// The first eight bytes of the payload of ICMP and UDP are `id`, in network order. A TCP
/// segment has the low 32 bits of `id` as its sequence number. A packet to a reflector
/// has `id` where the reflector repeats it. Of an answer that quotes less, the driver finds
/// the probe by its ports and numbers, or it drops the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number that an answer repeats. Nobody off the path can guess it if the seed is
    /// secret.
    pub id: u64,
    pub protocol: Protocol,
    /// The destination.
    pub to: Target,
    /// The size of the whole IP packet, before fragmentation.
    pub size: Bytes,
    /// The hop limit; `None` for the system's default.
    pub hop_limit: Option<u8>,
    /// Number of the flow, from 0: each has its own source port, flow label, or identifier
    /// of echo requests, so that other branches of the path are met.
    pub flow: u16,
    /// `None` for a whole packet that no router may fragment (DF set over IPv4);
    /// otherwise the packet is sent in fragments of at most this size.
    pub fragment_size: Option<Bytes>,
    /// The size of the answer asked for.
    pub reply: ReplySize,
}

/// An answer to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The identifier that the answer, or the packet quoted in it, holds.
    pub id: u64,
    /// The source address of the answer.
    pub from: IpAddr,
    /// Its content.
    pub kind: AnswerKind,
}

/// The content of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// The addressee received the probe: an echo reply, a reflected packet, port
    /// unreachable from the addressee, a SYN/ACK or RST.
    Reply {
        /// The size of the whole IP packet, after reassembly.
        size: Bytes,
        /// The largest fragment, if it arrived in fragments and the driver can tell.
        fragment_size: Option<Bytes>,
        /// The MSS option of a SYN/ACK.
        mss: Option<u16>,
        /// Whether it says that a port is unreachable. Such answers are limited in rate.
        is_unreachable: bool,
        /// The fields of a reflector's reply.
        reflected: Option<Reflected>,
    },
    /// The hop limit ended at the sender of the answer.
    HopLimitExceeded {
        /// The header with which the probe arrived there, if the driver can read it.
        quoted: Option<QuotedHeader>,
    },
    /// The sender of the answer says that the probe was too big for its next link. The
    /// investigation checks it, a driver passes on what the message says.
    TooBig {
        /// The MTU that it announces; 0 if none.
        announced: Bytes,
        /// The size that the quoted header states.
        quoted: Bytes,
    },
    /// No route, host, or protocol; or a filter.
    Unreachable {
        /// The code of the message.
        code: u8,
        /// Whether it says that a filter rejected the packet.
        prohibited: bool,
    },
    /// The own system rejected to send: the MTU of the interface or the route.
    LocallyTooBig { mtu: Bytes },
}

/// The fields of the header of a probe that an ICMP error quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotedHeader {
    /// The size of the first fragment, if the probe was fragmented before. The length of a
    /// whole packet is not used: some routers quote another one than arrived.
    pub piece: Option<Bytes>,
    /// Whether routers must not fragment it (DF of IPv4; always so for IPv6).
    pub dont_fragment: bool,
}

impl QuotedHeader {
    /// That of a quoted packet.
    pub(crate) fn of(packet: &IpPacket<'_>) -> Self {
        Self {
            piece: packet.fragment.map(|_| Bytes::new(packet.size.into())),
            dont_fragment: packet.dont_fragment,
        }
    }
}

/// The fields of a reflector's reply about the probe that it received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reflected {
    /// The sequence number of the reply: of a stateful reflector, the number of probes that
    /// it had received from this socket before [RFC8762 s4.3]; of another, that of the probe.
    pub sequence: u32,
    /// The sequence number of the probe: the number of probes that the driver had sent by
    /// this flow before.
    pub sent: u32,
    /// Whether the reflector says that the number of the reply is its own.
    pub stateful: bool,
    /// The hop limit with which the probe arrived.
    pub hop_limit: u8,
    /// The largest IP packet in which the probe arrived: a fragment, or the whole packet.
    /// `None` if the reflector does not say.
    pub piece: Option<Bytes>,
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use wire::ip_packet::FragmentPlace;
    use wire::protocol::ip::Addresses;

    use super::*;

    #[test]
    fn a_quoted_length_counts_for_a_fragment_alone() {
        let whole = IpPacket {
            addresses: Addresses::V4([Ipv4Addr::LOCALHOST; 2]),
            // Some routers subtract the header.
            size: 1_480,
            hop_limit: 1,
            flow_label: 0,
            dont_fragment: true,
            fragment: None,
            protocol: 1,
            payload: &[],
        };
        let first = IpPacket {
            dont_fragment: false,
            fragment: Some(FragmentPlace {
                offset: 0,
                more: true,
                identification: 7,
            }),
            ..whole
        };
        assert_eq!(QuotedHeader::of(&whole).piece, None);
        assert_eq!(QuotedHeader::of(&first).piece, Some(Bytes::new(1_480)));
    }
}
