use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use units::{Bytes, Span};

use os::socket::Socket;

use super::*;
use crate::driver::trial_token::new_token;

fn over(protocol: Transport, answer: Answer) -> RequestResponse {
    RequestResponse {
        protocol,
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        sizes: vec![1_000, 65_000, 3_643],
        bytes: 200_000,
        answer,
        read_mode: ReadMode::Whole,
        write_mode: WriteMode::Whole,
        congestion: "reno".to_owned(),
        largest_segment: None,
        send_buffer: None,
        receive_buffer: None,
        nagle: false,
        delayed_ack: None,
        pause: Span::ZERO,
        deadline: Span::from_secs(5),
        retransmit_after: Span::from_secs(1),
        timeout: Span::from_secs(60),
    }
}

fn run(request_response: &RequestResponse) -> (Asked, Answered) {
    let token = new_token().unwrap();
    let answerer = Answerer::open(request_response.clone(), token.clone()).unwrap();
    let port = answerer.port;
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let other = thread::spawn(move || answerer.answer());
    let asked = ask(request_response, &token, port).unwrap();
    (asked, other.join().unwrap().unwrap())
}

#[test]
fn every_message_of_every_size_is_answered_over_one_connection() {
    for protocol in [Transport::Tcp, Transport::Udp] {
        for answer in [Answer::Acknowledgement, Answer::Whole, Answer::Pieces] {
            let (asked, answered) = run(&over(protocol, answer));
            let sizes: Vec<(u32, u64)> = asked
                .sizes
                .iter()
                .map(|one| (one.size, one.messages))
                .collect();
            // Full messages: 200, 3 and 54; a shorter one ends two of the sizes.
            assert_eq!(sizes, [(1_000, 200), (65_000, 3), (3_643, 54)]);
            assert!(answered.messages >= 200 + 4 + 55, "{answered:?}");
            assert_eq!((asked.stalls, answered.broken), (vec![], vec![]));
            for one in &asked.sizes {
                assert!(one.least > 0 && one.mean >= one.least as f64, "{one:?}");
                assert!(one.whole as f64 >= one.mean * one.messages as f64);
            }
        }
    }
}

#[test]
fn two_ends_that_both_write_and_do_not_read_stop_and_say_so() {
    let buffers = Some(Bytes::new(4_096));
    let request_response = RequestResponse {
        sizes: vec![1_000, 1 << 22],
        bytes: 1 << 22,
        send_buffer: buffers,
        receive_buffer: buffers,
        // A busy machine may delay small messages by this much.
        deadline: Span::from_secs(2),
        ..over(Transport::Tcp, Answer::Pieces)
    };
    let (asked, answered) = run(&request_response);
    assert_eq!(asked.sizes.len(), 1, "the small ones fit into the buffers");
    let [stall] = asked.stalls.as_slice() else {
        panic!("{:?}", asked.stalls);
    };
    assert_eq!((stall.size, stall.message), (1 << 22, 1));
    assert_eq!(stall.at, "writing the message");
    assert!(stall.written < 1 << 22 && stall.send_queue > 0 && stall.receive_queue > 0);
    assert!(stall.tcp.is_some());
    assert_eq!(answered.broken.len(), 1);
    // The same messages pass if the response waits for the whole message.
    let careful = RequestResponse {
        answer: Answer::Whole,
        deadline: Span::from_secs(20),
        ..request_response
    };
    assert_eq!(run(&careful).0.stalls, []);
}

#[test]
fn one_message_finds_room_in_any_socket_and_its_repeats_do_not() {
    let prompt = RequestResponse {
        sizes: vec![60_000],
        bytes: 60_000,
        receive_buffer: Some(Bytes::new(8_192)),
        // A busy machine delays answers, and a repeat would find no room.
        retransmit_after: Span::from_secs(30),
        deadline: Span::from_secs(30),
        ..over(Transport::Udp, Answer::Acknowledgement)
    };
    let (asked, answered) = run(&prompt);
    assert_eq!((asked.stalls.len(), answered.dropped), (0, Some(0)));
    // The answering end reads so late that repeats come in the meantime.
    let slow = RequestResponse {
        pause: Span::from_secs(1),
        retransmit_after: Span::from_millis(5),
        ..prompt
    };
    let (asked, answered) = run(&slow);
    assert!(
        asked.repeats > 0 && answered.dropped > Some(0),
        "{answered:?}"
    );
    assert_eq!(asked.sizes.len(), 1, "{asked:?}");
}

#[test]
fn an_end_that_reads_later_answers_later() {
    let request_response = RequestResponse {
        sizes: vec![1_000],
        bytes: 10_000,
        pause: Span::from_millis(2),
        ..over(Transport::Tcp, Answer::Acknowledgement)
    };
    let (asked, _) = run(&request_response);
    // A pause precedes each read. It may begin before the message is sent, if the
    // asking end was delayed.
    assert_eq!(asked.sizes[0].messages, 10);
    assert!(asked.sizes[0].whole >= 9 * 2_000_000, "{:?}", asked.sizes);
    assert!(asked.segments >= 10, "{asked:?}");
}

#[test]
fn a_farewell_arrives_though_answers_were_left_unread() {
    // Only one read is made of each of three responses of a mebibyte, and the answering
    // end reads late: closing the connection at once would reset it.
    let request_response = RequestResponse {
        sizes: vec![1 << 20],
        bytes: 3 << 20,
        read_mode: ReadMode::Once,
        pause: Span::from_millis(2),
        ..over(Transport::Tcp, Answer::Whole)
    };
    let (asked, answered) = run(&request_response);
    assert_eq!((asked.sizes.len(), asked.stalls.len()), (1, 0), "{asked:?}");
    assert_eq!((answered.messages, answered.broken), (3, vec![]));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the unauthenticated peers are of the test's own"
)]
fn rejected_peers_are_rejected_and_the_messages_answered() {
    for protocol in [Transport::Tcp, Transport::Udp] {
        let request_response = over(protocol, Answer::Whole);
        let token = new_token().unwrap();
        let answerer = Answerer::open(request_response.clone(), token.clone()).unwrap();
        let to = (request_response.address, answerer.port);
        let port = answerer.port;
        let other = thread::spawn(move || answerer.answer());
        let silent = (protocol == Transport::Tcp).then(|| TcpStream::connect(to).unwrap());
        match protocol {
            Transport::Tcp => TcpStream::connect(to).unwrap().write_all(&[7; 99]).unwrap(),
            Transport::Udp => {
                let other = UdpSocket::bind((to.0, 0)).unwrap();
                assert_eq!(other.send_to(&[7; 99], to).unwrap(), 99);
            }
        }
        let asked = ask(&request_response, &token, port).unwrap();
        drop(silent);
        let answered = other.join().unwrap().unwrap();
        assert_eq!((asked.sizes.len(), asked.stalls.len()), (3, 0), "{asked:?}");
        let rejected_peers = if protocol == Transport::Tcp { 2 } else { 1 };
        assert_eq!(
            (answered.rejected_peers, answered.broken.len()),
            (rejected_peers, 0)
        );
        TcpStream::connect(to).expect_err("the port is closed");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "both ends are the test's own")]
fn a_flood_of_other_datagrams_moves_no_deadline() {
    let [asking, other] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    asking.connect(other.local_addr().unwrap()).unwrap();
    other.connect(asking.local_addr().unwrap()).unwrap();
    asking
        .set_read_timeout(Some(std::time::Duration::from_secs(100)))
        .unwrap();
    let requests = RequestResponse {
        deadline: Span::from_millis(50),
        ..over(Transport::Udp, Answer::Acknowledgement)
    };
    let is_over = AtomicBool::new(false);
    let late = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // The kernel may have no room for the moment.
                let _ = other.send(&[7; 100]);
            }
        });
        let (mut room, mut repeats) = (vec![0; 2_000], 0);
        let asking = Socket::from(asking);
        let asked = ask::over_datagrams(&asking, &requests, &[0; 100], &mut room, 7, &mut repeats);
        is_over.store(true, Ordering::Relaxed);
        matches!(asked, Err(ask::RequestError::Late(_)))
    });
    assert!(late);
}
