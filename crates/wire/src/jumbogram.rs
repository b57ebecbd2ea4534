//! UDP in one IPv6 packet of any length: ordinary packets up to 65 535 bytes behind
//! the IPv6 header, jumbograms with the Jumbo Payload option above that [RFC2675].
//!
//! [`Head`] reads the headers in front of the upper layer. A [`Fault`] states why a
//! packet is rejected, and the error message that its sender gets. Only headers are
//! read, so a packet of 4 GiB costs no more than one of 100 bytes.

mod fault;
#[cfg(test)]
mod fuzz;
mod head;
#[cfg(test)]
mod tests;

use core::net::Ipv6Addr;

use crate::Error;
use crate::bytes::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::ipv6::option;
use crate::protocol::{ipv6, udp};
pub use fault::{Answer, Fault};
pub use head::{Head, Udp};

/// The largest payload length of a packet without the option, in bytes behind the IPv6
/// header [RFC8200 s3].
pub const LARGEST_ORDINARY: u32 = 65_535;

/// Bytes of the IPv6 header, of the UDP header, and of a Hop-by-Hop Options header
/// with the Jumbo Payload option alone [RFC2675 s2].
const IPV6: u32 = place(ipv6::HEADER_LEN);
const UDP: u32 = place(udp::HEADER_LEN);
const OPTIONS: u32 = place(option::JUMBO_HEADER_LEN);

/// An offset in headers, in 32 bits like lengths of jumbograms.
#[expect(clippy::cast_possible_truncation, reason = "no header is so long")]
const fn place(bytes: usize) -> u32 {
    bytes as u32
}

/// Offsets in a jumbogram as [`Packet::emit`] writes it.
pub mod at {
    use crate::protocol::ipv6::{HEADER_LEN, extension, field, option};
    use crate::protocol::udp;

    /// The payload length of the IPv6 header.
    pub const LENGTH: usize = field::PAYLOAD_LENGTH;
    /// The next header of the IPv6 header.
    pub const NEXT: usize = field::NEXT_HEADER;
    /// The Hop-by-Hop Options header.
    pub const OPTIONS: usize = HEADER_LEN;
    /// The Jumbo Payload option.
    pub const OPTION: usize = OPTIONS + extension::START;
    /// The length in the option.
    pub const JUMBO_LENGTH: usize = OPTION + option::field::DATA;
    /// The UDP header.
    pub const UDP: usize = OPTIONS + option::JUMBO_HEADER_LEN;
    /// The length of the UDP header.
    pub const UDP_LENGTH: usize = UDP + udp::field::LENGTH;
    /// The checksum of the UDP header.
    pub const CHECKSUM: usize = UDP + udp::field::CHECKSUM;
}

/// A UDP datagram in one IPv6 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Source and destination.
    pub addresses: [Ipv6Addr; 2],
    /// Source and destination port [RFC768].
    pub ports: [u16; 2],
    /// Bytes behind the UDP header.
    pub payload: u32,
}

/// The sum of a payload, for its checksum. Every piece but the last has an even number
/// of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(Checksum);

impl Sum {
    /// Adds `bytes`, which follow the pieces so far.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        Self(self.0.add(bytes))
    }
}

impl Packet {
    /// The largest payload. The option counts the bytes behind the IPv6 header,
    /// further headers included, in 32 bits [RFC2675 s2].
    pub const LARGEST: u32 = u32::MAX - OPTIONS - UDP;

    /// Whether the packet needs the Jumbo Payload option.
    pub const fn is_jumbogram(&self) -> bool {
        self.payload > LARGEST_ORDINARY - UDP
    }

    /// Bytes of the headers: 48, or 56 for a jumbogram.
    pub const fn head_len(&self) -> usize {
        match self.is_jumbogram() {
            true => ipv6::HEADER_LEN + option::JUMBO_HEADER_LEN + udp::HEADER_LEN,
            false => ipv6::HEADER_LEN + udp::HEADER_LEN,
        }
    }

    /// Bytes of the whole packet.
    pub const fn packet_len(&self) -> u64 {
        self.head_len() as u64 + self.payload as u64
    }

    /// Writes the headers to the first [`Packet::head_len`] bytes of `bytes`;
    /// `payload` is the sum of the bytes that follow them.
    ///
    /// # Errors
    /// With fewer bytes, and with a payload larger than [`Packet::LARGEST`].
    pub fn emit(&self, payload: Sum, bytes: &mut [u8]) -> Result<(), Error> {
        if self.payload > Self::LARGEST {
            return Err(Error::Malformed(crate::Field::Length));
        }
        let bytes = demand_mut(bytes, self.head_len())?;
        let length = self.payload + UDP;
        // A length that does not fit the field is written as 0 [RFC2675 s4].
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
        let behind = ip.emit(bytes)?;
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
        // The headers have an even number of bytes, so the payload's sum may be added
        // as it is.
        let sum = self.pseudo_header().add(udp).and(payload.0).finish();
        udp::Header::of(udp).set_checksum(sum)
    }

    /// Whether the checksum of the header `udp` holds over a payload with this sum. The
    /// true length counts, whatever the header's length field contains [RFC2675 s4].
    pub fn holds(&self, udp: [u8; udp::HEADER_LEN], payload: Sum) -> bool {
        let sum = self.pseudo_header().add(&udp).and(payload.0).finish();
        sum == 0 && udp::Header::of(udp).checksum() != Ok(0)
    }

    /// The sum of the pseudo-header, with the true length in 32 bits [RFC8200 s8.1]
    /// [RFC2675 s4].
    fn pseudo_header(&self) -> Checksum {
        let length = self.payload.saturating_add(UDP);
        Addresses::V6(self.addresses).pseudo_header(number::UDP, length)
    }
}
