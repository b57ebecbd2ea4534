//! That a packet was too big: Packet Too Big [RFC4443 s3.2] and Destination
//! Unreachable, fragmentation needed [RFC1191 s4].
//!
//! What stands between two hosts and carries only smaller packets says so in
//! these, with the packet's own destination as their source: a wire has no
//! address, and hosts look at the packet that is quoted, not at who quotes it
//! [RFC8201 s4].

mod offending;

use units::IpVersion;

use crate::Error;
use crate::octets::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ethernet;
use crate::protocol::ip::HOP_LIMIT;
use offending::Offending;

/// The largest answer: no link carries less IPv6 [RFC4443 s3.2], and every host
/// takes so much IPv4 [RFC1812 s4.3.2.3].
const LARGEST_V6: usize = 1280;
const LARGEST_V4: usize = 576;

/// An ICMP message: type, code, checksum, and what the type has
/// [RFC4443 s2.1] [RFC792].
mod icmp {
    pub(super) const TYPE: usize = 0;
    pub(super) const CODE: usize = 1;
    pub(super) const CHECKSUM: usize = 2;
    pub(super) const HEADER_LEN: usize = 8;
    /// The protocol numbers [RFC8200 s3] [RFC791 s3.1].
    pub(super) const PROTOCOL_V6: u8 = 58;
    pub(super) const PROTOCOL_V4: u8 = 1;
}

/// Packet Too Big [RFC4443 s3.2].
mod packet_too_big {
    pub(super) const TYPE: u8 = 2;
    pub(super) const MTU: usize = 4;
}

/// Destination Unreachable, fragmentation needed and DF set [RFC1191 s4].
mod fragmentation_needed {
    pub(super) const TYPE: u8 = 3;
    pub(super) const CODE: u8 = 4;
    pub(super) const NEXT_HOP_MTU: usize = 6;
}

/// Offsets that are written of an IPv4 header [RFC791 s3.1].
mod ipv4 {
    pub(super) const VERSION: usize = 0;
    pub(super) const TYPE_OF_SERVICE: usize = 1;
    pub(super) const TOTAL_LENGTH: usize = 2;
    pub(super) const FRAGMENT: usize = 6;
    pub(super) const TIME_TO_LIVE: usize = 8;
    pub(super) const PROTOCOL: usize = 9;
    pub(super) const CHECKSUM: usize = 10;
    pub(super) const SOURCE: usize = 12;
    pub(super) const DESTINATION: usize = 16;
    pub(super) const HEADER_LEN: usize = 20;

    /// Version 4, five words of header.
    pub(super) const PLAIN: u8 = 0x45;
    /// Internetwork control, as errors are sent [RFC1812 s4.3.2.5].
    pub(super) const CONTROL: u8 = 0xc0;
    pub(super) const DO_NOT_FRAGMENT: u16 = 0x4000;
}

/// Offsets that are written of an IPv6 header [RFC8200 s3].
mod ipv6 {
    pub(super) const VERSION: usize = 0;
    pub(super) const PAYLOAD_LENGTH: usize = 4;
    pub(super) const NEXT_HEADER: usize = 6;
    pub(super) const HOP_LIMIT: usize = 7;
    pub(super) const SOURCE: usize = 8;
    pub(super) const DESTINATION: usize = 24;
    pub(super) const HEADER_LEN: usize = 40;

    pub(super) const VERSION_6: u8 = 0x60;
    /// No node believes that a link carries less [RFC8201 s4].
    pub(super) const SMALLEST_MTU: u32 = 1280;
}

/// The answer to a packet that was too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig<'a> {
    offending: Offending<'a>,
    mtu: u32,
}

impl<'a> TooBig<'a> {
    /// The answer to the packet in the Ethernet frame `frame` (without FCS)
    /// from a link that carries IP packets of `mtu` octets; `None` where there
    /// must be no answer, or can be none:
    ///
    /// - what is no whole IP packet, or not larger than `mtu`;
    /// - an ICMP error [RFC4443 s2.4] [RFC1122 s3.2.2], and ICMPv6 that is
    ///   not known to be none;
    /// - what is for many or comes from no single host, in either layer: the
    ///   exception for multicast [RFC4443 s2.4] is not made, because one
    ///   packet would get many answers;
    /// - a fragment that is not the first [RFC1122 s3.2.2];
    /// - IPv4 that may be fragmented: a router would do it, a wire does not;
    /// - IPv6 where `mtu` is below 1280 octets, which no host would believe.
    pub fn to(frame: &'a [u8], mtu: u32) -> Option<Self> {
        let offending = Offending::read(frame)?;
        let larger = u32::try_from(offending.packet.len()).is_ok_and(|length| length > mtu);
        let heeded = match offending.ip {
            IpVersion::V4 => u16::try_from(mtu).is_ok(),
            IpVersion::V6 => mtu >= ipv6::SMALLEST_MTU,
        };
        (larger && heeded).then_some(Self { offending, mtu })
    }

    /// Octets that [`Self::emit`] writes: a frame without FCS.
    pub fn buffer_len(&self) -> usize {
        self.offending.link_header.len() + self.headers() + self.quoted().len()
    }

    /// Writes the frame that goes back, with checksums, to the first
    /// [`Self::buffer_len`] of `octets`. A VLAN tag is kept.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        let octets = demand_mut(octets, self.buffer_len())?;
        octets.fill(0);
        let (link_header, packet) = octets.split_at_mut(self.offending.link_header.len());
        link_header.copy_from_slice(self.offending.link_header);
        let [to, from] = ethernet::Header::of(&link_header).addresses()?;
        ethernet::Header::of(link_header).set_addresses([from, to])?;
        match self.offending.ip {
            IpVersion::V4 => self.emit_v4(packet),
            IpVersion::V6 => self.emit_v6(packet),
        }
        Ok(())
    }

    /// Writes to a packet of the right length that is zero so far.
    fn emit_v4(&self, packet: &mut [u8]) {
        let length = u16::try_from(packet.len()).unwrap_or(u16::MAX);
        let (header, message) = packet.split_at_mut(ipv4::HEADER_LEN);
        header[ipv4::VERSION] = ipv4::PLAIN;
        header[ipv4::TYPE_OF_SERVICE] = ipv4::CONTROL;
        put(header, ipv4::TOTAL_LENGTH, length);
        put(header, ipv4::FRAGMENT, ipv4::DO_NOT_FRAGMENT);
        header[ipv4::TIME_TO_LIVE] = HOP_LIMIT;
        header[ipv4::PROTOCOL] = icmp::PROTOCOL_V4;
        header[ipv4::SOURCE..][..4].copy_from_slice(self.offending.destination);
        header[ipv4::DESTINATION..][..4].copy_from_slice(self.offending.source);
        let sum = Checksum::default().add(header).finish();
        put(header, ipv4::CHECKSUM, sum);
        message[icmp::TYPE] = fragmentation_needed::TYPE;
        message[icmp::CODE] = fragmentation_needed::CODE;
        let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
        put(message, fragmentation_needed::NEXT_HOP_MTU, mtu);
        message[icmp::HEADER_LEN..].copy_from_slice(self.quoted());
        let sum = Checksum::default().add(message).finish();
        put(message, icmp::CHECKSUM, sum);
    }

    /// Likewise.
    fn emit_v6(&self, packet: &mut [u8]) {
        let (header, message) = packet.split_at_mut(ipv6::HEADER_LEN);
        let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
        header[ipv6::VERSION] = ipv6::VERSION_6;
        put(header, ipv6::PAYLOAD_LENGTH, length);
        header[ipv6::NEXT_HEADER] = icmp::PROTOCOL_V6;
        header[ipv6::HOP_LIMIT] = HOP_LIMIT;
        header[ipv6::SOURCE..][..16].copy_from_slice(self.offending.destination);
        header[ipv6::DESTINATION..][..16].copy_from_slice(self.offending.source);
        message[icmp::TYPE] = packet_too_big::TYPE;
        message[packet_too_big::MTU..][..4].copy_from_slice(&self.mtu.to_be_bytes());
        message[icmp::HEADER_LEN..].copy_from_slice(self.quoted());
        // The pseudo-header: addresses, length, protocol [RFC8200 s8.1].
        let sum = Checksum::default()
            .add(&header[ipv6::SOURCE..])
            .add(&u32::from(length).to_be_bytes())
            .add(&[0, 0, 0, icmp::PROTOCOL_V6])
            .add(message)
            .finish();
        put(message, icmp::CHECKSUM, sum);
    }

    /// Octets of the answer's IP and ICMP headers.
    fn headers(&self) -> usize {
        icmp::HEADER_LEN
            + match self.offending.ip {
                IpVersion::V4 => ipv4::HEADER_LEN,
                IpVersion::V6 => ipv6::HEADER_LEN,
            }
    }

    /// As much of the offending packet as the answer has room for.
    fn quoted(&self) -> &'a [u8] {
        let largest = match self.offending.ip {
            IpVersion::V4 => LARGEST_V4,
            IpVersion::V6 => LARGEST_V6,
        };
        let packet = self.offending.packet;
        &packet[..packet.len().min(largest - self.headers())]
    }
}

/// Writes a 16-bit number; the caller knows that there is room.
fn put(octets: &mut [u8], at: usize, number: u16) {
    octets[at..][..2].copy_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests;
