#![expect(
    clippy::disallowed_methods,
    reason = "the senders are of the test's own"
)]

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use wire::stamp::{Probe, Reflected, SenderPacket, Timestamp};

use super::*;

/// A reflector on a loopback address, while `body` talks to it from a socket.
fn beside<T>(address: SocketAddr, body: impl FnOnce(&UdpSocket, SocketAddr) -> T) -> (T, Outcome) {
    let reflector = StampReflector::open(&[address], Limits::default()).unwrap();
    let to = reflector.addresses()[0];
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let running = thread::spawn(move || reflector.run(&stopped));
    let socket = UdpSocket::bind(SocketAddr::new(to.ip(), 0)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    socket.connect(to).unwrap();
    let result = body(&socket, to);
    stop.store(true, Ordering::Relaxed);
    (result, running.join().unwrap().unwrap())
}

/// A test packet of the session 9.
fn packet(sequence: u32, length: usize, short_reply: bool) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let probe = Probe {
        packet: SenderPacket {
            sequence,
            sent: Timestamp::ntp(Epoch::now().unix_nanos()),
            error: ErrorEstimate::new(ERROR, false),
            session: 9,
        },
        id: u64::from(sequence) + 5,
        short_reply,
    };
    probe.emit(&mut bytes).unwrap();
    bytes
}

/// A time of a clock of this system, in nanoseconds since 1970.
fn nanos(at: Timestamp, error: ErrorEstimate) -> u64 {
    at.unix_nanos(error.format)
}

#[test]
fn test_packets_over_loopback_come_back_with_stamps_and_hop_limits() {
    for address in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        let sizes = [(56, false), (1_472, false), (9_000, true), (60_000, false)];
        let ((), outcome) = beside(SocketAddr::new(address, 0), |socket, _| {
            let mut room = vec![0; 65_536];
            for (number, (length, short)) in (0..).zip(sizes) {
                socket.send(&packet(number, length, short)).unwrap();
                let got = socket.recv(&mut room).unwrap();
                assert_eq!(got, if short { 80 } else { length });
                let now = Epoch::now().unix_nanos();
                let reply = Reflected::parse(&room[..got]).unwrap();
                assert_eq!(
                    (reply.id, reply.stateful),
                    (Some(u64::from(number) + 5), true)
                );
                let headers = if address.is_ipv4() { 28 } else { 48 };
                let whole = u32::try_from(length + headers).unwrap();
                assert_eq!(reply.piece, Some(whole).filter(|_| length >= 64));
                let base = reply.packet;
                assert_eq!((base.sequence, base.request.sequence), (number, number));
                assert_eq!(base.hop_limit, 64, "the system's default");
                // The same clock: packets do not arrive before they leave.
                let request = nanos(base.request.sent, base.request.error);
                let [received, sent] = [base.received, base.sent].map(|at| nanos(at, base.error));
                let instants = [request, received, sent, now];
                assert!(instants.is_sorted(), "{instants:?}");
            }
        });
        let counts = outcome.counts;
        assert_eq!((counts.reflected, counts.malformed), (4, 0));
        assert_eq!(outcome.unsent, Unsent::default());
    }
}

#[test]
fn garbage_gets_no_reply_and_the_next_packet_does() {
    let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    let ((), outcome) = beside(address, |socket, _| {
        for bytes in [&[][..], &[0; 43], &[0xff; 200], &[0; 44]] {
            socket.send(bytes).unwrap();
        }
        socket.send(&packet(0, 100, false)).unwrap();
        let mut room = [0; 200];
        let length = socket.recv(&mut room).unwrap();
        let reply = Reflected::parse(&room[..length]).unwrap();
        assert_eq!(reply.id, Some(5));
    });
    assert_eq!((outcome.counts.reflected, outcome.counts.malformed), (1, 4));
}

#[test]
fn replies_leave_from_the_address_to_which_packets_went() {
    let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
    let reflector = StampReflector::open(&[address], Limits::default()).unwrap();
    let port = reflector.addresses()[0].port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let running = thread::spawn(move || reflector.run(&stopped));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let to = SocketAddr::from(([127, 7, 7, 7], port));
    let mut bytes = packet(0, 100, false);
    socket.send_to(&bytes, to).unwrap();
    let (_, from) = socket.recv_from(&mut bytes).unwrap();
    stop.store(true, Ordering::Relaxed);
    running.join().unwrap().unwrap();
    assert_eq!(from, to);
}

#[test]
fn a_port_in_use_is_an_error_with_a_remedy() {
    let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap();
    let error = StampReflector::open(&[address], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
}
