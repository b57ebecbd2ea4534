//! Datagrams between two addresses of this host.

use std::net::IpAddr;

use super::*;

/// The sender's and the receiver's address. Those of a test are its own, so that ports are
/// free.
fn addresses(test: u8) -> [IpAddr; 2] {
    [1, 2].map(|host| IpAddr::from([127, 1, test, host]))
}

const FLOW: u32 = 7;

/// The port of the flow.
fn own([sender, _]: [IpAddr; 2]) -> SocketAddr {
    SocketAddr::new(sender, 20_007)
}

fn there([_, receiver]: [IpAddr; 2]) -> SocketAddr {
    SocketAddr::new(receiver, 19_999)
}

/// Sends the flow to a receiver.
fn sent(
    addresses: [IpAddr; 2],
    gap: Span,
    payloads: Distribution,
    length: Span,
) -> (Departed, Arrivals) {
    let arriving = Arriving {
        at: there(addresses),
        flows: vec![FLOW],
        linger: Span::from_millis(100),
        receive_buffer: None,
    };
    let receiver = Receiver::open(&arriving).unwrap();
    let departures = Departures::open(vec![Departing {
        flow: FLOW,
        from: own(addresses),
        to: there(addresses),
        start: Span::from_millis(1),
        stop: length,
        gaps: Distribution::Constant(gap.as_picos() as f64),
        payloads,
        bursts: None,
        packets: None,
        bytes: None,
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

#[test]
fn every_datagram_of_a_schedule_arrives_once_after_it_was_sent() {
    let (departed, arrivals) = sent(
        addresses(1),
        Span::from_millis(2),
        Distribution::Constant(18.0),
        Span::from_millis(100),
    );
    // Due at 3, 5, .. 99 ms.
    assert_eq!((departed.offered, departed.rejected), (49, 0));
    assert_eq!(departed.first, Some(Span::from_millis(3)));
    assert_eq!(departed.bytes, 18 * departed.sent);
    let [arrived] = &arrivals.flows[..] else {
        panic!("{arrivals:?}");
    };
    assert_eq!(arrived.summary.received, departed.sent);
    assert_eq!(
        (arrived.summary.lost, arrived.summary.negative_delays),
        (0, 0)
    );
    assert_eq!(
        (arrived.flow, arrived.first_bytes, arrived.unstamped),
        (7, 18, 0)
    );
    let [first, last] = arrived.span.unwrap();
    assert!(first >= Span::from_millis(3) && last > first && last < Span::from_secs(1));
}

#[test]
fn a_datagram_without_room_for_the_header_is_rejected_and_counted() {
    let (departed, arrivals) = sent(
        addresses(2),
        Span::from_millis(5),
        Distribution::Constant(15.0),
        Span::from_millis(30),
    );
    // A machine that has no time for the last times leaves them unsent.
    assert_eq!((departed.offered, departed.sent), (5, 0));
    assert!(departed.rejected > 0, "{departed:?}");
    assert_eq!(arrivals, Arrivals::default());
}
