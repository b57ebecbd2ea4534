//! UDP in one IPv6 packet of any length that the protocol has: up to 65 535
//! octets behind the IPv6 header as ever, above that with the Jumbo Payload
//! option [RFC2675].
//!
//! [`Head`] reads what stands in front of the upper layer and says with a
//! [`Fault`] why a packet is none, and what its sender is told; only heads are
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
use crate::protocol::ip::HOP_LIMIT;
use crate::protocol::udp;
pub use fault::{Answer, Fault};
pub use head::{Head, Udp};

/// Numbers of what follows a header [RFC8200 s4] [RFC768].
pub(crate) mod number {
    pub(crate) const HOP_BY_HOP: u8 = 0;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    pub(crate) const DESTINATION: u8 = 60;
}

/// Octets of the IPv6 header, of a hop-by-hop header with nothing but the Jumbo
/// Payload option [RFC2675 s2], and of the UDP header.
pub(crate) const IPV6: usize = 40;
const OPTIONS: usize = 8;

/// The type of the Jumbo Payload option, and the length of its data [RFC2675 s2].
pub(crate) const JUMBO: u8 = 0xc2;
pub(crate) const JUMBO_LENGTH: u8 = 4;

/// The most octets that a packet has behind its IPv6 header without the option
/// [RFC8200 s3].
pub const LARGEST_ORDINARY: u32 = 65_535;

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
    pub const LARGEST: u32 = u32::MAX - 16;

    /// Whether it needs the Jumbo Payload option.
    pub const fn is_jumbogram(&self) -> bool {
        self.payload > LARGEST_ORDINARY - 8
    }

    /// Octets of its headers: 48, or 56 of a jumbogram.
    pub const fn head_len(&self) -> usize {
        match self.is_jumbogram() {
            true => IPV6 + OPTIONS + udp::HEADER_LEN,
            false => IPV6 + udp::HEADER_LEN,
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
        octets.fill(0);
        let (ip, rest) = octets.split_at_mut(IPV6);
        ip[0] = 0x60;
        ip[7] = HOP_LIMIT;
        ip[8..24].copy_from_slice(&self.addresses[0].octets());
        ip[24..].copy_from_slice(&self.addresses[1].octets());
        let length = self.payload + 8;
        // Too long for its own field, it is 0 there [RFC2675 s4].
        let written = u16::try_from(length).unwrap_or(0);
        let udp = match self.is_jumbogram() {
            false => {
                ip[4..6].copy_from_slice(&written.to_be_bytes());
                ip[6] = number::UDP;
                rest
            }
            true => {
                ip[6] = number::HOP_BY_HOP;
                let (options, udp) = rest.split_at_mut(OPTIONS);
                options[0] = number::UDP;
                options[2] = JUMBO;
                options[3] = JUMBO_LENGTH;
                options[4..].copy_from_slice(&(length + 8).to_be_bytes());
                udp
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
        let length = self.payload.saturating_add(8);
        Checksum::default()
            .add(&self.addresses[0].octets())
            .add(&self.addresses[1].octets())
            .add(&length.to_be_bytes())
            .add(&[0, 0, 0, number::UDP])
    }
}
