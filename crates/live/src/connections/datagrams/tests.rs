//! Datagrams between two addresses of this host.

use std::net::{IpAddr, Ipv6Addr, UdpSocket};

use super::*;

/// The sender's and the receiver's address. Those of a test are its own, so that ports are
/// free.
fn addresses(test: u8) -> [IpAddr; 2] {
    [1, 2].map(|host| IpAddr::from([127, 1, test, host]))
}

const V6: [IpAddr; 2] = [IpAddr::V6(Ipv6Addr::LOCALHOST); 2];

const FLOW: u32 = 7;

/// The port of the flow.
fn own([sender, _]: [IpAddr; 2]) -> SocketAddr {
    SocketAddr::new(sender, 20_007)
}

fn there([_, receiver]: [IpAddr; 2]) -> SocketAddr {
    SocketAddr::new(receiver, 19_999)
}

/// A receiver of the flow, if it comes `from` there.
fn receiver(addresses: [IpAddr; 2], from: SocketAddr) -> Receiver {
    let arriving = Arriving {
        at: there(addresses),
        flows: vec![(FLOW, from)],
        linger: Span::from_millis(100),
        receive_buffer: None,
    };
    Receiver::open(&arriving).unwrap()
}

/// Sends the flow to a receiver.
fn sent(
    receiver: Receiver,
    addresses: [IpAddr; 2],
    gap: Span,
    payloads: Law,
    length: Span,
) -> (Departed, Arrivals) {
    let departures = Departures::open(vec![Departing {
        flow: FLOW,
        from: own(addresses),
        to: there(addresses),
        start: Span::from_millis(1),
        stop: length,
        gaps: Law::Constant(gap.as_picos() as f64),
        payloads,
        bursts: None,
        packets: None,
        octets: None,
        seed: 1,
        path_mtu: PathMtu::Machine,
        send_buffer: None,
    }]);
    let begin = clock::monotonic();
    let departures = departures.unwrap();
    std::thread::scope(|scope| {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test panics where it has no thread"
        )]
        let sending = scope.spawn(move || departures.run(begin));
        let arrivals = receiver.run(begin, begin + length).unwrap();
        (sending.join().unwrap().unwrap()[0], arrivals)
    })
}

/// Datagrams that look like the flow's, from another socket.
#[expect(
    clippy::disallowed_methods,
    reason = "the stranger is of the test's own"
)]
fn from_stranger(from: SocketAddr, to: SocketAddr, count: u32, size: usize) {
    let stranger = UdpSocket::bind(from).unwrap();
    let mut octets = vec![0; size];
    for number in 0..count {
        let header = Numbered {
            flow: FLOW,
            number,
            sent: 0,
        };
        header.emit(&mut octets).unwrap();
        stranger.send_to(&octets, to).unwrap();
    }
}

#[test]
fn every_datagram_of_a_schedule_arrives_once_after_it_was_sent() {
    let addresses = addresses(1);
    let (departed, arrivals) = sent(
        receiver(addresses, own(addresses)),
        addresses,
        Span::from_millis(2),
        Law::Constant(18.0),
        Span::from_millis(100),
    );
    // Due at 3, 5, .. 99 ms.
    assert_eq!((departed.offered, departed.refused), (49, 0));
    assert_eq!(departed.first, Some(Span::from_millis(3)));
    assert_eq!(departed.octets, 18 * departed.sent);
    let [arrived] = &arrivals.flows[..] else {
        panic!("{arrivals:?}");
    };
    assert_eq!(arrived.summary.received, departed.sent);
    assert_eq!(
        (arrived.summary.lost, arrived.summary.negative_delays),
        (0, 0)
    );
    assert_eq!(
        (arrived.flow, arrived.first_octets, arrived.unstamped),
        (7, 18, 0)
    );
    let [first, last] = arrived.span.unwrap();
    assert!(first >= Span::from_millis(3) && last > first && last < Span::from_secs(1));
}

#[test]
fn what_strangers_send_is_counted_and_takes_no_room_of_the_flow() {
    // More than the receive buffer holds.
    const FLOOD: u32 = 20_000;
    for (addresses, elsewhere) in [(addresses(2), IpAddr::from([127, 1, 2, 3])), (V6, V6[0])] {
        let (own, there) = (own(addresses), there(addresses));
        let receiver = receiver(addresses, own);
        from_stranger(SocketAddr::new(own.ip(), 0), there, FLOOD, 1_000);
        let mut strangers = FLOOD;
        if elsewhere != own.ip() {
            // From the port of the flow at another address.
            from_stranger(SocketAddr::new(elsewhere, own.port()), there, 3, 16);
            strangers += 3;
        }
        let gap = Span::from_millis(2);
        let length = Span::from_millis(100);
        let (departed, arrivals) = sent(receiver, addresses, gap, Law::Constant(18.0), length);
        let [arrived] = &arrivals.flows[..] else {
            panic!("{arrivals:?}");
        };
        let (received, lost) = (arrived.summary.received, arrived.summary.lost);
        assert_eq!((received, lost), (departed.sent, 0));
        assert_eq!(arrived.first_octets, 18);
        let counts = (arrivals.refused, arrivals.overflowed);
        assert_eq!(counts, (u64::from(strangers), 0));
    }
}

#[test]
fn a_datagram_is_of_a_flow_if_it_comes_from_the_port_of_that_flow() {
    let addresses = addresses(3);
    let mut receiver = receiver(addresses, own(addresses));
    let (own, now) = (own(addresses), clock::monotonic());
    let other_port = SocketAddr::new(own.ip(), 20_008);
    let other_address = SocketAddr::new(IpAddr::from([127, 1, 3, 3]), own.port());
    for (from, flow, octets, is_taken) in [
        (own, FLOW, LEN, true),
        (other_port, FLOW, LEN, false),
        (other_address, FLOW, LEN, false),
        // Of a flow that does not end here, and without a whole header.
        (own, FLOW + 1, LEN, false),
        (own, FLOW, LEN - 1, false),
    ] {
        let header = Numbered {
            flow,
            number: 0,
            sent: 0,
        };
        let mut room = [0; LEN];
        header.emit(&mut room).unwrap();
        let before = receiver.refused;
        receiver.flows.get_mut(&FLOW).unwrap().span = None;
        let came = (from, &room[..octets], octets);
        receiver.record(came, None, (now, now));
        let is_recorded = receiver.flows[&FLOW].span.is_some();
        let refused = receiver.refused - before;
        let told = format!("{from} {flow} {octets}");
        assert_eq!(
            (is_recorded, refused),
            (is_taken, u64::from(!is_taken)),
            "{told}"
        );
    }
}

#[test]
fn a_datagram_without_room_for_the_header_is_refused_and_counted() {
    let addresses = addresses(4);
    let (departed, arrivals) = sent(
        receiver(addresses, own(addresses)),
        addresses,
        Span::from_millis(5),
        Law::Constant(15.0),
        Span::from_millis(30),
    );
    // A machine that has no time for the last instants leaves them unsent.
    assert_eq!((departed.offered, departed.sent), (5, 0));
    assert!(departed.refused > 0, "{departed:?}");
    assert_eq!(arrivals, Arrivals::default());
}
