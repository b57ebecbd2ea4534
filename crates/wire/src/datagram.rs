//! Headers of a UDP datagram with zeros as payload, or of a fragment of one, for
//! captures of simulated traffic.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::Error;
use crate::bytes::demand_mut;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::ipv6::extension;
use crate::protocol::{ethernet, ipv4, ipv6, udp};

/// An IP packet with a datagram of zeros, or with a fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Destination and source of the Ethernet frame; `None`: no frame.
    pub ethernet: Option<[[u8; 6]; 2]>,
    /// Source and destination.
    pub addresses: Addresses,
    /// Source and destination port [RFC768].
    pub ports: [u16; 2],
    /// Service byte (DSCP and ECN) [RFC2474 s3].
    pub service: u8,
    /// Identification, which all fragments of one datagram share.
    pub identification: u32,
    /// Bytes of the whole datagram, its UDP header included.
    pub whole: u16,
    /// Bytes of the datagram in front of this packet's part.
    pub offset: u16,
    /// Bytes of the datagram in this packet.
    pub length: u16,
    /// Whether routers must not fragment the packet; ignored over IPv6.
    pub dont_fragment: bool,
}

impl Datagram {
    /// A packet without a frame around it that carries a whole datagram of `length`
    /// bytes, its UDP header included, and may not be fragmented.
    pub const fn unfragmented(addresses: Addresses, ports: [u16; 2], length: u16) -> Self {
        Self {
            ethernet: None,
            addresses,
            ports,
            service: 0,
            identification: 0,
            whole: length,
            offset: 0,
            length,
            dont_fragment: true,
        }
    }

    /// Bytes of the headers.
    pub const fn header_len(&self) -> usize {
        let udp = if self.offset == 0 { udp::HEADER_LEN } else { 0 };
        self.around_len() + udp
    }

    /// Bytes in front of the payload of IP.
    pub(crate) const fn around_len(&self) -> usize {
        let around = if self.ethernet.is_some() {
            ethernet::HEADER_LEN
        } else {
            0
        };
        let fragment = match self.addresses {
            Addresses::V6(_) if self.is_fragment() => extension::FRAGMENT_LEN,
            _ => 0,
        };
        around + self.addresses.header_len() + fragment
    }

    /// Bytes of the whole packet, zeros included, without an FCS.
    pub const fn packet_len(&self) -> usize {
        let udp = if self.offset == 0 { udp::HEADER_LEN } else { 0 };
        self.header_len() - udp + self.length as usize
    }

    const fn is_fragment(&self) -> bool {
        self.length != self.whole
    }

    const fn more(&self) -> bool {
        self.offset + self.length < self.whole
    }

    /// Writes the headers, with checksums, to the first [`Datagram::header_len`] bytes
    /// of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer bytes.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, self.header_len())?;
        let udp = self.emit_around(bytes, number::UDP)?;
        if self.offset == 0 {
            let fields = udp::Fields {
                ports: self.ports,
                length: self.whole,
            };
            fields.emit(udp)?;
            // IPv4 allows UDP without a checksum, IPv6 does not [RFC768]
            // [RFC8200 s8.1]; the payload's zeros add nothing to it.
            if let Addresses::V6(_) = self.addresses {
                let sum = self.pseudo_header(number::UDP).add(udp).finish();
                udp::Header::of(udp).set_checksum(sum)?;
            }
        }
        Ok(())
    }

    /// The sum of the pseudo-header, which the checksum of the payload of IP covers too.
    pub(crate) fn pseudo_header(&self, protocol: u8) -> Checksum {
        let length = u32::from(self.whole);
        self.addresses.pseudo_header(protocol, length)
    }

    /// Writes the headers in front of the payload of IP. Returns the bytes behind
    /// them.
    pub(crate) fn emit_around<'a>(
        &self,
        bytes: &'a mut [u8],
        protocol: u8,
    ) -> Result<&'a mut [u8], Error> {
        let ip = match self.ethernet {
            None => bytes,
            Some(addresses) => {
                let kind = ethernet::ip_type(self.addresses.version());
                ethernet::Fields { addresses, kind }.emit(bytes)?
            }
        };
        match self.addresses {
            Addresses::V4(ends) => self.ipv4(ip, ends, protocol),
            Addresses::V6(ends) => self.ipv6(ip, ends, protocol),
        }
    }

    /// Bytes of a header of `header` bytes and this packet's part of the datagram.
    fn length_with(&self, header: usize) -> u16 {
        u16::try_from(header + usize::from(self.length)).unwrap_or(u16::MAX)
    }

    /// Writes the IPv4 header. Returns the bytes behind it.
    fn ipv4<'a>(
        &self,
        bytes: &'a mut [u8],
        addresses: [Ipv4Addr; 2],
        protocol: u8,
    ) -> Result<&'a mut [u8], Error> {
        let [_, _, upper, lower] = self.identification.to_be_bytes();
        let fields = ipv4::Fields {
            service: self.service,
            total_length: self.length_with(ipv4::HEADER_LEN),
            identification: u16::from_be_bytes([upper, lower]),
            dont_fragment: self.dont_fragment,
            more_fragments: self.more(),
            offset: self.offset,
            protocol,
            addresses,
        };
        fields.emit(bytes)
    }

    /// Writes the IPv6 header and, for a fragment, the Fragment header. Returns the
    /// bytes behind them.
    fn ipv6<'a>(
        &self,
        bytes: &'a mut [u8],
        addresses: [Ipv6Addr; 2],
        protocol: u8,
    ) -> Result<&'a mut [u8], Error> {
        let whole = ipv6::Fields {
            traffic_class: self.service,
            payload_length: self.length,
            next_header: protocol,
            addresses,
        };
        if !self.is_fragment() {
            return whole.emit(bytes);
        }
        let part = ipv6::Fields {
            payload_length: self.length_with(extension::FRAGMENT_LEN),
            next_header: number::FRAGMENT,
            ..whole
        };
        let fragment = extension::Fragment {
            next_header: protocol,
            offset: self.offset,
            more_fragments: self.more(),
            identification: self.identification,
        };
        fragment.emit(part.emit(bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    fn datagram() -> Datagram {
        Datagram {
            ethernet: Some([[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]]),
            addresses: Addresses::V6(
                [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end)),
            ),
            ports: [50_000, 50_001],
            service: 0xb8,
            identification: 0x0102_0304,
            whole: 1_460,
            offset: 0,
            length: 1_460,
            dont_fragment: true,
        }
    }

    #[test]
    fn a_whole_datagram_over_ipv6_has_its_headers_and_a_checksum_that_holds() {
        let datagram = datagram();
        assert_eq!((datagram.header_len(), datagram.packet_len()), (62, 1_514));
        let mut bytes = vec![0xee; 62];
        datagram.emit(&mut bytes).unwrap();
        assert_eq!(bytes[12..20], [0x86, 0xdd, 0x6b, 0x80, 0, 0, 0x05, 0xb4]);
        assert_eq!(bytes[20..22], [17, 64]);
        assert_eq!(bytes[54..60], [0xc3, 0x50, 0xc3, 0x51, 0x05, 0xb4]);
        let sum = Checksum::default()
            .add(&bytes[22..54])
            .add(&[0, 17, 0x05, 0xb4])
            .add(&bytes[54..62]);
        assert_eq!(sum.finish(), 0);
        assert!(datagram.emit(&mut bytes[..61]).is_err());
    }

    #[test]
    fn fragments_say_where_they_belong() {
        let second = Datagram {
            offset: 1_232,
            length: 228,
            ..datagram()
        };
        assert_eq!((second.header_len(), second.packet_len()), (62, 290));
        let mut bytes = vec![0; 62];
        second.emit(&mut bytes).unwrap();
        assert_eq!((bytes[20], bytes[54]), (44, 17));
        // 1232 bytes are 154 units of eight, three bits to the left.
        assert_eq!(bytes[56..58], 1_232_u16.to_be_bytes());
        let first = Datagram {
            length: 1_232,
            ..datagram()
        };
        assert_eq!(first.header_len(), 70);
        let mut bytes = vec![0; 70];
        first.emit(&mut bytes).unwrap();
        assert_eq!(bytes[56..62], [0, 1, 1, 2, 3, 4]);
        assert_eq!(bytes[62..64], [0xc3, 0x50]);
    }

    #[test]
    fn ipv4_sums_up_to_nothing_and_has_its_flags() {
        let datagram = Datagram {
            ethernet: None,
            addresses: Addresses::V4([1, 2].map(|end| Ipv4Addr::new(198, 18, 0, end))),
            offset: 1_456,
            length: 4,
            ..datagram()
        };
        assert_eq!((datagram.header_len(), datagram.packet_len()), (20, 24));
        let mut bytes = vec![0; 20];
        datagram.emit(&mut bytes).unwrap();
        assert_eq!(Checksum::default().add(&bytes).finish(), 0);
        assert_eq!(bytes[..8], [0x45, 0xb8, 0, 24, 3, 4, 0x40, 182]);
    }
}
