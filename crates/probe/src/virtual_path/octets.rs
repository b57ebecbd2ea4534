//! Packets as octets.

use core::net::IpAddr;

use queue::{Packet, View};
use units::{Bytes, Framing};
use wire::icmp_error::{Cause, IcmpError};
use wire::probe::{Fragments, ProbePacket};

/// A packet on a link.
#[derive(Debug)]
pub(super) enum OnLink {
    /// An IP packet.
    Ip(Received),
    /// A packet of cross traffic, of so many octets.
    Cross(Bytes),
}

/// An IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) octets: Vec<u8>,
    /// The largest fragment that it was reassembled from, if it was.
    pub(super) fragment: Option<Bytes>,
}

impl From<Vec<u8>> for Received {
    fn from(octets: Vec<u8>) -> Self {
        Self {
            octets,
            fragment: None,
        }
    }
}

impl Packet for OnLink {
    fn view(&self) -> View {
        let packet = match self {
            Self::Ip(packet) => length(&packet.octets),
            Self::Cross(size) => *size,
        };
        View {
            size: packet + Framing::MAC_HEADER + Framing::FCS,
            ..View::default()
        }
    }
}

/// Octets of a packet.
pub(super) fn length(octets: &[u8]) -> Bytes {
    Bytes::new(octets.len() as u64)
}

/// The octets of a packet that can be; `None` for one that IP cannot express.
pub(super) fn emitted(packet: &ProbePacket<'_>) -> Option<Vec<u8>> {
    let mut octets = vec![0; packet.buffer_len()];
    packet.emit(&mut octets).ok()?;
    Some(octets)
}

/// The error from `from` about a packet, if one is allowed.
pub(super) fn error(octets: &[u8], cause: Cause, from: IpAddr) -> Option<Vec<u8>> {
    let error = IcmpError::about(octets, cause, from)?;
    let mut octets = vec![0; error.buffer_len()];
    error.emit(&mut octets).ok()?;
    Some(octets)
}

/// The fragments of a packet for a link of this MTU; none if it cannot be divided.
pub(super) fn divided(octets: &[u8], mtu: Bytes, identification: u32) -> Vec<Vec<u8>> {
    let mtu = usize::try_from(mtu.get()).unwrap_or(usize::MAX);
    let Ok(fragments) = Fragments::of(octets, mtu, identification) else {
        return Vec::new();
    };
    let parts = fragments.filter_map(|fragment| {
        let mut octets = vec![0; fragment.buffer_len()];
        fragment.emit(&mut octets).ok()?;
        Some(octets)
    });
    parts.collect()
}
