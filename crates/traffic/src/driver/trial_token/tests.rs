#![expect(
    clippy::disallowed_methods,
    reason = "the unauthenticated peers are of the test's own"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::machine::trial_token::{MOST_WAITING, TOKEN_LEN};
use units::Bytes;
use wire::message::{Echo as MessageEcho, Message};

use super::*;
use crate::driver::transfer::{Echo, Received, Receiver, Transfer, send};
use os::clock::Epoch;

/// The senders, also those that are not of the trial.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A loopback address of this receiver alone: tests that run meanwhile may take the ports of
/// another.
fn own_address() -> IpAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [of_process, _, _, _] = std::process::id().to_le_bytes();
    Ipv4Addr::new(127, 70, of_process, NEXT.fetch_add(1, Ordering::Relaxed)).into()
}

/// Bytes of a message, and of all messages.
const MESSAGE: u64 = 1_000;
const SIZE: u64 = 200 * MESSAGE;

fn transfer(protocol: Transport, timeout: Span) -> Transfer {
    Transfer {
        protocol,
        address: own_address(),
        warmup: Bytes::ZERO,
        warmup_message: Bytes::new(MESSAGE),
        size: Bytes::new(SIZE),
        message: Bytes::new(MESSAGE),
        pace: None,
        paced: false,
        delays: true,
        echo: Echo::Off,
        congestion: "reno".to_owned(),
        largest_segment: None,
        processor: None,
        send_buffer: None,
        receive_buffer: None,
        nagle: true,
        epoch: Epoch::now(),
        timeout,
        quiet: Span::from_millis(300),
    }
}

/// A receiver in a thread, its port and its token.
struct Running {
    transfer: Transfer,
    token: Token,
    port: u16,
    thread: JoinHandle<Result<Received>>,
}

impl Running {
    fn begin(protocol: Transport) -> Self {
        Self::with_timeout(protocol, Span::from_secs(20))
    }

    fn with_timeout(protocol: Transport, timeout: Span) -> Self {
        let (transfer, token) = (transfer(protocol, timeout), new_token().unwrap());
        let receiver = Receiver::open(transfer.clone(), token.clone()).unwrap();
        let port = receiver.port;
        let thread = thread::spawn(move || receiver.receive());
        Self {
            transfer,
            token,
            port,
            thread,
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect((self.transfer.address, self.port)).unwrap()
    }

    /// A UDP socket connected to the receiver.
    fn socket(&self) -> UdpSocket {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        let timeout = Some(Duration::from_secs(20));
        socket.set_read_timeout(timeout).unwrap();
        socket.connect((self.transfer.address, self.port)).unwrap();
        socket
    }

    /// The results, after which nobody listens at the port.
    fn end(self) -> Result<Received> {
        let result = self.thread.join().unwrap();
        let at = (self.transfer.address, self.port);
        // A test that starts a process meanwhile has it hold these sockets until its exec.
        let by = clock::monotonic() + Span::from_secs(20);
        while TcpStream::connect(at).is_ok() || UdpSocket::bind(at).is_err() {
            assert!(clock::monotonic() < by, "the port is free");
            clock::sleep(Span::from_millis(1));
        }
        result
    }
}

/// The messages of a transfer, as its sender writes them.
fn messages() -> Vec<Vec<u8>> {
    let message = |sequence| {
        let mut bytes = vec![0; usize::try_from(MESSAGE).unwrap()];
        let header = Message {
            echo: MessageEcho::Unwanted,
            warmup: false,
            tag: 0,
            length: u32::try_from(MESSAGE).unwrap(),
            sequence,
            sent: Time::ZERO,
        };
        header.emit(&mut bytes).unwrap();
        bytes
    };
    (0..SIZE / MESSAGE).map(message).collect()
}

fn is_whole(received: &Received) -> bool {
    received.bytes == Bytes::new(SIZE) && received.delays.lost == 0
}

/// Waits until the other end resets or closes a connection without a word.
fn is_rejected(mut stream: TcpStream) -> bool {
    let end = stream.read(&mut [0; 1]);
    end.map_or_else(
        |error| error.kind() == ErrorKind::ConnectionReset,
        |count| count == 0,
    )
}

#[test]
fn rejected_peers_before_and_amid_a_stream_are_rejected_and_counted() {
    let running = Running::begin(Transport::Tcp);
    // More silent ones than may wait, and some with garbage.
    let silent: Vec<TcpStream> = (0..MOST_WAITING + 20).map(|_| running.connect()).collect();
    for length in [1, TOKEN_LEN, 5_000] {
        let mut other = running.connect();
        // The reset may come in the middle.
        let _ = other.write_all(&vec![7; length]);
        assert!(length < TOKEN_LEN || is_rejected(other));
    }
    let mut sender = running.connect();
    sender.write_all(running.token.bytes()).unwrap();
    let messages = messages();
    let (first, rest) = messages.split_at(messages.len() / 2);
    sender.write_all(&first.concat()).unwrap();
    // In the middle of the transfer all of them are rejected, and so are those who come
    // then, even with the token.
    assert!(silent.into_iter().all(is_rejected));
    for _ in 0..10 {
        assert!(is_rejected(running.connect()));
    }
    let mut thief = running.connect();
    let _ = thief.write_all(running.token.bytes());
    assert!(is_rejected(thief));
    sender.write_all(&rest.concat()).unwrap();
    let received = running.end().unwrap();
    assert!(is_whole(&received), "{received:?}");
    let rejected_peers = u64::try_from(MOST_WAITING + 20 + 3 + 10 + 1).unwrap();
    assert_eq!(received.rejected_peers, rejected_peers);
}

#[test]
fn a_flood_of_datagrams_neither_delays_nor_changes_a_transfer() {
    let running = Running::begin(Transport::Udp);
    let other = running.socket();
    for length in [0, 1, TOKEN_LEN, TOKEN_LEN + 1, 9_000] {
        other.send(&vec![7; length]).unwrap();
    }
    let stop = Arc::<AtomicBool>::default();
    let stopped = Arc::clone(&stop);
    let flood = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            // Once the receiver has its sender, its kernel rejects others.
            let _ = other.send(&[7; 100]);
            thread::yield_now();
        }
    });
    let sent = send(&running.transfer, &running.token, running.port).unwrap();
    let received = running.end().unwrap();
    stop.store(true, Ordering::Relaxed);
    flood.join().unwrap();
    assert_eq!(sent.messages, SIZE / MESSAGE);
    assert!(
        is_whole(&received) && received.rejected_peers >= 5,
        "{received:?}"
    );
}

#[test]
fn datagrams_of_rejected_peers_amid_a_transfer_are_counted_and_not_answered() {
    let running = Running::begin(Transport::Udp);
    let sender = running.socket();
    let mut room = [0; 100];
    // The first answer is lost, as it were, and the sender repeats the token.
    for _ in 0..2 {
        sender.send(running.token.bytes()).unwrap();
        assert_eq!(sender.recv(&mut room).unwrap(), TOKEN_LEN);
        assert!(running.token.is(&room[..TOKEN_LEN]));
    }
    let messages = messages();
    for (number, message) in messages.iter().enumerate() {
        if number == messages.len() / 2 {
            for bytes in [&b"garbage"[..], running.token.bytes(), &messages[150]] {
                let other = running.socket();
                other.send(bytes).unwrap();
                other.set_nonblocking(true).unwrap();
                let silence = other.recv(&mut room).unwrap_err();
                assert_eq!(silence.kind(), ErrorKind::WouldBlock);
            }
        }
        sender.send(message).unwrap();
    }
    let received = running.end().unwrap();
    assert!(is_whole(&received), "{received:?}");
    assert_eq!(received.rejected_peers, 3);
}

#[test]
fn no_other_user_can_join_a_port_of_datagrams() {
    let running = Running::begin(Transport::Udp);
    let sender = running.socket();
    let mut room = [0; 100];
    let at = sender.peer_addr().unwrap();
    let join = || {
        let family = nix::sys::socket::AddressFamily::Inet6;
        let family = if at.is_ipv4() {
            nix::sys::socket::AddressFamily::Inet
        } else {
            family
        };
        let (kind, flags) = (
            nix::sys::socket::SockType::Datagram,
            nix::sys::socket::SockFlag::SOCK_CLOEXEC,
        );
        let socket = nix::sys::socket::socket(family, kind, flags, None).unwrap();
        let share = nix::sys::socket::sockopt::ReuseAddr;
        nix::sys::socket::setsockopt(&socket, share, &true).unwrap();
        let at: nix::sys::socket::SockaddrStorage = at.into();
        nix::sys::socket::bind(socket.as_raw_fd(), &at)
    };
    assert_eq!(join(), Err(Errno::EADDRINUSE), "before the sender came");
    sender.send(running.token.bytes()).unwrap();
    assert_eq!(sender.recv(&mut room).unwrap(), TOKEN_LEN);
    assert_eq!(join(), Err(Errno::EADDRINUSE), "after it came");
    for message in messages() {
        sender.send(&message).unwrap();
    }
    assert!(is_whole(&running.end().unwrap()));
}

#[test]
fn a_sender_with_another_token_is_rejected() {
    for (protocol, reason) in [
        (Transport::Tcp, "reset"),
        (Transport::Udp, "no progress within"),
    ] {
        let running = Running::begin(protocol);
        let impatient = Transfer {
            timeout: Span::from_millis(250),
            ..running.transfer.clone()
        };
        let error = send(&impatient, &new_token().unwrap(), running.port).unwrap_err();
        let text = error.to_string();
        // The token of a stream is acknowledged before it is read, and the reset may
        // come at any time afterwards.
        assert!(
            protocol == Transport::Tcp || text.contains(reason),
            "{text}"
        );
        assert!(!text.contains("Token("), "{text}");
        send(&running.transfer, &running.token, running.port).unwrap();
        let received = running.end().unwrap();
        assert!(
            is_whole(&received) && received.rejected_peers >= 1,
            "{received:?}"
        );
    }
}

#[test]
fn no_port_stays_open_after_a_sender_that_never_came_or_vanished() {
    for protocol in [Transport::Tcp, Transport::Udp] {
        let nobody = Running::with_timeout(protocol, Span::from_millis(100));
        let error = nobody.end().unwrap_err();
        assert!(
            error.to_string().contains("waiting for the sender"),
            "{error}"
        );
    }
    let running = Running::begin(Transport::Tcp);
    let mut sender = running.connect();
    sender.write_all(running.token.bytes()).unwrap();
    sender.write_all(&messages()[0]).unwrap();
    drop(sender);
    let error = running.end().unwrap_err();
    assert!(error.to_string().contains("closed after 1000"), "{error}");
    let running = Running::begin(Transport::Udp);
    let sender = running.socket();
    sender.send(running.token.bytes()).unwrap();
    assert_eq!(sender.recv(&mut [0; 100]).unwrap(), TOKEN_LEN);
    sender.send(&messages()[0]).unwrap();
    drop(sender);
    let received = running.end().unwrap();
    assert_eq!(received.bytes, Bytes::new(MESSAGE));
}

#[test]
fn the_token_is_one_segment_and_opens_the_window_by_one_at_most() {
    let running = Running::begin(Transport::Tcp);
    let socket = Socket::from(running.connect());
    let info = || os::sys::tcp_info::tcp_info(socket.as_fd()).unwrap();
    let window = info().tcpi_snd_cwnd;
    let to = SocketAddr::new(running.transfer.address, running.port);
    show(
        &socket,
        Transport::Tcp,
        &running.token,
        to,
        Span::from_secs(20),
    )
    .unwrap();
    let after = info();
    assert_eq!((after.tcpi_data_segs_out, after.tcpi_unacked), (1, 0));
    assert!(after.tcpi_snd_cwnd <= window + 1);
    assert_eq!(after.tcpi_bytes_acked, TOKEN_LEN as u64 + 1, "and the SYN");
    TcpStream::from(socket)
        .write_all(&messages().concat())
        .unwrap();
    assert!(is_whole(&running.end().unwrap()));
}
