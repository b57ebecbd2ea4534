//! Packets as bytes.

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
    /// A packet of cross traffic, of so many bytes.
    Cross(Bytes),
}

/// An IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    /// The largest fragment that it was reassembled from, if it was.
    pub(super) fragment: Option<Bytes>,
}

impl From<Vec<u8>> for Received {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            fragment: None,
        }
    }
}

impl Packet for OnLink {
    fn view(&self) -> View {
        let packet = match self {
            Self::Ip(packet) => length(&packet.bytes),
            Self::Cross(size) => *size,
        };
        View {
            size: packet + Framing::MAC_HEADER + Framing::FCS,
            ..View::default()
        }
    }
}

/// Bytes of a packet.
pub(super) fn length(bytes: &[u8]) -> Bytes {
    Bytes::new(bytes.len() as u64)
}

/// The bytes of a packet that can be; `None` for one that IP cannot express.
pub(super) fn emitted(packet: &ProbePacket<'_>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; packet.buffer_len()];
    packet.emit(&mut bytes).ok()?;
    Some(bytes)
}

/// The error from `from` about a packet, if one is allowed.
pub(super) fn error(bytes: &[u8], cause: Cause, from: IpAddr) -> Option<Vec<u8>> {
    let error = IcmpError::about(bytes, cause, from)?;
    let mut bytes = vec![0; error.buffer_len()];
    error.emit(&mut bytes).ok()?;
    Some(bytes)
}

/// The fragments of a packet for a link of this MTU; none if it cannot be divided.
pub(super) fn divided(bytes: &[u8], mtu: Bytes, identification: u32) -> Vec<Vec<u8>> {
    let mtu = usize::try_from(mtu.get()).unwrap_or(usize::MAX);
    let Ok(fragments) = Fragments::of(bytes, mtu, identification) else {
        return Vec::new();
    };
    let parts = fragments.filter_map(|fragment| {
        let mut bytes = vec![0; fragment.buffer_len()];
        fragment.emit(&mut bytes).ok()?;
        Some(bytes)
    });
    parts.collect()
}
