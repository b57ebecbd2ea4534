#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::machine::control::{Limits, Request, Server, Settings};
use meter::departures::{Distribution, Schedule};
use units::Seed;
use wire::control::Meter;

use super::*;

/// The answer time of the receiver.
const SLOW: Span = Span::from_millis(50);

/// Serves one sender, and answers what it sends after [`SLOW`]. Returns the listener of
/// its flow.
fn serve_slowly(mut stream: TcpStream) -> Option<TcpListener> {
    let settings = Settings {
        secret: None,
        limits: Limits::default(),
        nonce: [7; 16],
        clock: [7; 8],
    };
    let mut server = Server::new(Time::ZERO, settings);
    let mut listener = None;
    let mut room = [0; 4096];
    loop {
        let count = stream.read(&mut room).unwrap_or(0);
        if count == 0 {
            return listener;
        }
        clock::sleep(SLOW);
        let clock = kernel_clock::monotonic_nanos();
        for request in server.receive(clock, &room[..count]).unwrap() {
            match request {
                Request::Admit => server.admit(Time::ZERO),
                Request::Open(flow) => {
                    let opened = TcpListener::bind("127.0.0.1:0").unwrap();
                    let port = opened.local_addr().unwrap().port();
                    server.ready(flow.flow, port, 4096);
                    listener = Some(opened);
                }
                _ => {}
            }
        }
        // The sender may be gone.
        let _ = stream.write_all(server.output());
        server.output().clear();
    }
}

fn stream() -> Flow {
    Flow {
        name: control::Name::new("flow").unwrap(),
        transport: Some(Protocol::Tcp),
        meter: Meter::OneWay,
        schedule: Schedule::new(
            Time::ZERO,
            Distribution::Constant(0.0),
            Distribution::Constant(100.0),
            Seed::new(1),
        ),
        paced: false,
        delay: Span::ZERO,
        omit: Span::ZERO,
        length: Some(Span::from_secs(1)),
        largest: None,
        payload: None,
        codec: None,
        options: crate::driver::sessions::Options::default(),
        limit: None,
        reverse: None,
    }
}

#[test]
fn slow_answers_make_fewer_comparisons_and_delay_nothing_else() {
    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = control.local_addr().unwrap();
    let receiver = thread::spawn(move || serve_slowly(control.accept().unwrap().0));
    let mut session = Session::begin(to, &Options::default(), None).unwrap();
    let begun = clock::monotonic();
    // Two answers or three, and one that comes too late.
    let limit = Span::from_millis(170);
    let offset = session.compare(&Deadline::fixed(limit)).unwrap();
    let lasted = clock::monotonic().since(begun).unwrap();
    assert!(lasted >= limit && lasted < limit * 20, "{lasted}");
    assert!(offset.bound > 0, "{offset:?}");
    // The late answer is no obstacle.
    session.open(0, stream(), None).unwrap();
    drop(session);
    assert!(receiver.join().unwrap().is_some());
}

#[test]
fn no_answer_to_a_comparison_is_a_fault() {
    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = control.local_addr().unwrap();
    let receiver = thread::spawn(move || serve_slowly(control.accept().unwrap().0));
    let mut session = Session::begin(to, &Options::default(), None).unwrap();
    let error = session.compare(&Deadline::fixed(Span::ZERO)).unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
    drop(session);
    receiver.join().unwrap();
}
