use std::vec;
use std::vec::Vec;

use super::*;
use units::Span;

pub(super) fn request(sequence: u32) -> SenderPacket {
    SenderPacket {
        sequence,
        sent: Timestamp(0xe8f1_0203_4000_0000),
        error: ErrorEstimate::new(Span::from_millis(1), false),
        session: 0x5ee5,
    }
}

pub(super) fn reply_to(request: SenderPacket) -> ReflectorPacket {
    ReflectorPacket {
        sequence: 7,
        sent: Timestamp(0xe8f1_0203_4020_0000),
        error: ErrorEstimate::new(Span::from_micros(1), true),
        received: Timestamp(0xe8f1_0203_4010_0000),
        request,
        hop_limit: 61,
    }
}

pub(super) fn probe(id: u64, length: usize, short_reply: bool) -> Vec<u8> {
    let probe = Probe {
        packet: request(3),
        id,
        short_reply,
    };
    let mut bytes = vec![0xee; length];
    probe.emit(&mut bytes).unwrap();
    bytes
}

pub(super) const OBSERVED: Observation = Observation {
    stateful: true,
    piece: Some(1_396),
};

pub(super) fn reflected(request: &[u8]) -> Option<Vec<u8>> {
    let base = reply_to(SenderPacket::parse(request).unwrap());
    let mut bytes = vec![0xdd; request.len()];
    let length = reflect(request, &base, OBSERVED, &mut bytes).unwrap()?;
    bytes.truncate(length);
    Some(bytes)
}

const ID: u64 = 0x1122_3344_5566_7788;

#[rustfmt::skip]
const SENDER: [u8; 44] = [
    0, 0, 0, 3, // sequence number
    0xe8, 0xf1, 2, 3, 0x40, 0, 0, 0, // timestamp
    0x0f, 0x84, // error estimate: 132 * 2^15 * 2^-32 s
    0x5e, 0xe5, // session
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

#[rustfmt::skip]
const REFLECTOR: [u8; 44] = [
    0, 0, 0, 7, // sequence number
    0xe8, 0xf1, 2, 3, 0x40, 0x20, 0, 0, // timestamp
    0x85, 0x87, // error estimate: synchronised, 135 * 2^5 * 2^-32 s
    0x5e, 0xe5, // session
    0xe8, 0xf1, 2, 3, 0x40, 0x10, 0, 0, // received
    0, 0, 0, 3, // the sender's sequence number,
    0xe8, 0xf1, 2, 3, 0x40, 0, 0, 0, // timestamp
    0x0f, 0x84, 0, 0, // and error estimate
    61, 0, 0, 0, // hop limit
];

#[test]
fn both_packets_are_laid_out_as_in_the_figures() {
    let mut bytes = [0xee; BASE_LEN + 1];
    request(3).emit(&mut bytes).unwrap();
    assert_eq!((&bytes[..BASE_LEN], bytes[BASE_LEN]), (&SENDER[..], 0xee));
    assert_eq!(SenderPacket::parse(&bytes), Ok(request(3)));
    let reply = reply_to(request(3));
    reply.emit(&mut bytes).unwrap();
    assert_eq!(
        (&bytes[..BASE_LEN], bytes[BASE_LEN]),
        (&REFLECTOR[..], 0xee)
    );
    assert_eq!(ReflectorPacket::parse(&bytes), Ok(reply));
}

#[test]
fn short_packets_and_replies_are_no_requests() {
    let cut = Error::Truncated { need: 44, have: 43 };
    assert_eq!(SenderPacket::parse(&SENDER[..43]), Err(cut));
    assert_eq!(ReflectorPacket::parse(&REFLECTOR[..43]), Err(cut));
    // A reply to a reply would go on for ever.
    let reply = Err(Error::Malformed(Field::Reserved));
    assert_eq!(SenderPacket::parse(&REFLECTOR), reply);
    let mut none = SENDER;
    none[13] = 0;
    let corrupt = Err(Error::Malformed(Field::ErrorEstimate));
    assert_eq!(SenderPacket::parse(&none), corrupt);
}

#[test]
fn a_probe_has_its_identifier_and_the_length_asked_for() {
    for short_reply in [false, true] {
        let shortest = Probe::shortest(short_reply);
        for length in (shortest..shortest + 20).chain([1_472, 8_972, LARGEST]) {
            let bytes = probe(ID, length, short_reply);
            assert_eq!(bytes[..BASE_LEN], SENDER);
            assert_eq!(Probe::id_of(&bytes), Some(ID));
            // All of it is TLVs.
            let mut walk = tlvs(&bytes[BASE_LEN..]);
            assert!(walk.by_ref().all(|tlv| tlv.flags == Flags::UNRECOGNISED));
            assert_eq!(walk.rest(), &[0_u8; 0][..], "{length}");
        }
        let mut small = vec![0; shortest - 1];
        let probe = Probe {
            packet: request(3),
            id: ID,
            short_reply,
        };
        assert!(probe.emit(&mut small).is_err());
        // Error messages may quote less of it.
        let bytes = self::probe(ID, 200, short_reply);
        for length in 0..Probe::ID_AT + 8 {
            assert_eq!(Probe::id_of(&bytes[..length]), None);
        }
        assert_eq!(Probe::id_of(&bytes[..Probe::ID_AT + 8]), Some(ID));
    }
}

#[test]
fn the_tlvs_of_a_probe_are_those_of_the_standards() {
    let bytes = probe(ID, 72 + 8 + 12, true);
    #[rustfmt::skip]
    let expected = [
        0x80, 252, 0, 8, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
        // One packet of the shortest length, no interval, no sub-TLV.
        0x80, 12, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
        // Room for the largest piece.
        0x80, 253, 0, 4, 0, 0, 0, 0,
        0x80, 1, 0, 8,
    ];
    assert_eq!(bytes[BASE_LEN..84], expected);
    assert_ne!(bytes[84..], [0; 8], "padding that can be compressed");
}

#[test]
fn a_reply_is_as_long_as_its_request_or_short_if_asked() {
    for length in [56, 57, 59, 60, 61, 100, 1_472, LARGEST] {
        let reply = reflected(&probe(ID, length, false)).unwrap();
        assert_eq!(reply.len(), length);
        let read = Reflected::parse(&reply).unwrap();
        assert_eq!((read.id, read.stateful), (Some(ID), true));
        assert_eq!(read.length_control, None);
        assert_eq!(Probe::id_of(&reply), Some(ID));
    }
    for length in [72, 76, 100, 1_472, LARGEST] {
        let reply = reflected(&probe(ID, length, true)).unwrap();
        let has_piece = length >= 80;
        assert_eq!(reply.len(), if has_piece { 80 } else { 72 });
        let read = Reflected::parse(&reply).unwrap();
        assert_eq!(read.piece, OBSERVED.piece.filter(|_| has_piece));
        assert_eq!((read.id, read.stateful), (Some(ID), true));
        assert_eq!(read.length_control, Some(LengthControl::Fulfilled));
        assert_eq!(read.packet, reply_to(request(3)));
    }
}

/// The control TLV of `bytes` with other fields.
fn with_control(length: u16, number: u16, sub_tlv: u8) -> Vec<u8> {
    let mut bytes = probe(ID, 200, true);
    bytes[60..62].copy_from_slice(&length.to_be_bytes());
    bytes[62..64].copy_from_slice(&number.to_be_bytes());
    bytes[69] = sub_tlv;
    bytes
}

#[test]
fn no_reply_amplifies() {
    let answer = |bytes: &[u8]| {
        let reply = reflected(bytes)?;
        let control = Reflected::parse(&reply).unwrap().length_control;
        Some((reply.len(), control.unwrap()))
    };
    let fulfilled = |length| Some((length, LengthControl::Fulfilled));
    let rejected = Some((200, LengthControl::Rejected));
    assert_eq!(answer(&with_control(100, 1, 0)), fulfilled(100));
    // Aligned to four bytes; at least a header of padding.
    assert_eq!(answer(&with_control(97, 1, 0)), fulfilled(100));
    assert_eq!(answer(&with_control(81, 1, 0)), fulfilled(84));
    assert_eq!(answer(&with_control(200, 1, 0)), fulfilled(200));
    assert_eq!(answer(&with_control(201, 1, 0)), rejected);
    assert_eq!(answer(&with_control(u16::MAX, 1, 0)), rejected);
    assert_eq!(answer(&with_control(100, 2, 0)), rejected);
    assert_eq!(answer(&with_control(100, u16::MAX, 0)), rejected);
    assert_eq!(answer(&with_control(100, 0, 0)), None);
    let unknown = Some((200, LengthControl::Unknown));
    assert_eq!(answer(&with_control(100, 1, 10)), unknown);
}

#[test]
fn unknown_and_malformed_tlvs_come_back_with_their_flags() {
    let with = |behind: &[u8]| {
        let mut bytes = SENDER.to_vec();
        bytes.extend(behind);
        let reply = reflected(&bytes).unwrap();
        assert_eq!(reply.len(), bytes.len());
        reply[BASE_LEN..].to_vec()
    };
    // Class of Service [RFC8972 s4.4], Extra Padding, an experimental type.
    let tlvs = [0x80, 4, 0, 4, 1, 2, 3, 4, 0x80, 1, 0, 1, 9, 0, 240, 0, 0];
    let mut flags = tlvs;
    flags[8] = 0;
    flags[13] = 0x80;
    assert_eq!(with(&tlvs), flags);
    // A length beyond the packet: the rest is copied.
    assert_eq!(with(&[0x80, 4, 0, 9, 1, 2]), [0x40, 4, 0, 9, 1, 2]);
    // A length that does not fit the type; the TLV behind it is not processed.
    let short = [0x80, 252, 0, 1, 7, 0x80, 99, 0, 0];
    assert_eq!(with(&short), [0x40, 252, 0, 1, 7, 0x80, 99, 0, 0]);
    // Zeros and fewer bytes than a header are padding.
    assert_eq!(with(&[0; 9]), [0; 9]);
    assert_eq!(with(&[0x80, 4, 0]), [0x40, 4, 0]);
    assert_eq!(with(&[0x80]), [0x80]);
}

#[test]
fn replies_of_other_reflectors_are_read() {
    let bytes = probe(ID, 100, true);
    // A reflector without TLVs copies what follows the base.
    let mut reply = bytes.clone();
    reply_to(request(3)).emit(&mut reply).unwrap();
    let read = Reflected::parse(&reply).unwrap();
    assert_eq!((read.id, read.stateful), (Some(ID), false));
    assert_eq!(read.length_control, Some(LengthControl::Unknown));
    assert_eq!(read.piece, None);
    // One that keeps no state for this session.
    let mut reply = vec![0; bytes.len()];
    reflect(
        &bytes,
        &reply_to(request(3)),
        Observation::default(),
        &mut reply,
    )
    .unwrap();
    let read = Reflected::parse(&reply).unwrap();
    assert_eq!((read.id, read.stateful), (Some(ID), false));
    assert_eq!(read.piece, None);
    // One that copies nothing.
    let read = Reflected::parse(&reply[..BASE_LEN]).unwrap();
    assert_eq!(
        (read.id, read.stateful, read.length_control),
        (None, false, None)
    );
    assert_eq!(Probe::id_of(&reply[..BASE_LEN]), None);
}
