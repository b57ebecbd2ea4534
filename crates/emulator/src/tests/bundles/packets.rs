//! The same bundle as a frame of bytes and as one of simulated packets.

use core::net::{Ipv4Addr, Ipv6Addr};

use os::frames::{Frame, Pool};
use proptest::prelude::*;
use queue::{Bundle, Encapsulation, Packet, Tick};
use units::{Bytes, Span};
use wire::bundle::{Carried, Packing, Piece, Unit};
use wire::protocol::ethernet::HEADER_LEN as MAC_HEADER;
use wire::protocol::ip::Addresses;

use crate::tests::{Arrival, HEADER, Header, arrival, bytes, header};

/// Bytes of addresses and EtherType of a frame, and its FCS [IEEE802.3 s3.1.1].
const FRAMING: Bytes = Bytes::new(18);

/// The arrival of a bundle.
#[derive(Clone, Debug)]
pub(super) struct Aggregated {
    /// Its packets; the gap of the first is the time since the previous frame.
    pub(super) packets: Vec<Arrival>,
    pub(super) encapsulation: usize,
}

pub(super) fn aggregated() -> impl Strategy<Value = Vec<Aggregated>> {
    let one = (prop::collection::vec(arrival(60..1_500), 1..9), 0usize..4);
    let one = one.prop_map(|(packets, encapsulation)| Aggregated {
        packets,
        encapsulation,
    });
    prop::collection::vec(one, 1..80)
}

/// The encapsulation of a bundle, with the service byte of its first packet.
fn encapsulation(kind: usize, service: u8) -> wire::bundle::Encapsulation {
    let addresses = match kind % 2 {
        0 => Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]),
        _ => Addresses::V6([1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end))),
    };
    match kind / 2 {
        0 => wire::bundle::Encapsulation::Ip { addresses, service },
        _ => wire::bundle::Encapsulation::Udp {
            addresses,
            service,
            port: 49_152,
        },
    }
}

/// The frame with its packets; the first has the number `first`.
pub(super) fn frame(aggregated: &Aggregated, first: u32, pool: &Pool) -> Frame {
    let frames: Vec<Vec<u8>> = (first..)
        .zip(&aggregated.packets)
        .map(|(number, packet)| bytes(*packet, number))
        .collect();
    if let [bare] = &frames[..] {
        return pool.keep(bare, None);
    }
    let pieces: Vec<Piece<'_>> = frames
        .iter()
        .map(|frame| Piece {
            bytes: &frame[HEADER + MAC_HEADER..],
            waited: 0,
        })
        .collect();
    let packing = Packing {
        encapsulation: encapsulation(aggregated.encapsulation, aggregated.packets[0].service),
        begins_within: false,
        ends_within: false,
        unit: Unit::Microsecond,
        sequence: 0,
    };
    let total = pieces.iter().map(|piece| piece.bytes.len()).sum();
    let around = HEADER + MAC_HEADER;
    let mut bytes = vec![0; around + packing.packet_len(pieces.len(), total)];
    bytes[around - 2..around].copy_from_slice(match aggregated.encapsulation % 2 {
        0 => &[0x08, 0x00],
        _ => &[0x86, 0xdd],
    });
    packing.emit(&pieces, &mut bytes[around..]).unwrap();
    pool.keep(&bytes, None)
}

/// The corresponding simulated bundle.
pub(super) fn headers(aggregated: &Aggregated, first: u32, pool: &Pool) -> Bundle<Header> {
    let cost = Packing {
        encapsulation: encapsulation(aggregated.encapsulation, 0),
        begins_within: false,
        ends_within: false,
        unit: Unit::Microsecond,
        sequence: 0,
    };
    let packets = (first..).zip(&aggregated.packets);
    let packets = packets.map(|(number, packet)| (header(*packet, number), Span::ZERO));
    let encapsulation = Encapsulation {
        header: Bytes::new(cost.packet_len(0, 0) as u64),
        entry: Bytes::new(wire::bundle::ENTRY_LEN as u64),
        framing: FRAMING,
    };
    let flow = frame(aggregated, first, pool).view().flow;
    Bundle::pack(packets, encapsulation, Tick::Micro, Some(flow)).unwrap()
}

/// The numbers of the packets left in `frame`, and their marks, as a receiver of its
/// bytes finds them.
pub(super) fn inside(frame: &Frame) -> Vec<(u32, bool)> {
    let sent = frame.pieces().concat();
    let summary = |packet: &[u8]| {
        let number = u32::from_be_bytes(packet[28..32].try_into().unwrap());
        (number, packet[1] & 0b11 == 0b11)
    };
    match Carried::parse_frame(&sent[HEADER..]) {
        Ok(bundle) => {
            assert!(bundle.checksum_holds());
            bundle.packets().map(|inner| summary(inner.bytes)).collect()
        }
        Err(_) => vec![summary(&sent[HEADER + MAC_HEADER..])],
    }
}

/// The same for simulated packets, marked on arrival or since.
pub(super) fn among(bundle: &Bundle<Header>, services: &[u8]) -> Vec<(u32, bool)> {
    let living = bundle.entries().iter().filter_map(|entry| entry.packet());
    living
        .map(|header| {
            let before = services[header.number as usize] & 0b11 == 0b11;
            (header.number, header.marked || before)
        })
        .collect()
}

/// The number of each frame's first packet.
pub(super) fn firsts(aggregated: &[Aggregated]) -> Vec<u32> {
    let mut next = 0;
    let count = |aggregated: &Aggregated| {
        let first = next;
        next += u32::try_from(aggregated.packets.len()).unwrap();
        first
    };
    aggregated.iter().map(count).collect()
}

pub(super) fn services(aggregated: &[Aggregated]) -> Vec<u8> {
    let packets = aggregated.iter().flat_map(|aggregated| &aggregated.packets);
    packets.map(|packet| packet.service).collect()
}
