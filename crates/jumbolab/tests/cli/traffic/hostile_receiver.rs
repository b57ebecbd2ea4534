//! A receiver of the test's own that answers late, floods, lies or returns copies: the
//! sender ends, and its figures stay right.
#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::process::Child;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use traffic::machine::control::Request;
use wire::control::{Progress, Report, Reverse, SentReport};
use wire::message::{Echo, Message};

use super::super::harness::{Dir, Outcome};
use super::super::lookup::Object;
use super::interrupt;
use super::own_receiver::Control;

/// The conduct of a receiver.
#[derive(Clone, Copy)]
struct Conduct {
    /// Whether it answers control messages.
    answers: bool,
    /// Handles the datagrams of a flow until the sender has gone.
    datagrams: fn(&UdpSocket, SocketAddr),
    /// Its report of a flow.
    report: fn(u16) -> Report,
    /// What it says that it sent of a flow.
    sent: SentReport,
    /// The number of flows that it answers for in each interval, with absurd figures.
    observations: u16,
}

/// An ordinary receiver that takes datagrams and returns none.
const SILENT: Conduct = Conduct {
    answers: true,
    datagrams: |_, _| (),
    report: |flow| Report {
        flow,
        ..Report::default()
    },
    sent: NOTHING,
    observations: 0,
};

const NOTHING: SentReport = SentReport {
    flow: 0,
    warmup: [0; 2],
    offered: 0,
    messages: 0,
    bytes: 0,
    rejected: 0,
    unsent: 0,
    too_large: 0,
    lasted: 0,
    timed: 0,
    median: 0,
    p99: 0,
    most: 0,
    send_buffer: 0,
    segments: 0,
    retransmitted: 0,
    segment_size: 0,
    round_trip: 0,
    path_mtu: 0,
    stall: 0,
    router: [0; 16],
    congestion: [0; 16],
};

/// Starts a receiver and a sender with the options of `line`, and waits for the first
/// frame.
fn send_to(dir: &Dir, conduct: Conduct, line: &str) -> (Child, JoinHandle<()>) {
    let (sender, control) = Control::start(dir, line);
    let (to, begun) = channel();
    let thread = thread::spawn(move || serve(control, &conduct, &to));
    begun.recv().unwrap();
    (sender, thread)
}

/// Serves a sender until it exits.
fn serve(mut control: Control, conduct: &Conduct, begun: &Sender<()>) {
    while let Some(bytes) = control.read() {
        if !bytes.is_empty() {
            let _ = begun.send(());
        }
        if !conduct.answers {
            continue;
        }
        control.answer(&bytes, |server, request| match request {
            Request::Begin => server.sent(conduct.sent),
            Request::Open(flow) | Request::Reverse(Reverse { flow, .. }) => {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                let port = socket.local_addr().unwrap().port();
                server.ready(flow.flow, port, 4096);
                let datagrams = conduct.datagrams;
                thread::spawn(move || {
                    let (_, from) = socket.recv_from(&mut [0; 100]).unwrap();
                    socket.send_to(&flow.cookie, from).unwrap();
                    datagrams(&socket, from);
                });
            }
            Request::Ended { flow, .. } => server.report((conduct.report)(flow)),
            Request::Watch { number } => {
                for flow in 0..conduct.observations {
                    server.progress(Progress {
                        flow,
                        number,
                        lasted: u64::MAX,
                        messages: u64::MAX,
                        bytes: u64::MAX,
                        lost: u64::MAX,
                        delayed: u64::MAX,
                        median: u64::MAX,
                        p95: 0,
                        p99: u64::MAX,
                        most: 1,
                        jitter: u64::MAX,
                    });
                }
            }
            Request::Admit | Request::Clocks { .. } | Request::Farewell => {}
        });
    }
}

#[test]
fn a_flood_of_garbage_delays_no_round_trips_end() {
    let dir = Dir::new();
    let flood = Conduct {
        // For a few seconds, and until the sender's port is closed.
        datagrams: |socket, from| {
            socket.connect(from).unwrap();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(20) {
                match socket.send(b"x") {
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => return,
                    // The kernel may have no room for the moment.
                    _ => {}
                }
            }
        },
        ..SILENT
    };
    let begun = Instant::now();
    let line = "--meter round-trip --gap 0s --duration 500ms --json";
    let (sender, receiver) = send_to(&dir, flood, line);
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(15));
    let flow = outcome.json().remove(0);
    assert!(
        flow.count("sent") > 0 && flow.count("echoes") == 0,
        "{flow}"
    );
    receiver.join().unwrap();
}

#[test]
fn absurd_observations_in_intervals_are_left_out_and_a_fault_of_the_flow() {
    let dir = Dir::new();
    let absurd = Conduct {
        observations: 200,
        ..SILENT
    };
    for form in ["", "--json-stream"] {
        let line = format!("--gap 1ms --duration 450ms --interval 100ms --flows 2 {form}");
        let (sender, receiver) = send_to(&dir, absurd, &line);
        let outcome = Outcome::of(sender.wait_with_output().unwrap());
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let said = outcome.stdout;
        let faults = said.matches("figures of an interval are impossible");
        assert_eq!(faults.count(), 2, "one of each flow: {said}");
        let absurd = ["18446744073709551615", "18.4 E", "18446744"];
        assert!(!absurd.iter().any(|text| said.contains(text)), "{said}");
        receiver.join().unwrap();
    }
}

#[test]
fn ctrl_c_ends_a_sender_whose_receiver_is_silent() {
    let dir = Dir::new();
    let mute = Conduct {
        answers: false,
        ..SILENT
    };
    let (sender, receiver) = send_to(&dir, mute, "--duration 1s");
    let begun = Instant::now();
    interrupt(&sender);
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(outcome.stderr.contains("interrupted"), "{}", outcome.stderr);
    assert_ne!(outcome.code, Some(0));
    receiver.join().unwrap();
}

#[test]
fn copies_of_echoes_hide_no_losses() {
    let dir = Dir::new();
    let copying = Conduct {
        // Every third message is lost; of the others, three echoes return.
        datagrams: |socket, from| {
            let mut room = [0; 1_000];
            let mut seen = BTreeSet::new();
            while let Ok(length) = socket.recv(&mut room) {
                let Ok(message) = Message::parse(&room[..length]) else {
                    continue;
                };
                let echo = message.reply_in_full().unwrap();
                echo.emit(&mut room).unwrap();
                seen.insert(message.sequence);
                for _ in 0..3 {
                    if message.sequence % 3 != 1 {
                        socket.send_to(&room[..length], from).unwrap();
                    }
                }
            }
        },
        ..SILENT
    };
    for (gap, packets) in [("1ms", 30), ("0s", 6)] {
        let name = format!("{gap}.jlog");
        let line = format!(
            "--meter round-trip --message 100 --gap {gap} --packets {packets} --packet-log {name}"
        );
        let (sender, _) = send_to(&dir, copying, &format!("{line} --json"));
        let outcome = Outcome::of(sender.wait_with_output().unwrap());
        let flow = outcome.json().remove(0);
        let counts = ["sent", "echoes", "echoes_lost"].map(|key| flow.count(key));
        let (back, lost) = (packets / 3 * 2, packets / 3);
        assert_eq!(counts, [packets, back, lost], "{gap}: {flow}");
        assert_eq!(flow["round_trip_s"].count("count"), back, "{flow}");
        // The last copies may come after the end.
        let copies = flow.count("echo_duplicates");
        assert!((2 * back - 2..=2 * back).contains(&copies), "{flow}");
        let row = dir
            .run(&format!("decode {name} --json"))
            .fine()
            .json()
            .remove(0);
        let counts = ["sent", "lost", "duplicates"].map(|key| row.count(key));
        assert_eq!(counts, [packets, lost, copies], "{row}");
    }
}

#[test]
fn a_report_of_more_than_was_sent_is_a_fault() {
    let dir = Dir::new();
    let lying = Conduct {
        report: |flow| Report {
            flow,
            messages: u64::MAX,
            bytes: u64::MAX,
            duplicates: u64::MAX,
            reordered: u64::MAX,
            delayed: u64::MAX,
            negative: u64::MAX,
            ..Report::default()
        },
        ..SILENT
    };
    let (sender, _) = send_to(&dir, lying, "--packets 5 --gap 1ms");
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    let said = outcome.stdout;
    assert!(
        said.contains("it received 18446744073709551615 messages"),
        "{said}"
    );
    assert!(
        !said.contains("0 lost") && !said.contains("  received"),
        "{said}"
    );
}

#[test]
fn forged_echoes_shorten_no_round_trip() {
    const HELD: Duration = Duration::from_millis(8);
    let forging = Conduct {
        // Each message is held, and then answered as if it had left later. Before that, its
        // successor is answered.
        datagrams: |socket, from| {
            let mut room = [0; 1_000];
            while let Ok(length) = socket.recv(&mut room) {
                let Ok(message) = Message::parse(&room[..length]) else {
                    continue;
                };
                let echo = message.reply_in_full().unwrap();
                let later = Message {
                    sent: echo.sent + units::Span::from_millis(8),
                    ..echo
                };
                let next = Message {
                    sequence: echo.sequence + 1,
                    ..echo
                };
                thread::sleep(HELD);
                for answer in [later, echo, next] {
                    answer.emit(&mut room).unwrap();
                    socket.send_to(&room[..length], from).unwrap();
                }
            }
        },
        ..SILENT
    };
    for (gap, packets) in [("15ms", 20), ("0s", 15)] {
        let dir = Dir::new();
        let line = format!("--meter round-trip --message 90 --gap {gap} --packets {packets}");
        let (sender, _) = send_to(&dir, forging, &format!("{line} --json"));
        let flow = Outcome::of(sender.wait_with_output().unwrap())
            .json()
            .remove(0);
        assert_eq!(flow.count("echoes"), packets, "{gap}: {flow}");
        let median = flow["round_trip_s"]["p50"].as_f64().unwrap();
        assert!(median >= 0.008, "{gap}: {flow}");
        // The last ones may come after the end, and one guess of a tag in 2^16 is right.
        let forged = flow.count("echoes_unexpected");
        assert!(forged + 4 >= 2 * packets, "{gap}: {flow}");
    }
}

#[test]
fn a_receiver_that_lies_about_what_it_sent_is_a_fault() {
    // Ten messages of 100 bytes that arrive.
    let datagrams = |socket: &UdpSocket, from: SocketAddr| {
        let mut room = [0; 100];
        for sequence in 0..10 {
            let message = Message {
                echo: Echo::Unwanted,
                warmup: false,
                tag: 0,
                length: 100,
                sequence,
                sent: units::Time::ZERO,
            };
            message.emit(&mut room).unwrap();
            socket.send_to(&room, from).unwrap();
        }
    };
    let sent = |messages: u64| SentReport {
        offered: messages,
        messages,
        bytes: messages.saturating_mul(100),
        ..NOTHING
    };
    let wraps = SentReport {
        rejected: 1 << 63,
        unsent: 1 << 63,
        ..sent(20)
    };
    for (lie, why) in [
        (sent(u64::MAX), "more than the fastest link delivers"),
        (wraps, "more than the fastest link delivers"),
        (sent(9), "more arrived than was sent"),
        // A second has ten thousand.
        (sent(10_003), "more messages than the flow was asked for"),
    ] {
        let dir = Dir::new();
        let lying = Conduct {
            datagrams,
            sent: lie,
            ..SILENT
        };
        let line = "--reverse --message 100 --gap 100us --duration 1s";
        let (sender, receiver) = send_to(&dir, lying, line);
        let outcome = Outcome::of(sender.wait_with_output().unwrap());
        let said = outcome.stdout;
        assert_eq!(outcome.code, Some(1), "{said}{}", outcome.stderr);
        assert!(said.contains(why), "{said}");
        // What this end saw remains.
        assert!(said.contains("received    10 messages"), "{said}");
        assert!(
            !said.contains("lost") && !said.contains("did not send"),
            "{said}"
        );
        receiver.join().unwrap();
    }
}
