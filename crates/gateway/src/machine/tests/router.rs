//! A gateway as a router.

use units::IpVersion;
use wire::frame;
use wire::icmp_error::{Cause as ErrorCause, cause};

use super::super::*;
use super::support::*;

/// The error that a packet from inside is answered with.
fn answer(gateway: &mut Gateway, now: Time, bytes: &[u8]) -> Option<ErrorCause> {
    gateway.receive_inside(now, bytes);
    let (inside, _) = polled(gateway, now);
    conserved(gateway);
    inside.first().and_then(|bytes| cause(bytes))
}

fn both() -> [Sample; 2] {
    [IpVersion::V4, IpVersion::V6].map(|version| Sample {
        version,
        ..Sample::SMALL
    })
}

#[test]
fn a_packet_whose_hop_limit_is_used_up_is_answered() {
    let [mut one, _] = pair(|settings| settings);
    for sample in both() {
        let mut bytes = sample.bytes();
        set_hop_limit(&mut bytes, 1).unwrap();
        assert_eq!(
            answer(&mut one, at(0), &bytes),
            Some(ErrorCause::HopLimitExceeded)
        );
    }
    let drops = one.counts().total().outward.drops;
    assert_eq!((drops.of(Cause::HopLimit), drops.total()), (2, 2));
    // A driver whose kernel forwards counts the hops itself.
    let [mut one, _] = pair(|settings| Settings {
        counts_hops: false,
        ..settings
    });
    let mut bytes = Sample::SMALL.bytes();
    set_hop_limit(&mut bytes, 1).unwrap();
    assert_eq!(answer(&mut one, at(0), &bytes), None);
    assert_eq!(one.waiting().outward, 1);
}

#[test]
fn a_packet_without_a_route_is_answered() {
    let [_, mut other] = pair(|settings| settings);
    for sample in both() {
        let unreachable = ErrorCause::Unreachable { code: 0 };
        assert_eq!(
            answer(&mut other, at(0), &sample.bytes()),
            Some(unreachable)
        );
    }
    assert_eq!(other.counts().other.outward.drops.of(Cause::NoRoute), 2);
}

#[test]
fn a_packet_stays_whole_if_a_bundle_has_room_for_it_and_is_cut_if_it_is_larger() {
    // 9000 - 28 - 6 - 4.
    for (length, pieces) in [(8_962, 0), (8_963, 1), (65_535, 7)] {
        let [mut one, mut other] = pair(|settings| settings);
        for sample in both() {
            let header = sample.bytes().len() - usize::from(sample.length);
            let length = length - u16::try_from(header).unwrap();
            let bytes = Sample { length, ..sample }.bytes();
            one.receive_inside(at(0), &bytes);
            // What is whole waits for nothing, because nothing more would fit with it.
            assert!(pieces > 0 || one.next_timeout(at(0)) == Some(at(0)));
            one.flush(at(0));
            for core in polled(&mut one, at(0)).1 {
                assert!(core.len() <= 9_000);
                other.receive_core(at(0), &core);
            }
            let (out, _) = polled(&mut other, at(9_000));
            assert!(out == [one_hop_on(bytes)], "{length}");
        }
        conserved(&one);
        conserved(&other);
        let outward = one.counts().total().outward;
        assert_eq!(
            (outward.pieces, outward.alone == 2),
            (2 * pieces, pieces == 0)
        );
        assert_eq!(other.counts().total().inward.joined, 2 * pieces);
    }
}

#[test]
fn a_packet_longer_than_a_length_of_ipv4_is_answered_with_that_length() {
    let [mut one, _] = pair(|settings| settings);
    let mut bytes = vec![0; 65_536];
    let sample = Sample {
        version: IpVersion::V6,
        ..Sample::SMALL
    };
    bytes[..40].copy_from_slice(&sample.bytes()[..40]);
    bytes[4..6].copy_from_slice(&65_496u16.to_be_bytes());
    let told = ErrorCause::TooBig { mtu: 65_535 };
    assert_eq!(answer(&mut one, at(0), &bytes), Some(told));
    assert_eq!(one.counts().total().outward.drops.of(Cause::TooBig), 1);
}

#[test]
fn no_errors_are_sent_about_errors_and_a_flood_gets_few() {
    let [mut one, _] = pair(|settings| settings);
    let mut bytes = Sample::SMALL.bytes();
    set_hop_limit(&mut bytes, 1).unwrap();
    let mut answers = 0;
    for step in 0..1_000 {
        answers += u64::from(answer(&mut one, at(step), &bytes).is_some());
    }
    // A burst of 10 and 100 a second.
    assert_eq!(answers, 10);
    let counts = one.counts();
    assert_eq!((counts.errors, counts.errors_withheld), (10, 990));
    // An error of a router, on its way back through the gateway.
    let error = wire::icmp_error::IcmpError::about(
        &bytes,
        ErrorCause::HopLimitExceeded,
        [192, 0, 2, 9].into(),
    );
    let error = error.unwrap();
    let mut bytes = vec![0; error.buffer_len()];
    error.emit(&mut bytes).unwrap();
    set_hop_limit(&mut bytes, 1).unwrap();
    let later = at(60_000_000);
    assert_eq!(answer(&mut one, later, &bytes), None);
    assert_eq!(one.counts().errors, 10);
}

#[test]
fn a_sender_behind_the_core_is_told_what_the_link_to_a_host_takes() {
    let [mut one, mut other] = pair(|settings| settings);
    // From a host behind the peer, to one here.
    let sample = Sample {
        length: 2_700,
        ..Sample::SMALL
    };
    let bytes = sample.bytes();
    let mut back = bytes.clone();
    let (source, destination) = (bytes[12..16].to_vec(), bytes[16..20].to_vec());
    back[12..16].copy_from_slice(&destination);
    back[16..20].copy_from_slice(&source);
    let [from, _] = INSIDE.map(|address| address.unwrap());
    one.tell_sender(at(0), &back, 1_700, from);
    one.flush(at(0));
    let (inside, core) = polled(&mut one, at(0));
    assert_eq!((inside.len(), core.len()), (0, 1));
    other.receive_core(at(1), &core[0]);
    other.handle_timeout(at(2_000));
    let (inside, _) = polled(&mut other, at(2_000));
    assert_eq!(cause(&inside[0]), Some(ErrorCause::TooBig { mtu: 1_700 }));
    let ends = IpPacket::parse_whole(&inside[0]).unwrap().addresses.ends();
    assert_eq!(ends, [from, [192, 0, 2, 1].into()]);
    conserved(&one);
    conserved(&other);
    // No error answers an error.
    one.tell_sender(at(3), &inside[0], 1_700, from);
    assert_eq!(one.counts().errors_withheld, 1);
}

#[test]
fn a_path_mtu_that_shrinks_while_packets_wait_makes_smaller_bundles() {
    let [mut one, mut other] = pair(|settings| settings);
    for number in 0..30 {
        let sample = Sample {
            number,
            ..Sample::SMALL
        };
        one.receive_inside(at(0), &sample.bytes());
    }
    let large = Sample {
        length: 3_000,
        ..Sample::SMALL
    };
    one.receive_inside(at(1), &large.bytes());
    one.set_path_mtu(at(500), 0, mtu(1_500));
    conserved(&one);
    one.handle_timeout(at(1_100));
    let (inside, core) = polled(&mut one, at(1_100));
    assert!(core.iter().all(|bytes| bytes.len() <= 1_500), "{core:?}");
    assert!(inside.is_empty());
    // 31 packets. The large one continues in two bundles.
    let outward = one.counts().total().outward;
    assert_eq!((outward.bundled, outward.pieces), (33, 2));
    assert_eq!(one.waiting().outward, 0);
    for bytes in core {
        other.receive_core(at(1_100), &bytes);
    }
    let (out, _) = polled(&mut other, at(9_000));
    assert_eq!((out.len(), &out[30]), (31, &one_hop_on(large.bytes())));
    // Nobody is believed to carry less than IPv6 needs.
    one.set_path_mtu(at(2_000), 0, mtu(68));
    assert_eq!(one.path_mtu(0), Some(Bytes::new(1_280)));
    one.set_path_mtu(at(3_000), 0, mtu(65_000));
    assert_eq!(one.path_mtu(0).unwrap(), Bytes::new(9_000));
    conserved(&one);
}

#[test]
fn a_router_that_says_that_a_bundle_is_too_big_is_believed_if_it_quotes_one() {
    let [mut one, mut other] = pair(|settings| settings);
    one.receive_inside(at(0), &Sample::SMALL.bytes());
    one.flush(at(0));
    let (_, core) = polled(&mut one, at(0));
    let about = |bytes: &[u8]| {
        let router = [203, 0, 113, 1].into();
        let told = ErrorCause::TooBig { mtu: 1_400 };
        let error = wire::icmp_error::IcmpError::about(bytes, told, router).unwrap();
        let mut bytes = vec![0; error.buffer_len()];
        error.emit(&mut bytes).unwrap();
        bytes
    };
    // It quotes a packet that is no bundle; it goes to another gateway.
    let mut foreign = core[0].clone();
    foreign[22..24].copy_from_slice(&[0, 53]);
    one.receive_core(at(1), &about(&foreign));
    other.receive_core(at(1), &about(&core[0]));
    assert_eq!(one.path_mtu(0).unwrap(), Bytes::new(9_000));
    assert_eq!(other.path_mtu(0).unwrap(), Bytes::new(9_000));
    one.receive_core(at(2), &about(&core[0]));
    assert_eq!(one.path_mtu(0).unwrap(), Bytes::new(1_400));
    assert_eq!(one.counts().peers[0].inward.notices, 1);
    conserved(&one);
    conserved(&other);
}

#[test]
fn marks_outside_reach_every_packet_and_none_is_marked_that_cannot_be() {
    // The service bytes inside, what the outside then has, and the marks with CE there.
    for (inside, outside, marked) in [
        ([0b10, 0b10], 0b10, Some([0b11, 0b11])),
        ([0b01, 0b01], 0b01, Some([0b11, 0b11])),
        ([0b11, 0b10], 0b10, Some([0b11, 0b11])),
        (
            [0xb8 | 0b10, 0x28 | 0b01],
            0xb8 | 0b10,
            Some([0xb8 | 0b11, 0x28 | 0b11]),
        ),
        ([0b10, 0b00], 0b00, None),
    ] {
        let [mut one, mut other] = pair(|settings| settings);
        for service in inside {
            let sample = Sample {
                service,
                ..Sample::SMALL
            };
            one.receive_inside(at(0), &sample.bytes());
        }
        one.flush(at(0));
        let mut bundle = polled(&mut one, at(0)).1.remove(0);
        assert_eq!(frame::service_of(&bundle), Some(outside), "{inside:?}");
        assert_eq!(frame::mark_packet(&mut bundle), marked.is_some());
        other.receive_core(at(0), &bundle);
        let (out, _) = polled(&mut other, at(9_000));
        let services: Vec<u8> = out
            .iter()
            .map(|bytes| frame::service_of(bytes).unwrap())
            .collect();
        assert_eq!(services, marked.unwrap_or(inside));
        for bytes in out {
            assert!(
                IpPacket::parse_whole(&bytes).is_ok(),
                "the checksum is right"
            );
        }
    }
}

#[test]
fn a_packet_that_cannot_be_marked_is_dropped_where_its_bundle_was() {
    let [mut one, mut other] = pair(|settings| settings);
    one.receive_inside(at(0), &Sample::SMALL.bytes());
    one.flush(at(0));
    let mut bundle = polled(&mut one, at(0)).1.remove(0);
    // A broken router marks what is not capable.
    frame::set_service(&mut bundle, 0b11);
    other.receive_core(at(0), &bundle);
    assert!(polled(&mut other, at(9_000)).0.is_empty());
    assert_eq!(
        other.counts().peers[0].inward.drops.of(Cause::Congestion),
        1
    );
    conserved(&other);
}

#[test]
fn a_packet_that_no_router_forwards_is_dropped_and_counted_on_both_ways() {
    // From this network, from a group, with a hop limit of 0: with a right checksum.
    let altered = |change: fn(&mut [u8])| {
        let mut bytes = Sample::SMALL.bytes();
        change(&mut bytes);
        bytes[10..12].fill(0);
        let words = bytes[..20].chunks(2);
        let sum: u32 = words
            .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
            .sum();
        let sum = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
        bytes[10..12].copy_from_slice(&(!sum).to_be_bytes());
        bytes
    };
    let martians = [
        altered(|bytes| bytes[12..16].copy_from_slice(&[127, 3, 2, 1])),
        altered(|bytes| bytes[12..16].copy_from_slice(&[239, 1, 2, 3])),
        altered(|bytes| bytes[12] = 0),
    ];
    let [mut one, mut other] = pair(|settings| settings);
    for bytes in &martians {
        one.receive_inside(at(0), bytes);
    }
    let outward = one.counts().total().outward;
    assert_eq!(outward.drops.of(Cause::Martian), 3);
    assert_eq!(outward.drops.total(), 3);
    conserved(&one);
    // Whoever forges the address of a peer writes them into a bundle.
    one.receive_inside(at(1), &Sample::SMALL.bytes());
    one.flush(at(1));
    let (_, core) = polled(&mut one, at(1));
    let inner = core[0].len() - Sample::SMALL.bytes().len();
    let mut forged = |number: u16, packet: &[u8]| {
        let mut bytes = core[0].clone();
        // No checksum of UDP [RFC768], and the next number.
        bytes[26..28].fill(0);
        bytes[inner..].copy_from_slice(packet);
        let header = inner - 10;
        let sequence = u16::from_be_bytes([bytes[header + 4], bytes[header + 5]]) + number;
        bytes[header + 4..header + 6].copy_from_slice(&sequence.to_be_bytes());
        other.receive_core(at(2 + u64::from(number)), &bytes);
    };
    let used_up = altered(|bytes| bytes[8] = 0);
    for (number, packet) in (0..).zip(martians.iter().chain([&used_up])) {
        forged(number, packet);
    }
    let inward = other.counts().total().inward;
    assert_eq!(inward.drops.of(Cause::Martian), 3, "{inward:?}");
    assert_eq!(inward.drops.of(Cause::HopLimit), 1, "{inward:?}");
    assert_eq!(inward.unpacked, 4);
    conserved(&other);
}
