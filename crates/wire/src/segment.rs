//! Headers of a TCP segment with zeros as payload, for captures of simulated
//! connections.

use crate::Error;
use crate::bytes::demand_mut;
use crate::datagram::Datagram;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::tcp;

/// An IP packet with a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Destination and source of the Ethernet frame; `None`: no frame.
    pub ethernet: Option<[[u8; 6]; 2]>,
    /// Source and destination.
    pub addresses: Addresses,
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Service byte, with the bits of ECN [RFC3168 s5].
    pub service: u8,
    /// Identification of the IP packet [RFC791 s3.1].
    pub identification: u32,
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Sequence number of the next byte expected.
    pub acknowledgement: u32,
    /// Bits of [`tcp::flag`].
    pub flags: u8,
    /// Receive window: bytes that the other end may send.
    pub window: u16,
    /// The sender's timestamp, and the last one that it received.
    pub timestamps: Option<[u32; 2]>,
    /// SACK blocks: for each range received beyond the acknowledgement, its first
    /// sequence number and the first one behind it.
    pub blocks: &'a [[u32; 2]],
    /// Bytes of the header, options included. Options without room are left out;
    /// unused room is padded.
    pub header: u16,
    /// Bytes behind the header.
    pub payload: u16,
}

impl Segment<'_> {
    /// Bytes of the headers.
    pub const fn header_len(&self) -> usize {
        self.around().around_len() + self.header as usize
    }

    /// Bytes of the whole packet, zeros included, without an FCS.
    pub const fn packet_len(&self) -> usize {
        self.header_len() + self.payload as usize
    }

    /// The IP packet around the segment.
    const fn around(&self) -> Datagram {
        let whole = self.header.saturating_add(self.payload);
        Datagram {
            ethernet: self.ethernet,
            addresses: self.addresses,
            ports: self.ports,
            service: self.service,
            identification: self.identification,
            whole,
            offset: 0,
            length: whole,
            // TCP segments are never fragmented.
            dont_fragment: true,
        }
    }

    /// Writes the headers, with checksums, to the first [`Segment::header_len`] bytes
    /// of `bytes`.
    ///
    /// # Errors
    /// With fewer bytes, or if no TCP header has this length.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let data_offset = tcp::data_offset(self.header)?;
        let bytes = demand_mut(bytes, self.header_len())?;
        let around = self.around();
        let tcp = around.emit_around(bytes, number::TCP)?;
        let fields = tcp::Fields {
            ports: self.ports,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            data_offset,
            flags: self.flags,
            window: self.window,
        };
        tcp::option::fill(fields.emit(tcp)?, self.timestamps, self.blocks);
        let sum = around.pseudo_header(number::TCP).add(tcp).finish();
        tcp::Header::of(tcp).set_checksum(sum)
    }
}

#[cfg(test)]
mod tests {
    use core::net::{Ipv4Addr, Ipv6Addr};
    use std::vec;

    use super::*;
    use crate::Field;
    use crate::protocol::checksum::Checksum;
    use crate::protocol::tcp::flag;

    fn segment<'a>(blocks: &'a [[u32; 2]], header: u16) -> Segment<'a> {
        Segment {
            ethernet: None,
            addresses: Addresses::V4([1, 2].map(|end| Ipv4Addr::new(198, 18, 0, end))),
            ports: [50_000, 50_001],
            service: 0,
            identification: 7,
            sequence: 0x0102_0304,
            acknowledgement: 9,
            flags: flag::ACK,
            window: 65_535,
            timestamps: None,
            blocks,
            header,
            payload: 0,
        }
    }

    fn emitted(segment: &Segment<'_>) -> std::vec::Vec<u8> {
        let mut bytes = vec![0xee; segment.header_len()];
        segment.emit(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_segment_has_its_fields_and_a_checksum_that_holds() {
        let data = Segment {
            payload: 1_000,
            ..segment(&[], 20)
        };
        let bytes = emitted(&data);
        assert_eq!((bytes.len(), data.packet_len()), (40, 1_040));
        assert_eq!(bytes[9], 6);
        assert_eq!(bytes[20..28], [0xc3, 0x50, 0xc3, 0x51, 1, 2, 3, 4]);
        assert_eq!(bytes[32..36], [0x50, flag::ACK, 0xff, 0xff]);
        let sum = Checksum::default()
            .add(&bytes[12..20])
            .add(&[0, 6])
            .add(&1_020_u16.to_be_bytes())
            .add(&bytes[20..]);
        assert_eq!(sum.finish(), 0);
    }

    #[test]
    fn options_fill_their_room_and_no_more() {
        let blocks = [[100, 200], [300, 400]];
        let full = Segment {
            timestamps: Some([5, 6]),
            ..segment(&blocks, 20 + 12 + 20)
        };
        let bytes = emitted(&full);
        assert_eq!(bytes[40..44], [1, 1, 8, 10]);
        assert_eq!(bytes[52..56], [1, 1, 5, 18]);
        assert_eq!(bytes[68..72], 400_u32.to_be_bytes());
        // There is room for one block only: two would need 20 bytes of options.
        let bytes = emitted(&segment(&blocks, 36));
        assert_eq!(bytes[40..48], [1, 1, 1, 1, 1, 1, 5, 10]);
        assert_eq!(bytes[52..56], 200_u32.to_be_bytes());
        let bytes = emitted(&segment(&blocks[..1], 28));
        assert_eq!(bytes[40..48], [1; 8]);
    }

    #[test]
    fn a_header_that_tcp_cannot_have_is_rejected() {
        for header in [16, 22, 64] {
            let wrong = segment(&[], header);
            let error = wrong.emit(&mut [0; 200]).unwrap_err();
            assert_eq!(error, Error::Malformed(Field::HeaderLength));
        }
        let ipv6 = Segment {
            addresses: Addresses::V6([Ipv6Addr::LOCALHOST; 2]),
            ..segment(&[], 20)
        };
        assert!(ipv6.emit(&mut [0; 59]).is_err());
        assert_eq!(emitted(&ipv6)[6], 6);
    }
}
