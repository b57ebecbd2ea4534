//! Frames of the emulator meet the same outcome as packets of the simulator.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use link::middlebox::{Action, Middlebox, Outcome, Rule};
use link::{Direction, Protocol};
use units::{Bytes, Seed, Span, Time};
use wire::icmp_error::{Cause, IcmpError};
use wire::probe::{Fragments, ProbePacket, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;

use super::Faults;
use os::frames::Pool;
use os::sys::packet::HEADER;

const V4: Addresses = Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0x2, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0x2, 0, 0, 0, 0, 0, 2),
]);

const START: Time = Time::from_nanos(5_000_000_000);

fn packet(addresses: Addresses, transport: Transport, size: u32) -> Vec<u8> {
    let probe = ProbePacket {
        addresses,
        hop_limit: 64,
        flow_label: 0,
        identification: 7,
        dont_fragment: false,
        transport,
        data: &[],
        size,
    };
    let mut bytes = vec![0; probe.buffer_len()];
    probe.emit(&mut bytes).unwrap();
    bytes
}

fn syn(addresses: Addresses) -> Vec<u8> {
    let tcp = Tcp {
        ports: [50_000, 443],
        sequence: 1,
        acknowledgement: 0,
        flags: flag::SYN,
        window: 65_535,
        mss: Some(8_940),
    };
    packet(addresses, Transport::Tcp(tcp), 200)
}

/// Packets of all kinds that rules concern, of both versions.
fn packets() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for addresses in [V4, V6] {
        for port in 1_000..1_040 {
            let ports = Transport::Udp { ports: [port, 9] };
            all.extend([100, 1_500, 1_501, 9_000].map(|size| packet(addresses, ports, size)));
        }
        let large = packet(addresses, Transport::Udp { ports: [7, 9] }, 3_000);
        for fragment in Fragments::of(&large, 1_400, 9).unwrap() {
            let mut bytes = vec![0; fragment.buffer_len()];
            fragment.emit(&mut bytes).unwrap();
            all.push(bytes);
        }
        let router: IpAddr = match addresses {
            Addresses::V4(_) => Ipv4Addr::new(198, 18, 9, 9).into(),
            Addresses::V6(_) => Ipv6Addr::new(0x2001, 0x2, 0, 9, 0, 0, 0, 9).into(),
        };
        for _ in 0..3 {
            let error = IcmpError::about(&large, Cause::TooBig { mtu: 1_400 }, router).unwrap();
            let mut bytes = vec![0; error.buffer_len()];
            error.emit(&mut bytes).unwrap();
            all.push(bytes);
        }
        all.push(syn(addresses));
    }
    all
}

/// A frame with the packet, as a packet socket delivers it.
fn framed(packet: &[u8]) -> Vec<u8> {
    let kind = match packet[0] >> 4 {
        4 => [0x08, 0x00],
        _ => [0x86, 0xdd],
    };
    [&[0; HEADER][..], &[2; 12], &kind, packet].concat()
}

#[test]
fn frames_have_the_outcomes_of_packets_in_both_directions_and_after_a_restart() {
    let rules = [
        Rule {
            direction: Some(Direction::Forward),
            share: 0.5,
            ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
        },
        Rule {
            protocol: Some(Protocol::Udp),
            from: Span::from_millis(100),
            until: Some(Span::from_millis(200)),
            ..Rule::always(Action::DropAbove(Bytes::new(1_400)))
        },
        Rule::always(Action::LimitTooBig(Span::from_millis(150))),
        Rule::always(Action::AnnounceMtu(1_280)),
        Rule::always(Action::ClampMss(1_360)),
        Rule::always(Action::DropFragments),
    ];
    let pool = Pool::default();
    let mut faults = Faults::new(&rules, Seed::new(1));
    let mut dropped = [0; 2];
    for trial in [2, 3] {
        let seed = Seed::new(trial);
        let start = START + Span::from_secs(trial);
        faults.restart(seed);
        let mut first = None;
        // A frame to a group does not count.
        let mut group = pool.frame(&[0x33; 60]);
        faults.pass(START, &mut first, &mut group, Direction::Forward);
        let step = Span::from_millis(1);
        let mut middlebox = Middlebox::new(rules, seed.derive("branches"), start + step);
        let mut at = start;
        for bytes in packets() {
            for direction in Direction::BOTH {
                at += step;
                let mut packet = bytes.clone();
                let mut frame = pool.keep(&framed(&bytes), None);
                let outcome = middlebox.pass(at, &mut packet, direction);
                assert_eq!(faults.pass(at, &mut first, &mut frame, direction), outcome);
                assert_eq!(frame.ethernet()[14..], packet);
                dropped[usize::from(outcome == Outcome::Drop)] += 1;
            }
        }
    }
    assert!(dropped.iter().all(|&count| count > 100), "{dropped:?}");
}

#[test]
fn a_segment_whose_checksum_is_left_to_the_interface_has_a_valid_one_after_a_change() {
    let pool = Pool::default();
    for (addresses, header) in [(V4, 20), (V6, 40)] {
        let whole = syn(addresses);
        let mut frame = framed(&whole);
        // The kernel leaves the sum of the pseudo-header in place of the checksum.
        let start = u16::try_from(14 + header).unwrap();
        let length = whole.len() - header;
        let addresses_at = if header == 20 { 12..20 } else { 8..40 };
        let words = whole[addresses_at].chunks(2);
        let sum: u32 = words
            .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
            .sum();
        let sum = sum + 6 + u32::try_from(length).unwrap();
        let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
        let place = HEADER + 14 + header + 16;
        frame[place..place + 2].copy_from_slice(&folded.to_be_bytes());
        frame[0] = 1;
        frame[6..8].copy_from_slice(&start.to_ne_bytes());
        frame[8..10].copy_from_slice(&16u16.to_ne_bytes());

        let rule = Rule::always(Action::ClampMss(1_360));
        let mut expected = whole.clone();
        let mut middlebox = Middlebox::new([rule], Seed::new(1), START);
        middlebox.pass(START, &mut expected, Direction::Forward);
        assert_ne!(expected, whole);

        let mut frame = pool.keep(&frame, None);
        let mut faults = Faults::new(&[rule], Seed::new(1));
        let outcome = faults.pass(START, &mut None, &mut frame, Direction::Forward);
        assert_eq!(outcome, Outcome::Forward);
        assert_eq!(frame.ethernet()[14..], expected);
        assert_eq!(frame.bytes()[..HEADER], [0; HEADER]);
    }
}
