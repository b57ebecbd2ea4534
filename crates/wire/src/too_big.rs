//! That a packet was too big: Packet Too Big [RFC4443 s3.2] and Destination
//! Unreachable, fragmentation needed [RFC1191 s4].
//!
//! What stands between two hosts and carries only smaller packets says so in
//! these, with the packet's own destination as their source: a wire has no
//! address, and hosts look at the packet that is quoted, not at who quotes it
//! [RFC8201 s4].

mod offending;

use core::net::{Ipv4Addr, Ipv6Addr};

use units::IpVersion;

use crate::Error;
use crate::octets::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{ethernet, icmp, icmpv4, icmpv6, ipv4, ipv6};
use offending::Offending;

/// The largest answer: no link carries less IPv6 [RFC4443 s3.2], and every host
/// takes so much IPv4 [RFC1812 s4.3.2.3].
const LARGEST_V6: usize = 1280;
const LARGEST_V4: usize = 576;

/// The octet of service of internetwork control, as errors are sent
/// [RFC1812 s4.3.2.5].
const CONTROL: u8 = 0xc0;

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
        let heeded = match offending.addresses.version() {
            IpVersion::V4 => u16::try_from(mtu).is_ok(),
            // No node believes that a link carries less [RFC8201 s4].
            IpVersion::V6 => mtu >= IpVersion::V6.smallest_mtu(),
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
        let (link_header, packet) = octets.split_at_mut(self.offending.link_header.len());
        link_header.copy_from_slice(self.offending.link_header);
        let [to, from] = ethernet::Header::of(&link_header).addresses()?;
        ethernet::Header::of(link_header).set_addresses([from, to])?;
        match self.offending.addresses {
            Addresses::V4(ends) => self.emit_v4(packet, ends),
            Addresses::V6(ends) => self.emit_v6(packet, ends),
        }
    }

    /// Writes the answer to `packet`, which has the right length. The addresses are
    /// those of the offending packet.
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

    /// Likewise.
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

    /// As much of the offending packet as the answer has room for.
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
