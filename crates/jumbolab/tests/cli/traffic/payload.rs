//! The bytes of a file in messages, as a receiver of the test's own gets them.
#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use traffic::machine::control::{Request, Server};
use wire::control::{Flow, Protocol, Report};
use wire::message::{HEADER_LEN, Message};

use super::super::harness::{Dir, Outcome};
use super::Receiver;
use super::own_receiver::Control;

/// The data port of a flow.
enum DataPort {
    Stream(TcpListener),
    Datagrams(UdpSocket),
}

impl DataPort {
    fn open(flow: &Flow, server: &mut Server) -> Self {
        let (port, opened) = match flow.transport {
            Protocol::Tcp => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let port = listener.local_addr().unwrap().port();
                (port, Self::Stream(listener))
            }
            _ => {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                let timeout = Duration::from_secs(20);
                socket.set_read_timeout(Some(timeout)).unwrap();
                let port = socket.local_addr().unwrap().port();
                (port, Self::Datagrams(socket))
            }
        };
        server.ready(flow.flow, port, 1 << 20);
        opened
    }

    /// The first `count` messages behind the cookie of the flow.
    fn messages(&self, flow: &Flow, count: usize) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        match self {
            Self::Stream(listener) => {
                let (mut stream, _) = listener.accept().unwrap();
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).unwrap();
                let mut rest = bytes.strip_prefix(&flow.cookie[..]).unwrap();
                while let Ok(message) = Message::parse(rest) {
                    let (one, others) = rest.split_at(message.length as usize);
                    messages.push(one.to_vec());
                    rest = others;
                }
            }
            Self::Datagrams(socket) => {
                let mut room = [0; 1 << 16];
                while messages.len() < count {
                    let (length, from) = socket.recv_from(&mut room).unwrap();
                    match room[..length] == flow.cookie {
                        true => drop(socket.send_to(&flow.cookie, from).unwrap()),
                        false => messages.push(room[..length].to_vec()),
                    }
                }
            }
        }
        messages
    }
}

/// The messages that `send` sends to a receiver of the test's own.
fn sent(dir: &Dir, line: &str, count: usize) -> Vec<Vec<u8>> {
    let (sender, mut control) = Control::start(dir, line);
    let (mut opened, mut messages) = (None, Vec::new());
    while let Some(bytes) = control.read() {
        control.answer(&bytes, |server, request| match request {
            Request::Open(flow) => opened = Some((DataPort::open(&flow, server), flow)),
            Request::Ended {
                flow,
                messages,
                bytes,
                ..
            } => server.report(Report {
                flow,
                messages,
                bytes,
                ..Report::default()
            }),
            _ => {}
        });
        if let Some((port, flow)) = &opened
            && bytes.is_empty()
            && messages.is_empty()
        {
            messages = port.messages(flow, count);
        }
    }
    Outcome::of(sender.wait_with_output().unwrap()).fine();
    // A short stream waits in the kernel.
    if let (Some((port, flow)), true) = (&opened, messages.is_empty()) {
        messages = port.messages(flow, count);
    }
    messages
}

#[test]
fn messages_have_the_bytes_of_the_file_one_after_the_other_and_again() {
    let dir = Dir::new();
    let bytes: Vec<u8> = (0..251).cycle().take(1_000).collect();
    std::fs::write(dir.path().join("payload"), &bytes).unwrap();
    for options in [
        "--protocol tcp --gap 0s",
        "--protocol udp --gap 1ms",
        "--protocol udp --gap 100us --gso 4",
    ] {
        let line = format!("{options} --message 428 --packets 20");
        let messages = sent(&dir, &format!("{line} --payload payload"), 20);
        assert_eq!(messages.len(), 20, "{options}");
        let behind = messages.iter().flat_map(|one| &one[HEADER_LEN..]);
        assert!(behind.eq(bytes.iter().cycle().take(20 * 400)), "{options}");
        // Without a file they are as before.
        let messages = sent(&dir, &line, 20);
        let mut behind = messages.iter().flat_map(|one| &one[HEADER_LEN..]);
        assert!(behind.all(|byte| *byte == 0), "{options}");
    }
}

#[test]
fn flows_of_a_file_have_payloads_of_their_own_and_arrive_whole() {
    let dir = Dir::new();
    dir.write("small", "a few bytes");
    std::fs::write(dir.path().join("large"), vec![7; 3 << 20]).unwrap();
    dir.write(
        "flows.toml",
        "[flows.one]\npayload = \"small\"\nmessage = \"uniform:20,600\"\n\
         [flows.two]\npayload = \"large\"\nprotocol = \"tcp\"\nmessage = \"1MB\"\n\
         [flows.three]\npayload = \"small\"\nmeter = \"round-trip\"\n",
    );
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --flow-file flows.toml --packets 20 --json";
    for flow in receiver.send(&dir, line).fine().json() {
        assert_eq!(flow["received"], 20, "{flow}");
    }
    dir.write("script", "-a ::1 -Fp small -z 5\n");
    let flow = receiver.send(&dir, "--ditg-script script --json");
    assert_eq!(flow.fine().json().remove(0)["received"], 5);
}

#[test]
fn a_file_without_bytes_and_messages_without_room_are_rejected_in_one_line() {
    let dir = Dir::new();
    dir.write("empty", "");
    dir.write("full", "bytes");
    for (options, words) in [
        ("--payload empty", &["--payload empty", "it is empty"][..]),
        ("--payload absent", &["--payload absent", "cannot read it"]),
        ("--payload .", &["--payload .", "not a regular file"]),
        (
            "--payload full --message 28",
            &["--payload full", "no room"],
        ),
        ("--payload full --reverse", &["--payload full", "--reverse"]),
        ("--payload full --bidir", &["--payload full", "--bidir"]),
    ] {
        dir.run(&format!("send ::1 {options}")).rejected(words);
    }
}
