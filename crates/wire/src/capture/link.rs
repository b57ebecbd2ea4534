//! The IP packet behind the header of a link.

use super::Packet;
use crate::bytes::u16_at;
use crate::ip_packet::stated_length;
use crate::protocol::{ethernet, ip, ipv4, ipv6, vlan};

/// Numbers of link types [LinkTypes].
mod kind {
    pub(super) const LOOPBACK: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    /// Raw IP, as systems number it and as files do.
    pub(super) const RAW: [u16; 5] = [12, 14, 101, 228, 229];
    pub(super) const LOOPBACK_BIG: u16 = 108;
    pub(super) const LINUX_COOKED: u16 = 113;
    pub(super) const LINUX_COOKED_2: u16 = 276;
}

/// VLAN tags that are skipped.
const TAGS: usize = 4;

/// The IP packet in a frame of this type, of which `bytes` are there and which had `length`
/// bytes on the link.
pub(super) fn packet(kind: u16, bytes: &[u8], length: u32, nanos: Option<u64>) -> Option<Packet> {
    let header = header(kind, bytes)?;
    let packet = bytes.get(header..)?;
    let ip_header = match ip::version(packet).ok()? {
        4 => ipv4::Header::of(packet).header_len().ok()?,
        _ => ipv6::HEADER_LEN,
    };
    let stated = stated_length(packet).ok()?;
    // Segments that an interface has yet to cut may exceed what the field can express: it is 0
    // then, and the frame tells the size.
    let size = match stated > ip_header {
        true => stated,
        false => usize::try_from(length).ok()?.checked_sub(header)?,
    };
    (size >= ip_header).then_some(Packet {
        nanos,
        size: u32::try_from(size).ok()?,
        header: u32::try_from(ip_header).ok()?,
    })
}

/// Bytes of the header of the link, if an IP packet is behind it.
fn header(kind: u16, bytes: &[u8]) -> Option<usize> {
    let is_ip = |ether_type: u16| {
        [ethernet::ether_type::IPV4, ethernet::ether_type::IPV6].contains(&ether_type)
    };
    let (ether_type, header) = match kind {
        kind::ETHERNET => vlan::inside(bytes, TAGS).ok()?,
        kind::LINUX_COOKED => (u16_at(bytes, 14).ok()?, 16),
        kind::LINUX_COOKED_2 => (u16_at(bytes, 0).ok()?, 20),
        // The first four bytes number the family as the system does; the packet tells it, too.
        kind::LOOPBACK | kind::LOOPBACK_BIG => return Some(4),
        _ => return kind::RAW.contains(&kind).then_some(0),
    };
    is_ip(ether_type).then_some(header)
}
