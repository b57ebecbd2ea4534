use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::icmp_error::{Cause, IcmpError};
use crate::ip_packet;
use crate::ip_packet::{FragmentPlace, IpPacket};
use crate::protocol::ip::Addresses;
use crate::protocol::tcp::flag;
use crate::{Error, Field};

pub(super) const V4: Addresses =
    Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
pub(super) const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
]);
pub(super) const ROUTERS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(198, 18, 9, 9)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9)),
];
pub(super) const ID: u64 = 0x0102_0304_0506_0708;
const ID_BYTES: [u8; 8] = ID.to_be_bytes();

const ECHO: Transport = Transport::Echo(Echo {
    reply: false,
    identifier: 0x1122,
    sequence: 0x3344,
});
const UDP: Transport = Transport::Udp {
    ports: [50_000, 33_434],
};
const TCP: Transport = Transport::Tcp(Tcp {
    ports: [50_000, 443],
    sequence: 0x0506_0708,
    acknowledgement: 0,
    flags: flag::SYN,
    window: 65_535,
    mss: Some(8_960),
});

/// Every kind of probe over either version, of `more` bytes behind its headers.
pub(super) fn probes(more: u32) -> Vec<ProbePacket<'static>> {
    let mut all = Vec::new();
    for addresses in [V4, V6] {
        for (transport, data) in [(ECHO, &ID_BYTES[..]), (UDP, &ID_BYTES), (TCP, &[])] {
            let mut probe = ProbePacket {
                addresses,
                hop_limit: 5,
                flow_label: 0x12345,
                identification: 0x0102,
                dont_fragment: true,
                transport,
                data,
                size: more,
            };
            probe.size += u32::try_from(probe.headers()).unwrap();
            all.push(probe);
        }
    }
    all
}

pub(super) fn emitted(probe: &ProbePacket<'_>) -> Vec<u8> {
    let mut bytes = vec![0xee; probe.buffer_len()];
    probe.emit(&mut bytes).unwrap();
    bytes
}

pub(super) fn error(bytes: &[u8], cause: Cause) -> Vec<u8> {
    let [four, six] = ROUTERS;
    let from = if bytes[0] >> 4 == 4 { four } else { six };
    let error = IcmpError::about(bytes, cause, from).unwrap();
    let mut bytes = vec![0xee; error.buffer_len()];
    error.emit(&mut bytes).unwrap();
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn probes_are_the_bytes_that_scapy_writes() {
    // The figures of tests/probes.rs, which asks Scapy where it is installed.
    let golden = [
        "4500002c010240000501e8a7c6120001c61200020800a38511223344\
         01020304050607080000000000000000",
        "4500002c010240000511e897c6120001c6120002c350829a00181d97\
         01020304050607080000000000000000",
        "4500003c010240000506e892c6120001c6120002c35001bb0506070800000000\
         6002ffff1d8900000204230000000000000000000000000000000000",
        "6001234500183a0520010db800000000000000000000000120010db8000000000000000000000002\
         8000cfbd1122334401020304050607080000000000000000",
        "600123450018110520010db800000000000000000000000120010db8000000000000000000000002\
         c350829a00184e4a01020304050607080000000000000000",
        "600123450028060520010db800000000000000000000000120010db8000000000000000000000002\
         c35001bb05060708000000006002ffff4e3c00000204230000000000000000000000000000000000",
    ];
    for (probe, golden) in probes(16).iter().zip(golden) {
        assert_eq!(hex(&emitted(probe)), golden, "{:?}", probe.transport);
    }
}

#[test]
fn a_probe_reads_back_as_it_was_written() {
    for more in [16, 1_400, 60_000] {
        for probe in probes(more) {
            let bytes = emitted(&probe);
            let received = Received::parse(&bytes).unwrap();
            let Content::Data { transport, data } = received.content else {
                panic!("{received:?}");
            };
            assert_eq!(transport, probe.transport);
            assert_eq!(data.len(), usize::try_from(more).unwrap());
            assert!(data.starts_with(probe.data));
            let id = (!probe.data.is_empty()).then_some(ID);
            assert_eq!(received.id(), id);
            let IpPacket {
                addresses,
                size,
                hop_limit,
                ..
            } = received.packet;
            let found = (addresses, size, hop_limit);
            assert_eq!(found, (probe.addresses, probe.size, 5));
        }
    }
}

#[test]
fn sizes_without_room_for_headers_and_above_what_ip_can_state_are_rejected() {
    for probe in probes(0) {
        let least = probe.headers() + probe.data.len();
        let largest = match probe.addresses {
            Addresses::V4(_) => 65_535,
            Addresses::V6(_) => 65_575,
        };
        for (size, right) in [
            (least - 1, false),
            (least, true),
            (largest, true),
            (largest + 1, false),
        ] {
            let probe = ProbePacket {
                size: u32::try_from(size).unwrap(),
                ..probe
            };
            let mut bytes = vec![0; size];
            let expected = if right {
                Ok(())
            } else {
                Err(Error::Malformed(Field::Length))
            };
            assert_eq!(probe.emit(&mut bytes), expected, "{size}");
            let short = probe.emit(&mut bytes[..size - 1]);
            assert!(matches!(short, Err(Error::Truncated { .. })), "{size}");
        }
    }
}

#[test]
fn an_error_tells_its_cause_and_the_probe_that_it_is_about() {
    for cause in [
        Cause::TooBig { mtu: 1_400 },
        Cause::HopLimitExceeded,
        Cause::ReassemblyTimeExceeded,
        Cause::Unreachable { code: 1 },
        Cause::Unreachable { code: 13 },
    ] {
        for probe in probes(3_000) {
            let bytes = error(&emitted(&probe), cause);
            let received = Received::parse(&bytes).unwrap();
            let Content::Error { cause: told, quote } = received.content else {
                panic!("{received:?}");
            };
            assert_eq!(told, cause);
            assert_eq!(quote.packet.size, probe.size);
            let transport = match probe.transport {
                Transport::Echo(echo) => QuotedTransport::Echo(echo),
                Transport::Udp { ports } => QuotedTransport::Udp { ports },
                Transport::Tcp(Tcp {
                    ports, sequence, ..
                }) => QuotedTransport::Tcp { ports, sequence },
            };
            assert_eq!(quote.transport, Some(transport));
            assert_eq!(received.id(), (!probe.data.is_empty()).then_some(ID));
            let [from, to] = received.packet.addresses.ends();
            assert!(ROUTERS.contains(&from));
            assert_eq!(to, probe.addresses.ends()[0]);
            // No error is about an error.
            assert_eq!(IcmpError::about(&bytes, cause, from), None);
        }
    }
}

#[test]
fn a_quote_of_eight_bytes_of_the_transport_tells_the_flow_and_no_identifier() {
    for probe in probes(16) {
        let bytes = emitted(&probe);
        let header = bytes.len() - 16 - (probe.headers() - probe.addresses.header_len());
        let quote = Quote::parse(&bytes[..header + 8]).unwrap();
        assert!(quote.transport.is_some());
        assert_eq!(quote.id, None);
        let quote = Quote::parse(&bytes[..header + 7]).unwrap();
        assert_eq!((quote.transport, quote.id), (None, None));
        assert_eq!(quote.packet.size, probe.size);
    }
}

#[test]
fn extensions_behind_a_quote_are_not_read_as_part_of_it() {
    // A quote of 40 bytes, padded to 128, and an extension [RFC4884 s4].
    for (probe, at, words) in [(probes(4)[1], 5, 32), (probes(4)[4], 4, 16)] {
        let probe = ProbePacket { data: &[], ..probe };
        let offending = emitted(&probe);
        let bytes = error(&offending, Cause::HopLimitExceeded);
        let version = probe.addresses.version();
        let mut message = bytes[probe.addresses.header_len()..].to_vec();
        message.resize(8 + 128, 0);
        message.extend([0x20, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9]);
        message[at] = words;
        let Content::Error { quote, .. } = Content::of_icmp(&message, version).unwrap() else {
            panic!("no error");
        };
        assert_eq!(quote.packet.size, probe.size);
        assert_eq!(quote.id, None);
    }
}

#[test]
fn a_packet_that_is_damaged_or_cut_short_is_rejected() {
    for probe in probes(40) {
        let bytes = emitted(&probe);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            // No checksum covers the hop limit and the flow label of IPv6.
            let uncovered = matches!(probe.addresses, Addresses::V6(_)) && matches!(at, 1..=3 | 7);
            assert_eq!(Received::parse(&damaged).is_ok(), uncovered, "byte {at}");
            assert!(Received::parse(&bytes[..at]).is_err(), "{at} bytes");
        }
    }
}

#[test]
fn the_codes_of_unreachable_destinations_differ_by_version() {
    let [four, six] = [V4, V6].map(|addresses| addresses.version());
    assert_eq!(
        Cause::port_unreachable(four),
        Cause::Unreachable { code: 3 }
    );
    assert_eq!(Cause::port_unreachable(six), Cause::Unreachable { code: 4 });
    for (version, prohibited) in [(four, &[9, 10, 13][..]), (six, &[1, 5, 6])] {
        let found =
            (0..=20).filter(|code| Cause::Unreachable { code: *code }.is_prohibited(version));
        assert!(found.eq(prohibited.iter().copied()));
    }
}

#[test]
fn a_hop_limit_is_changed_in_place() {
    for probe in probes(16) {
        let mut bytes = emitted(&probe);
        ip_packet::set_hop_limit(&mut bytes, 4).unwrap();
        let less = ProbePacket {
            hop_limit: 4,
            ..probe
        };
        assert_eq!(bytes, emitted(&less));
    }
}

#[test]
fn fragments_of_a_probe_make_the_probe_again() {
    for probe in probes(4_000) {
        let probe = ProbePacket {
            dont_fragment: false,
            ..probe
        };
        let bytes = emitted(&probe);
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for fragment in Fragments::of(&bytes, 1_400, 0x1234_5678).unwrap() {
            let mut part = vec![0xee; fragment.buffer_len()];
            fragment.emit(&mut part).unwrap();
            parts.push(part);
        }
        assert!(parts.iter().all(|part| part.len() <= 1_400));
        let places: Vec<FragmentPlace> = parts
            .iter()
            .map(|part| IpPacket::parse_whole(part).unwrap().fragment.unwrap())
            .collect();
        assert!(places.iter().rev().skip(1).all(|place| place.more));
        assert!(!places[places.len() - 1].more);
        let mut payload = Vec::new();
        for (part, place) in parts.iter().zip(&places) {
            assert_eq!(payload.len(), usize::from(place.offset));
            payload.extend(IpPacket::parse_whole(part).unwrap().payload);
        }
        let mut whole = vec![0; 5_000];
        let length = reassemble(&parts[0], &payload, &mut whole).unwrap();
        assert_eq!(whole[..length], bytes);
        assert!(reassemble(&bytes, &payload, &mut whole).is_err());
    }
}

#[test]
fn a_router_divides_a_fragment_of_ipv4_again() {
    let probe = ProbePacket {
        dont_fragment: false,
        ..probes(3_000)[1]
    };
    let bytes = emitted(&probe);
    let second = Fragments::of(&bytes, 1_500, 0).unwrap().nth(1).unwrap();
    let mut part = vec![0; second.buffer_len()];
    second.emit(&mut part).unwrap();
    let places: Vec<_> = Fragments::of(&part, 580, 0)
        .unwrap()
        .map(|fragment| {
            let mut part = vec![0; fragment.buffer_len()];
            fragment.emit(&mut part).unwrap();
            let place = IpPacket::parse_whole(&part).unwrap().fragment.unwrap();
            (place.offset, place.more, place.identification)
        })
        .collect();
    let expected = [1_480, 2_040, 2_600].map(|offset| (offset, true, 0x0102));
    assert_eq!(places, expected);
}

#[test]
fn what_must_not_or_cannot_be_divided_is_rejected() {
    let four = emitted(&probes(3_000)[0]);
    let flags = Fragments::of(&four, 1_500, 0).unwrap_err();
    assert_eq!(flags, Error::Malformed(Field::Flags));
    let six = emitted(&probes(3_000)[3]);
    let narrow = Fragments::of(&six, 55, 0).unwrap_err();
    assert_eq!(narrow, Error::Malformed(Field::Fragment));
    let first = Fragments::of(&six, 1_280, 7).unwrap().next().unwrap();
    let mut part = vec![0; first.buffer_len()];
    first.emit(&mut part).unwrap();
    let again = Fragments::of(&part, 1_000, 7).unwrap_err();
    assert_eq!(again, Error::Malformed(Field::Protocol));
}

#[test]
fn a_segment_size_is_lowered_and_the_checksum_still_holds() {
    for probe in [probes(7)[2], probes(7)[5]] {
        for (most, changed) in [(1_360, true), (8_960, false), (9_000, false)] {
            let mut bytes = emitted(&probe);
            assert_eq!(clamp_segment_size(&mut bytes, most), Ok(changed));
            let Transport::Tcp(tcp) = probe.transport else {
                panic!("{probe:?}");
            };
            let clamped = Transport::Tcp(Tcp {
                mss: Some(most.min(8_960)),
                ..tcp
            });
            let expected = ProbePacket {
                transport: clamped,
                ..probe
            };
            assert_eq!(bytes, emitted(&expected));
        }
    }
    let mut datagram = emitted(&probes(7 + 16)[1]);
    assert_eq!(clamp_segment_size(&mut datagram, 1), Ok(false));
}

#[test]
fn a_segment_size_at_an_odd_place_is_lowered_too() {
    let probe = probes(8)[2];
    let mut bytes = emitted(&probe);
    // Four bytes of data become options: one of padding in front of the size.
    bytes[32] = 0x80;
    bytes[40..48].copy_from_slice(&[1, 2, 4, 0x23, 0x00, 1, 1, 0]);
    let sum = |bytes: &mut [u8]| {
        bytes[36..38].fill(0);
        let length = u32::try_from(bytes.len() - 20).unwrap();
        let sum = probe.addresses.pseudo_header(6, length).add(&bytes[20..]);
        bytes[36..38].copy_from_slice(&sum.finish().to_be_bytes());
    };
    sum(&mut bytes);
    assert_eq!(clamp_segment_size(&mut bytes, 1_360), Ok(true));
    let clamped = bytes.clone();
    sum(&mut bytes);
    assert_eq!(bytes, clamped);
    assert_eq!(bytes[41..45], [2, 4, 0x05, 0x50]);
}
