//! A receiver that reads a stream very slowly: its senders end nevertheless.
#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::socket::{setsockopt, sockopt};
use proto::control::{Limits, Request, Server, Settings};
use units::Time;
use wire::control::Report;

use super::super::harness::{Dir, Outcome};

#[test]
fn a_flow_ends_ten_seconds_after_its_time_however_its_messages_drip() {
    // 100 kB a second: progress all the time, and the 16 MiB are not done.
    let (outcome, lasted) = send_to_one_who_reads(
        10_000,
        "--protocol tcp --message 16MiB --for 1s --send-buffer 8kB",
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let said = outcome.stdout;
    assert!(said.contains("not taken its last message"), "{said}");
    assert!((10..40).contains(&lasted), "{lasted} s");
}

#[test]
fn a_flow_of_so_many_packets_ends_where_next_to_nothing_is_taken() {
    let (outcome, lasted) = send_to_one_who_reads(
        1,
        "--protocol tcp --message 16MiB --packets 1 --send-buffer 8kB",
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let said = outcome.stdout;
    assert!(
        said.contains("failed      a flow: the receiver took"),
        "{said}"
    );
    assert!((10..40).contains(&lasted), "{lasted} s");
}

/// The outcome and the duration in seconds of `jumbolab send` if the receiver
/// reads `octets` of its stream ten times a second.
fn send_to_one_who_reads(octets: usize, line: &str) -> (Outcome, u64) {
    let dir = Dir::new();
    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = control.local_addr().unwrap().port().to_string();
    let begun = Instant::now();
    let sender = dir
        .command()
        .args(["send", "127.0.0.1", "--port", &port])
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stream, _) = control.accept().unwrap();
    let mut dripping = Dripping {
        begun,
        stream,
        server: Server::new(
            Time::ZERO,
            Settings {
                secret: None,
                limits: Limits::default(),
                nonce: [7; 16],
                clock: [7; 8],
            },
        ),
        listener: None,
        flow: None,
        octets,
    };
    dripping.serve();
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    (outcome, begun.elapsed().as_secs())
}

struct Dripping {
    begun: Instant,
    stream: TcpStream,
    server: Server,
    listener: Option<TcpListener>,
    flow: Option<TcpStream>,
    octets: usize,
}

impl Dripping {
    /// Serves the sender until it exits.
    fn serve(&mut self) {
        let tick = Some(Duration::from_millis(100));
        self.stream.set_read_timeout(tick).unwrap();
        let mut room = [0; 4096];
        loop {
            let count = match self.stream.read(&mut room) {
                Ok(0) => return,
                Ok(count) => count,
                Err(_) => 0,
            };
            let clock = u64::try_from(self.begun.elapsed().as_nanos()).unwrap();
            let requests = self.server.receive(clock, &room[..count]).unwrap();
            for request in requests {
                self.answer(request);
            }
            // The sender may be gone.
            let _ = self.stream.write_all(self.server.output());
            self.server.output().clear();
            if count == 0 {
                self.drip();
            }
        }
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Admit => self.server.admit(Time::ZERO),
            Request::Open(flow) => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                setsockopt(&listener, sockopt::RcvBuf, &4096).unwrap();
                let port = listener.local_addr().unwrap().port();
                self.listener = Some(listener);
                self.server.ready(flow.flow, port, 4096);
            }
            Request::Ended { flow, .. } => self.server.report(Report {
                flow,
                ..Report::default()
            }),
            Request::Clocks { .. } | Request::Farewell => {}
        }
    }

    fn drip(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.flow = Some(listener.accept().unwrap().0);
        }
        if let Some(flow) = &mut self.flow {
            flow.set_nonblocking(true).unwrap();
            let mut room = vec![0; self.octets];
            // Nothing may have come.
            let _ = flow.read(&mut room);
        }
    }
}
