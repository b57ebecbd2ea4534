use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// A packet of `payload` bytes.
pub(super) fn packet(payload: u32) -> Packet {
    Packet {
        addresses: [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end)),
        ports: [50_000, 7_770],
        payload,
    }
}

pub(super) fn emit(packet: &Packet) -> Vec<u8> {
    let mut bytes = vec![0xee; packet.head_len()];
    packet.emit(Sum::default(), &mut bytes).unwrap();
    bytes
}

/// The result for a jumbogram of 65 600 bytes of payload after `change`.
fn said(change: impl FnOnce(&mut Vec<u8>)) -> Result<Udp, Fault> {
    let mut bytes = emit(&packet(65_600));
    change(&mut bytes);
    let whole = 65_600 + bytes.len() as u64;
    Head::parse(&bytes, whole)?.udp(&bytes)
}

#[test]
fn a_jumbogram_looks_as_the_standard_draws_it() {
    let bytes = emit(&packet(190_000));
    assert_eq!(bytes.len(), 56);
    // The length is zero, and hop-by-hop options follow.
    assert_eq!(bytes[4..8], [0, 0, 0, 64]);
    // UDP follows; the option states 190 016 bytes: two headers of eight bytes, and
    // the payload.
    assert_eq!(bytes[40..48], [17, 0, 0xc2, 4, 0, 2, 0xe6, 0x40]);
    assert_eq!(bytes[48..54], [0xc3, 0x50, 0x1e, 0x5a, 0, 0]);
}

#[test]
fn the_option_begins_where_its_own_field_ends() {
    for (payload, bytes, jumbo) in [
        (0, 48, false),
        (65_527, 48, false),
        (65_528, 56, true),
        (Packet::LARGEST, 56, true),
    ] {
        let packet = packet(payload);
        assert_eq!((packet.head_len(), packet.is_jumbogram()), (bytes, jumbo));
    }
    assert_eq!(
        packet(Packet::LARGEST).packet_len(),
        u64::from(u32::MAX) + 40
    );
    let mut bytes = [0; 56];
    let above = packet(Packet::LARGEST + 1).emit(Sum::default(), &mut bytes);
    assert!(above.is_err());
    assert!(
        packet(65_528)
            .emit(Sum::default(), &mut bytes[..55])
            .is_err()
    );
}

#[test]
fn the_checksum_is_over_the_true_length() {
    let packet = packet(70_001);
    let payload: Vec<u8> = (0..70_001_u32).map(|place| (place % 251) as u8).collect();
    let sum = Sum::default().with(&payload[..40]).with(&payload[40..]);
    let mut bytes = [0; 56];
    packet.emit(sum, &mut bytes).unwrap();
    let udp: [u8; 8] = bytes[48..].try_into().unwrap();
    assert!(packet.holds(udp, sum));
    // The sum worked by hand [RFC8200 s8.1], in pairs of bytes.
    let pairs = bytes[8..40]
        .chunks(2)
        .chain(udp.chunks(2))
        .chain(payload.chunks(2));
    let mut total: u32 = (70_009 >> 16) + (70_009 & 0xffff) + 17;
    for pair in pairs {
        let high = pair.first().copied().unwrap_or(0);
        let low = pair.get(1).copied().unwrap_or(0);
        total += u32::from(u16::from_be_bytes([high, low]));
        total = (total & 0xffff) + (total >> 16);
    }
    assert_eq!(total, 0xffff);
    let short = Packet {
        payload: 4_465,
        ..packet
    };
    assert!(!short.holds(udp, sum), "65 536 bytes fewer are another sum");
    assert!(!packet.holds([0; 8], Sum::default()));
}

#[test]
fn every_error_that_the_standard_lists_is_told_as_it_asks() {
    let problem = |code, pointer| Answer::ParameterProblem { code, pointer };
    let answer = |change: &dyn Fn(&mut Vec<u8>)| said(|bytes| change(bytes)).unwrap_err().answer();
    // The errors of [RFC2675 s3], in its order.
    assert_eq!(answer(&|o| o[42] = 1), problem(0, 4));
    assert_eq!(answer(&|o| o[5] = 200), problem(0, 42));
    assert_eq!(
        answer(&|o| o[44..48].copy_from_slice(&[0, 0, 0xff, 0xff])),
        problem(0, 44)
    );
    assert_eq!(answer(&|o| o[40] = 44), problem(0, 48));
    // Behind destination options the Fragment header has another offset.
    assert_eq!(
        answer(&|o| {
            o[40] = 60;
            o.splice(48..48, [44, 0, 1, 4, 0, 0, 0, 0]);
        }),
        problem(0, 56)
    );
    // [RFC8200 s4.1] [RFC8200 s4.2].
    assert_eq!(answer(&|o| o[40] = 0), problem(1, 40));
    for (kind, expected) in [
        (0x9e, problem(2, 48)),
        (0xde, problem(2, 48)),
        (0x5e, Answer::Discard),
    ] {
        let change = move |o: &mut Vec<u8>| {
            o[41] = 1;
            o.splice(48..48, [kind, 6, 0, 0, 0, 0, 0, 0]);
        };
        assert_eq!(answer(&change), expected);
    }
    // A skippable unknown option is skipped.
    let known = said(|o| {
        o[41] = 1;
        o.splice(48..48, [0x1e, 6, 0, 0, 0, 0, 0, 0]);
        o[47] += 8;
    });
    assert_eq!(known.unwrap().payload, 64);
}

#[test]
fn what_the_standard_lists_no_answer_for_is_dropped() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(Change, Fault); 9] = [
        (
            |o| o[43] = 3,
            Fault::OptionLength {
                option: 42,
                length: 3,
            },
        ),
        (
            |o| {
                o[41] = 1;
                o.splice(42..42, [0, 0]);
                o.extend([0; 6]);
            },
            Fault::Misaligned { option: 44 },
        ),
        (
            |o| o[44..48].fill(0xff),
            Fault::TooFew {
                says: u32::MAX.into(),
                have: 65_616,
            },
        ),
        (|o| o[0] = 0x40, Fault::Version),
        (|o| o.truncate(44), Fault::Truncated { need: 48, have: 44 }),
        (|o| o[40] = 6, Fault::NotUdp(6)),
        (
            |o| o[53] = 7,
            Fault::UdpLength {
                says: 7,
                have: 65_608,
            },
        ),
        (
            |o| o[52..54].fill(0xff),
            Fault::UdpLength {
                says: 65_535,
                have: 65_608,
            },
        ),
        (
            |o| {
                o[41] = 1;
                let second: Vec<u8> = [1, 0]
                    .into_iter()
                    .chain(o[42..48].iter().copied())
                    .collect();
                o.splice(48..48, second);
            },
            Fault::Twice { option: 50 },
        ),
    ];
    for (change, fault) in cases {
        assert_eq!(said(change), Err(fault));
        assert_eq!(fault.answer(), Answer::Discard);
    }
}

#[test]
fn a_udp_length_of_zero_is_a_jumbograms_alone() {
    let mut bytes = emit(&packet(100));
    let head = Head::parse(&bytes, 148).unwrap();
    assert!(!head.is_jumbogram());
    assert_eq!(head.udp(&bytes).unwrap().packet, packet(100));
    bytes[44..46].fill(0);
    let fault = Fault::UdpLength { says: 0, have: 108 };
    assert_eq!(head.udp(&bytes), Err(fault));
}

proptest! {
    #[test]
    fn what_is_written_is_read_up_to_the_largest(payload in 0..=Packet::LARGEST, padding in 0..100_u64) {
        let packet = packet(payload);
        let bytes = emit(&packet);
        let head = Head::parse(&bytes, packet.packet_len() + padding).unwrap();
        prop_assert_eq!(u64::from(head.length) + 40, packet.packet_len());
        prop_assert_eq!(head.is_jumbogram(), packet.is_jumbogram());
        prop_assert_eq!(head.option, packet.is_jumbogram().then_some(42));
        let udp = head.udp(&bytes).unwrap();
        prop_assert_eq!(udp.packet, packet);
        prop_assert_eq!(udp.payload as usize, packet.head_len());
        // With one byte less on the link the packet is rejected.
        prop_assert!(Head::parse(&bytes, packet.packet_len() - 1).is_err());
    }
}
