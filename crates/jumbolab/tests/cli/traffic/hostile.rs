//! Peers that mean harm, or break off: the receiver serves on.
#![expect(
    clippy::disallowed_methods,
    reason = "strangers open sockets of their own"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use super::super::harness::{Dir, Outcome};
use super::{Receiver, interrupt};

/// A true first frame: length, type, magic, version, nonce, clock.
fn hello() -> Vec<u8> {
    let mut frame = vec![0, 31, 1];
    frame.extend(b"JLCT");
    frame.extend([0, 1]);
    frame.extend([7; 24]);
    frame
}

fn stranger(receiver: &Receiver) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", receiver.port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// What comes until the receiver closes.
fn answer(mut stream: TcpStream) -> Vec<u8> {
    let mut octets = Vec::new();
    match stream.read_to_end(&mut octets) {
        Ok(_) => octets,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => octets,
        Err(error) => panic!("it was not closed: {error}"),
    }
}

#[test]
fn garbage_is_refused_in_a_frame_of_four_octets_and_service_goes_on() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let mut proof = hello();
    proof.extend([0, 3, 3, 0, 0]);
    for garbage in [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 100],
        vec![0xff; 5_000],
        vec![0, 1, 99],
        // A message that is true, but not the first.
        [&[0, 9, 6][..], &[0; 8]].concat(),
    ] {
        let mut stream = stranger(&receiver);
        // The receiver may close before all is written.
        let _ = stream.write_all(&garbage);
        let octets = answer(stream);
        assert!(octets.len() <= 4, "{octets:?}");
        receiver.says("refused");
    }
    let mut stream = stranger(&receiver);
    stream.write_all(&proof).unwrap();
    let octets = answer(stream);
    assert_eq!(octets[..3], [0, 32, 2], "it had said hello");
    assert_eq!(octets[34..], [0, 2, 5, 5], "refused as nonsense");
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn silent_slow_and_vanished_peers_hold_nobody_up_and_are_bounded() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--sessions 3");
    let silent = stranger(&receiver);
    let mut slow = stranger(&receiver);
    slow.write_all(&hello()[..10]).unwrap();
    drop(stranger(&receiver));
    receiver.says("it closed the connection");
    // Of three sessions two are taken.
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
    let third = stranger(&receiver);
    let outcome = receiver.send(&dir, "::1 --packets 5 --gap 1ms");
    outcome.refused(&["as many senders as it may"]);
    // Nobody has more than the time of a handshake.
    for stream in [silent, slow, third] {
        let octets = answer(stream);
        assert_eq!(octets, [0, 2, 5, 6], "refused for being late");
    }
    receiver.says("it took too long");
    receiver.send(&dir, "::1 --packets 5 --gap 1ms").fine();
}

#[test]
fn a_sender_that_is_killed_leaves_a_receiver_that_serves_on() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let mut sender = dir
        .command()
        .args(["send", "::1", "--for", "50min", "--port"])
        .arg(receiver.port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
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
    let sender = dir
        .command()
        .args([
            "send",
            "127.0.0.1",
            "--meter",
            "round-trip",
            "--for",
            "50min",
            "--json",
            "--port",
        ])
        .arg(receiver.port.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
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
    // A message that wants an echo, and what could be a cookie.
    let mut message = b"JLAB\x01\x01\0\0\0\0\0\x1c".to_vec();
    message.extend([0; 16]);
    let mut room = [0; 100];
    for datagram in [&message[..], &[0; 16], b""] {
        // The port may have closed to strangers by then.
        let _ = socket.send_to(datagram, ("127.0.0.1", port));
        let came = socket.recv_from(&mut room);
        assert!(came.is_err(), "{came:?}");
    }
    interrupt(&sender);
    let flow = Outcome::of(sender.wait_with_output().unwrap())
        .fine()
        .json()
        .remove(0);
    assert_eq!(flow["echoes"], flow["sent"]);
    assert_eq!(flow["duplicates"], 0, "{flow}");
}
