//! A receiver that reads a stream very slowly: its senders end nevertheless.
#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use nix::sys::socket::{setsockopt, sockopt};
use traffic::machine::control::{Request, Server};
use wire::control::Report;

use super::super::harness::{Dir, Outcome};
use super::own_receiver::Control;

#[test]
fn a_flow_ends_ten_seconds_after_its_time_however_its_messages_drip() {
    // 100 kB a second: progress all the time, and the 16 MiB are not done.
    let (outcome, lasted) = send_to_one_who_reads(
        10_000,
        "--protocol tcp --message 16MiB --duration 1s --send-buffer 8kB",
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let said = outcome.stdout;
    assert!(said.contains("not taken the last message"), "{said}");
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
        said.contains("failed      the receiver took fewer than 1000 bytes"),
        "{said}"
    );
    assert!((10..40).contains(&lasted), "{lasted} s");
}

/// The outcome and the duration in seconds of `jumbolab send` if the receiver
/// reads `bytes` of its stream ten times a second.
fn send_to_one_who_reads(bytes: usize, line: &str) -> (Outcome, u64) {
    let dir = Dir::new();
    let begun = Instant::now();
    let (sender, control) = Control::start(&dir, line);
    let flow = Dripping {
        listener: None,
        flow: None,
        bytes,
    };
    flow.serve(control);
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    (outcome, begun.elapsed().as_secs())
}

/// A flow that is read slowly.
struct Dripping {
    listener: Option<TcpListener>,
    flow: Option<TcpStream>,
    bytes: usize,
}

impl Dripping {
    /// Serves the sender until it exits.
    fn serve(mut self, mut control: Control) {
        while let Some(bytes) = control.read() {
            control.answer(&bytes, |server, request| self.answer(server, request));
            if bytes.is_empty() {
                self.drip();
            }
        }
    }

    fn answer(&mut self, server: &mut Server, request: Request) {
        match request {
            Request::Open(flow) => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                setsockopt(&listener, sockopt::RcvBuf, &4096).unwrap();
                let port = listener.local_addr().unwrap().port();
                self.listener = Some(listener);
                server.ready(flow.flow, port, 4096);
            }
            Request::Ended { flow, .. } => server.report(Report {
                flow,
                ..Report::default()
            }),
            Request::Admit
            | Request::Clocks { .. }
            | Request::Watch { .. }
            | Request::Reverse(_)
            | Request::Begin
            | Request::Farewell => {}
        }
    }

    fn drip(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.flow = Some(listener.accept().unwrap().0);
        }
        if let Some(flow) = &mut self.flow {
            flow.set_nonblocking(true).unwrap();
            let mut room = vec![0; self.bytes];
            // Nothing may have come.
            let _ = flow.read(&mut room);
        }
    }
}
