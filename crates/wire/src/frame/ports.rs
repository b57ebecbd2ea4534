//! The flow of a packet of TCP or UDP in a frame, and its place there.

use crate::ip_packet::IpPacket;
use crate::protocol::ip::number;
use crate::protocol::{tcp, udp, vlan};

/// The header fields that name the flow of a TCP or UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Of TCP the sequence number and the bytes of payload [RFC9293 s3.1].
    pub segment: Option<(u32, u32)>,
}

impl Ports {
    /// The headers in an Ethernet frame with at most one VLAN tag. `None` for other
    /// packets, and for later fragments, which have no ports.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let (_, ip) = vlan::inside(frame, 1).ok()?;
        Self::of_packet(frame.get(ip..)?)
    }

    /// The headers of an IP packet; `None` as for [`Ports::of`].
    pub fn of_packet(packet: &[u8]) -> Option<Self> {
        let packet = IpPacket::parse(packet).ok()?;
        if packet.fragment.is_some_and(|place| place.offset > 0) {
            return None;
        }
        match packet.protocol {
            number::TCP => {
                let header = tcp::Header::of(packet.payload);
                let length = header.header_len().ok()?;
                let payload = packet.payload.len().checked_sub(length)?;
                let segment = (header.sequence().ok()?, u32::try_from(payload).ok()?);
                Some(Self {
                    ports: [header.source_port().ok()?, header.destination_port().ok()?],
                    segment: Some(segment),
                })
            }
            number::UDP => {
                let header = udp::Header::of(packet.payload);
                Some(Self {
                    ports: [header.source_port().ok()?, header.destination_port().ok()?],
                    segment: None,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;
    use std::vec;

    use super::*;
    use crate::protocol::ip::Addresses;
    use crate::protocol::tcp::flag;
    use crate::segment::Segment;

    fn segment(payload: u16) -> Segment<'static> {
        Segment {
            ethernet: Some([[2; 6], [4; 6]]),
            addresses: Addresses::V4([1, 2].map(|end| Ipv4Addr::new(198, 18, 0, end))),
            ports: [50_000, 20_001],
            service: 0,
            identification: 7,
            sequence: 0x0102_0304,
            acknowledgement: 9,
            flags: flag::ACK,
            window: 65_535,
            timestamps: Some([1, 2]),
            blocks: &[],
            header: 32,
            payload,
        }
    }

    #[test]
    fn a_segment_has_its_place_and_padding_is_no_payload() {
        for payload in [0, 6, 1_448] {
            let segment = segment(payload);
            // A frame has 60 bytes at least [IEEE802.3 s3.2.7].
            let length = segment.packet_len().max(60) + 4;
            let mut frame = vec![0; length];
            segment.emit(&mut frame).unwrap();
            let seen = Ports::of(&frame).unwrap();
            assert_eq!(seen.ports, [50_000, 20_001]);
            assert_eq!(seen.segment, Some((0x0102_0304, payload.into())));
            for cut in 0..segment.header_len() {
                assert_eq!(Ports::of(&frame[..cut]), None, "{cut}");
            }
        }
    }

    #[test]
    fn a_datagram_has_ports_and_a_later_fragment_has_none() {
        let mut frame = vec![0; segment(0).packet_len()];
        segment(0).emit(&mut frame).unwrap();
        frame[14 + 9] = number::UDP;
        let seen = Ports::of(&frame).unwrap();
        assert_eq!((seen.ports, seen.segment), ([50_000, 20_001], None));
        frame[14 + 7] = 1;
        assert_eq!(Ports::of(&frame), None);
        assert_eq!(Ports::of(&[0; 60]), None);
    }
}
