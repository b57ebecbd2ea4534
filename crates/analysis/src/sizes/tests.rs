use plan::setting::{Answer, ReadMode, RequestResponse, WriteMode};
use units::{IpMtu, IpVersion, Span};

use super::*;

fn setting(protocol: Transport, mtu: u64) -> Setting {
    let mut setting = plan::synthetic::setting(1500, false);
    setting.network.ip = IpVersion::V4;
    for link in &mut setting.network.links {
        link.mtu = IpMtu::new(mtu, IpVersion::V4).unwrap();
    }
    setting.traffic = Traffic::RequestResponse(RequestResponse {
        protocol,
        sizes: Sizes {
            from: 1_000,
            to: 65_500,
            step: 100,
            at: 11_000,
        },
        octets: Bytes::new(1_000_000),
        answer: Answer::Acknowledgement,
        read_mode: ReadMode::Whole,
        write_mode: WriteMode::Whole,
        send_buffer: None,
        receive_buffer: None,
        nagle: false,
        delayed_ack: None,
        pause: Span::ZERO,
        deadline: Span::from_secs(1),
        retransmit_after: Span::from_millis(100),
        timeout: Span::from_secs(60),
        tcp: None,
    });
    setting
}

#[test]
fn frames_end_where_their_headers_leave_no_room() {
    // UDP over IPv4: 1472 octets in one packet, 1480 more with each fragment
    // [RFC791 s3.2]; TCP with timestamps: 1448 a segment [RFC7323 App A].
    let ends = |protocol, mtu: u64, last| frame_ends(&setting(protocol, mtu), last);
    assert_eq!(
        ends(Transport::Udp, 1_500, 6_000),
        [1_472, 2_952, 4_432, 5_912]
    );
    assert_eq!(
        ends(Transport::Tcp, 1_500, 6_000),
        [1_448, 2_896, 4_344, 5_792]
    );
    // 8980 octets are left of 9000, and fragments come in units of eight.
    assert_eq!(ends(Transport::Udp, 9_000, 20_000), [8_972, 17_948]);
}

#[test]
fn cells_that_differ_in_their_sizes_alone_are_one_curve() {
    let one = setting(Transport::Udp, 1_500);
    let mut other = one.clone();
    if let Traffic::RequestResponse(request_response) = &mut other.traffic {
        request_response.sizes.from = 30_000;
    }
    assert!(one != other && without_sizes(&one) == without_sizes(&other));
    assert!(without_sizes(&one) != without_sizes(&setting(Transport::Udp, 9_000)));
    assert!(without_sizes(&plan::synthetic::setting(1500, false)).is_none());
}

#[test]
fn the_median_is_in_the_middle() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(&[]), None);
}
