use std::vec;
use std::vec::Vec;

use super::*;
use crate::fuzz::{cases, chance};
use crate::pcapng::{Block, LinkType};

/// Reads a whole capture in memory, as few bytes at a time as it asks for.
fn read(file: &[u8]) -> Result<Vec<Packet>, Error> {
    let magic = file.first_chunk().copied().unwrap_or_default();
    let mut capture = Capture::of(magic).ok_or(Error::Malformed(crate::Field::Magic))?;
    let (mut packets, mut at, mut given) = (Vec::new(), 0, 0);
    while at < file.len() {
        match capture.next(&file[at..file.len().min(at + given)]) {
            Err(Error::Truncated { need, have }) => {
                assert_eq!(have, given, "the bytes of the record are counted");
                assert!(need > have && need <= 1 << 16, "{need} bytes, {have} there");
                if at + need > file.len() {
                    return Err(Error::Truncated { need, have });
                }
                given = need;
            }
            Err(damage) => return Err(damage),
            Ok(record) => {
                assert!(
                    record.length >= given as u64,
                    "no record has half of another"
                );
                packets.extend(record.packet);
                at = at.saturating_add(usize::try_from(record.length).unwrap());
                given = 0;
            }
        }
    }
    Ok(packets)
}

/// An IPv4 packet of which only the header is there.
fn ipv4(size: u16) -> Vec<u8> {
    let [upper, lower] = size.to_be_bytes();
    let mut packet = vec![0x45, 0, upper, lower, 0, 0, 0x40, 0, 64, 17, 0, 0];
    packet.extend([198, 18, 0, 1, 198, 18, 0, 2]);
    packet
}

fn ipv6(payload: u16) -> Vec<u8> {
    let [upper, lower] = payload.to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, upper, lower, 17, 64];
    packet.extend([0xfd; 32]);
    packet
}

fn ethernet(kind: [u8; 2], packet: &[u8]) -> Vec<u8> {
    [&[2; 12], kind.as_slice(), packet].concat()
}

/// A file of pcap with the bytes of its numbers in this order.
fn pcap(order: Order, magic: u32, link: u32, packets: &[(u32, u32, &[u8], u32)]) -> Vec<u8> {
    let number = |number: u32| match order {
        Order::Big => number.to_be_bytes(),
        Order::Little => number.to_le_bytes(),
    };
    let mut file: Vec<u8> = [magic, 0x0002_0004, 0, 0, 65_535, link]
        .map(number)
        .concat();
    for (seconds, fraction, bytes, length) in packets {
        let kept = u32::try_from(bytes.len()).unwrap();
        file.extend([*seconds, *fraction, kept, *length].map(number).concat());
        file.extend_from_slice(bytes);
    }
    file
}

fn packet(nanos: u64, size: u32, header: u32) -> Packet {
    let nanos = Some(nanos);
    Packet {
        nanos,
        size,
        header,
    }
}

#[test]
fn records_of_both_orders_and_units_are_read() {
    for order in [Order::Big, Order::Little] {
        for (magic, unit) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            let first = ethernet([0x08, 0x00], &ipv4(1400));
            let arp = ethernet([0x08, 0x06], &[0; 28]);
            let second = ethernet([0x86, 0xdd], &ipv6(8000));
            let file = pcap(
                order,
                magic,
                // An FCS of four bytes is stated in the upper bits.
                0x2400_0001,
                &[
                    (7, 5, &first, 1414),
                    (7, 6, &arp, 42),
                    (8, 999_999, &second, 8054),
                ],
            );
            assert_eq!(
                read(&file),
                Ok(vec![
                    packet(7_000_000_000 + 5 * unit, 1400, 20),
                    packet(8_000_000_000 + 999_999 * unit, 8040, 40),
                ])
            );
        }
    }
}

#[test]
fn packets_are_found_behind_each_kind_of_link() {
    let tagged = [&[0x81, 0, 0, 7][..], &[0x08, 0x00], &ipv4(60)].concat();
    let twice = [&[0x81, 0, 0, 7][..], &[0x86, 0xdd], &ipv6(20)].concat();
    let cooked = [&[0; 14][..], &[0x08, 0x00], &ipv4(60)].concat();
    let cooked_2 = [&[0x08, 0x00][..], &[0; 18], &ipv4(60)].concat();
    let loopback = [&[0, 0, 0, 2][..], &ipv4(60)].concat();
    for (link, frame) in [
        (1, ethernet([0x08, 0x00], &ipv4(60))),
        (1, ethernet([0x81, 0x00], &tagged[2..])),
        (1, ethernet([0x88, 0xa8], &[&[0, 5][..], &twice].concat())),
        (101, ipv4(60)),
        (12, ipv6(20)),
        (228, ipv4(60)),
        (229, ipv6(20)),
        (113, cooked),
        (276, cooked_2),
        (0, loopback.clone()),
        (108, loopback),
    ] {
        let file = pcap(Order::Little, 0xa1b2_3c4d, link, &[(0, 1, &frame, 500)]);
        let read = read(&file).unwrap();
        let sizes: Vec<u32> = read.iter().map(|packet| packet.size).collect();
        assert_eq!(sizes, [60], "link type {link}");
    }
    // USB, and a frame of ARP.
    for (link, frame) in [(189, vec![0; 64]), (1, ethernet([0x08, 0x06], &ipv4(60)))] {
        let file = pcap(Order::Little, 0xa1b2_3c4d, link, &[(0, 1, &frame, 500)]);
        assert_eq!(read(&file), Ok(vec![]));
    }
}

#[test]
fn a_packet_without_a_stated_length_is_as_large_as_its_frame() {
    let frame = ethernet([0x08, 0x00], &ipv4(0));
    let file = pcap(Order::Big, 0xa1b2_3c4d, 1, &[(0, 1, &frame, 150_014)]);
    assert_eq!(read(&file), Ok(vec![packet(1, 150_000, 20)]));
}

/// A block in little-endian order.
fn block(kind: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(AROUND + content.len()).unwrap().to_le_bytes();
    [&kind.to_le_bytes(), &length[..], content, &length].concat()
}

use crate::pcapng::AROUND;

fn section() -> Vec<u8> {
    let magic = 0x1a2b_3c4du32.to_le_bytes();
    block(
        0x0a0d_0d0a,
        &[&magic[..], &[1, 0, 0, 0], &[0xff; 8]].concat(),
    )
}

fn interface(link: u16, options: &[u8]) -> Vec<u8> {
    block(1, &[&link.to_le_bytes(), &[0; 6][..], options].concat())
}

fn kept_packet(interface: u32, ticks: u64, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let [a, b, c, d, e, f, g, h] = ticks.to_be_bytes();
    let time = [d, c, b, a, h, g, f, e];
    let padding = vec![0; bytes.len().next_multiple_of(4) - bytes.len()];
    let interface = interface.to_le_bytes();
    block(
        6,
        &[&interface, &time[..], &length, &length, bytes, &padding].concat(),
    )
}

#[test]
fn blocks_of_several_interfaces_keep_their_units_and_offsets() {
    let name = [2, 0, 3, 0, b'l', b'a', b'n', 0];
    let nanoseconds = [9, 0, 1, 0, 9, 0, 0, 0];
    let binary = [9, 0, 1, 0, 0x8a, 0, 0, 0];
    let later = [14, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    let simple = [&60u32.to_le_bytes()[..], &ipv4(60), &[0; 40]].concat();
    let file = [
        section(),
        interface(101, &[]),
        interface(101, &[&name[..], &nanoseconds].concat()),
        interface(101, &[&binary[..], &later, &[0; 4]].concat()),
        block(0x4000_0000, &[0; 400]),
        kept_packet(0, 3, &ipv4(100)),
        kept_packet(1, 1 << 32, &ipv4(200)),
        kept_packet(2, 512, &ipv4(300)),
        block(3, &simple),
        // Another section has other interfaces.
        section(),
        interface(229, &[]),
        kept_packet(0, 4, &ipv6(20)),
    ]
    .concat();
    let unknown = Packet {
        nanos: None,
        ..packet(0, 60, 20)
    };
    assert_eq!(
        read(&file),
        Ok(vec![
            packet(3_000, 100, 20),
            packet(1 << 32, 200, 20),
            packet(2_500_000_000, 300, 20),
            unknown,
            packet(4_000, 60, 40),
        ])
    );
}

#[test]
fn damage_is_named() {
    let begin = [section(), interface(101, &[])].concat();
    let bad_resolution = interface(101, &[9, 0, 0, 0]);
    for (name, damaged) in [
        ("no such interface", kept_packet(1, 3, &ipv4(100))),
        (
            "an odd length",
            [6u32, 35, 0, 0, 0].map(u32::to_le_bytes).concat(),
        ),
        ("an empty resolution", bad_resolution),
    ] {
        let file = [begin.as_slice(), &damaged].concat();
        assert!(matches!(read(&file), Err(Error::Malformed(_))), "{name}");
    }
    let cut = &begin[..begin.len() - 1];
    assert!(matches!(read(cut), Err(Error::Truncated { .. })));
    assert!(Capture::of(*b"1500").is_none());
}

#[test]
fn our_own_captures_are_read() {
    let frame = ethernet([0x08, 0x00], &ipv4(1400));
    let mut file = Vec::new();
    for block in [
        Block::Section,
        Block::Interface {
            kind: LinkType::Ethernet,
            name: "way 0",
            most: 128,
        },
        Block::Packet {
            interface: 0,
            nanos: 0x1_0000_0002,
            bytes: &frame,
            length: 1414,
        },
    ] {
        let begin = file.len();
        file.resize(begin + block.buffer_len(), 0);
        block.emit(&mut file[begin..]).unwrap();
    }
    assert_eq!(read(&file), Ok(vec![packet(0x1_0000_0002, 1400, 20)]));
}

#[test]
fn any_damage_is_read_or_rejected() {
    let frame = ethernet([0x08, 0x00], &ipv4(1400));
    let records = [(7, 5, frame.as_slice(), 1414), (8, 6, &frame, 1414)];
    let whole = [
        pcap(Order::Little, 0xa1b2_c3d4, 1, &records),
        [
            section(),
            interface(1, &[9, 0, 1, 0, 9, 0, 0, 0]),
            kept_packet(0, 3, &frame),
            block(3, &[&60u32.to_le_bytes()[..], &frame, &[0; 40]].concat()),
        ]
        .concat(),
    ];
    let mut random = chance(42);
    for case in 0..cases(20_000) {
        let mut file = whole[(case % 2) as usize].clone();
        for _ in 0..=random() >> 61 {
            let at = (random() >> 32) as usize % file.len();
            file[at] ^= (random() >> 56) as u8;
        }
        let _ = read(&file);
    }
}
