#![expect(
    clippy::disallowed_methods,
    reason = "the senders are of the test's own"
)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use crate::machine::control::{Client, Fault, ReceiverMessage};
use wire::control::{Meter, Name, Protocol, Reason};

use super::*;

/// A receiver with one slot that ends after one session with flows.
fn receiver(limits: Limits) -> Receiver {
    Receiver::open(Serving {
        listen: vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)],
        secret: None,
        open: false,
        limits,
        sessions: 1,
        polling: 0,
        data_ports: None,
        interval: None,
        rate: SendingRate::None,
        once: true,
        keep: Box::new(|_| Ok(None)),
    })
    .unwrap()
}

/// The next message of the receiver.
fn hear(
    stream: &mut TcpStream,
    client: &mut Client,
) -> std::result::Result<ReceiverMessage, Fault> {
    let mut room = [0; 4096];
    loop {
        stream.write_all(client.output()).unwrap();
        client.output().clear();
        let count = stream.read(&mut room).unwrap();
        assert!(count > 0, "it closed the connection");
        if let Some(first) = client.receive(0, &room[..count])?.pop() {
            return Ok(first);
        }
    }
}

#[test]
fn a_session_without_a_flow_ends_early_and_gives_its_slot_back() {
    let receiver = receiver(Limits {
        idle: Span::from_millis(100),
        ..Limits::default()
    });
    let to = receiver.addresses()[0];
    let running = thread::spawn(move || {
        let mut ended = Vec::new();
        receiver.run(|event| ended.push(event)).unwrap();
        ended
    });
    // Two senders in turn: one without a flow, and one whose only flow has ended.
    for flows in 0..2 {
        // The slot is free a moment after its sender has heard of the end.
        let (mut stream, mut client) = loop {
            let mut stream = TcpStream::connect(to).unwrap();
            let mut client = Client::new(None, [7; 16], [7; 8]);
            match hear(&mut stream, &mut client) {
                Ok(ReceiverMessage::Welcome { .. }) => break (stream, client),
                Err(Fault::Rejected(Reason::Busy)) if flows == 1 => {}
                other => panic!("{other:?}"),
            }
        };
        if flows == 1 {
            client.clocks(0, 0, 0);
            client.open(Flow {
                flow: 0,
                name: Name::new("flow").unwrap(),
                transport: Protocol::Udp,
                meter: Meter::OneWay,
                busy: false,
                merge: false,
                dscp: 0,
                buffer: 0,
                largest: 100,
                port: 0,
                at: [0; 16],
                codec: None,
                cookie: [7; 16],
            });
            let ready = hear(&mut stream, &mut client).unwrap();
            assert!(matches!(ready, ReceiverMessage::Ready { .. }));
            client.ended(0, [0; 3]);
            let report = hear(&mut stream, &mut client).unwrap();
            assert!(matches!(report, ReceiverMessage::Report(_)));
        }
        let fault = hear(&mut stream, &mut client).unwrap_err();
        assert_eq!(fault, Fault::Rejected(Reason::Late));
    }
    let events = running.join().unwrap();
    let Some(Event::Ended(served)) = events.last() else {
        panic!("{events:?}");
    };
    let fault = served.fault.as_deref().unwrap_or_default();
    assert!(fault.contains("no flow for too long"), "{fault}");
}
