use super::*;
use Transport::{Other, Tcp, Udp};
use proptest::prelude::*;
use std::vec::Vec;

const V4: Option<IpVersion> = Some(IpVersion::V4);
const V6: Option<IpVersion> = Some(IpVersion::V6);

/// An Ethernet header of this type.
fn ethernet(kind: u16) -> Vec<u8> {
    let mut bytes = [2; 12].to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes
}

fn ipv4(total: u16, fragment: u16, protocol: u8) -> Vec<u8> {
    let mut bytes = [0; 20].to_vec();
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[6..8].copy_from_slice(&fragment.to_be_bytes());
    bytes[9] = protocol;
    bytes
}

fn ipv6(length: u16, next: u8) -> Vec<u8> {
    let mut bytes = [0; 40].to_vec();
    bytes[0] = 0x60;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes[6] = next;
    bytes
}

/// A TCP header with the timestamp option, from port 1 to port 2.
fn tcp() -> Vec<u8> {
    let mut bytes = [0; 32].to_vec();
    (bytes[1], bytes[3], bytes[12]) = (1, 2, 0x80);
    bytes
}

/// A UDP header from port 1 to port 2.
fn udp(length: u16) -> Vec<u8> {
    let mut bytes = [0, 1, 0, 2, 0, 0, 0, 0].to_vec();
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// A fragment header [RFC8200 s4.5] in front of UDP.
fn fragment(offset_and_flags: u16) -> Vec<u8> {
    let mut bytes = [17, 0, 0, 0, 0, 0, 0, 9].to_vec();
    bytes[2..4].copy_from_slice(&offset_and_flags.to_be_bytes());
    bytes
}

/// Checks the summary of the frame of these headers, `original` bytes long.
#[track_caller]
fn check(
    headers: &[Vec<u8>],
    original: usize,
    ip: Option<IpVersion>,
    transport: Option<Transport>,
    payload: usize,
    ports: bool,
) {
    let expected = Summary {
        frame_size: original,
        ip,
        transport,
        payload,
        source_port: ports.then_some(1),
        destination_port: ports.then_some(2),
    };
    assert_eq!(Summary::of(&headers.concat(), original), expected);
}

#[test]
fn full_segments_and_datagrams_are_known_from_their_headers() {
    let (four, six) = (ethernet(0x0800), ethernet(0x86dd));
    let tagged = [ethernet(0x8100), [0, 7, 0x08, 0x00].to_vec()].concat();
    let plain = |mac: &Vec<u8>, ip, transport| [mac.clone(), ip, transport];
    check(
        &plain(&six, ipv6(1460, 6), tcp()),
        1514,
        V6,
        Some(Tcp),
        1428,
        true,
    );
    check(
        &plain(&four, ipv4(1500, 0, 6), tcp()),
        1514,
        V4,
        Some(Tcp),
        1448,
        true,
    );
    check(
        &plain(&tagged, ipv4(1500, 0, 6), tcp()),
        1518,
        V4,
        Some(Tcp),
        1448,
        true,
    );
    check(
        &plain(&six, ipv6(108, 17), udp(108)),
        162,
        V6,
        Some(Udp),
        100,
        true,
    );
    check(
        &plain(&four, ipv4(128, 0, 17), udp(108)),
        142,
        V4,
        Some(Udp),
        100,
        true,
    );
    check(
        &plain(&six, ipv6(64, 58), [].to_vec()),
        118,
        V6,
        Some(Other(58)),
        64,
        false,
    );
    check(&[ethernet(0x0806)], 42, None, None, 28, false);
}

#[test]
fn the_padding_of_a_short_frame_is_no_payload() {
    let (four, six) = (ethernet(0x0800), ethernet(0x86dd));
    check(
        &[four.clone(), ipv4(52, 0, 6), tcp()],
        66,
        V4,
        Some(Tcp),
        0,
        true,
    );
    check(&[four, ipv4(29, 0, 17), udp(9)], 60, V4, Some(Udp), 1, true);
    check(&[six, ipv6(0, 59)], 60, V6, Some(Other(59)), 0, false);
}

#[test]
fn packets_beyond_64_kib_have_no_length_but_the_frames() {
    let (four, six) = (ethernet(0x0800), ethernet(0x86dd));
    check(
        &[six.clone(), ipv6(0, 6), tcp()],
        200_086,
        V6,
        Some(Tcp),
        200_000,
        true,
    );
    check(
        &[four, ipv4(0, 0, 6), tcp()],
        200_066,
        V4,
        Some(Tcp),
        200_000,
        true,
    );
    let jumbo = [6, 0, 0xc2, 4, 0, 3, 0x0d, 0x68].to_vec();
    check(
        &[six, ipv6(0, 0), jumbo, tcp()],
        200_094,
        V6,
        Some(Tcp),
        200_000,
        true,
    );
}

#[test]
fn only_the_first_fragment_has_ports() {
    let (four, six) = (ethernet(0x0800), ethernet(0x86dd));
    let first = [six.clone(), ipv6(1456, 44), fragment(1), udp(3008)];
    check(&first, 1510, V6, Some(Udp), 1440, true);
    check(
        &[six, ipv6(1456, 44), fragment(1449)],
        1510,
        V6,
        Some(Udp),
        1448,
        false,
    );
    let first = [four.clone(), ipv4(1500, 0x2000, 17), udp(3008)];
    check(&first, 1514, V4, Some(Udp), 1472, true);
    check(
        &[four, ipv4(1500, 185, 17)],
        1514,
        V4,
        Some(Udp),
        1480,
        false,
    );
}

#[test]
fn a_frame_cut_short_is_known_as_far_as_it_goes() {
    let whole = [ethernet(0x86dd), ipv6(1460, 6), tcp()].concat();
    for (cut, ip, transport, payload) in [
        (0, None, None, 1500),
        (14, None, None, 1500),
        (54, V6, Some(Tcp), 1460),
        (66, V6, Some(Tcp), 1460),
        (67, V6, Some(Tcp), 1428),
    ] {
        let summary = Summary::of(&whole[..cut], 1514);
        assert_eq!(summary.frame_size, 1514);
        assert_eq!((summary.ip, summary.transport), (ip, transport), "{cut}");
        assert_eq!(summary.payload, payload, "{cut}");
    }
}

#[test]
fn no_header_makes_a_frame_longer_than_it_was() {
    let boast = [ethernet(0x86dd), ipv6(60_000, 17), udp(60_000)].concat();
    assert_eq!(Summary::of(&boast, 100).payload, 38);
    assert_eq!(Summary::of(&boast, 0).frame_size, boast.len());
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic_and_never_grow(
        kind in prop::sample::select(&[0x0800u16, 0x86dd, 0x8100, 0x0806][..]),
        start in prop::sample::select(&[0x45u8, 0x4f, 0x60, 0x00][..]),
        noise in prop::collection::vec(any::<u8>(), 0..120),
        original in 0..300_000usize,
    ) {
        let frame = [ethernet(kind), [start].to_vec(), noise].concat();
        let summary = Summary::of(&frame, original);
        prop_assert!(summary.payload <= summary.frame_size);
        prop_assert_eq!(summary.frame_size, original.max(frame.len()));
    }

    #[test]
    fn any_bytes_have_a_summary(frame in prop::collection::vec(any::<u8>(), 0..40)) {
        prop_assert!(Summary::of(&frame, usize::MAX).payload < usize::MAX);
    }
}

#[test]
fn two_vlan_tags_at_most_are_counted_and_bytes_that_are_not_there_are_none() {
    let frame = |kinds: &[u16]| {
        let mut frame = [2; 12].to_vec();
        for kind in kinds {
            frame.extend_from_slice(&kind.to_be_bytes());
            frame.extend_from_slice(&[0x81, 0x00]);
        }
        frame
    };
    for (kinds, bytes) in [
        (&[][..], 0),
        (&[0x0800], 0),
        (&[0x8100], 4),
        (&[0x88a8], 4),
        (&[0x0800, 0x8100], 0),
        (&[0x88a8, 0x8100], 8),
        (&[0x8100, 0x8100, 0x8100], 8),
    ] {
        assert_eq!(super::tags(&frame(kinds)), bytes, "{kinds:x?}");
    }
}

proptest! {
    #[test]
    fn a_packet_without_a_frame_has_the_flow_and_the_service_that_it_has_in_one(
        sixth in any::<bool>(), rest in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let (kind, version) = if sixth { (0x86dd, 0x60) } else { (0x0800, 0x45) };
        let packet = [&[version][..], &rest].concat();
        let mut frame = [ethernet(kind), packet.clone()].concat();
        prop_assert_eq!(flow_of(&packet), flow(&frame));
        prop_assert_eq!(service_of(&packet), service(&frame));
        let mut bare = packet;
        prop_assert_eq!(mark_packet(&mut bare), mark(&mut frame));
        prop_assert_eq!(&bare[..], &frame[14..]);
    }
}
