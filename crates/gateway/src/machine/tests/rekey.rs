//! Sealed bundles of a peer that changes its keys, or starts again, in the middle of packets.

use proptest::prelude::*;
use wire::bundle::{Body, Part, SEALED_HEADER_LEN, TAG_LEN};

use super::super::*;
use super::cut::sample;
use super::sealed::{exchange, sealed_pair_with};
use super::support::*;

/// Bytes of the headers of IPv4 and UDP.
const OUTSIDE: usize = 28;

/// Gateways with keys and a core of 1500 bytes.
fn pair_of_1500() -> [Gateway; 2] {
    let mut gateways = sealed_pair_with(|settings| Settings {
        peers: vec![peer(settings.peers[0].encapsulation, 1_500)],
        ..settings
    });
    for gateway in &mut gateways {
        gateway.set_table(Table::new(&routes()));
    }
    exchange(&mut gateways, at(0));
    gateways
}

/// Lets a gateway begin a handshake at its next poll.
fn rekey(gateway: &mut Gateway, now: Time) {
    let Gateway { peers, due, .. } = gateway;
    peers[0].seal.as_mut().unwrap().rekey(now);
    peers[0].renew_handshake(0, due);
}

#[test]
fn a_packet_whose_pieces_are_sealed_under_two_keys_arrives() {
    let mut gateways = pair_of_1500();
    for number in 0..200u32 {
        let now = at(10 + 20_000 * u64::from(number));
        // The last piece of each waits for the next packet of the same gateway.
        let from = usize::from(number % 3 == 0);
        gateways[from].receive_inside(now, &sample(number, 4_000).bytes());
        if number % 2 == 0 {
            rekey(&mut gateways[usize::from(number % 4 == 0)], now);
        }
        exchange(&mut gateways, now);
    }
    let end = at(4_100_000);
    exchange(&mut gateways, end);
    for gateway in &gateways {
        let inward = gateway.counts().total().inward;
        assert_eq!(inward.drops.total(), 0, "{inward:?}");
        assert!(inward.handshakes > 100, "{inward:?}");
        assert_eq!(gateway.waiting(), Waiting::default());
    }
    let released = [0, 1].map(|end| gateways[end].counts().total().inward.released);
    assert_eq!(released, [67, 133]);
}

#[test]
fn pieces_of_two_packets_are_not_joined_after_as_many_lost_bundles_as_there_are_numbers() {
    let [mut one, mut other] = pair_of_1500();
    let packets = u32::from(wire::bundle::SEQUENCES) / 2 + 1;
    let mut core = Vec::new();
    for number in 0..packets {
        one.receive_inside(at(10), &sample(2 * number, 2_000).bytes());
        one.flush(at(10));
        core.extend(polled(&mut one, at(10)).1);
    }
    assert_eq!(core.len(), 2 * packets as usize);
    // The beginning of the first packet, and the end of another one of the same length.
    other.receive_core(at(11), &core[0]);
    other.receive_core(at(12), &core[core.len() - 1]);
    other.handle_timeout(at(20_000));
    assert!(polled(&mut other, at(20_000)).0.is_empty());
    let inward = other.counts().total().inward;
    assert_eq!((inward.bundles, inward.joined), (2, 0));
    assert_eq!(inward.drops.of(Cause::Incomplete), 2);
    conserved(&other);
}

#[test]
fn the_packet_of_a_gateway_that_started_again_does_not_go_on_with_that_of_before() {
    let mut gateways = pair_of_1500();
    gateways[0].receive_inside(at(10), &sample(0, 2_000).bytes());
    // The second piece waits for others, and is lost with the gateway.
    let [_, early] = exchange(&mut gateways, at(10));
    assert!(early.is_empty());
    let mut settings = gateways[0].settings.clone();
    settings.entropy = [9; 32];
    settings.unix_nanos += 1_000_000_000;
    gateways[0] = gateway(settings);
    exchange(&mut gateways, at(100));
    for number in 1..4 {
        gateways[0].receive_inside(at(200), &sample(number, 2_000).bytes());
    }
    gateways[0].flush(at(200));
    let [_, out] = exchange(&mut gateways, at(200));
    let expected = [1, 2, 3].map(|number| one_hop_on(sample(number, 2_000).bytes()));
    assert!(out == expected, "{}", out.len());
    let inward = gateways[1].counts().total().inward;
    assert_eq!(
        (
            inward.drops.of(Cause::Incomplete),
            inward.rejections.total()
        ),
        (1, 0)
    );
}

/// The datagrams that a gateway sends to the core now, each with whether it has packets.
fn sent_by(gateway: &mut Gateway, now: Time) -> Vec<(Vec<u8>, bool)> {
    let mut sent = Vec::new();
    while let Some(transmit) = gateway.poll_transmit(now) {
        if let Transmit::Core { bytes, packets, .. } = transmit {
            sent.push((bytes.to_vec(), packets > 0));
        }
    }
    sent
}

proptest! {
    #[test]
    fn over_changes_of_keys_what_comes_out_is_each_packet_none_of_whose_bundles_was_lost(
        lengths in prop::collection::vec(prop_oneof![4u16..300, 4u16..9_000], 1..50),
        between in 8usize..30,
        outcomes in prop::collection::vec((0u8..12, 0usize..15), 1..50),
    ) {
        let mut gateways = pair_of_1500();
        // A gateway without keys cuts the same packets in the same way: it shows which bundle
        // has which packet.
        let plain = 1_500 - (SEALED_HEADER_LEN + TAG_LEN) as u64;
        let [mut shown, _] = pair(|settings| Settings {
            peers: vec![peer(settings.peers[0].encapsulation, plain)],
            ..settings
        });
        let (mut of, mut lost) = (Vec::<Vec<usize>>::new(), Vec::new());
        let (mut sent, mut rekeyed) = (0, 0);
        // Bundles on their way, each with its turn.
        let mut way: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut out = Vec::new();
        for (number, length) in (0..).zip(&lengths) {
            let now = at(10 + 20 * u64::from(number));
            for gateway in [&mut gateways[0], &mut shown] {
                gateway.receive_inside(now, &sample(number, *length).bytes());
                if number % 5 == 0 || usize::try_from(number) == Ok(lengths.len() - 1) {
                    gateway.flush(now);
                }
            }
            for (place, bytes) in (sent..).zip(polled(&mut shown, now).1) {
                for (part, _, _) in Body::parse(&bytes[OUTSIDE..], false).unwrap().packets() {
                    match part {
                        Part::Rest { .. } => of.last_mut().unwrap().push(place),
                        Part::Whole | Part::First => of.push(vec![place]),
                    }
                }
            }
            // Four sessions are known at a time, and bundles are late by at most 15.
            if sent >= rekeyed + between {
                rekeyed = sent;
                rekey(&mut gateways[sent % 2], now);
            }
            // Handshakes are in time, and bundles as chance has it.
            loop {
                let core = sent_by(&mut gateways[0], now);
                let back = polled(&mut gateways[1], now);
                out.extend(back.0);
                if core.is_empty() && back.1.is_empty() {
                    break;
                }
                back.1.iter().for_each(|bytes| gateways[0].receive_core(now, bytes));
                for (bytes, has_packets) in core {
                    if !has_packets {
                        gateways[1].receive_core(now, &bytes);
                        continue;
                    }
                    let (outcome, delay) = outcomes[sent % outcomes.len()];
                    lost.push(outcome == 0 && sent > 0);
                    match outcome {
                        0 if sent > 0 => {}
                        1 => way.extend([(sent, bytes.clone()), (sent + delay, bytes)]),
                        2..6 if sent > 0 => way.push((sent + delay, bytes)),
                        _ => way.push((sent, bytes)),
                    }
                    sent += 1;
                }
                way.sort_by_key(|(turn, _)| *turn);
                let due = way.partition_point(|(turn, _)| *turn < sent);
                for (_, bytes) in way.drain(..due) {
                    gateways[1].receive_core(now, &bytes);
                    conserved(&gateways[1]);
                }
            }
        }
        let end = at(10 + 20 * lengths.len() as u64);
        for (_, bytes) in way {
            gateways[1].receive_core(end, &bytes);
        }
        // Packets leave with the gaps that they had.
        let mut now = end;
        for _ in 0..lengths.len() + 2 {
            now += Span::from_millis(6);
            gateways[1].handle_timeout(now);
            out.extend(polled(&mut gateways[1], now).0);
            conserved(&gateways[1]);
        }
        let expected: Vec<Vec<u8>> = (0..)
            .zip(&lengths)
            .zip(&of)
            .filter(|(_, of)| of.iter().all(|place| !lost[*place]))
            .map(|((number, length), _)| one_hop_on(sample(number, *length).bytes()))
            .collect();
        prop_assert_eq!(of.last().and_then(|of| of.last()), Some(&(sent - 1)));
        let inward = gateways[1].counts().total().inward;
        prop_assert!(out == expected, "{} of {} {:?}", out.len(), expected.len(), inward);
    }
}
