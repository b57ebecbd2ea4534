//! UDP in one IPv6 packet of any length that the protocol has: up to 65 535
//! octets behind the IPv6 header as ever, above that with the Jumbo Payload
//! option [RFC2675].
//!
//! [`Head`] reads what stands in front of the upper layer and says with a
//! [`Fault`] why a packet is none, and of what its sender is notified; only heads are
//! read, so that a packet of 4 GiB is as easy as one of 100 octets.

mod fault;
#[cfg(test)]
mod fuzz;
mod head;
#[cfg(test)]
mod tests;

use core::net::Ipv6Addr;

use crate::Error;
use crate::octets::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::ipv6::option;
use crate::protocol::{ipv6, udp};
pub use fault::{Answer, Fault};
pub use head::{Head, Udp};

/// The most octets that a packet has behind its IPv6 header without the option
/// [RFC8200 s3].
pub const LARGEST_ORDINARY: u32 = 65_535;

/// Octets of the IPv6 header, of the UDP header, and of a hop-by-hop header with
/// nothing but the Jumbo Payload option [RFC2675 s2].
const IPV6: u32 = place(ipv6::HEADER_LEN);
const UDP: u32 = place(udp::HEADER_LEN);
const OPTIONS: u32 = place(option::JUMBO_HEADER_LEN);

/// An offset in headers, in 32 bits as lengths of jumbograms are.
#[expect(clippy::cast_possible_truncation, reason = "no header is so long")]
const fn place(octets: usize) -> u32 {
    octets as u32
}

/// Offsets in a jumbogram as [`Packet::emit`] writes it.
pub mod at {
    use crate::protocol::ipv6::{HEADER_LEN, extension, field, option};
    use crate::protocol::udp;

    /// The payload length of the IPv6 header.
    pub const LENGTH: usize = field::PAYLOAD_LENGTH;
    /// The number of what follows the IPv6 header.
    pub const NEXT: usize = field::NEXT_HEADER;
    /// The hop-by-hop header.
    pub const OPTIONS: usize = HEADER_LEN;
    /// The Jumbo Payload option in it.
    pub const OPTION: usize = OPTIONS + extension::START;
    /// The length that the option says.
    pub const JUMBO_LENGTH: usize = OPTION + option::field::DATA;
    /// The UDP header.
    pub const UDP: usize = OPTIONS + option::JUMBO_HEADER_LEN;
    /// Its length.
    pub const UDP_LENGTH: usize = UDP + udp::field::LENGTH;
    /// Its checksum.
    pub const CHECKSUM: usize = UDP + udp::field::CHECKSUM;
}

/// A UDP datagram in one IPv6 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Source and destination.
    pub addresses: [Ipv6Addr; 2],
    /// Source and destination port [RFC768].
    pub ports: [u16; 2],
    /// Octets behind the UDP header.
    pub payload: u32,
}

/// The sum of a payload, which its checksum needs. Every piece but the last has
/// an even number of octets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(Checksum);

impl Sum {
    /// With `octets` behind the pieces before.
    #[must_use]
    pub fn with(self, octets: &[u8]) -> Self {
        Self(self.0.add(octets))
    }
}

impl Packet {
    /// The most octets of a payload: the option counts the headers behind the
    /// IPv6 header too, in 32 bits [RFC2675 s2].
    pub const LARGEST: u32 = u32::MAX - OPTIONS - UDP;

    /// Whether it needs the Jumbo Payload option.
    pub const fn is_jumbogram(&self) -> bool {
        self.payload > LARGEST_ORDINARY - UDP
    }

    /// Octets of its headers: 48, or 56 of a jumbogram.
    pub const fn head_len(&self) -> usize {
        match self.is_jumbogram() {
            true => ipv6::HEADER_LEN + option::JUMBO_HEADER_LEN + udp::HEADER_LEN,
            false => ipv6::HEADER_LEN + udp::HEADER_LEN,
        }
    }

    /// Octets of all of it.
    pub const fn packet_len(&self) -> u64 {
        self.head_len() as u64 + self.payload as u64
    }

    /// Writes its headers to the first [`Packet::head_len`] octets of `octets`;
    /// `payload` is the sum of what follows them.
    ///
    /// # Errors
    /// Where there are fewer octets, and where the payload is larger than
    /// [`Packet::LARGEST`].
    pub fn emit(&self, payload: Sum, octets: &mut [u8]) -> Result<(), Error> {
        if self.payload > Self::LARGEST {
            return Err(Error::Malformed(crate::Field::Length));
        }
        let octets = demand_mut(octets, self.head_len())?;
        let length = self.payload + UDP;
        // Too long for its own field, it is 0 there [RFC2675 s4].
        let written = u16::try_from(length).unwrap_or(0);
        let ip = ipv6::Fields {
            traffic_class: 0,
            payload_length: written,
            next_header: match self.is_jumbogram() {
                true => number::HOP_BY_HOP,
                false => number::UDP,
            },
            addresses: self.addresses,
        };
        let behind = ip.emit(octets)?;
        let udp = match self.is_jumbogram() {
            false => behind,
            true => {
                let option = option::JumboPayload {
                    next_header: number::UDP,
                    length: length + OPTIONS,
                };
                option.emit(behind)?
            }
        };
        let fields = udp::Fields {
            ports: self.ports,
            length: written,
        };
        fields.emit(udp)?;
        // Its headers are even, so the payload's sum may be added as it is.
        let sum = self.pseudo_header().add(udp).and(payload.0).finish();
        udp::Header::of(udp).set_checksum(sum)
    }

    /// Whether the checksum `udp` holds over a payload of this sum: with the
    /// true length, whatever its own field says [RFC2675 s4].
    pub fn holds(&self, udp: [u8; udp::HEADER_LEN], payload: Sum) -> bool {
        let sum = self.pseudo_header().add(&udp).and(payload.0).finish();
        sum == 0 && udp::Header::of(udp).checksum() != Ok(0)
    }

    /// What the checksum covers besides the datagram: the length is the true
    /// one, in 32 bits [RFC8200 s8.1] [RFC2675 s4].
    fn pseudo_header(&self) -> Checksum {
        let length = self.payload.saturating_add(UDP);
        Addresses::V6(self.addresses).pseudo_header(number::UDP, length)
    }
}
