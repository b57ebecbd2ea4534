use super::*;
use Transport::{Tcp, Udp};
use proptest::prelude::*;

const V4: IpVersion = IpVersion::V4;
const V6: IpVersion = IpVersion::V6;

fn mtu(bytes: u64) -> IpMtu {
    IpMtu::new(bytes, V4).unwrap()
}

fn gigabit() -> Rate {
    Rate::from_bits_per_second(1_000_000_000).unwrap()
}

#[test]
fn headers_take_72_bytes_of_an_ipv6_tcp_packet_and_28_of_an_ipv4_udp_packet() {
    for (bytes, ip, transport, payload) in [
        (1500, V6, Tcp, Some(1428)),
        (4000, V6, Tcp, Some(3928)),
        (9000, V6, Tcp, Some(8928)),
        (1500, V4, Tcp, Some(1448)),
        (1500, V6, Udp, Some(1452)),
        (1500, V4, Udp, Some(1472)),
        (73, V6, Tcp, Some(1)),
        (72, V6, Tcp, None),
        (68, V6, Tcp, None),
    ] {
        let expected = payload.map(Bytes::new);
        assert_eq!(payload_per_packet(mtu(bytes), ip, transport), expected);
    }
}

#[test]
fn framing_alone_gives_9000_bytes_6_4_per_cent_more_than_1500() {
    let share =
        |bytes| goodput_limit(gigabit(), mtu(bytes), V6, Tcp, Framing::Ethernet).unwrap() / 1e9;
    assert!((share(1500) - 1428.0 / 1538.0).abs() < 1e-12);
    assert!((share(1500) - 0.9285).abs() < 5e-5);
    assert!((share(9000) - 8928.0 / 9038.0).abs() < 1e-12);
    assert!((share(9000) - 0.9878).abs() < 5e-5);
    assert!((share(9000) / share(1500) - 1.064).abs() < 5e-4);
}

/// The study of 2019 counts "3333, 1250, 555 frames" [Praptodiyono2019 s3.1]:
/// 5 MB divided by the MTU, as though headers took no room.
#[test]
fn five_megabytes_are_3502_segments_where_the_study_of_2019_counted_3333() {
    let file = Bytes::new(5_000_000);
    for (bytes, counted, true_count) in [(1500, 3333, 3502), (4000, 1250, 1273), (9000, 555, 561)] {
        let payload = payload_per_packet(mtu(bytes), V6, Tcp).unwrap();
        assert_eq!(file.get() / bytes, counted);
        assert_eq!(frames(file, payload), true_count);
    }
    assert_eq!(frames(Bytes::ZERO, Bytes::new(1428)), 0);
    assert_eq!(frames(Bytes::new(1), Bytes::new(1428)), 1);
    assert_eq!(frames(Bytes::new(3), Bytes::ZERO), 3);
}

/// Sizes up to the 65,500 bytes of the echo study [Egan]; its counts at an MTU
/// of 1500 were also seen on a virtual link of Linux.
#[test]
fn a_message_above_the_mtu_travels_in_fragments() {
    for (message, bytes, ip, count, wire) in [
        (1452, 1500, V6, 1, 1538),
        (1453, 1500, V6, 2, (1448 + 86) + (13 + 86)),
        (1472, 1500, V4, 1, 1538),
        (1473, 1500, V4, 2, 1538 + 84),
        (2888, 1500, V6, 2, 2 * (1448 + 86)),
        (2892, 1500, V6, 2, (1448 + 86) + 1538),
        (2893, 1500, V6, 3, 2 * (1448 + 86) + (5 + 86)),
        (65_500, 1500, V6, 46, 45 * 1534 + (348 + 86)),
        (65_500, 1500, V4, 45, 44 * 1538 + (388 + 58)),
        (65_500, 9000, V6, 8, 7 * 9038 + (2844 + 86)),
        (0, 1500, V6, 1, 48 + 38),
    ] {
        let (message, mtu) = (Bytes::new(message), mtu(bytes));
        assert_eq!(fragments(message, mtu, ip), count, "{message} {ip}");
        let size = message_wire_size(message, mtu, ip, Framing::Ethernet);
        assert_eq!(size, Bytes::new(wire), "{message} {ip}");
    }
}

#[test]
fn no_udp_datagram_holds_a_message_beyond_its_length_field() {
    for (ip, largest) in [(V4, 65_507), (V6, 65_527)] {
        assert_eq!(largest_message(ip), Bytes::new(largest));
        let limit = |message| {
            let message = Bytes::new(message);
            datagram_goodput_limit(gigabit(), message, mtu(1500), ip, Framing::None)
        };
        assert!(limit(largest).is_some());
        assert_eq!(limit(largest + 1), None);
        assert_eq!(limit(0), Some(0.0));
    }
}

#[test]
fn a_full_packet_holds_the_wire_for_its_frame_and_the_gap() {
    for (packet, nanos) in [(1500, 12_304), (9000, 72_304), (20, 672)] {
        let span = serialisation(gigabit(), Bytes::new(packet), Framing::Ethernet);
        assert_eq!(span, Span::from_nanos(nanos));
    }
}

fn any_ip() -> impl Strategy<Value = IpVersion> {
    prop::sample::select(&[V4, V6][..])
}

fn any_framing() -> impl Strategy<Value = Framing> {
    prop::sample::select(&[Framing::Ethernet, Framing::None][..])
}

proptest! {
    #[test]
    fn goodput_grows_with_the_mtu_and_stays_below_the_rate(
        bits in 1u64..1 << 40, small in 68..=65_535u64, large in 68..=65_535u64,
        ip in any_ip(), transport in prop::sample::select(&[Tcp, Udp][..]), framing in any_framing(),
    ) {
        let rate = Rate::from_bits_per_second(bits).unwrap();
        let limit = |bytes| goodput_limit(rate, mtu(bytes), ip, transport, framing);
        let (small, large) = (small.min(large), small.max(large));
        // Where the small MTU leaves no room, `None` is the least.
        prop_assert!(limit(small) <= limit(large));
        prop_assert!(limit(large).is_none_or(|limit| limit < bits as f64));
    }

    #[test]
    fn fragments_hold_the_message_within_the_mtu_and_in_no_fewer_packets(
        message in 0..=65_527u64, bytes in 68..=65_535u64, ip in any_ip(),
    ) {
        let (message, mtu) = (Bytes::new(message), mtu(bytes));
        let count = fragments(message, mtu, ip);
        match Fragmentation::of(message, mtu, ip) {
            None => prop_assert_eq!(count, 1),
            Some(parts) => {
                let headers = ip.header() + fragment_header(ip);
                prop_assert_eq!(parts.each * parts.full + parts.last, message + Udp.header());
                prop_assert!(parts.each.get() % 8 == 0 && parts.last > Bytes::ZERO);
                prop_assert!(headers + parts.each.max(parts.last) <= mtu.bytes());
                // One fewer could not hold it.
                let room = mtu.bytes() - headers;
                prop_assert!(parts.each * (parts.full - 1) + room < message + Udp.header());
            }
        }
    }

    #[test]
    fn messages_never_deliver_more_than_the_rate(
        bits in 1u64..1 << 40, message in 0..=65_507u64, bytes in 68..=65_535u64,
        ip in any_ip(), framing in any_framing(),
    ) {
        let rate = Rate::from_bits_per_second(bits).unwrap();
        let limit = datagram_goodput_limit(rate, Bytes::new(message), mtu(bytes), ip, framing);
        prop_assert!(limit.is_some_and(|limit| (0.0..bits as f64).contains(&limit)));
    }
}

#[test]
fn a_message_is_cut_into_packets_that_add_up_to_its_bytes_of_wire() {
    let framing = Framing::Ethernet;
    for ip in [IpVersion::V4, IpVersion::V6] {
        for mtu in [1500, 9000] {
            let mtu = IpMtu::new(mtu, ip).unwrap();
            for message in [64, 1448, 1472, 1473, 2952, 9000, 60_000, 65_507].map(Bytes::new) {
                let sizes = |transport| packets(message, mtu, ip, transport);
                let wire = |sizes: &[Bytes]| {
                    let sizes = sizes.iter().map(|size| framing.wire_size(*size).get());
                    Bytes::new(sizes.sum())
                };
                let udp = sizes(Transport::Udp);
                assert_eq!(udp.len() as u64, fragments(message, mtu, ip));
                assert_eq!(wire(&udp), message_wire_size(message, mtu, ip, framing));
                let tcp = sizes(Transport::Tcp);
                let payload = payload_per_packet(mtu, ip, Transport::Tcp).unwrap();
                assert_eq!(tcp.len() as u64, frames(message, payload));
                assert!(tcp.iter().all(|size| *size <= mtu.bytes()));
            }
        }
    }
}
