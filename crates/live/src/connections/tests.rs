//! Connections between two hosts that are this one, with strangers.

use std::net::Ipv6Addr;
use std::os::fd::OwnedFd;

use super::*;
use crate::socket::{Kind, Options, connect, default_congestion_control, open, peer_of};

const OCTETS: u64 = 100_000;

/// The sender's and the receiver's address; those of a test are its own.
fn addresses(test: u8) -> [IpAddr; 2] {
    [1, 2].map(|host| IpAddr::from([127, 2, test, host]))
}

/// A port of the receiver, which waits for a connection.
fn receiver([from, to]: [IpAddr; 2], length: Span) -> (Host, SocketAddr) {
    let at = SocketAddr::new(to, 20_000);
    let task = Task {
        end: length,
        incoming: vec![Incoming {
            at,
            from,
            window: None,
            receive_buffer: None,
        }],
        ..Task::default()
    };
    (Host::open(task).unwrap(), at)
}

/// A sender to it, which begins after 50 ms.
fn sender([from, _]: [IpAddr; 2], to: SocketAddr, length: Span) -> Host {
    let task = Task {
        end: length,
        outgoing: vec![Outgoing {
            from: SocketAddr::new(from, 0),
            to,
            start: Span::from_millis(50),
            stop: length,
            octets: Some(OCTETS),
            congestion: default_congestion_control().unwrap(),
            send_buffer: None,
        }],
        ..Task::default()
    };
    Host::open(task).unwrap()
}

/// A socket that begins to connect.
fn stranger(from: SocketAddr, to: SocketAddr) -> OwnedFd {
    let options = Options {
        bind: Some(from),
        non_blocking: true,
        ..Options::default()
    };
    let socket = open(Kind::Stream, to.ip(), &options).unwrap();
    assert_eq!(connect(&socket, to), Err(Errno::EINPROGRESS));
    socket
}

/// Runs both from now on, and something else meanwhile.
fn run<T>(
    hosts: [Host; 2],
    starts: [Start; 2],
    meanwhile: impl FnOnce() -> T,
) -> ([Outcome; 2], T) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    thread::scope(|scope| {
        let mut starts = starts.into_iter();
        let running = hosts.map(|host| {
            let start = starts.next().unwrap();
            scope.spawn(move || host.run(start).unwrap())
        });
        let done = meanwhile();
        (running.map(|one| one.join().unwrap()), done)
    })
}

fn starts(sources: Vec<u16>) -> [Start; 2] {
    let begin = clock::monotonic_nanos();
    [Vec::new(), sources].map(|sources| Start { begin, sources })
}

#[test]
fn strangers_that_connect_before_and_amid_a_flow_are_refused_and_the_flow_is_whole() {
    let length = Span::from_millis(300);
    let v6 = [IpAddr::V6(Ipv6Addr::LOCALHOST); 2];
    // The second trial of an address begins where the first has just ended.
    for addresses in [addresses(1), addresses(1), v6, v6] {
        let (receiving, to) = receiver(addresses, length);
        let sending = sender(addresses, to, length);
        let sources = sending.source_ports().unwrap();
        let [port] = sources[..] else {
            panic!("{sources:?}");
        };
        let early = stranger(SocketAddr::new(addresses[0], 0), to);
        let mut strangers = vec![early];
        let starts = starts(sources);
        let (outcomes, later) = run([sending, receiving], starts, || {
            clock::sleep(Span::from_millis(150));
            let mut later = vec![stranger(SocketAddr::new(addresses[0], 0), to)];
            if to.is_ipv4() {
                let elsewhere = IpAddr::from([127, 2, 1, 3]);
                later.push(stranger(SocketAddr::new(elsewhere, port), to));
            }
            later
        });
        strangers.extend(later);
        let [sent, received] = outcomes;
        assert_eq!(sent.sent[0].failure, None);
        assert_eq!(sent.sent[0].octets, OCTETS);
        assert_eq!(received.received[0].octets, OCTETS);
        // They repeat a SYN after a second.
        let count = strangers.len() as u64;
        assert!(received.refused >= count, "{} {count}", received.refused);
        for one in &strangers {
            let error = peer_of(one.as_fd()).unwrap_err();
            assert_eq!(error.source.raw_os_error(), Some(libc::ENOTCONN));
        }
    }
}

#[test]
fn nobody_else_has_the_port_from_which_a_flow_will_come() {
    let addresses = addresses(2);
    let (_receiving, to) = receiver(addresses, Span::from_secs(1));
    let sending = sender(addresses, to, Span::from_secs(1));
    let port = sending.source_ports().unwrap()[0];
    let options = Options {
        bind: Some(SocketAddr::new(addresses[0], port)),
        reuse_address: true,
        ..Options::default()
    };
    let error = open(Kind::Stream, addresses[0], &options).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn a_start_of_another_task_is_refused() {
    let length = Span::from_millis(10);
    let (receiving, _) = receiver(addresses(3), length);
    let [none, _] = starts(Vec::new());
    assert!(receiving.run(none).is_err());
}

#[test]
fn a_flow_without_strangers_counts_none() {
    let length = Span::from_millis(200);
    let addresses = addresses(4);
    let (receiving, to) = receiver(addresses, length);
    let sending = sender(addresses, to, length);
    let starts = starts(sending.source_ports().unwrap());
    let ([sent, received], ()) = run([sending, receiving], starts, || ());
    assert_eq!(received.received[0].octets, OCTETS);
    assert_eq!((sent.refused, received.refused), (0, 0));
}
