//! The reflector answers anybody, within its limits.

use std::net::{IpAddr, Ipv6Addr};

use proptest::collection::vec;
use proptest::prelude::*;
use wire::stamp::{BASE_LEN, Reflected};

use super::*;

fn reflector() -> Reflector {
    Reflector::new(Limits::default(), error())
}

#[test]
fn each_session_has_sequence_numbers_of_its_own() {
    let mut reflector = reflector();
    let sessions = [7, 8];
    let mut expected = [0_u32; 2];
    for round in 0..20_u32 {
        let which = usize::from(round % 3 == 0);
        let octets = packet(round, sessions[which], 100, false);
        // Every fifth packet is lost in the forward direction, so numbers differ.
        if round % 5 == 4 {
            continue;
        }
        let reply = reflect(&mut reflector, at(0), peer(1), &octets).unwrap();
        let read = Reflected::parse(&reply).unwrap();
        assert_eq!(
            (read.packet.sequence, read.stateful),
            (expected[which], true)
        );
        assert_eq!(read.packet.hop_limit, 60);
        assert_eq!(reply.len(), 100);
        expected[which] += 1;
    }
    // The port is part of a session.
    let octets = packet(20, sessions[0], 100, true);
    let reply = reflect(&mut reflector, at(0), peer(2), &octets).unwrap();
    assert_eq!(Reflected::parse(&reply).unwrap().packet.sequence, 0);
    assert_eq!(reply.len(), 72);
    assert_eq!(reflector.counts().reflected, 17);
}

#[test]
fn one_source_is_limited_and_does_not_use_up_what_others_get() {
    let mut reflector = reflector();
    let octets = packet(0, 7, 100, false);
    let mut granted = |now, from| reflect(&mut reflector, now, from, &octets).is_ok();
    let burst = (0..10_000).filter(|_| granted(at(0), peer(1))).count();
    assert_eq!(burst, 2_000);
    // 1000 per second afterwards.
    let later = (0..20_000)
        .filter(|n| granted(at(n * 100), peer(1)))
        .count();
    assert_eq!(later, 1_999);
    assert!(granted(
        at(2_000_000),
        SocketAddr::from(([192, 0, 2, 2], 1_024))
    ));
    // All hosts of an IPv6 prefix are one source.
    let host = |n: u16| IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, n, 0, 0, n));
    let prefix = (0..5_000)
        .filter(|n| granted(at(2_000_000), SocketAddr::new(host(*n), 1_024)))
        .count();
    assert_eq!(prefix, 2_000);
    let counts = reflector.counts();
    assert_eq!(counts.reflected, 2_000 + 1_999 + 1 + 2_000);
    assert_eq!(counts.limited, 8_000 + 18_001 + 3_000);
}

#[test]
fn spoofed_sources_are_limited_in_all_and_take_a_bounded_memory() {
    let limits = Limits::default();
    let mut reflector = Reflector::new(limits, error());
    let answer = |reflector: &mut Reflector, now, from, octets: &[u8]| {
        let reply = reflect(reflector, now, from, octets).unwrap();
        let reply = Reflected::parse(&reply).unwrap();
        (reply.packet.sequence, reply.stateful)
    };
    let known = packet(0, 7, 100, false);
    assert_eq!(answer(&mut reflector, at(0), peer(1), &known), (0, true));
    let octets = packet(0, 1, 100, false);
    let mut granted = 0;
    for number in 0..200_000_u32 {
        // 100 000 sources per second, for two seconds.
        let now = at(u64::from(number) * 10);
        let from = SocketAddr::from((0x0a00_0000_u32.wrapping_add(number).to_be_bytes(), 9));
        granted += u32::from(reflect(&mut reflector, now, from, &octets).is_ok());
        assert!(reflector.sessions.len() <= limits.sessions);
        assert!(reflector.sources.len() <= limits.sources);
    }
    assert!(granted <= 10_000 + 20_000, "{granted}");
    // The sender that was there before keeps its sequence.
    let now = at(2_100_000);
    assert_eq!(answer(&mut reflector, now, peer(1), &known), (1, true));
    // A new one is answered, without state, until idle sessions give way.
    let from = SocketAddr::from(([198, 51, 100, 1], 9));
    for (number, now, expected) in [
        (0, now, (0, false)),
        (1, now, (1, false)),
        (2, now + limits.idle, (0, true)),
    ] {
        let octets = packet(number, 3, 100, false);
        assert_eq!(answer(&mut reflector, now, from, &octets), expected);
    }
    assert!(reflector.counts().without_state > 2);
}

#[test]
fn one_address_has_a_limited_number_of_sessions() {
    let limits = Limits::default();
    let mut reflector = Reflector::new(limits, error());
    let octets = packet(0, 7, 100, false);
    for number in 0..1_000 {
        let now = at(u64::from(number) * 1_000);
        reflect(&mut reflector, now, peer(number), &octets).unwrap();
        assert!(reflector.sessions.len() <= limits.sessions_per_address);
    }
    let last = reflect(&mut reflector, at(2_000_000), peer(999), &octets).unwrap();
    assert_eq!(Reflected::parse(&last).unwrap().packet.sequence, 1);
    let first = reflect(&mut reflector, at(2_000_000), peer(0), &octets).unwrap();
    assert_eq!(Reflected::parse(&first).unwrap().packet.sequence, 0);
}

#[test]
fn reflectors_do_not_answer_each_other() {
    let mut reflectors = [reflector(), reflector()];
    let octets = packet(0, 7, 100, false);
    let reply = reflect(&mut reflectors[0], at(0), peer(1), &octets).unwrap();
    let again = reflect(&mut reflectors[1], at(0), peer(1), &reply);
    assert_eq!(again, Err(Refusal::Malformed));
}

/// A packet of any content, most of them test packets.
fn any_packet() -> impl Strategy<Value = (u16, u64, Vec<u8>)> {
    let octets = prop_oneof![
        4 => (44_usize..300, any::<u16>(), any::<bool>(), vec((44_usize..300, any::<u8>()), 0..4))
            .prop_map(|(length, session, short, damage)| {
                let mut octets = super::packet(0, session, length.max(72), short);
                octets.truncate(length);
                for (place, value) in damage {
                    if let Some(octet) = octets.get_mut(place) {
                        *octet = value;
                    }
                }
                octets
            }),
        1 => vec(any::<u8>(), 0..200),
    ];
    (0_u16..4, 0_u64..2_000, octets)
}

proptest! {
    /// No sequence of packets is amplified: neither in octets nor in packets.
    #[test]
    fn no_sequence_of_packets_is_amplified(packets in vec(any_packet(), 0..60)) {
        let mut reflector = reflector();
        let (mut now, mut got) = (0, 0);
        for (number, gap, octets) in &packets {
            now += gap;
            got += 1;
            match reflect(&mut reflector, at(now), peer(*number), octets) {
                Ok(reply) => prop_assert!((BASE_LEN..=octets.len()).contains(&reply.len())),
                Err(Refusal::Limited) => prop_assert!(false, "so few packets"),
                Err(Refusal::Malformed | Refusal::Unwanted) => {}
            }
        }
        let counts = reflector.counts();
        prop_assert_eq!(counts.reflected + counts.malformed + counts.unwanted, got);
    }
}
