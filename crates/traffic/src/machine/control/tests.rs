//! Sessions between a client and a server, and attempts by intruders.

mod fuzz;

use proptest::prelude::*;
use units::{Span, Time};
use wire::control::{
    Control, Distribution, Flow, LONGEST, Meter, Name, Progress, Protocol, Reason, Report, Reverse,
    SentReport, StampPrecision, Traffic, VERSION,
};

use secret::Secret;

use super::*;

const LIMITS: Limits = Limits {
    flows: 2,
    longest: Span::from_secs(60),
    handshake: Span::from_secs(5),
    idle: Span::from_secs(3),
};

fn secret(text: &str) -> Option<Secret> {
    (!text.is_empty()).then(|| Secret::new(text.as_bytes().to_vec()))
}

fn server(known: &str, nonce: u8) -> Server {
    let settings = Settings {
        secret: secret(known),
        limits: LIMITS,
        nonce: [nonce; 16],
        clock: [1; 8],
    };
    Server::new(Time::ZERO, settings)
}

fn client(known: &str) -> Client {
    Client::new(secret(known), [3; 16], [2; 8])
}

fn flow(number: u16) -> Flow {
    Flow {
        flow: number,
        name: Name::new("one").unwrap(),
        transport: Protocol::Udp,
        meter: Meter::OneWay,
        busy: false,
        merge: false,
        dscp: 0,
        buffer: 0,
        largest: 64,
        port: 0,
        at: [0; 16],
        codec: None,
        cookie: [5; 16],
    }
}

/// A flow that the receiver sends.
fn reversed(number: u16) -> Reverse {
    Reverse {
        flow: flow(number),
        traffic: Traffic {
            seed: 1,
            delay: 0,
            length: 5,
            omit: 0,
            packets: 0,
            bytes: 0,
            gaps: Distribution::default(),
            sizes: Distribution::default(),
            paced: true,
            nagle: false,
            ecn: 0,
            ttl: 0,
            path_mtu: 0,
            segmentation: 1,
            send_buffer: 0,
            congestion: [0; 16],
        },
    }
}

/// Exchanges the output of both ends until neither has any, as a driver without
/// sockets. Bytes are passed one by one, so that no frame arrives whole.
fn talk(
    client: &mut Client,
    server: &mut Server,
) -> Result<(Vec<ReceiverMessage>, Vec<Request>), Fault> {
    let (mut news, mut requests) = (Vec::new(), Vec::new());
    loop {
        let to_server = std::mem::take(client.output());
        let mut rejected = None;
        for byte in &to_server {
            match server.receive(500, &[*byte]) {
                Ok(asked) => {
                    for request in asked {
                        match request {
                            Request::Admit => server.admit(Time::ZERO),
                            other => requests.push(other),
                        }
                    }
                }
                Err(fault) => {
                    rejected = Some(fault);
                    break;
                }
            }
        }
        let to_client = std::mem::take(server.output());
        for byte in &to_client {
            news.extend(client.receive(900, &[*byte])?);
        }
        if let Some(fault) = rejected {
            return Err(fault);
        }
        if to_server.is_empty() && to_client.is_empty() {
            return Ok((news, requests));
        }
    }
}

#[test]
fn a_session_goes_from_hello_to_farewell_with_and_without_a_secret() {
    for known in ["", "tell nobody"] {
        let (mut client, mut server) = (client(known), server(known, 7));
        let (news, requests) = talk(&mut client, &mut server).unwrap();
        assert!(requests.is_empty() && server.is_open());
        let welcome = ReceiverMessage::Welcome {
            flows: 2,
            longest: LIMITS.longest,
            same_clock: false,
        };
        assert_eq!(news, [welcome]);
        client.compare(100);
        client.clocks(11, -5, 2);
        client.open(flow(0));
        let (news, requests) = talk(&mut client, &mut server).unwrap();
        let compared = meter::clock_offset::ClockExchange {
            asked: 100,
            received: 500,
            answered: 500,
            back: 900,
        };
        assert_eq!(news, [ReceiverMessage::Compared(compared)]);
        let clocks = Request::Clocks {
            epoch: 11,
            offset: -5,
            bound: 2,
        };
        assert_eq!(requests, [clocks, Request::Open(flow(0))]);
        server.ready(0, 4000, 77);
        client.ended(0, [10, 640, 3]);
        let (news, requests) = talk(&mut client, &mut server).unwrap();
        let ready = ReceiverMessage::Ready {
            flow: 0,
            port: 4000,
            buffer: 77,
        };
        assert_eq!(news, [ready]);
        assert_eq!(
            requests,
            [Request::Ended {
                flow: 0,
                messages: 10,
                bytes: 640,
                warmup: 3
            }]
        );
        server.report(Report::default());
        client.farewell();
        let (news, requests) = talk(&mut client, &mut server).unwrap();
        assert_eq!(news, [ReceiverMessage::Report(Report::default())]);
        assert_eq!(requests, [Request::Farewell]);
    }
}

#[test]
fn who_does_not_know_the_secret_is_told_so_and_gets_nothing() {
    for (ours, theirs, fault) in [
        ("", "right", Fault::SecretNeeded),
        ("right", "", Fault::Unproven),
        ("wrong", "right", Fault::Rejected(Reason::Secret)),
    ] {
        let (mut client, mut server) = (client(ours), server(theirs, 7));
        assert_eq!(talk(&mut client, &mut server), Err(fault));
        assert!(!server.is_open());
    }
}

#[test]
fn what_was_recorded_in_one_session_is_rejected_in_the_next() {
    let (mut client, mut server_then) = (client("right"), server("right", 7));
    let mut recorded = client.output().clone();
    server_then
        .receive(0, &std::mem::take(client.output()))
        .unwrap();
    client
        .receive(0, &std::mem::take(server_then.output()))
        .unwrap();
    recorded.extend(client.output().iter());
    let proof = std::mem::take(client.output());
    let proven = server_then.receive(0, &proof);
    assert_eq!(proven, Ok(vec![Request::Admit]));
    let mut server_now = server("right", 8);
    let answer = server_now.receive(0, &recorded);
    assert_eq!(answer, Err(Fault::Unproven));
    assert!(!server_now.is_open());
}

#[test]
fn a_sealed_frame_that_is_changed_repeated_or_left_out_is_rejected() {
    let frames = |client: &mut Client| {
        client.open(flow(0));
        let first = std::mem::take(client.output());
        client.open(flow(1));
        (first, std::mem::take(client.output()))
    };
    for how in 0..3 {
        let (mut client, mut server) = (client("right"), server("right", 7));
        talk(&mut client, &mut server).unwrap();
        let (first, second) = frames(&mut client);
        let arrives = match how {
            0 => {
                let mut changed = first;
                changed[40] ^= 1;
                changed
            }
            1 => [first.clone(), first].concat(),
            _ => second,
        };
        let answer = server.receive(0, &arrives);
        assert_eq!(answer, Err(Fault::Forged), "{how}");
    }
}

#[test]
fn more_flows_than_are_allowed_are_rejected_and_no_flow_twice() {
    for numbers in [&[0, 1, 2][..], &[0, 0]] {
        let (mut client, mut server) = (client(""), server("", 7));
        talk(&mut client, &mut server).unwrap();
        numbers.iter().for_each(|number| client.open(flow(*number)));
        let answer = talk(&mut client, &mut server);
        assert_eq!(answer, Err(Fault::Rejected(Reason::Limit)));
    }
}

#[test]
fn a_flow_ends_once_and_only_if_it_was_there() {
    let (mut client, mut server) = (client(""), server("", 7));
    talk(&mut client, &mut server).unwrap();
    client.ended(0, [1, 1, 0]);
    let answer = talk(&mut client, &mut server);
    assert_eq!(answer, Err(Fault::Rejected(Reason::Nonsense)));
}

#[test]
fn a_flow_may_be_reported_before_its_sender_says_that_it_ended() {
    let (mut client, mut server) = (client(""), server("", 7));
    talk(&mut client, &mut server).unwrap();
    client.clocks(0, 0, 0);
    client.open(flow(0));
    talk(&mut client, &mut server).unwrap();
    server.ready(0, 4000, 0);
    server.report(Report::default());
    client.ended(0, [1, 1, 0]);
    assert!(talk(&mut client, &mut server).is_ok());
    client.ended(0, [1, 1, 0]);
    let again = talk(&mut client, &mut server);
    assert_eq!(again, Err(Fault::Rejected(Reason::Nonsense)));
}

#[test]
fn whoever_proved_itself_waits_for_room_and_is_told_if_there_is_none() {
    let (mut client, mut server) = (client("right"), server("right", 7));
    let pass = |client: &mut Client, server: &mut Server| {
        server.receive(0, &std::mem::take(client.output()))
    };
    assert_eq!(pass(&mut client, &mut server), Ok(Vec::new()));
    server.admit(Time::ZERO);
    assert!(!server.is_open(), "it has proved nothing yet");
    client.receive(0, &std::mem::take(server.output())).unwrap();
    assert_eq!(pass(&mut client, &mut server), Ok(vec![Request::Admit]));
    assert!(!server.is_open() && server.output().is_empty());
    server.reject(Reason::Busy);
    let error = client.receive(0, server.output());
    assert_eq!(error, Err(Fault::Rejected(Reason::Busy)));
    server.admit(Time::ZERO);
    assert!(!server.is_open(), "what was rejected stays so");
}

#[test]
fn a_session_has_little_time_until_both_know_each_other() {
    let (mut client, mut server) = (client("right"), server("right", 7));
    assert_eq!(server.deadline(), Time::ZERO + LIMITS.handshake);
    talk(&mut client, &mut server).unwrap();
    assert_eq!(server.deadline(), Time::ZERO + LIMITS.longest);
}

#[test]
fn another_version_is_rejected_in_a_frame_that_it_understands() {
    let mut server = server("", 7);
    let mut room = [0; LONGEST];
    let hello = Control::Hello {
        version: 9,
        nonce: [0; 16],
        clock: [0; 8],
    };
    let length = hello.emit(&mut room);
    let mut bytes = u16::try_from(length).unwrap().to_be_bytes().to_vec();
    bytes.extend(&room[..length]);
    let answer = server.receive(0, &bytes);
    assert_eq!(answer, Err(Fault::Version(9)));
    assert_eq!(
        server.output()[..],
        [0, 2, 5, 0],
        "rejected for its version"
    );
}

#[test]
fn flows_that_the_receiver_sends_begin_together_once_and_count_as_others_do() {
    let nonsense = Err(Fault::Rejected(Reason::Nonsense));
    let (mut client, mut server) = (client(""), server("", 7));
    talk(&mut client, &mut server).unwrap();
    client.open(flow(0));
    client.reverse(reversed(1));
    let (_, requests) = talk(&mut client, &mut server).unwrap();
    let expected = [Request::Open(flow(0)), Request::Reverse(reversed(1))];
    assert_eq!(requests, expected);
    server.ready(1, 4000, 0);
    client.begin();
    client.ended(1, [0; 3]);
    let (_, requests) = talk(&mut client, &mut server).unwrap();
    assert_eq!(requests[0], Request::Begin);
    server.sent(SentReport::default());
    let (news, _) = talk(&mut client, &mut server).unwrap();
    assert_eq!(news, [ReceiverMessage::Sent(SentReport::default())]);
    client.begin();
    assert_eq!(talk(&mut client, &mut server), nonsense);
}

#[test]
fn no_flow_is_reversed_after_the_start_or_beyond_the_limit() {
    for (begin, numbers, reason) in [
        (true, &[0][..], Reason::Nonsense),
        (false, &[0, 1, 2], Reason::Limit),
        (false, &[0, 0], Reason::Limit),
    ] {
        let (mut client, mut server) = (client(""), server("", 7));
        talk(&mut client, &mut server).unwrap();
        if begin {
            client.begin();
        }
        numbers
            .iter()
            .for_each(|number| client.reverse(reversed(*number)));
        let answer = talk(&mut client, &mut server);
        assert_eq!(answer, Err(Fault::Rejected(reason)));
    }
}

#[test]
fn questions_for_observations_are_answered_at_most_every_50_ms() {
    let (mut client, mut server) = (client(""), server("", 7));
    talk(&mut client, &mut server).unwrap();
    let mut answered = Vec::new();
    for (number, millis) in (0..).zip([0, 49, 50, 60, 99, 100, 80, 1_000]) {
        client.watch(number);
        let bytes = std::mem::take(client.output());
        for request in server.receive(millis * 1_000_000, &bytes).unwrap() {
            assert_eq!(request, Request::Watch { number });
            let progress = Progress {
                flow: 3,
                number,
                ..Progress::default()
            };
            server.progress(progress);
            let news = client.receive(0, &std::mem::take(server.output())).unwrap();
            assert_eq!(news, [ReceiverMessage::Progress(progress)]);
            answered.push(millis);
        }
    }
    assert_eq!(answered, [0, 50, 100, 1_000]);
}

#[test]
fn a_session_has_a_few_estimates_of_the_clocks_only() {
    let (mut client, mut server) = (client(""), server("", 7));
    talk(&mut client, &mut server).unwrap();
    for number in 0..8 {
        client.clocks(number, 1, 1);
        let (_, requests) = talk(&mut client, &mut server).unwrap();
        assert_eq!(requests.len(), 1);
    }
    client.clocks(8, 1, 1);
    let ninth = talk(&mut client, &mut server);
    assert_eq!(ninth, Err(Fault::Rejected(Reason::Nonsense)));
}
