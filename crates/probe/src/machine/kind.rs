//! The kinds of probes: probes of one kind are exchangeable.

use core::net::IpAddr;

use units::{Bytes, IpVersion};

use super::{Protocol, ReplySize, Target};

/// The size of probes that every path carries, with room for the headers and the test
/// packets of each protocol.
pub(super) const SMALL: u32 = 100;

/// TCP's header without options [RFC9293 s3.1], which an MSS does not count.
pub(super) const TCP_HEADER: Bytes = Bytes::new(20);

/// The TCP header with the MSS option [RFC9293 s3.7.1].
const TCP_SYN: u32 = 24;

/// Everything of a probe but its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) protocol: Protocol,
    pub(super) to: Target,
    pub(super) size: u32,
    pub(super) hop_limit: Option<u8>,
    pub(super) flow: u16,
    pub(super) fragment_size: Option<u32>,
    pub(super) reply: ReplySize,
    /// Why it is sent. Probes that are sent for another reason are counted apart.
    pub(super) purpose: Purpose,
}

/// The reason for which a probe is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// Whether packets of the kind pass.
    Question,
    /// Whether the path is still the same, at the end.
    Recheck,
    /// How many packets of the kind are lost.
    Loss,
}

impl Kind {
    /// Whole packets of `size` bytes to the far end.
    pub(super) const fn far_end(protocol: Protocol, size: u32) -> Self {
        Self {
            protocol,
            to: Target::FarEnd,
            size,
            hop_limit: None,
            flow: 0,
            fragment_size: None,
            reply: ReplySize::Same,
            purpose: Purpose::Question,
        }
    }

    /// Small packets to the far end.
    pub(super) const fn small(protocol: Protocol) -> Self {
        Self::far_end(protocol, SMALL)
    }

    /// Small test packets to a reflector, in a session of their own: its sequence numbers
    /// count no other packets.
    pub(super) const fn test_packet() -> Self {
        Self::small(Protocol::Udp).with_flow(u16::MAX)
    }

    /// TCP's SYN without data.
    pub(super) fn bare_syn(version: IpVersion) -> Self {
        let header = u32::try_from(version.header().get()).unwrap_or(SMALL);
        Self::far_end(Protocol::Tcp, header + TCP_SYN)
    }

    pub(super) const fn router(address: IpAddr, size: u32) -> Self {
        Self {
            to: Target::Router(address),
            ..Self::far_end(Protocol::Icmp, size)
        }
    }

    pub(super) const fn with_size(self, size: u32) -> Self {
        Self { size, ..self }
    }

    pub(super) const fn with_hop_limit(self, hop: u8) -> Self {
        let hop_limit = Some(hop);
        Self { hop_limit, ..self }
    }

    pub(super) const fn with_flow(self, flow: u16) -> Self {
        Self { flow, ..self }
    }

    pub(super) const fn with_reply(self, reply: ReplySize) -> Self {
        Self { reply, ..self }
    }

    pub(super) const fn in_fragments_of(self, size: u32) -> Self {
        let fragment_size = Some(size);
        Self {
            fragment_size,
            ..self
        }
    }

    pub(super) const fn once_more(self) -> Self {
        self.with_purpose(Purpose::Recheck)
    }

    /// Packets of this kind whose losses are counted.
    pub(super) const fn for_loss(self) -> Self {
        self.with_purpose(Purpose::Loss)
    }

    pub(super) const fn with_purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// The probe of this kind with this identifier.
    pub(super) fn probe(self, id: u64) -> super::Probe {
        super::Probe {
            id,
            protocol: self.protocol,
            to: self.to,
            size: bytes(self.size),
            hop_limit: self.hop_limit,
            flow: self.flow,
            fragment_size: self.fragment_size.map(bytes),
            reply: self.reply,
        }
    }
}

/// A size of the investigation's own numbers.
pub(super) const fn bytes(size: u32) -> Bytes {
    Bytes::new(size as u64)
}
