use std::vec;

use super::*;

/// `count` packets of `length` bytes, numbered.
fn alike(count: u8, length: usize) -> Packets {
    (0..count)
        .map(|number| {
            let mut bytes = vec![number; length];
            bytes[0] = 0x45;
            (bytes, u16::from(count - number) * 100)
        })
        .collect()
}

fn over(encapsulation: Encapsulation) -> Packing {
    Packing {
        encapsulation,
        begins_within: false,
        ends_within: false,
        unit: Unit::Microsecond,
        sequence: 7,
    }
}

#[test]
fn a_bundle_is_laid_out_as_its_table_says() {
    let packing = Packing {
        unit: Unit::TenMicroseconds,
        sequence: 0xabc,
        ..over(ENCAPSULATIONS[0])
    };
    let packets = vec![(vec![0x45, 1, 2], 0x0102), (vec![0x60], 0xffff)];
    let bytes = pack(packing, &packets).unwrap();
    assert_eq!(bytes.len(), 20 + 6 + 2 * 4 + 4);
    assert_eq!(bytes[..10], [0x45, 0xb8, 0, 38, 0, 0, 0x40, 0, 64, 253]);
    let bundle = [
        0, 2, 0, 2, 0x3a, 0xbc, // count, average, version 1 with unit and sequence
        0, 3, 0x01, 0x02, 0, 1, 0xff, 0xff, // entries
        0x45, 1, 2, 0x60,
    ];
    assert_eq!(bytes[20..], bundle);
    let mut carried = Carried::parse(bytes).unwrap();
    let dead = InnerDropped {
        packets: 1,
        bytes: 3,
    };
    assert_eq!(carried.drop_inner(1), dead);
    let parts: Vec<_> = carried.parts().collect();
    assert_eq!(parts.len(), 2, "the bytes of the dead one are passed over");
    assert_eq!(parts[0][2..4], [0, 35]);
    assert_eq!(
        parts[0][20..34],
        [0, 2, 0, 2, 0x3a, 0xbc, 0, 0, 1, 2, 0, 1, 0xff, 0xff]
    );
    assert_eq!(parts[1], [0x60]);
}

#[test]
fn the_pieces_of_a_packet_end_one_bundle_and_begin_the_next() {
    // Bits 15 and 14 of the control field, and the version behind them.
    for (begins_within, ends_within, control, parts) in [
        (false, true, 0x60, [Part::Whole, Part::First]),
        (true, false, 0xa0, [Part::Rest { last: true }, Part::Whole]),
        (true, true, 0xe0, [Part::Rest { last: true }, Part::First]),
    ] {
        let packing = Packing {
            begins_within,
            ends_within,
            ..over(ENCAPSULATIONS[0])
        };
        let bytes = pack(packing, &alike(2, 3)).unwrap();
        assert_eq!(bytes[20..26], [0, 2, 0, 3, control, 7]);
        let mut carried = Carried::parse(bytes).unwrap();
        assert!(carried.packets().map(|inner| inner.part).eq(parts));
        let whole = u16::try_from(parts.iter().filter(|part| **part == Part::Whole).count());
        let whole = whole.unwrap();
        assert_eq!(carried.drop_inner(9).packets, whole);
        assert_eq!(carried.live(), 2 - whole, "pieces stay");
        assert!(!carried.mark(0) || !begins_within, "it has no IP header");
    }
    // One that is in the middle of a packet.
    let packing = Packing {
        begins_within: true,
        ends_within: true,
        ..over(ENCAPSULATIONS[0])
    };
    let carried = Carried::parse(pack(packing, &alike(1, 3)).unwrap()).unwrap();
    assert_eq!(carried.header().part(0), Part::Rest { last: false });
    let mut no_version = carried.inside().clone();
    no_version[24] &= 0xdf;
    let error = Carried::parse(no_version).unwrap_err();
    assert_eq!(error, Error::Malformed(Field::Version));
}

#[test]
fn as_many_packets_fit_an_mtu_as_the_layout_says() {
    for (mtu, length) in [
        (1_500, 40),
        (4_000, 40),
        (9_000, 40),
        (9_000, 1_500),
        (9_000, 576),
    ] {
        let cost = over(ENCAPSULATIONS[0]).packet_len(0, 0);
        assert_eq!(cost, 26);
        let most = (mtu - cost) / (length + ENTRY_LEN);
        let [fits, passes] = [most, most + 1]
            .map(|count| over(ENCAPSULATIONS[0]).packet_len(count, count * length) <= mtu);
        assert!(fits && !passes, "{mtu} {length}");
        let packets = alike(u8::try_from(most).unwrap(), length);
        assert!(pack(over(ENCAPSULATIONS[0]), &packets).unwrap().len() <= mtu);
    }
    let others = ENCAPSULATIONS.map(|encapsulation| over(encapsulation).packet_len(0, 0));
    assert_eq!(others, [26, 46, 34, 54, 10]);
}

#[test]
fn two_packets_in_one_frame_save_four_bytes_of_ethernet() {
    // Bytes on the wire: preamble, addresses, type, checksum and gap take 38 bytes
    // per frame [Mulahuwaish s2.A].
    let bundled = 38 + over(ENCAPSULATIONS[0]).packet_len(2, 2 * 100);
    assert_eq!(bundled + 4, 2 * (38 + 100));
}

#[test]
fn all_of_a_bundle_may_die_and_then_nothing_more_can() {
    for encapsulation in ENCAPSULATIONS {
        let bytes = pack(over(encapsulation), &alike(5, 33)).unwrap();
        let mut carried = parse(encapsulation, bytes).unwrap();
        assert_eq!((carried.live(), carried.live_bytes()), (5, 165));
        let all = InnerDropped {
            packets: 5,
            bytes: 165,
        };
        assert_eq!(carried.drop_inner(9), all);
        assert_eq!((carried.live(), carried.live_bytes()), (0, 0));
        assert_eq!(carried.drop_inner(1), InnerDropped::default());
        assert_eq!(carried.discard(0), None);
        assert!(!carried.mark(0) && carried.checksum_holds());
        assert_eq!(left(&carried), []);
        let next = parse(encapsulation, sent(&carried)).unwrap();
        assert_eq!((next.live(), next.header()), (0, carried.header()));
    }
}

#[test]
fn front_drop_moves_nothing_and_compaction_all_that_follows() {
    let bytes = pack(over(ENCAPSULATIONS[2]), &alike(6, 1_000)).unwrap();
    let mut carried = Carried::parse(bytes).unwrap();
    let before = carried.inside()[34 + 24 + 2_000..].to_vec();
    carried.drop_inner(2);
    assert_eq!(carried.inside()[34 + 24 + 2_000..], before);
    assert_eq!(carried.parts().count(), 2);
    assert_eq!(carried.compact(), 4_000);
    assert_eq!(carried.compact(), 0);
    carried.discard(3);
    assert_eq!(carried.compact(), 2_000);
}

#[test]
fn an_error_that_the_checksum_shows_is_still_shown_after_inner_drops() {
    for encapsulation in [ENCAPSULATIONS[2], ENCAPSULATIONS[3]] {
        let mut bytes = pack(over(encapsulation), &alike(4, 77)).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let mut carried = parse(encapsulation, bytes).unwrap();
        assert!(!carried.checksum_holds());
        carried.drop_inner(1);
        carried.discard(2);
        assert!(!carried.checksum_holds());
        // Even if the damage was in the dropped packet: the sum over it was wrong as
        // well.
        carried.discard(3);
        assert!(!carried.checksum_holds());
    }
}

#[test]
fn without_a_checksum_over_ipv4_there_is_none_afterwards_and_ipv6_needs_one() {
    let mut bytes = pack(over(ENCAPSULATIONS[2]), &alike(4, 77)).unwrap();
    bytes[26..28].fill(0);
    let mut carried = Carried::parse(bytes).unwrap();
    carried.drop_inner(1);
    assert!(carried.checksum_holds());
    assert_eq!(carried.inside()[26..28], [0, 0]);
    assert_eq!(
        carried.inside()[24..26],
        (8u16 + 6 + 16 + 231).to_be_bytes()
    );
    let mut bytes = pack(over(ENCAPSULATIONS[3]), &alike(4, 77)).unwrap();
    bytes[46..48].fill(0);
    let rejected = Carried::parse(bytes).unwrap_err();
    assert_eq!(rejected, Error::Malformed(Field::Checksum));
}

#[test]
fn a_mark_reaches_the_packet_it_is_meant_for_and_the_sum_around_it() {
    for encapsulation in ENCAPSULATIONS {
        let mut packets = alike(6, 61);
        for (number, (bytes, _)) in packets.iter_mut().enumerate() {
            bytes[..2].copy_from_slice(match number % 2 {
                0 => &[0x45, 0b01],
                _ => &[0x60, 0b10 << 4],
            });
        }
        packets[5].0[1] = 0;
        let mut carried =
            parse(encapsulation, pack(over(encapsulation), &packets).unwrap()).unwrap();
        carried.drop_inner(1);
        assert!(carried.mark(2) && carried.mark(3) && !carried.mark(0) && !carried.mark(5));
        assert!(carried.checksum_holds());
        let services: Vec<_> = carried.packets().map(|inner| inner.service()).collect();
        let [plain, marked] = [0b10, 0b11].map(Some);
        assert_eq!(services, [plain, marked, marked, Some(0b01), Some(0)]);
    }
}

#[test]
fn what_is_no_bundle_is_rejected_with_what_is_wrong() {
    let good = pack(over(ENCAPSULATIONS[2]), &alike(3, 50)).unwrap();
    // The checksum is kept right, so that the test sees the change itself.
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes[10..12].fill(0);
        let sum = crate::protocol::checksum::Checksum::default()
            .add(&bytes[..20])
            .finish();
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        Carried::parse(bytes).unwrap_err()
    };
    for (at, byte, field) in [
        (0, 0x55, Field::Version),
        (0, 0x44, Field::HeaderLength),
        (6, 0x20, Field::Fragment),
        (7, 1, Field::Fragment),
        (9, 6, Field::Protocol),
        (22, 0, Field::Port),
        (25, 0, Field::Length),
        (29, 0, Field::Count),
        (32, 0x40, Field::Version),
        // One packet is shorter than its bytes.
        (35, 49, Field::Length),
    ] {
        assert_eq!(with(at, byte), Error::Malformed(field), "{at}");
    }
    assert!(matches!(with(35, 51), Error::Truncated { .. }));
    assert!(matches!(with(28, 15), Error::Truncated { .. }));
    let mut damaged = good.clone();
    damaged[8] -= 1;
    let rejected = Carried::parse(damaged).unwrap_err();
    assert_eq!(rejected, Error::Malformed(Field::Checksum));
    for length in 0..good.len() {
        assert!(matches!(
            Carried::parse(&good[..length]),
            Err(Error::Truncated { .. } | Error::Malformed(Field::HeaderLength))
        ));
    }
}

#[test]
fn what_cannot_be_packed_is_rejected() {
    let rejected = |packing, packets: Packets| match pack(packing, &packets) {
        Err(Error::Malformed(field)) => field,
        other => panic!("{other:?}"),
    };
    let packing = over(ENCAPSULATIONS[0]);
    assert_eq!(rejected(packing, vec![]), Field::Count);
    assert_eq!(rejected(packing, vec![(vec![], 0)]), Field::Length);
    let late = Packing {
        sequence: SEQUENCES,
        ..packing
    };
    assert_eq!(rejected(late, alike(2, 20)), Field::Sequence);
    for addresses in [V4, V6] {
        let large = Encapsulation::Ip {
            addresses,
            service: 0,
        };
        assert_eq!(rejected(over(large), alike(50, 1_400)), Field::Length);
    }
    for (label, class) in [(1 << 20, 0), (0, 8)] {
        let labelled = Encapsulation::Label { label, class };
        assert_eq!(rejected(over(labelled), alike(2, 20)), Field::Label);
    }
    let labelled = over(ENCAPSULATIONS[4]);
    let many: Packets = (0..5_000).map(|_| (vec![0x45; 20], 0)).collect();
    assert_eq!(rejected(labelled, many), Field::Count);
    let mut short = [0; 25];
    assert!(matches!(
        packing.emit(&[], &mut short),
        Err(Error::Truncated { .. })
    ));
}

#[test]
fn a_frame_with_tags_labels_and_padding_is_read() {
    let mac = [[2; 6], [4; 6]].concat();
    for (encapsulation, kind) in [
        (ENCAPSULATIONS[0], [0x08, 0x00]),
        (ENCAPSULATIONS[3], [0x86, 0xdd]),
        (ENCAPSULATIONS[4], [0x88, 0x47]),
    ] {
        let packet = pack(over(encapsulation), &alike(2, 21)).unwrap();
        for tags in [
            &[][..],
            &[0x81, 0, 0, 5],
            &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6],
        ] {
            let frame = [&mac[..], tags, &kind, &packet, &[0xff; 9]].concat();
            let mut carried = Carried::parse_frame(frame).unwrap();
            assert_eq!(carried.encapsulation().unwrap(), encapsulation);
            assert_eq!(carried.sent_len(), 14 + tags.len() + packet.len());
            carried.drop_inner(1);
            assert_eq!(sent(&carried).len(), 14 + tags.len() + packet.len() - 21);
            assert!(carried.checksum_holds());
        }
        let wrong = [&mac[..], &[0x08, 0x06], &packet].concat();
        let rejected = Carried::parse_frame(wrong).unwrap_err();
        assert_eq!(rejected, Error::Malformed(Field::Protocol));
    }
    let stack = [
        &[0, 0x06, 0x40, 64][..],
        &pack(over(ENCAPSULATIONS[4]), &alike(2, 21)).unwrap(),
    ]
    .concat();
    let carried = Carried::parse_labelled(stack).unwrap();
    assert_eq!(
        (carried.live(), carried.encapsulation()),
        (2, Ok(ENCAPSULATIONS[4]))
    );
    let endless = [0u8; 64];
    assert!(Carried::parse_labelled(&endless).is_err());
}
