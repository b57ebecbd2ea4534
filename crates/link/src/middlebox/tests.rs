use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::icmp_error::IcmpError;
use wire::probe::{Content, Echo, Fragments, ProbePacket, Received, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;

use super::*;

const V4: Addresses = Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
]);

const ECHO: Transport = Transport::Echo(Echo {
    reply: false,
    identifier: 7,
    sequence: 1,
});

const fn udp(source: u16) -> Transport {
    Transport::Udp {
        ports: [source, 33_434],
    }
}

const fn syn(mss: u16) -> Transport {
    Transport::Tcp(Tcp {
        ports: [50_000, 443],
        sequence: 1,
        acknowledgement: 0,
        flags: flag::SYN,
        window: 65_535,
        mss: Some(mss),
    })
}

const fn probe(addresses: Addresses, transport: Transport, size: u32) -> ProbePacket<'static> {
    ProbePacket {
        addresses,
        hop_limit: 64,
        flow_label: 0,
        identification: 7,
        dont_fragment: false,
        transport,
        data: &[],
        size,
    }
}

fn packet(addresses: Addresses, transport: Transport, size: u32) -> Vec<u8> {
    let probe = probe(addresses, transport, size);
    let mut bytes = vec![0; probe.buffer_len()];
    probe.emit(&mut bytes).unwrap();
    bytes
}

fn too_big(addresses: Addresses, mtu: u32) -> Vec<u8> {
    let from: IpAddr = match addresses {
        Addresses::V4(_) => Ipv4Addr::new(198, 18, 9, 9).into(),
        Addresses::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9).into(),
    };
    let bytes = packet(addresses, udp(1), 3_000);
    let error = IcmpError::about(&bytes, Cause::TooBig { mtu }, from).unwrap();
    let mut bytes = vec![0; error.buffer_len()];
    error.emit(&mut bytes).unwrap();
    bytes
}

fn one(rule: Rule) -> Middlebox {
    Middlebox::new([rule], Seed::new(1), Time::ZERO)
}

/// Whether the packet passes a device with this rule alone, unchanged.
fn passes(rule: Rule, bytes: &[u8], direction: Direction) -> bool {
    let mut after = bytes.to_vec();
    let outcome = one(rule).pass(Time::ZERO, &mut after, direction);
    assert_eq!(after, bytes);
    outcome == Outcome::Forward
}

#[test]
fn packets_above_the_size_are_dropped_and_no_smaller_ones() {
    let rule = Rule::always(Action::DropAbove(Bytes::new(1_500)));
    for addresses in [V4, V6] {
        for (size, expected) in [(1_499, true), (1_500, true), (1_501, false), (9_000, false)] {
            for direction in Direction::BOTH {
                let bytes = packet(addresses, ECHO, size);
                assert_eq!(passes(rule, &bytes, direction), expected, "{size}");
            }
        }
    }
}

#[test]
fn a_rule_holds_for_its_direction_and_its_protocol() {
    let rule = Rule {
        direction: Some(Direction::Reverse),
        protocol: Some(Protocol::Udp),
        ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
    };
    for addresses in [V4, V6] {
        for (transport, direction, expected) in [
            (udp(1), Direction::Reverse, false),
            (udp(1), Direction::Forward, true),
            (ECHO, Direction::Reverse, true),
            (syn(1_460), Direction::Reverse, true),
        ] {
            let bytes = packet(addresses, transport, 2_000);
            assert_eq!(passes(rule, &bytes, direction), expected, "{transport:?}");
        }
    }
}

#[test]
fn a_rule_begins_and_ends() {
    let rule = Rule {
        from: Span::from_secs(2),
        until: Some(Span::from_secs(5)),
        ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
    };
    let start = Time::ZERO + Span::from_secs(100);
    let mut device = Middlebox::new([rule], Seed::new(1), Time::ZERO);
    device.restart(start, Seed::new(1));
    let passed = (0..8).map(|second| {
        let now = start + Span::from_secs(second);
        device.pass(now, &mut packet(V6, ECHO, 9_000), Direction::Forward) == Outcome::Forward
    });
    let passed: Vec<bool> = passed.collect();
    assert_eq!(passed, [true, true, false, false, false, true, true, true]);
}

#[test]
fn a_share_of_the_flows_meets_the_rule_always_and_the_others_never() {
    let rule = Rule {
        share: 0.25,
        ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
    };
    for addresses in [V4, V6] {
        let dropped = |source: u16| {
            let outcomes = [(2_000, 0), (3_000, 0), (1_501, 1)].map(|(size, second)| {
                let mut bytes = packet(addresses, udp(source), size);
                let now = Time::ZERO + Span::from_secs(second);
                one(rule).pass(now, &mut bytes, Direction::Forward)
            });
            assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
            outcomes[0] == Outcome::Drop
        };
        let many = (1..=4_000).filter(|source| dropped(*source)).count();
        // 1000 expected; four standard deviations are 110.
        assert!((890..=1_110).contains(&many), "{many}");
    }
}

#[test]
fn messages_about_size_are_dropped_and_others_are_not() {
    let rule = Rule::always(Action::DropTooBig);
    for addresses in [V4, V6] {
        assert!(!passes(
            rule,
            &too_big(addresses, 1_400),
            Direction::Reverse
        ));
        assert!(passes(
            rule,
            &packet(addresses, ECHO, 9_000),
            Direction::Reverse
        ));
    }
}

#[test]
fn messages_about_size_are_limited_to_one_in_each_span() {
    let mut device = one(Rule::always(Action::LimitTooBig(Span::from_secs(1))));
    let passed = (0..40).filter(|tenth| {
        let now = Time::ZERO + Span::from_millis(100 * tenth);
        let outcome = device.pass(now, &mut too_big(V6, 1_400), Direction::Reverse);
        let other = device.pass(now, &mut packet(V6, ECHO, 100), Direction::Reverse);
        assert_eq!(other, Outcome::Forward);
        outcome == Outcome::Forward
    });
    assert_eq!(passed.collect::<Vec<u64>>(), [0, 10, 20, 30]);
}

#[test]
fn messages_about_size_announce_another_mtu() {
    for addresses in [V4, V6] {
        let mut bytes = too_big(addresses, 1_400);
        let mut device = one(Rule::always(Action::AnnounceMtu(4_000)));
        let outcome = device.pass(Time::ZERO, &mut bytes, Direction::Reverse);
        assert_eq!(outcome, Outcome::Forward);
        assert_eq!(bytes, too_big(addresses, 4_000));
    }
}

#[test]
fn the_segment_size_of_a_syn_is_lowered() {
    for addresses in [V4, V6] {
        for (announced, expected) in [(8_960, 1_360), (1_300, 1_300)] {
            let mut bytes = packet(addresses, syn(announced), 200);
            let mut device = one(Rule::always(Action::ClampMss(1_360)));
            let outcome = device.pass(Time::ZERO, &mut bytes, Direction::Forward);
            assert_eq!(outcome, Outcome::Forward);
            let received = Received::parse(&bytes).unwrap();
            let Content::Data {
                transport: Transport::Tcp(tcp),
                ..
            } = received.content
            else {
                panic!("{received:?}");
            };
            assert_eq!(tcp.mss, Some(expected));
        }
    }
}

#[test]
fn fragments_are_dropped_and_whole_packets_are_not() {
    let rule = Rule::always(Action::DropFragments);
    for addresses in [V4, V6] {
        let bytes = packet(addresses, udp(1), 3_000);
        assert!(passes(rule, &bytes, Direction::Forward));
        for fragment in Fragments::of(&bytes, 1_400, 9).unwrap() {
            let mut part = vec![0; fragment.buffer_len()];
            fragment.emit(&mut part).unwrap();
            assert!(!passes(rule, &part, Direction::Forward));
        }
    }
}

#[test]
fn a_range_of_sizes_is_dropped_and_others_are_not() {
    for addresses in [V4, V6] {
        for (from, to) in [(1_401, 1_500), (2_000, 4_100)] {
            let [first, last] = [from, to].map(|size| Bytes::new(size.into()));
            let rule = Rule::always(Action::DropBetween {
                from: first,
                to: last,
            });
            let passed = [from - 1, from, to, to + 1]
                .map(|size| passes(rule, &packet(addresses, ECHO, size), Direction::Forward));
            assert_eq!(passed, [true, false, false, true]);
        }
    }
}

#[test]
fn a_packet_may_be_fragmented_after_its_flag_was_cleared() {
    for addresses in [V4, V6] {
        let probe = ProbePacket {
            dont_fragment: true,
            ..probe(addresses, ECHO, 3_000)
        };
        let mut bytes = vec![0; probe.buffer_len()];
        probe.emit(&mut bytes).unwrap();
        let mut device = one(Rule::always(Action::ClearDontFragment));
        let outcome = device.pass(Time::ZERO, &mut bytes, Direction::Forward);
        assert_eq!(outcome, Outcome::Forward);
        // The checksum is that of a packet without the flag.
        assert_eq!(bytes, packet(addresses, ECHO, 3_000));
    }
}

#[test]
fn a_share_of_large_packets_is_dropped_at_random() {
    for addresses in [V4, V6] {
        let (above, per_mille) = (Bytes::new(1_440), 200);
        let mut device = one(Rule::always(Action::DropShareAbove { above, per_mille }));
        let mut dropped = |size| {
            let mut drops = |_: &u32| {
                let mut bytes = packet(addresses, ECHO, size);
                device.pass(Time::ZERO, &mut bytes, Direction::Forward) == Outcome::Drop
            };
            (0..10_000).filter(|number| drops(number)).count()
        };
        assert_eq!(dropped(1_440), 0);
        // Five standard errors of a share of a fifth.
        assert!((1_800..=2_200).contains(&dropped(1_441)));
    }
}

#[test]
fn packets_beyond_a_token_bucket_are_dropped() {
    let every = Span::from_millis(100);
    let mut device = one(Rule::always(Action::LimitRate { burst: 3, every }));
    let passed: Vec<u64> = (0..1_000)
        .filter(|&millis| {
            let now = Time::ZERO + Span::from_millis(millis);
            let mut bytes = packet(V4, ECHO, 100);
            device.pass(now, &mut bytes, Direction::Forward) == Outcome::Forward
        })
        .collect();
    assert_eq!(passed[..4], [0, 1, 2, 100]);
    assert_eq!(passed.len(), 12);
}

#[test]
fn several_rules_apply_in_order() {
    let rules = [
        Rule::always(Action::AnnounceMtu(4_000)),
        Rule::always(Action::DropAbove(Bytes::new(5_000))),
        Rule::always(Action::DropFragments),
    ];
    let mut device = Middlebox::new(rules, Seed::new(1), Time::ZERO);
    let mut bytes = too_big(V6, 1_400);
    let outcome = device.pass(Time::ZERO, &mut bytes, Direction::Reverse);
    assert_eq!(outcome, Outcome::Forward);
    assert_eq!(bytes, too_big(V6, 4_000));
    let outcome = device.pass(Time::ZERO, &mut packet(V6, ECHO, 5_001), Direction::Reverse);
    assert_eq!(outcome, Outcome::Drop);
}

#[test]
fn frames_without_a_packet_go_on_and_those_with_one_meet_the_rules() {
    let mut device = one(Rule::always(Action::DropAbove(Bytes::new(1_500))));
    let mut frame = [&[2; 12][..], &[0x86, 0xdd], &packet(V6, ECHO, 2_000)].concat();
    let outcome = device.pass_frame(Time::ZERO, &mut frame, Direction::Forward);
    assert_eq!(outcome, Outcome::Drop);
    frame[12..14].copy_from_slice(&[0x88, 0xcc]);
    let before = frame.clone();
    let outcome = device.pass_frame(Time::ZERO, &mut frame, Direction::Forward);
    assert_eq!((outcome, frame), (Outcome::Forward, before));
}
