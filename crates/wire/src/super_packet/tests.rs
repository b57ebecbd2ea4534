use std::vec;
use std::vec::Vec;

use core::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;
use crate::datagram::Datagram;
use crate::protocol::ip::Addresses;
use crate::segment::Segment;

const PAYLOAD: usize = 5_000;

fn payload() -> Vec<u8> {
    (0..=250).cycle().take(PAYLOAD).collect()
}

fn addresses(six: bool) -> Addresses {
    let four = [1, 2].map(|end| Ipv4Addr::new(198, 18, 0, end));
    let ends = [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end));
    if six {
        Addresses::V6(ends)
    } else {
        Addresses::V4(four)
    }
}

/// A super-packet of TCP with wrong checksums, as a kernel leaves it, and the offset of
/// its segment.
fn tcp_packet(six: bool, flags: u8) -> (Vec<u8>, usize) {
    let segment = Segment {
        ethernet: None,
        addresses: addresses(six),
        ports: [50_000, 80],
        service: 2,
        identification: 0xffff,
        sequence: u32::MAX - 100,
        acknowledgement: 9,
        flags,
        window: 1_000,
        timestamps: Some([1, 2]),
        blocks: &[],
        header: 32,
        payload: 0,
    };
    let mut bytes = vec![0; segment.header_len()];
    segment.emit(&mut bytes).unwrap();
    let start = bytes.len() - 32;
    bytes.extend(payload());
    (bytes, start)
}

fn pieces(packet: &SuperPacket<'_>) -> Vec<Vec<u8>> {
    let piece = |number| {
        let mut room = vec![0; 9_000];
        let length = packet.emit(number, &mut room).unwrap();
        room.truncate(length);
        room
    };
    (0..packet.count()).map(piece).collect()
}

/// Whether the checksum of TCP or UDP in `piece` holds.
fn sum_holds(piece: &[u8], six: bool, start: usize, protocol: u8) -> bool {
    let version = if six { IpVersion::V6 } else { IpVersion::V4 };
    let behind = u32::try_from(piece.len() - start).unwrap();
    let sum = pseudo_header(ends(version, piece), protocol, behind);
    sum.add(&piece[start..]).finish() == 0
}

#[test]
fn the_segments_of_a_super_packet_are_those_that_a_kernel_sends() {
    for six in [false, true] {
        let flags = flag::ACK | flag::PSH | flag::FIN | flag::CWR;
        let (bytes, start) = tcp_packet(six, flags);
        let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, 1_448).unwrap();
        let pieces = pieces(&packet);
        assert_eq!(pieces.len(), 4);
        let mut back = Vec::new();
        for (number, piece) in (0_u16..).zip(&pieces) {
            assert!(sum_holds(piece, six, start, number::TCP), "{number}");
            let header = tcp::Header::of(&piece[start..]);
            let sequence = (u32::MAX - 100).wrapping_add(u32::from(number) * 1_448);
            assert_eq!(header.sequence(), Ok(sequence));
            let expected = match number {
                0 => flag::ACK | flag::CWR,
                3 => flag::ACK | flag::PSH | flag::FIN,
                _ => flag::ACK,
            };
            assert_eq!(header.flags(), Ok(expected));
            // The options of all segments are the same.
            assert_eq!(piece[start + 20..start + 32], bytes[start + 20..start + 32]);
            if six {
                let length = ipv6::Header::of(piece).payload_length().unwrap();
                assert_eq!(usize::from(length), piece.len() - 40);
            } else {
                let header = ipv4::Header::of(piece);
                assert_eq!(header.checksum_holds(), Ok(true));
                assert_eq!(usize::from(header.total_length().unwrap()), piece.len());
                let identification = 0xffff_u16.wrapping_add(number);
                assert_eq!(header.identification(), Ok(identification));
            }
            back.extend_from_slice(&piece[start + 32..]);
        }
        assert_eq!(back, payload());
    }
}

#[test]
fn the_datagrams_of_a_super_packet_have_their_own_lengths_and_checksums() {
    for six in [false, true] {
        let datagram = Datagram {
            ethernet: None,
            addresses: addresses(six),
            ports: [1_000, 2_000],
            service: 0,
            identification: 7,
            whole: 5_008,
            offset: 0,
            length: 5_008,
            dont_fragment: true,
        };
        let mut bytes = vec![0; datagram.header_len()];
        datagram.emit(&mut bytes).unwrap();
        let start = bytes.len() - udp::HEADER_LEN;
        bytes.extend(payload());
        let packet = SuperPacket::parse(&bytes, Transport::Udp, start, 1_200).unwrap();
        let pieces = pieces(&packet);
        assert_eq!(pieces.len(), 5);
        for piece in &pieces {
            assert!(sum_holds(piece, six, start, number::UDP));
            let length = udp::Header::of(&piece[start..]).length().unwrap();
            assert_eq!(usize::from(length), piece.len() - start);
        }
        let back: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| piece[start + 8..].to_vec())
            .collect();
        assert_eq!(back, payload());
    }
}

#[test]
fn a_jumbo_payload_option_is_in_no_piece() {
    let (plain, start) = tcp_packet(true, flag::ACK | flag::PSH);
    let mut bytes = plain.clone();
    // TCP follows; the length of 5032 bytes of TCP and 8 of this header.
    let header = [number::TCP, 0, 0xc2, 4, 0, 0, 0x13, 0xb0];
    bytes.splice(40..40, header);
    bytes[4..7].copy_from_slice(&[0, 0, number::HOP_BY_HOP]);
    let parsed = SuperPacket::parse(&bytes, Transport::Tcp, start + 8, 1_373).unwrap();
    let expected = SuperPacket::parse(&plain, Transport::Tcp, start, 1_373).unwrap();
    assert_eq!(pieces(&parsed), pieces(&expected));
    assert!(SuperPacket::parse(&bytes, Transport::Tcp, start, 1_373).is_err());
}

#[test]
fn super_packets_larger_than_their_length_field_counts_are_cut() {
    for six in [false, true] {
        let (mut bytes, start) = tcp_packet(six, flag::ACK);
        bytes.resize(start + 32 + 150_000, 0xa5);
        let length = if six { 4..6 } else { 2..4 };
        bytes[length].fill(0);
        let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, 7_000).unwrap();
        let pieces = pieces(&packet);
        assert_eq!(pieces.len(), 22);
        for piece in &pieces {
            assert!(sum_holds(piece, six, start, number::TCP));
        }
        let last = tcp::Header::of(&pieces[21][start..]);
        let sequence = (u32::MAX - 100).wrapping_add(21 * 7_000);
        assert_eq!(last.sequence(), Ok(sequence));
        let sizes: usize = pieces.iter().map(|piece| piece.len() - start - 32).sum();
        assert_eq!(sizes, 150_000);
    }
}

#[test]
fn super_packets_in_tunnels_are_rejected() {
    // The header of TCP that a kernel names is that of the packet inside.
    let (inner, start) = tcp_packet(false, flag::ACK);
    let outer = Datagram {
        ethernet: None,
        addresses: addresses(false),
        ports: [4_789, 4_789],
        service: 0,
        identification: 7,
        whole: 2_016,
        offset: 0,
        length: 2_016,
        dont_fragment: true,
    };
    let mut bytes = vec![0; outer.header_len()];
    outer.emit(&mut bytes).unwrap();
    bytes.extend([0; 8]);
    let inside = bytes.len();
    bytes.extend(&inner);
    let parsed = SuperPacket::parse(&bytes, Transport::Tcp, inside + start, 1_000);
    assert_eq!(parsed.err(), Some(Error::Malformed(Field::Protocol)));
}

#[test]
fn what_no_interface_could_cut_is_rejected() {
    let (bytes, start) = tcp_packet(false, flag::ACK);
    let parse = |start, size| SuperPacket::parse(&bytes, Transport::Tcp, start, size);
    assert!(parse(start, 0).is_err());
    assert!(parse(19, 1_000).is_err());
    assert!(parse(usize::MAX, 1_000).is_err());
    assert!(parse(start, usize::from(u16::MAX)).is_err());
    assert!(parse(start, usize::MAX).is_err());
    assert!(parse(bytes.len() - 4, 1_000).is_err());
    assert!(SuperPacket::parse(&[0x55; 100], Transport::Udp, 40, 10).is_err());
    let packet = parse(start, 1_000).unwrap();
    assert!(packet.emit(0, &mut [0; 999]).is_err());
}

/// The super-packet of a run of `segments`, the first of which are joined; returns it and
/// how many they are.
fn joined(segments: &[Vec<u8>]) -> (Vec<u8>, Option<Run>) {
    let mut bytes = segments[0].clone();
    let Some(mut run) = Run::begin(&bytes) else {
        return (bytes, None);
    };
    for segment in &segments[1..] {
        let Some(payload) = run.join(&bytes, segment) else {
            break;
        };
        bytes.extend_from_slice(payload);
    }
    run.finish(&mut bytes).unwrap();
    (bytes, Some(run))
}

#[test]
fn the_segments_of_a_super_packet_are_joined_to_the_same_super_packet() {
    for six in [false, true] {
        // That of the lengths in its headers, which Linux has filled in.
        let (mut bytes, start) = tcp_packet(six, flag::ACK | flag::ECE | flag::PSH | flag::FIN);
        let behind = u32::try_from(bytes.len() - start).unwrap();
        if six {
            let length = u16::try_from(behind).unwrap();
            ipv6::Header::of(&mut bytes)
                .set_payload_length(length)
                .unwrap();
        } else {
            let length = u16::try_from(bytes.len()).unwrap();
            let mut header = ipv4::Header::of(&mut bytes);
            header.set_packet(length, 0xffff).unwrap();
            header.set_checksum().unwrap();
        }
        let version = if six { IpVersion::V6 } else { IpVersion::V4 };
        let sum = pseudo_header(ends(version, &bytes), number::TCP, behind);
        let mut header = tcp::Header::of(&mut bytes[start..]);
        header.set_checksum(!sum.finish()).unwrap();
        let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, 1_448).unwrap();
        let (back, run) = joined(&pieces(&packet));
        assert_eq!(back, bytes);
        let run = run.unwrap();
        assert_eq!((run.count(), run.size()), (4, 1_448));
        assert_eq!((run.start(), run.headers()), (start, start + 32));
    }
}

#[test]
fn segments_that_differ_in_more_than_their_place_are_not_joined() {
    for six in [false, true] {
        let (bytes, start) = tcp_packet(six, flag::ACK);
        let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, 1_000).unwrap();
        let segments = pieces(&packet);
        let [first, second] = [&segments[0], &segments[1]];
        let joins = |first: &[u8], second: &[u8]| {
            Run::begin(first).is_some_and(|mut run| run.join(first, second).is_some())
        };
        assert!(joins(first, second));
        // Each byte in front of the payload counts, and so does the payload's sum.
        for place in 0..=start + 32 {
            let mut other = second.clone();
            other[place] ^= 0x20;
            assert!(!joins(first, &other), "{place}");
            let mut other = first.clone();
            other[place] ^= 0x20;
            assert!(!joins(&other, second), "{place}");
        }
        // Neither the one behind the next, nor the same one, nor a longer one follows.
        assert!(!joins(first, &segments[2]));
        assert!(!joins(first, first));
        let larger = SuperPacket::parse(&bytes, Transport::Tcp, start, 1_001).unwrap();
        let mut room = vec![0; 2_000];
        let length = larger.emit(1, &mut room).unwrap();
        assert!(!joins(first, &room[..length]));
        assert!(!joins(first, &[]));
    }
}

#[test]
fn nothing_follows_a_flag_that_only_one_segment_may_have() {
    for six in [false, true] {
        for flags in [flag::SYN, flag::RST, flag::CWR, flag::FIN, flag::PSH, 0x20] {
            let (bytes, start) = tcp_packet(six, flag::ACK | flags);
            let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, PAYLOAD).unwrap();
            assert!(Run::begin(&pieces(&packet)[0]).is_none(), "{flags:x}");
        }
        // A segment without data, or of less than a header, begins nothing either.
        let (bytes, start) = tcp_packet(six, flag::ACK);
        let packet = SuperPacket::parse(&bytes[..start + 32], Transport::Tcp, start, 1).unwrap();
        let empty = &pieces(&packet)[0];
        for length in 0..=empty.len() {
            assert!(Run::begin(&empty[..length]).is_none(), "{length}");
        }
    }
}

#[test]
fn a_run_is_never_longer_than_its_length_field_counts() {
    for six in [false, true] {
        let (mut bytes, start) = tcp_packet(six, flag::ACK);
        bytes.resize(start + 32 + 100_000, 0xa5);
        let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, 8_000).unwrap();
        let (back, run) = joined(&pieces(&packet));
        assert_eq!(run.unwrap().count(), 8);
        assert_eq!(back.len(), start + 32 + 8 * 8_000);
    }
}

mod fuzz {
    use super::*;

    proptest! {
        #[test]
        fn segments_that_were_joined_are_cut_into_the_same_again(
            six: bool,
            lengths in prop::collection::vec(prop_oneof![3 => Just(400_usize), 1 => 1_usize..600], 1..6),
            flags in prop::collection::vec(
                prop::sample::select(vec![0, 0, 0, flag::PSH, flag::FIN, flag::ECE, flag::CWR]),
                6,
            ),
            change in prop_oneof![3 => Just(None), 1 => (0_usize..2_000, any::<u8>()).prop_map(Some)],
        ) {
            // Each is the only segment of a super-packet of its own.
            let (mut segments, mut done) = (Vec::new(), 0_u32);
            for ((number, length), flags) in (0_u16..).zip(lengths).zip(flags) {
                let (mut bytes, start) = tcp_packet(six, flag::ACK | flags);
                bytes.truncate(start + 32 + length);
                let mut header = tcp::Header::of(&mut bytes[start..]);
                let sequence = header.sequence().unwrap().wrapping_add(done);
                header.set_sequence(sequence).unwrap();
                done += u32::try_from(length).unwrap();
                if !six {
                    let place = 0xffff_u16.wrapping_add(number);
                    ipv4::Header::of(&mut bytes).set_packet(0, place).unwrap();
                }
                let packet = SuperPacket::parse(&bytes, Transport::Tcp, start, length).unwrap();
                segments.extend(pieces(&packet));
            }
            if let Some((place, byte)) = change {
                let number = place % segments.len();
                let segment = &mut segments[number];
                let place = place % segment.len();
                segment[place] = byte;
            }
            let (bytes, run) = joined(&segments);
            if let Some(run) = run.filter(|run| run.count() > 1) {
                let packet = SuperPacket::parse(&bytes, Transport::Tcp, run.start(), run.size());
                prop_assert_eq!(pieces(&packet.unwrap()), &segments[..run.count()]);
            }
        }

        #[test]
        fn an_altered_super_packet_is_rejected_or_cut_into_pieces_that_fit(
            six: bool,
            length in 0_usize..600,
            changes in prop::collection::vec((0_usize..120, any::<u8>()), 0..4),
            start in prop_oneof![4 => Just(None), 1 => (0_usize..700).prop_map(Some)],
            size in prop_oneof![4 => 1_usize..300, 1 => Just(0), 1 => Just(usize::MAX)],
            is_tcp in prop::sample::select(vec![true, true, true, false]),
        ) {
            let (mut bytes, segment) = tcp_packet(six, flag::ACK);
            bytes.truncate(segment + 32 + length);
            for (place, byte) in changes {
                let place = place.min(bytes.len() - 1);
                bytes[place] = byte;
            }
            let transport = if is_tcp { Transport::Tcp } else { Transport::Udp };
            let start = start.unwrap_or(segment);
            if let Ok(packet) = SuperPacket::parse(&bytes, transport, start, size) {
                prop_assert!(packet.count() <= bytes.len());
                let mut room = vec![0; bytes.len()];
                let mut sum = 0;
                for number in 0..packet.count() {
                    let written = packet.emit(number, &mut room).unwrap();
                    prop_assert!(written <= bytes.len());
                    sum += written;
                }
                // Every byte of the payload is in one of them.
                prop_assert!(sum >= length.min(bytes.len() - start));
            }
        }
    }
}
