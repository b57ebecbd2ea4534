//! Malicious or broken peers: the receiver continues to serve.
#![expect(
    clippy::disallowed_methods,
    reason = "unknown senders open sockets of their own"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use super::super::harness::{Dir, Outcome};
use super::{Receiver, interrupt};

/// A valid first frame: length, type, magic, version, nonce, clock.
fn hello() -> Vec<u8> {
    let mut frame = vec![0, 31, 1];
    frame.extend(b"JLCT");
    frame.extend(wire::control::VERSION.to_be_bytes());
    frame.extend([7; 24]);
    frame
}

fn unknown_sender(receiver: &Receiver) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", receiver.port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// Reads until the receiver closes.
fn answer(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("it was not closed: {error}"),
    }
}

#[test]
fn garbage_is_rejected_in_a_frame_of_four_bytes_and_service_goes_on() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let mut proof = hello();
    proof.extend([0, 3, 3, 0, 0]);
    for garbage in [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 100],
        vec![0xff; 5_000],
        vec![0, 1, 99],
        // A valid message, but not the first.
        [&[0, 9, 6][..], &[0; 8]].concat(),
    ] {
        let mut stream = unknown_sender(&receiver);
        // The receiver may close before everything is written.
        let _ = stream.write_all(&garbage);
        let bytes = answer(stream);
        assert!(bytes.len() <= 4, "{bytes:?}");
    }
    receiver.says("rejected");
    let mut stream = unknown_sender(&receiver);
    stream.write_all(&proof).unwrap();
    let bytes = answer(stream);
    assert_eq!(bytes[..3], [0, 32, 2], "it had said hello");
    assert_eq!(bytes[34..], [0, 2, 5, 5], "rejected as nonsense");
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn silent_slow_and_vanished_peers_hold_nobody_up_and_are_bounded() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--max-sessions 1");
    let silent = unknown_sender(&receiver);
    let mut slow = unknown_sender(&receiver);
    slow.write_all(&hello()[..10]).unwrap();
    drop(unknown_sender(&receiver));
    receiver.says("it closed the connection");
    // An unauthenticated connection has no slot.
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
    // A handshake has a time limit.
    for stream in [silent, slow] {
        let bytes = answer(stream);
        assert_eq!(bytes, [0, 2, 5, 6], "rejected for being late");
    }
    receiver.says("it took too long");
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn unknown_senders_keep_nobody_out_who_proves_itself_and_make_room_for_each_other() {
    let dir = Dir::new();
    dir.write_private("key", "correct horse battery\n");
    let mut receiver = Receiver::start(&dir, "--max-sessions 1 --secret-file key");
    let quick = "--secret-file key --packets 5 --gap 1ms";
    let mut unknown_senders: Vec<TcpStream> = (0..80).map(|_| unknown_sender(&receiver)).collect();
    // From another address, and from that of the unauthenticated peers.
    receiver.send(&dir, &format!("::1 {quick}")).fine();
    receiver.send(&dir, &format!("127.0.0.1 {quick}")).fine();
    for first in unknown_senders.drain(..16) {
        assert_eq!(answer(first), [0, 2, 5, 3], "others connected");
    }
    receiver.says("others connected before it was authenticated");
    // A session keeps its slot, and --sessions sets the number of slots.
    let line = "::1 --secret-file key --meter round-trip --duration 50min --json";
    let sender = receiver.begin(&dir, line);
    receiver.says("round trip");
    receiver
        .send(&dir, &format!("::1 {quick}"))
        .rejected(&["its maximum number of senders"]);
    unknown_senders.extend((0..64).map(|_| unknown_sender(&receiver)));
    interrupt(&sender);
    let flow = Outcome::of(sender.wait_with_output().unwrap());
    assert_eq!(flow.stopped().json().len(), 1);
    receiver.send(&dir, &format!("::1 {quick}")).fine();
}

#[test]
fn a_sender_that_is_killed_leaves_a_receiver_that_serves_on() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let mut sender = receiver.begin(&dir, "::1 --duration 50min");
    receiver.says("UDP, one way");
    sender.kill().unwrap();
    sender.wait().unwrap();
    receiver.says("it closed the connection");
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
    let outcome = receiver.stop().fine();
    assert_eq!(
        outcome.stdout.matches("flow: UDP").count(),
        2,
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_flows_port_answers_nobody_but_its_sender() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    // So slow that the receive buffer bridges a pause of the machine.
    let line = "127.0.0.1 --meter round-trip --gap 10ms --duration 50min --json";
    let sender = receiver.begin(&dir, line);
    let line = receiver.says("to port");
    let port: u16 = line
        .trim()
        .rsplit_once("to port ")
        .unwrap()
        .1
        .parse()
        .unwrap();
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    // A message that requests an echo, and a guess of the cookie.
    let mut message = b"JLAB\x01\x01\0\0\0\0\0\x1c".to_vec();
    message.extend([0; 16]);
    let mut room = [0; 100];
    for datagram in [&message[..], &[0; 16], b""] {
        // The port may have closed to other peers by then.
        let _ = socket.send_to(datagram, ("127.0.0.1", port));
        let came = socket.recv_from(&mut room);
        assert!(came.is_err(), "{came:?}");
    }
    interrupt(&sender);
    let flow = Outcome::of(sender.wait_with_output().unwrap())
        .stopped()
        .json()
        .remove(0);
    assert_eq!(flow["echoes"], flow["sent"]);
    assert_eq!(flow["duplicates"], 0, "{flow}");
}

#[test]
fn a_receiver_whose_stderr_nobody_reads_serves_on_and_ends() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    // It serves once it has reported its address.
    receiver.says("listening on ::1");
    // Opened once more, so that only this end does not wait.
    let path = format!("/proc/{}/fd/2", receiver.process());
    let mut options = std::fs::OpenOptions::new();
    let stderr = options.write(true).custom_flags(libc::O_NONBLOCK);
    let mut stderr = stderr.open(path).unwrap();
    for piece in [4096, 1] {
        while stderr.write(&vec![b'\n'; piece]).is_ok() {}
    }
    for _ in 0..300 {
        let mut stream = unknown_sender(&receiver);
        // The receiver may close before everything is written.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
        assert!(answer(stream).len() <= 4);
    }
    for _ in 0..3 {
        receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
    }
    drop(stderr);
    let outcome = receiver.stop().fine();
    assert_eq!(outcome.stdout.matches("flow: UDP").count(), 3);
}

#[test]
fn unknown_senders_are_counted_and_told_of_once_a_second_at_most() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    for _ in 0..100 {
        drop(unknown_sender(&receiver));
    }
    let mut rejected = 0;
    let mut lines = 0;
    while rejected < 100 {
        let line = receiver.says("rejected");
        let others = line
            .trim()
            .strip_suffix(" other rejections since the last such line");
        let others = others.and_then(|line| line.rsplit_once(' '));
        rejected += 1 + others.map_or(0, |(_, others)| others.parse::<u32>().unwrap());
        lines += 1;
    }
    assert_eq!(rejected, 100);
    assert!(lines < 50, "{lines} lines");
    receiver.stop().fine();
}

/// `JUMBOLAB_FUZZ_CASES=10000000` tests more cases, with one connection per
/// thousand datagrams.
#[expect(clippy::print_stdout, reason = "figures of long runs")]
#[test]
fn unknown_senders_of_any_structure_get_no_answer_make_nothing_grow_and_stop_nothing() {
    let dir = Dir::new();
    dir.write_private("key", "correct horse battery\n");
    let mut receiver = Receiver::start(&dir, "--secret-file key");
    let line = "127.0.0.1 --secret-file key --meter round-trip --gap 5ms --duration 50min --json";
    let sender = receiver.begin(&dir, line);
    let said = receiver.says("to port");
    let port = said.trim().rsplit_once("to port ").unwrap().1;
    let port: u16 = port.parse().unwrap();
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let cases = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
    let cases: u64 = cases.map_or(20_000, |cases| cases.parse().unwrap());
    let (mut then, mut accepted) = (0, 0);
    let mut room = [0; 100];
    for number in 0..cases {
        // A message that requests an echo, with some bytes changed.
        let mut message = b"JLAB\x01\x01\0\0\0\0\0\x1c".to_vec();
        message.extend([0; 16]);
        let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = usize::try_from(noise >> 32).unwrap() % message.len();
        message[at] ^= noise.to_be_bytes()[0] & 0x81;
        accepted += u64::from(wire::message::Message::parse(&message).is_ok());
        // The port is closed to other peers, and the kernel reports that.
        let _ = socket.send_to(&message, ("127.0.0.1", port));
        let came = socket.recv_from(&mut room);
        assert!(came.is_err(), "{came:?}");
        if number % 1_000 == 0 {
            let mut frame = hello();
            let at = at % frame.len();
            frame[at] ^= noise.to_be_bytes()[1];
            // A wait for more ends with nonsense.
            frame.extend([0xff; 300]);
            let mut stream = unknown_sender(&receiver);
            let _ = stream.write_all(&frame);
            assert!(answer(stream).len() <= 38, "a challenge and a rejection");
        }
        if number == cases / 10 {
            then = resident(&receiver);
        }
    }
    assert!(accepted * 10 >= cases * 3, "{accepted} of {cases}");
    let grown = resident(&receiver).saturating_sub(then);
    println!("{accepted} of {cases} accepted, the receiver grew by {grown} kB");
    assert!(grown < 8 << 10, "the receiver grew by {grown} kB");
    interrupt(&sender);
    let flow = Outcome::of(sender.wait_with_output().unwrap());
    let flow = flow.stopped().json().remove(0);
    assert_eq!(flow["echoes"], flow["sent"], "{flow}");
    assert_eq!(flow["duplicates"], 0, "{flow}");
    let quick = "::1 --secret-file key --packets 5 --gap 1ms";
    receiver.send(&dir, quick).fine();
}

/// Memory of the receiver, in kB.
pub(super) fn resident(receiver: &Receiver) -> u64 {
    let status = format!("/proc/{}/status", receiver.process());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace();
    words.rev().nth(1).unwrap().parse().unwrap()
}
