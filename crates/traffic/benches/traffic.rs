//! Throughput of one flow over loopback: datagrams of 64 bytes at full speed, their
//! round trips, departures at 10 000 per second, and a stream.
//!
//!     cargo bench -p jumbolab-traffic --bench traffic
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::net::{Ipv6Addr, SocketAddr};
use std::thread;

use jumbolab_traffic::driver::sessions::Protocol;
use jumbolab_traffic::driver::sessions::{
    Flow, Meter, Name, Options, Outcome, Plan, Receiver, SendingRate, Serving, run,
};
use jumbolab_traffic::machine::control::Limits;
use meter::departures::{Distribution, Schedule};
use os::socket;
use units::{Seed, Span, Time};

fn main() {
    let datagrams = measure(Protocol::Udp, Meter::OneWay, 64.0, 0.0, false);
    show("64 bytes one way", &datagrams);
    for busy in [false, true] {
        let exchanged = measure(Protocol::Udp, Meter::RoundTrip, 64.0, 0.0, busy);
        show(
            if busy {
                "64 bytes there and back, busy"
            } else {
                "64 bytes there and back"
            },
            &exchanged,
        );
    }
    let paced = measure(Protocol::Udp, Meter::OneWay, 64.0, 100e6, false);
    show("64 bytes at 10 000/s", &paced);
    let stream = measure(Protocol::Tcp, Meter::OneWay, 131_072.0, 0.0, false);
    show("128 KiB over TCP", &stream);
}

/// One flow for two seconds; the gap is in picoseconds.
fn measure(transport: Protocol, meter: Meter, size: f64, gap: f64, busy: bool) -> Outcome {
    let receiver = Receiver::open(Serving {
        listen: vec![SocketAddr::new(Ipv6Addr::LOCALHOST.into(), 0)],
        secret: None,
        open: false,
        limits: Limits::default(),
        sessions: 1,
        polling: 1,
        data_ports: None,
        once: true,
        interval: None,
        rate: SendingRate::None,
        keep: Box::new(|_| Ok(None)),
    })
    .expect("loopback is up");
    let to = receiver.addresses()[0];
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let receiving = thread::spawn(|| receiver.run(|_| {}));
    let flow = Flow {
        name: Name::new("flow").expect("it is a name"),
        transport: Some(transport),
        meter,
        schedule: Schedule::new(
            Time::ZERO,
            Distribution::Constant(gap),
            Distribution::Constant(size),
            Seed::new(1),
        ),
        paced: gap > 0.0,
        delay: Span::ZERO,
        omit: Span::ZERO,
        length: Some(Span::from_secs(2)),
        largest: None,
        payload: None,
        codec: None,
        options: Options {
            socket: socket::Options {
                no_delay: true,
                ..socket::Options::default()
            },
            spin: true,
            segmentation: 1,
            busy,
            ..Options::default()
        },
        limit: None,
        reverse: None,
    };
    let outcome = run(Plan {
        to,
        flows: vec![flow],
        secret: None,
        keep: Box::new(|_| Ok(None)),
        intervals: None,
        common_start: None,
    });
    receiving
        .join()
        .expect("the receiver does not panic")
        .expect("the receiver ends");
    outcome.expect("the receiver serves loopback")
}

fn show(what: &str, outcome: &Outcome) {
    let flow = &outcome.flows[0];
    let (Some(sent), Some(report)) = (&flow.sent, &flow.report) else {
        println!("{what}: {:?} {:?}", outcome.fault, flow.fault);
        return;
    };
    let seconds = sent.lasted.as_secs_f64();
    println!(
        "{what}: sent {:.0}/s, {:.1} Mbit/s, {} of {} lost",
        sent.messages as f64 / seconds,
        sent.bytes.bits() as f64 / seconds / 1e6,
        sent.messages - report.messages,
        sent.messages
    );
    for (name, delays) in [
        ("timing_error", sent.timing_error),
        ("round trip", sent.round_trips),
    ] {
        if let Some(delays) = delays {
            println!(
                "  {name}: p50 {}, p99 {}, at most {}",
                delays.median, delays.p99, delays.most
            );
        }
    }
}
