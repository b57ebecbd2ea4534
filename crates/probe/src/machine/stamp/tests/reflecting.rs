//! The reflector answers anybody, within its limits.

use std::net::{IpAddr, Ipv6Addr};

use wire::stamp::Reflected;

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
        let bytes = packet(round, sessions[which], 100, false);
        // Every fifth packet is lost in the forward direction, so numbers differ.
        if round % 5 == 4 {
            continue;
        }
        let reply = reflect(&mut reflector, at(0), peer(1), &bytes).unwrap();
        let read = Reflected::parse(&reply).unwrap();
        assert_eq!(
            (read.packet.sequence, read.stateful),
            (expected[which], true)
        );
        assert_eq!(read.packet.hop_limit, 60);
        assert_eq!(read.piece.map(u64::from), Some(PIECE.get()));
        assert_eq!(reply.len(), 100);
        expected[which] += 1;
    }
    // The port is part of a session.
    let bytes = packet(20, sessions[0], 100, true);
    let reply = reflect(&mut reflector, at(0), peer(2), &bytes).unwrap();
    assert_eq!(Reflected::parse(&reply).unwrap().packet.sequence, 0);
    assert_eq!(reply.len(), 80);
    assert_eq!(reflector.counts().reflected, 17);
}

#[test]
fn one_source_is_limited_and_does_not_use_up_what_others_get() {
    let mut reflector = reflector();
    let bytes = packet(0, 7, 100, false);
    let mut granted = |now, from| reflect(&mut reflector, now, from, &bytes).is_ok();
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
    let answer = |reflector: &mut Reflector, now, from, bytes: &[u8]| {
        let reply = reflect(reflector, now, from, bytes).unwrap();
        let reply = Reflected::parse(&reply).unwrap();
        (reply.packet.sequence, reply.stateful)
    };
    let known = packet(0, 7, 100, false);
    assert_eq!(answer(&mut reflector, at(0), peer(1), &known), (0, true));
    let bytes = packet(0, 1, 100, false);
    let mut granted = 0;
    for number in 0..200_000_u32 {
        // 100 000 sources per second, for two seconds.
        let now = at(u64::from(number) * 10);
        let from = SocketAddr::from((0x0a00_0000_u32.wrapping_add(number).to_be_bytes(), 9));
        granted += u32::from(reflect(&mut reflector, now, from, &bytes).is_ok());
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
        let bytes = packet(number, 3, 100, false);
        assert_eq!(answer(&mut reflector, now, from, &bytes), expected);
    }
    assert!(reflector.counts().without_state > 2);
}

#[test]
fn sources_that_may_not_exist_take_nothing_from_a_sender_whose_neighbour_is_known() {
    let mut reflector = reflector();
    let (mut spoofed, mut known) = (0, 0);
    // 20 000 of them per second for two seconds, each of another address of the link.
    for number in 0..40_000_u32 {
        let now = at(u64::from(number) * 50);
        let bytes = packet(number, 1, 84, false);
        let [.., high, low] = number.to_be_bytes();
        let arrival = Arrival {
            from: SocketAddr::from(([10, 77, high, low], 9)),
            unix_nanos: wall(now),
            hop_limit: 64,
            piece: None,
            is_resolved: false,
            bytes: &bytes,
        };
        if let Ok(reply) = answer(&mut reflector, now, &arrival) {
            spoofed += 1;
            assert!(!Reflected::parse(&reply).unwrap().stateful);
        }
        // And an honest one, a thousand times a second.
        if number % 20 == 0 {
            let bytes = packet(known, 7, 1_400, false);
            let reply = reflect(&mut reflector, now, peer(1), &bytes).unwrap();
            let reply = Reflected::parse(&reply).unwrap();
            assert_eq!((reply.packet.sequence, reply.stateful), (known, true));
            known += 1;
        }
    }
    assert_eq!(known, 2_000);
    // The burst, and 100 per second. Their replies wait for three seconds in the kernel.
    assert!((290..=300).contains(&spoofed), "{spoofed}");
    assert_eq!((reflector.sources.len(), reflector.sessions.len()), (1, 1));
}

#[test]
fn one_address_has_a_limited_number_of_sessions() {
    let limits = Limits::default();
    let mut reflector = Reflector::new(limits, error());
    let bytes = packet(0, 7, 100, false);
    for number in 0..1_000 {
        let now = at(u64::from(number) * 1_000);
        reflect(&mut reflector, now, peer(number), &bytes).unwrap();
        assert!(reflector.sessions.len() <= limits.sessions_per_address);
    }
    let last = reflect(&mut reflector, at(2_000_000), peer(999), &bytes).unwrap();
    assert_eq!(Reflected::parse(&last).unwrap().packet.sequence, 1);
    let first = reflect(&mut reflector, at(2_000_000), peer(0), &bytes).unwrap();
    assert_eq!(Reflected::parse(&first).unwrap().packet.sequence, 0);
}

#[test]
fn reflectors_do_not_answer_each_other() {
    let mut reflectors = [reflector(), reflector()];
    let bytes = packet(0, 7, 100, false);
    let reply = reflect(&mut reflectors[0], at(0), peer(1), &bytes).unwrap();
    let again = reflect(&mut reflectors[1], at(0), peer(1), &reply);
    assert_eq!(again, Err(Rejection::Malformed));
}
