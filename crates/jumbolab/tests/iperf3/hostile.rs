//! Clients that are no iperf3: they end nothing but their own test.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::{Receiver, iperf3, line};

/// The state of a server that runs another test.
const BUSY: u8 = 0xff;

/// A cookie like no other.
fn cookie() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{:036}\0", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A connection that begins with `cookie`.
fn connect(port: u16, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(cookie.as_bytes()).unwrap();
    stream
}

/// Begins a test up to its parameters, as soon as the one before it has ended.
fn begin(port: u16) -> (TcpStream, String) {
    loop {
        let cookie = cookie();
        let mut stream = connect(port, &cookie);
        let answer = byte(&mut stream);
        if answer != Some(BUSY) {
            assert_eq!(answer, Some(9));
            return (stream, cookie);
        }
    }
}

/// The next byte; `None` at the end.
fn byte(stream: &mut TcpStream) -> Option<u8> {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(1) => Some(byte[0]),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
        Err(error) => panic!("{error}"),
    }
}

fn ask(stream: &mut TcpStream, parameters: &str) {
    let length = u32::try_from(parameters.len()).unwrap().to_be_bytes();
    let _ = stream.write_all(&[&length, parameters.as_bytes()].concat());
}

/// The number of the error by which the receiver rejects parameters.
fn rejected(port: u16, parameters: &str) -> u32 {
    let (mut stream, _) = begin(port);
    ask(&mut stream, parameters);
    assert_eq!(byte(&mut stream), Some(0xfe), "{parameters}");
    let mut numbers = [0; 8];
    stream.read_exact(&mut numbers).unwrap();
    assert_eq!(byte(&mut stream), None);
    u32::from_be_bytes(*numbers.first_chunk().unwrap())
}

/// Waits until the receiver is free: its log tells of each test that it rejects or ends.
fn until_told(receiver: &mut Receiver, words: &str) {
    while !line(&mut receiver.log).contains(words) {}
}

#[test]
fn damaged_tests_are_rejected_and_the_next_client_is_served() {
    let mut receiver = Receiver::start(&[]);
    let port = receiver.port;
    for (parameters, number) in [
        ("hello", 114),
        (r#"{"tcp":true,"time":-1}"#, 114),
        (
            r#"{"tcp":true,"time":1,"len":1000,"parallel":4000000000}"#,
            6,
        ),
        (r#"{"tcp":true,"time":1,"len":1000,"authtoken":"x"}"#, 142),
        (r#"{"udp":true,"time":1,"len":70000}"#, 20),
    ] {
        assert_eq!(rejected(port, parameters), number, "{parameters}");
    }
    let (mut long, _) = begin(port);
    long.write_all(&[0xff; 4]).unwrap();
    assert_eq!(byte(&mut long), None);
    until_told(&mut receiver, "bytes of JSON");
    let (mut leaves, cookie) = begin(port);
    ask(
        &mut leaves,
        r#"{"tcp":true,"time":1,"len":1000,"parallel":1}"#,
    );
    assert_eq!(byte(&mut leaves), Some(10));
    // A stream with another cookie belongs to nobody.
    let mut other = connect(port, &self::cookie());
    assert_eq!(byte(&mut other), Some(BUSY));
    let _stream = connect(port, &cookie);
    assert_eq!([byte(&mut leaves), byte(&mut leaves)], [Some(1), Some(2)]);
    leaves.write_all(&[99]).unwrap();
    assert_eq!(byte(&mut leaves), Some(11));
    until_told(&mut receiver, "99 is no state");
    let theirs = iperf3(&["-c", "127.0.0.1", "-p", &port.to_string(), "-J", "-n", "1K"]);
    assert_eq!(theirs["error"], Value::Null);
    receiver.end();
}

#[test]
fn no_datagram_goes_to_an_address_that_did_not_open_the_connection() {
    let receiver = Receiver::start(&["--once"]);
    let port = receiver.port;
    let (mut control, _) = begin(port);
    ask(
        &mut control,
        r#"{"udp":true,"reverse":true,"time":1,"len":1000,"parallel":1,"bandwidth":1000000}"#,
    );
    assert_eq!(byte(&mut control), Some(10));
    let [victim, client] = ["127.0.0.2:0", "127.0.0.1:0"].map(|address| {
        let socket = UdpSocket::bind(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        socket
    });
    victim.send_to(b"9876", ("127.0.0.1", port)).unwrap();
    client.send_to(b"junk", ("127.0.0.1", port)).unwrap();
    client.send_to(b"9876", ("127.0.0.1", port)).unwrap();
    let mut room = [0; 2000];
    assert_eq!(client.recv(&mut room).unwrap(), 4);
    assert_eq!(&room[..4], b"6789");
    assert_eq!([byte(&mut control), byte(&mut control)], [Some(1), Some(2)]);
    for number in 1..=3 {
        assert_eq!(client.recv(&mut room).unwrap(), 1000);
        assert_eq!(room[8..12], [0, 0, 0, number]);
    }
    // Datagrams are read in order, so one for the other address would have arrived.
    victim.set_nonblocking(true).unwrap();
    let error = victim.recv(&mut room).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    drop(control);
    let mut program = receiver.program;
    let results = super::objects(&program.output());
    assert!(results[0]["error"].is_string(), "{results:?}");
}
