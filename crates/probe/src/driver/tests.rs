//! Probes over loopback.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::machine::{Answer, AnswerKind, Probe, ReplySize, Target};
use link::Protocol;
use proptest::prelude::*;
use units::{Bytes, Seed, Span};
use wire::protocol::icmp::EchoHeader;

use super::error::{About, meaning, version};
use super::receive::PathError;
use super::sockets::Driver;
use super::{Effort, Task};
use os::clock;

const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// A driver to a port of loopback that is closed.
fn driver(to: IpAddr) -> Driver {
    let task = Task {
        to: SocketAddr::new(to, 0),
        protocols: vec![Protocol::Icmp, Protocol::Udp, Protocol::Tcp],
        // The discard service, which nobody offers.
        port: Some(9),
        reflector: None,
        up_to: None,
        is_short: false,
        ignores_cache: false,
        most_time: None,
        effort: Effort::default(),
        capture: None,
        interface: None,
        address: None,
    };
    Driver::open(&task, Seed::new(1)).unwrap()
}

fn probe(id: u64, protocol: Protocol, size: u64) -> Probe {
    Probe {
        id,
        protocol,
        to: Target::FarEnd,
        size: Bytes::new(size),
        hop_limit: None,
        flow: 0,
        fragment_size: None,
        reply: ReplySize::Same,
    }
}

/// The first answer to a probe.
fn answer(driver: &mut Driver, probe: &Probe) -> Answer {
    driver.send(probe).unwrap();
    loop {
        assert!(!driver.is_over(), "no answer to {probe:?}");
        driver
            .wait(Some(clock::monotonic() + Span::from_millis(20)))
            .unwrap();
        let arrived = driver.arrived();
        if let Some((_, answer)) = arrived
            .into_iter()
            .find(|(_, answer)| answer.id == probe.id)
        {
            return answer;
        }
    }
}

#[test]
fn an_echo_of_any_size_comes_back_as_large_as_it_was_sent() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        if !driver.can_echo() {
            // An ordinary user, where nobody has allowed it.
            let error = driver.send(&probe(1, Protocol::Icmp, 100)).unwrap_err();
            assert!(error.to_string().contains("ping_group_range"), "{error}");
            continue;
        }
        for (id, size) in [(0x1_0000_0000_0007, 100), (2, 1500), (3, 9000), (4, 65_535)] {
            let answer = answer(&mut driver, &probe(id, Protocol::Icmp, size));
            assert_eq!(answer.from, to);
            let AnswerKind::Reply { size: back, .. } = answer.kind else {
                panic!("{answer:?}");
            };
            assert_eq!(back, Bytes::new(size));
        }
    }
}

#[test]
fn eight_bytes_of_an_echo_name_the_probe_and_a_wrong_guess_names_none() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        if !driver.can_echo() {
            continue;
        }
        let id = 0x0123_4567_89ab_cdef;
        answer(&mut driver, &probe(id, Protocol::Icmp, 1000));
        let (probe_socket, identifier) = driver.echo_socket().unwrap();
        // An old router quotes no more of the packet than this behind the IP header.
        let mut quoted = |identifier, sequence| {
            let mut bytes = [0; 8];
            let header = EchoHeader {
                reply: false,
                identifier,
                sequence,
            };
            header.emit(&mut bytes, version(to)).unwrap();
            let (reply, quoted) = probe_socket.understood(&bytes);
            assert_eq!(reply, None);
            quoted.map(|quoted| (quoted.sent.id, quoted.is_proven))
        };
        assert_eq!(quoted(identifier, 0xcdef), Some((id, true)));
        assert_eq!(quoted(identifier, 0xcdee), None);
    }
}

#[test]
fn a_closed_port_answers_that_it_is_unreachable() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        for (id, size) in [(1, 100), (2, 9000)] {
            let answer = answer(&mut driver, &probe(id, Protocol::Udp, size));
            assert_eq!(answer.from, to);
            let AnswerKind::Reply {
                is_unreachable: true,
                size,
                ..
            } = answer.kind
            else {
                panic!("{answer:?}");
            };
            assert!(size < Bytes::new(1281), "{size}");
        }
    }
}

#[test]
fn a_closed_port_of_tcp_answers_with_a_reset() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        for (id, size) in [(0xffff_ffff_0000_0001, 60), (2, 9000)] {
            let answer = answer(&mut driver, &probe(id, Protocol::Tcp, size));
            assert_eq!(answer.from, to);
            let AnswerKind::Reply {
                is_unreachable: false,
                mss: None,
                ..
            } = answer.kind
            else {
                panic!("{answer:?}");
            };
        }
    }
}

#[test]
fn fragments_of_a_chosen_size_arrive_as_one_packet() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        if !driver.can_fragment() {
            continue;
        }
        let fragmented = Probe {
            fragment_size: Some(Bytes::new(600)),
            ..probe(5, Protocol::Icmp, 4000)
        };
        let answer = answer(&mut driver, &fragmented);
        let AnswerKind::Reply { size, .. } = answer.kind else {
            panic!("{answer:?}");
        };
        assert_eq!((answer.from, size), (to, Bytes::new(4000)));
    }
}

#[test]
fn a_packet_that_the_interface_does_not_send_is_rejected_here() {
    for to in LOOPBACK {
        let mut driver = driver(to);
        let answer = answer(&mut driver, &probe(6, Protocol::Udp, 65_600));
        let AnswerKind::LocallyTooBig { mtu } = answer.kind else {
            panic!("{answer:?}");
        };
        assert!(mtu < Bytes::new(65_600), "{mtu}");
    }
}

mod fuzz {
    use super::*;
    use proptest::collection::vec;
    use wire::probe::ProbePacket;

    proptest! {
        /// Quotes and replies as a peer may send them: bytes of a probe that was sent, damaged.
        #[test]
        fn no_bytes_of_a_peer_make_a_line_panic(
            id: u64, size in 60_u64..3_000, six: bool, damages in vec((any::<u8>(), any::<u8>()), 0..4),
            cut: u16, noise in vec(any::<u8>(), 0..40),
        ) {
            let driver = driver(LOOPBACK[usize::from(six)]);
            for mut probe_socket in driver.sockets_of_all_formats() {
                // Nothing was sent, so nothing is answered.
                let (reply, quoted) = probe_socket.understood(&noise);
                prop_assert!(reply.is_none() && quoted.is_none());
                let sent = probe(id, Protocol::Udp, size);
                let (transport, data) = probe_socket.transport(&sent).unwrap();
                let packet = ProbePacket {
                    addresses: probe_socket.addresses().unwrap(),
                    hop_limit: 1,
                    flow_label: 0,
                    identification: 0,
                    dont_fragment: true,
                    transport,
                    data: &data,
                    size: 4_000,
                };
                let mut bytes = vec![0; packet.buffer_len()];
                packet.emit(&mut bytes).unwrap();
                for (place, value) in &damages {
                    let place = usize::from(*place) % bytes.len();
                    bytes[place] = *value;
                }
                bytes.truncate(bytes.len() - usize::from(cut) % bytes.len());
                // Sockets deliver a packet from its header, its transport's or its data on.
                let header = if six { 40 } else { 20 };
                for begin in [0, header, header + 8] {
                    let (reply, quoted) = probe_socket.understood(bytes.get(begin..).unwrap_or_default());
                    prop_assert!(reply.is_none_or(|reply| reply.id == id));
                    if let Some(quoted) = quoted {
                        prop_assert_eq!((quoted.sent.id, quoted.sent.size.get()), (id, size));
                    }
                }
            }
        }

        #[test]
        fn no_message_makes_its_reader_panic(kind: u8, code: u8, mtu: u32, six: bool) {
            let to = LOOPBACK[usize::from(six)];
            let size = Bytes::new(1500);
            let about = About { probe: size, message: size, to, here: to };
            let error = PathError::Icmp { from: to, kind, code, mtu };
            if let Some((from, AnswerKind::TooBig { announced, quoted })) = meaning(error, about) {
                prop_assert_eq!((from, quoted), (to, size));
                prop_assert!(announced.get() <= u64::from(mtu));
            }
        }
    }
}
