//! A sender of the test's own that breaks off, floods or never reads: the receiver ends
//! its flows, keeps its memory and serves on.
#![expect(
    clippy::disallowed_methods,
    reason = "the sender is one of the test's own"
)]

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::socket::{setsockopt, sockopt};
use traffic::machine::control::Fault;
use units::Time;
use wire::control::{Flow, Meter, Name, Protocol, Reason};
use wire::message::{Echo, HEADER_LEN, Message};

use super::super::harness::Dir;
use super::Receiver;
use super::hostile::resident;
use super::own_sender::{COOKIE, OwnSender};

/// The longest time of a test that a receiver fails.
const TIMEOUT: Duration = Duration::from_secs(15);

impl OwnSender {
    /// Opens a flow of datagrams and shows its cookie.
    fn datagrams(&mut self) -> UdpSocket {
        let port = self.open(flow(0, Protocol::Udp)).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(("127.0.0.1", port)).unwrap();
        socket.send(&COOKIE).unwrap();
        socket
    }

    /// Opens a stream and shows its cookie.
    fn stream(&mut self, number: u16) -> TcpStream {
        let port = self.open(flow(number, Protocol::Tcp)).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(&COOKIE).unwrap();
        stream
    }
}

/// A flow of round trips.
fn flow(number: u16, transport: Protocol) -> Flow {
    Flow {
        flow: number,
        name: Name::new("hostile").unwrap(),
        transport,
        meter: Meter::RoundTrip,
        busy: false,
        merge: false,
        dscp: 0,
        buffer: 0,
        largest: match transport {
            Protocol::Tcp => 16 << 20,
            _ => 65_000,
        },
        port: 0,
        at: [0; 16],
        codec: None,
        cookie: COOKIE,
    }
}

/// The header of a message of 16 MiB that demands an echo.
fn large() -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    let message = Message {
        echo: Echo::Wanted,
        warmup: false,
        tag: 0,
        length: 16 << 20,
        sequence: 0,
        sent: Time::ZERO,
    };
    message.emit(&mut header).unwrap();
    header
}

/// Repeats `act` in a thread until it is dropped.
struct Repeating {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Repeating {
    fn begin(mut act: impl FnMut() + Send + 'static) -> Self {
        let over = Arc::<AtomicBool>::default();
        let (seen, begun) = (Arc::clone(&over), Instant::now());
        let thread = thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) && begun.elapsed() < TIMEOUT {
                act();
            }
        });
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Repeating {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Sends a byte of garbage every 20 ms, the timeout of a read.
fn drip_datagrams(socket: UdpSocket) -> Repeating {
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let mut room = [0; 100];
    Repeating::begin(move || {
        // The port is closed once the flow has ended.
        let _ = socket.send(b"x");
        let _ = socket.recv(&mut room);
    })
}

/// Sends a message of 16 MiB byte by byte, one every 20 ms.
fn drip_stream(mut stream: TcpStream) -> Repeating {
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    stream.write_all(&large()).unwrap();
    let mut room = [0; 100];
    Repeating::begin(move || {
        let _ = stream.write(&[0]);
        let _ = stream.read(&mut room);
    })
}

/// Sends small datagrams without a pause, 64 a call (UDP GSO), right behind the cookie.
fn flood(socket: UdpSocket) -> Repeating {
    setsockopt(&socket, sockopt::UdpGsoSegment, &16).unwrap();
    let garbage = [b'x'; 64 * 16];
    Repeating::begin(move || {
        let _ = socket.send(&garbage);
    })
}

/// A hostile flow: its name, and how a sender begins it.
type Hostile = (&'static str, fn(&mut OwnSender) -> Repeating);

fn hostile_flows() -> [Hostile; 3] {
    [
        ("dripping datagrams", |sender| {
            drip_datagrams(sender.datagrams())
        }),
        ("a dripping stream", |sender| drip_stream(sender.stream(0))),
        ("a flood", |sender| flood(sender.datagrams())),
    ]
}

#[test]
fn flows_that_are_kept_alive_end_when_their_sender_has_gone() {
    for (name, begin) in hostile_flows() {
        let dir = Dir::new();
        let mut receiver = Receiver::start(&dir, "--max-sessions 1");
        let mut sender = OwnSender::connect(&receiver);
        let hostile = begin(&mut sender);
        let begun = Instant::now();
        drop(sender);
        receiver.says("it closed the connection");
        assert!(begun.elapsed() < TIMEOUT, "{name}");
        // Its slot is free.
        receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
        drop(hostile);
    }
}

#[test]
fn flows_that_are_kept_alive_end_with_their_session() {
    for (name, begin) in hostile_flows() {
        let dir = Dir::new();
        let mut receiver = Receiver::start(&dir, "--max-sessions 1 --max-duration 1s");
        let mut sender = OwnSender::connect(&receiver);
        let hostile = begin(&mut sender);
        let begun = Instant::now();
        receiver.says("it took too long");
        assert!(begun.elapsed() < TIMEOUT, "{name}");
        receiver
            .send(&dir, "::1 --packets 5 --gap 1ms --duration 500ms")
            .fine();
        drop(hostile);
    }
}

#[test]
fn a_receiver_with_flows_that_are_kept_alive_stops_when_it_is_asked_to() {
    for (name, begin) in hostile_flows() {
        let dir = Dir::new();
        let mut receiver = Receiver::start(&dir, "");
        let mut sender = OwnSender::connect(&receiver);
        let hostile = begin(&mut sender);
        receiver.says("to port");
        let begun = Instant::now();
        receiver.stop().fine();
        assert!(begun.elapsed() < TIMEOUT, "{name}");
        drop(hostile);
    }
}

#[test]
fn echoes_that_nobody_reads_take_little_memory() {
    const FLOWS: u16 = 8;
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let before = resident(&receiver);
    let mut sender = OwnSender::connect(&receiver);
    let body = vec![0; (16 << 20) - HEADER_LEN];
    let flows: Vec<TcpStream> = (0..FLOWS)
        .map(|flow| {
            let mut stream = sender.stream(flow);
            stream.write_all(&large()).unwrap();
            stream.write_all(&body).unwrap();
            // The receiver has the message, and echoes it.
            assert_eq!(stream.peek(&mut [0; 4]).unwrap(), 4);
            stream
        })
        .collect();
    let grown = resident(&receiver).saturating_sub(before);
    assert!(grown < u64::from(FLOWS) * 1_000 + 4_000, "{grown} kB");
    drop(flows);
}

#[test]
fn flows_poll_only_as_far_as_the_receiver_allows() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    receiver
        .send(&dir, "::1 --meter round-trip --busy-poll --packets 5")
        .rejected(&["no more flows may poll", "--max-busy-poll"]);
    let receiver = Receiver::start(&dir, "--max-busy-poll 2");
    let [mut one, mut other] = [0, 1].map(|_| OwnSender::connect(&receiver));
    let busy = |number, transport| Flow {
        busy: true,
        ..flow(number, transport)
    };
    one.open(busy(0, Protocol::Udp)).unwrap();
    other.open(busy(0, Protocol::Tcp)).unwrap();
    one.open(flow(1, Protocol::Udp)).unwrap();
    let fault = one.open(busy(2, Protocol::Udp)).unwrap_err();
    assert!(fault.to_string().contains("--max-busy-poll"), "{fault}");
}

#[test]
fn flows_beyond_the_limits_are_rejected() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--max-flows 1");
    let [datagrams, stream] = [Protocol::Udp, Protocol::Tcp].map(|transport| flow(0, transport));
    for beyond in [
        Flow {
            buffer: u32::MAX,
            ..datagrams
        },
        Flow {
            largest: 65_508,
            ..datagrams
        },
        Flow {
            largest: u32::MAX,
            ..stream
        },
    ] {
        let fault = OwnSender::connect(&receiver).open(beyond).unwrap_err();
        assert_eq!(fault, Fault::Rejected(Reason::Limit), "{beyond:?}");
    }
    for second in [flow(1, Protocol::Udp), datagrams] {
        let mut sender = OwnSender::connect(&receiver);
        sender.open(datagrams).unwrap();
        let fault = sender.open(second).unwrap_err();
        assert_eq!(fault, Fault::Rejected(Reason::Limit), "{second:?}");
    }
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn a_flow_of_a_protocol_that_this_kernel_lacks_is_rejected_for_that_reason() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let sctp = Protocol::Sctp {
        streams: 1,
        unordered: false,
    };
    let lite = Protocol::UdpLite { coverage: 8 };
    for (protocol, name) in [(sctp, "SCTP"), (lite, "UDP-Lite")] {
        let opened = OwnSender::connect(&receiver).open(flow(0, protocol));
        // The attempt has made the kernel load its module.
        let listed = std::fs::read_to_string("/proc/net/protocols").unwrap();
        match listed.lines().any(|line| line.starts_with(name)) {
            true => assert!(opened.unwrap() > 0),
            false => assert_eq!(opened.unwrap_err(), Fault::Rejected(Reason::Protocol)),
        }
    }
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn a_sender_that_reads_no_answers_is_cut_off_and_makes_nothing_grow() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let before = resident(&receiver);
    let mut sender = OwnSender::connect(&receiver);
    let begun = Instant::now();
    sender.control.set_write_timeout(Some(TIMEOUT)).unwrap();
    loop {
        sender.client.compare(0);
        let written = sender.control.write_all(sender.client.output());
        sender.client.output().clear();
        if written.is_err() {
            break;
        }
    }
    receiver.says("it does not read");
    assert!(begun.elapsed() < TIMEOUT);
    let grown = resident(&receiver).saturating_sub(before);
    assert!(grown < 4_000, "{grown} kB");
}
