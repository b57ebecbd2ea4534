//! Packets larger than a bundle, which are cut into pieces.

use proptest::prelude::*;
use queue::{MredSettings, PIECE_WAIT, Spec};
use units::{IpVersion, Rate, Seed};
use wire::bundle::{Body, Carried, HEADER_LEN, Header, Part as WirePart, Piece, emit_body};
use wire::frame;

use super::super::*;
use super::support::*;

/// Bytes of the headers of IPv4 and UDP.
const OUTSIDE: usize = 28;
pub(super) const ENDS: [std::net::IpAddr; 2] = [
    std::net::IpAddr::V4(HERE_V4),
    std::net::IpAddr::V4(THERE_V4),
];

/// Gateways whose bundles have at most so many bytes.
fn pair_of(bytes: u64) -> [Gateway; 2] {
    pair(|settings| Settings {
        peers: vec![peer(settings.peers[0].encapsulation, bytes)],
        ..settings
    })
}

pub(super) fn sample(number: u32, length: u16) -> Sample {
    Sample {
        version: match number % 2 {
            0 => IpVersion::V4,
            _ => IpVersion::V6,
        },
        length,
        number,
        ..Sample::SMALL
    }
}

/// The bundles of packets with these lengths, and for each packet the bundles that it is in.
fn bundles(one: &mut Gateway, lengths: &[u16]) -> (Vec<Vec<u8>>, Vec<Vec<usize>>) {
    for (number, length) in (0..).zip(lengths) {
        one.receive_inside(at(0), &sample(number, *length).bytes());
    }
    one.flush(at(0));
    let (_, core) = polled(one, at(0));
    let mut of: Vec<Vec<usize>> = Vec::new();
    for (place, bytes) in core.iter().enumerate() {
        for (part, _, _) in Body::parse(&bytes[OUTSIDE..], false).unwrap().packets() {
            match part {
                WirePart::Rest { .. } => of.last_mut().unwrap().push(place),
                WirePart::Whole | WirePart::First => of.push(vec![place]),
            }
        }
    }
    assert_eq!(of.len(), lengths.len());
    conserved(one);
    (core, of)
}

proptest! {
    #[test]
    fn what_comes_out_is_each_packet_none_of_whose_bundles_was_lost_or_left_the_window(
        lengths in prop::collection::vec(prop_oneof![4u16..300, 4u16..9_000], 1..60),
        bytes in 1_280u64..4_000,
        outcomes in prop::collection::vec((0u8..12, 0usize..15), 1..50),
    ) {
        let [mut one, mut other] = pair_of(bytes);
        let (core, of) = bundles(&mut one, &lengths);
        // The first bundle begins the sequence. Others are lost, come twice, or are overtaken.
        let mut arrivals: Vec<(usize, usize)> = Vec::new();
        let mut lost = vec![false; core.len()];
        for place in 0..core.len() {
            let (outcome, delay) = outcomes[place % outcomes.len()];
            match outcome {
                0 if place > 0 => lost[place] = true,
                1 => arrivals.extend([(place, place), (place + delay, place)]),
                2..6 if place > 0 => arrivals.push((place + delay, place)),
                _ => arrivals.push((place, place)),
            }
        }
        arrivals.sort_by_key(|(at, _)| *at);
        let mut out = Vec::new();
        for (_, place) in arrivals {
            other.receive_core(at(1), &core[place]);
            conserved(&other);
        }
        other.handle_timeout(at(6_000));
        out.extend(polled(&mut other, at(6_000)).0);
        conserved(&other);
        let expected: Vec<Vec<u8>> = (0..)
            .zip(&lengths)
            .zip(of)
            .filter(|(_, of)| of.iter().all(|place| !lost[*place]))
            .map(|((number, length), _)| one_hop_on(sample(number, *length).bytes()))
            .collect();
        prop_assert!(out == expected, "{} of {}", out.len(), expected.len());
        // A piece is not waited for without end.
        let later = at(6_000) + PIECE_WAIT;
        other.handle_timeout(later);
        prop_assert_eq!(other.waiting(), Waiting::default());
        prop_assert_eq!(other.next_timeout(later), None);
        conserved(&other);
    }
}

#[test]
fn a_lost_bundle_costs_the_packets_in_it_and_no_others() {
    let [mut one, mut other] = pair_of(1_500);
    let (core, of) = bundles(&mut one, &[3_000, 3_000, 100, 100]);
    assert_eq!(core.len(), 5);
    // The first ends and the second begins in the third bundle.
    assert_eq!((&of[0][..], &of[1][..]), (&[0, 1, 2][..], &[2, 3, 4][..]));
    for (place, bytes) in core.iter().enumerate() {
        if place != 1 {
            other.receive_core(at(0), bytes);
        }
    }
    other.handle_timeout(at(6_000));
    let (out, _) = polled(&mut other, at(6_000));
    let lengths = [3_000, 100, 100];
    let expected = (1..)
        .zip(lengths)
        .map(|(number, length)| one_hop_on(sample(number, length).bytes()));
    assert!(out.iter().cloned().eq(expected));
    // The pieces of the first packet that came.
    let inward = other.counts().total().inward;
    assert_eq!(inward.drops.of(Cause::Incomplete), 2);
    conserved(&other);
}

#[test]
fn a_mark_on_one_bundle_of_a_packet_marks_the_packet_and_no_mark_changes_its_bytes() {
    for marked in [None, Some(0), Some(1), Some(2)] {
        let [mut one, mut other] = pair_of(1_500);
        let sample = Sample {
            service: 0b10,
            length: 4_000,
            ..Sample::SMALL
        };
        one.receive_inside(at(0), &sample.bytes());
        one.flush(at(0));
        let (_, mut core) = polled(&mut one, at(0));
        assert_eq!(core.len(), 3);
        assert!(
            core.iter()
                .all(|bytes| frame::service_of(bytes) == Some(0b10))
        );
        if let Some(place) = marked {
            assert!(frame::mark_packet(&mut core[place]));
        }
        for bytes in &core {
            other.receive_core(at(0), bytes);
        }
        let (out, _) = polled(&mut other, at(6_000));
        let mut expected = one_hop_on(sample.bytes());
        if marked.is_some() {
            frame::set_service(&mut expected, 0b11);
        }
        assert!(out == [expected], "{marked:?}");
        assert_eq!(
            other.counts().total().inward.marked,
            u64::from(marked.is_some())
        );
    }
}

#[test]
fn a_queue_that_drops_out_of_bundles_takes_whole_packets_and_no_pieces() {
    let uplink = |settings: &Settings| Settings {
        uplink: Some(Uplink {
            rate: Rate::from_bits_per_second(40_000_000).unwrap(),
            queue: Spec::Mred(MredSettings {
                weight: 0.2,
                ..MredSettings::new(queue::Limit::Packets(40), Bytes::new(1_000))
            }),
            framing: Framing::Ethernet,
            seed: Seed::new(7),
        }),
        peers: vec![peer(settings.peers[0].encapsulation, 1_500)],
        ..settings.clone()
    };
    let [mut one, mut other] = pair(|settings| uplink(&settings));
    let (mut out, mut taken) = (0, 0);
    for step in 0..4_000 {
        let length = if step % 3 == 0 { 4_000 } else { 120 };
        let now = at(u64::from(step) * 250);
        one.receive_inside(now, &sample(step, length).bytes());
        for gateway in [&mut one, &mut other] {
            gateway.handle_timeout(now);
        }
        for bytes in polled(&mut one, now).1 {
            let carried = Carried::parse(&bytes[..]).unwrap();
            let header = carried.header();
            for index in 0..header.count {
                let is_taken = carried.entry(index).unwrap().length == 0;
                assert!(!is_taken || header.part(index) == WirePart::Whole);
                taken += u64::from(is_taken);
            }
            other.receive_core(now, &bytes);
        }
        out += polled(&mut other, now).0.len();
        conserved(&one);
        conserved(&other);
    }
    let sent = one.counts().total().outward;
    assert!(
        taken > 50 && sent.pieces > 1_000 && out > 1_000,
        "{taken} {out} {sent:?}"
    );
}

/// The bundle `sequence` of one entry, with these marks.
pub(super) fn forged(
    sequence: u16,
    [begins_within, ends_within]: [bool; 2],
    bytes: &[u8],
) -> Vec<u8> {
    let header = Header {
        count: 1,
        average: 0,
        begins_within,
        ends_within,
        unit: wire::bundle::Unit::Microsecond,
        sequence: sequence % wire::bundle::SEQUENCES,
    };
    let mut body = vec![0; HEADER_LEN + 4 + bytes.len()];
    emit_body(header, [Piece { bytes, waited: 0 }].into_iter(), &mut body).unwrap();
    body
}

#[test]
fn pieces_without_an_end_hold_one_packet_of_a_peer_and_each_is_counted() {
    let [_, mut other] = pair(|settings| settings);
    let whole = sample(0, 65_000).bytes();
    let mut held = 0;
    for sequence in 0..4_000u16 {
        // Beginnings of the largest packet, pieces of one byte, and long ones that never end.
        let (within, bytes) = match sequence % 400 {
            0 => ([false, true], &whole[..200]),
            1..40 => ([true, true], &whole[..1]),
            _ => ([true, true], &whole[..1_000]),
        };
        other.receive_payload(
            at(sequence.into()),
            ENDS,
            0,
            &forged(sequence, within, bytes),
        );
        conserved(&other);
        held = held.max(other.waiting().inward);
    }
    let now = at(4_000);
    assert!(polled(&mut other, now).0.is_empty());
    // 200 bytes, 39 of one byte and 64 of a thousand bytes at most.
    assert_eq!(held, 1 + 39 + 64);
    let inward = other.counts().total().inward;
    assert_eq!(inward.drops.of(Cause::Incomplete), 4_000);
    assert_eq!(other.waiting(), Waiting::default());
}

#[test]
fn pieces_that_contradict_their_packet_are_dropped() {
    let whole = sample(0, 400).bytes();
    let (head, rest) = whole.split_at(300);
    for (bundles, cause, drops) in [
        // Shorter and longer than the packet says.
        (
            vec![([false, true], head), ([true, false], &rest[1..])],
            Cause::Incomplete,
            2,
        ),
        (
            vec![([false, true], head), ([true, false], &whole[..])],
            Cause::Incomplete,
            2,
        ),
        // The end of nothing.
        (vec![([true, false], rest)], Cause::Incomplete, 1),
        // Nothing is missing behind the first piece, or its header is cut.
        (vec![([false, true], &whole[..])], Cause::Malformed, 0),
        (vec![([false, true], &whole[..3])], Cause::Malformed, 1),
    ] {
        let [_, mut other] = pair(|settings| settings);
        for (sequence, (within, bytes)) in (0..).zip(bundles) {
            other.receive_payload(at(0), ENDS, 0, &forged(sequence, within, bytes));
        }
        polled(&mut other, at(0));
        conserved(&other);
        let inward = other.counts().total().inward;
        assert_eq!(
            (inward.drops.of(cause), inward.drops.total()),
            (drops, drops)
        );
        assert_eq!(other.waiting(), Waiting::default());
    }
}
