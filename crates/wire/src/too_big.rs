//! Error messages about packets that exceed the MTU: Packet Too Big [RFC4443 s3.2] and
//! Destination Unreachable, fragmentation needed [RFC1191 s4].
//!
//! A link between two hosts sends them with the packet's destination as their source,
//! because a wire has no address. Hosts check the quoted packet, not the source of the
//! message [RFC8201 s4].

mod offending;

use core::net::{Ipv4Addr, Ipv6Addr};

use units::IpVersion;

use crate::Error;
use crate::octets::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{ethernet, icmp, icmpv4, icmpv6, ipv4, ipv6};
use offending::Offending;

/// The largest answers: every link carries IPv6 packets of this size [RFC4443 s3.2],
/// and every host accepts IPv4 packets of this size [RFC1812 s4.3.2.3].
const LARGEST_V6: usize = 1280;
const LARGEST_V4: usize = 576;

/// The service octet of internetwork control, which ICMP errors carry
/// [RFC1812 s4.3.2.5].
const CONTROL: u8 = 0xc0;

/// The answer to a packet that exceeds the MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig<'a> {
    offending: Offending<'a>,
    mtu: u32,
}

impl<'a> TooBig<'a> {
    /// The answer to the packet in the Ethernet frame `frame` (without FCS) from a link
    /// that carries IP packets of `mtu` octets. `None` if no answer is allowed or
    /// possible:
    ///
    /// - the frame holds no whole IP packet, or one of at most `mtu` octets;
    /// - an ICMP error [RFC4443 s2.4] [RFC1122 s3.2.2], or ICMPv6 that may be one;
    /// - a packet to a group or from an address that is no single host's, in either
    ///   layer; the exception for multicast [RFC4443 s2.4] is not made, because one
    ///   packet would cause many answers;
    /// - a fragment other than the first [RFC1122 s3.2.2];
    /// - IPv4 that may be fragmented: a router would fragment it, a wire does not;
    /// - IPv6 if `mtu` is below 1280 octets, which hosts ignore.
    pub fn to(frame: &'a [u8], mtu: u32) -> Option<Self> {
        let offending = Offending::read(frame)?;
        let larger = u32::try_from(offending.packet.len()).is_ok_and(|length| length > mtu);
        let heeded = match offending.addresses.version() {
            IpVersion::V4 => u16::try_from(mtu).is_ok(),
            // Hosts ignore smaller values [RFC8201 s4].
            IpVersion::V6 => mtu >= IpVersion::V6.smallest_mtu(),
        };
        (larger && heeded).then_some(Self { offending, mtu })
    }

    /// Octets that [`Self::emit`] writes: a frame without FCS.
    pub fn buffer_len(&self) -> usize {
        self.offending.link_header.len() + self.headers() + self.quoted().len()
    }

    /// Writes the frame to send back, with checksums, to the first [`Self::buffer_len`]
    /// of `octets`. It keeps a VLAN tag.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        let octets = demand_mut(octets, self.buffer_len())?;
        let (link_header, packet) = octets.split_at_mut(self.offending.link_header.len());
        link_header.copy_from_slice(self.offending.link_header);
        let [to, from] = ethernet::Header::of(&link_header).addresses()?;
        ethernet::Header::of(link_header).set_addresses([from, to])?;
        match self.offending.addresses {
            Addresses::V4(ends) => self.emit_v4(packet, ends),
            Addresses::V6(ends) => self.emit_v6(packet, ends),
        }
    }

    /// Writes the IPv4 answer to `packet`, which has the right length. The addresses
    /// are those of the offending packet.
    fn emit_v4(
        &self,
        packet: &mut [u8],
        [source, destination]: [Ipv4Addr; 2],
    ) -> Result<(), Error> {
        let fields = ipv4::Fields {
            service: CONTROL,
            total_length: u16::try_from(packet.len()).unwrap_or(u16::MAX),
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            offset: 0,
            protocol: number::ICMP,
            addresses: [destination, source],
        };
        let message = fields.emit(packet)?;
        let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
        let quote = icmpv4::fragmentation_needed(mtu).emit(message)?;
        quote.copy_from_slice(self.quoted());
        icmp::set_checksum(message, Checksum::default().add(message).finish())
    }

    /// Writes the IPv6 answer likewise.
    fn emit_v6(
        &self,
        packet: &mut [u8],
        [source, destination]: [Ipv6Addr; 2],
    ) -> Result<(), Error> {
        let length = packet.len().saturating_sub(ipv6::HEADER_LEN);
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        let addresses = [destination, source];
        let fields = ipv6::Fields {
            traffic_class: 0,
            payload_length: length,
            next_header: number::ICMPV6,
            addresses,
        };
        let message = fields.emit(packet)?;
        let quote = icmpv6::packet_too_big(self.mtu).emit(message)?;
        quote.copy_from_slice(self.quoted());
        let sum = Addresses::V6(addresses)
            .pseudo_header(number::ICMPV6, length.into())
            .add(message)
            .finish();
        icmp::set_checksum(message, sum)
    }

    /// Octets of the answer's IP and ICMP headers.
    const fn headers(&self) -> usize {
        self.offending.addresses.header_len() + icmp::HEADER_LEN
    }

    /// The part of the offending packet that the answer has room for.
    fn quoted(&self) -> &'a [u8] {
        let largest = match self.offending.addresses.version() {
            IpVersion::V4 => LARGEST_V4,
            IpVersion::V6 => LARGEST_V6,
        };
        let packet = self.offending.packet;
        &packet[..packet.len().min(largest - self.headers())]
    }
}

#[cfg(test)]
mod tests;
