//! Fuzzing of both ends: valid messages with extreme numbers in a random order, in all stages of
//! a session, and damaged frames.

use super::*;

/// A small number, one at a limit, or any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0_u64..6,
        1 => Just(u64::MAX),
        1 => Just(1 << 63),
        1 => any::<u64>(),
    ]
}

/// Any message of either end.
fn message() -> impl Strategy<Value = Control> {
    let few = || 0_u16..4;
    prop_oneof![
        (any::<u16>(), any::<[u8; 16]>()).prop_map(|(version, nonce)| Control::Hello {
            version,
            nonce,
            clock: [1; 8],
        }),
        any::<bool>().prop_map(|secret| Control::Challenge {
            version: VERSION,
            nonce: [3; 16],
            clock: [2; 8],
            secret,
        }),
        any::<[u8; 32]>().prop_map(Control::Proof),
        (any::<u16>(), any::<u32>()).prop_map(|(flows, longest)| Control::Welcome {
            proof: [0; 32],
            flows,
            longest,
        }),
        prop::sample::select(vec![
            Control::Begin,
            Control::Farewell,
            Control::Rejected(Reason::Log),
        ]),
        number().prop_map(|sent| Control::Ask { sent }),
        (number(), number(), number()).prop_map(|(asked, received, answered)| Control::Tell {
            asked,
            received,
            answered,
        }),
        (number(), any::<i64>(), number()).prop_map(|(epoch, offset, bound)| Control::Clocks {
            epoch,
            offset,
            bound,
        }),
        few().prop_map(|number| Control::Flow(flow(number))),
        few().prop_map(|number| Control::Reverse(reversed(number))),
        (few(), any::<u16>(), any::<u32>()).prop_map(|(flow, port, buffer)| Control::Ready {
            flow,
            port,
            buffer
        }),
        (few(), prop::array::uniform3(number())).prop_map(|(flow, [messages, bytes, warmup])| {
            Control::Ended {
                flow,
                messages,
                bytes,
                warmup,
            }
        }),
        any::<u32>().prop_map(|number| Control::Watch { number }),
        (few(), prop::array::uniform5(number())).prop_map(|(flow, numbers)| {
            let [messages, bytes, lost, lasted, most] = numbers;
            Control::Progress(Progress {
                flow,
                messages,
                bytes,
                lost,
                lasted,
                most,
                ..Progress::default()
            })
        }),
        (few(), prop::array::uniform6(number())).prop_map(|(flow, numbers)| {
            let [offered, messages, bytes, rejected, unsent, lasted] = numbers;
            Control::Sent(SentReport {
                flow,
                offered,
                messages,
                bytes,
                rejected,
                unsent,
                lasted,
                ..SentReport::default()
            })
        }),
        (few(), prop::array::uniform6(number())).prop_map(|(flow, numbers)| {
            let [messages, bytes, duplicates, reordered, delayed, lasted] = numbers;
            Control::Report(Report {
                flow,
                messages,
                bytes,
                duplicates,
                reordered,
                delayed,
                lasted,
                stamps: (lasted > delayed).then_some(StampPrecision {
                    resolution: reordered,
                    late: delayed,
                }),
                ..Report::default()
            })
        }),
    ]
}

/// The frame of a message.
fn framed(message: &Control) -> Vec<u8> {
    let mut room = [0; LONGEST];
    let length = message.emit(&mut room);
    let mut frame = u16::try_from(length).unwrap().to_be_bytes().to_vec();
    frame.extend(&room[..length]);
    frame
}

/// Frames, of which some are damaged.
fn frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let damage = prop::option::weighted(0.1, (any::<usize>(), any::<u8>()));
    let frame = (message(), damage).prop_map(|(message, damage)| {
        let mut frame = framed(&message);
        if let Some((place, value)) = damage {
            let place = place % frame.len();
            frame[place] = value;
        }
        frame
    });
    prop::collection::vec(frame, 0..24)
}

proptest! {
    #[test]
    fn no_unknown_sender_makes_a_receiver_panic_or_answer_with_much(
        known in prop::sample::select(&["", "right"][..]), greet: bool, frames in frames(),
    ) {
        let bytes = frames.concat();
        let mut server = server(known, 7);
        if greet {
            let hello = std::mem::take(client("").output());
            server.receive(0, &hello).unwrap();
        }
        let said = bytes.len();
        let result = server.receive(0, &bytes);
        // A question has 11 bytes and its answer 27; no other message is answered with
        // more.
        prop_assert!(server.output().len() <= 3 * said + 100);
        if known == "right" {
            prop_assert!(!server.is_open(), "nobody proved anything");
            prop_assert!(result.is_ok_and(|requests| requests.is_empty()) || !bytes.is_empty());
        }
    }

    /// Behind an honest beginning, any order of messages asks for no more than the limits allow.
    #[test]
    fn no_order_of_messages_makes_a_receiver_exceed_its_limits(
        frames in frames(), clock in number(),
    ) {
        let (mut client, mut server) = (client(""), server("", 7));
        talk(&mut client, &mut server).unwrap();
        prop_assert!(server.is_open());
        let (mut flows, mut begun, mut estimates, mut ended) = (Vec::new(), 0, 0, 0);
        for frame in frames {
            let Ok(requests) = server.receive(clock, &frame) else {
                prop_assert!(!server.is_open());
                prop_assert!(server.output().len() < 60, "a reason, and an answer before it");
                break;
            };
            for request in requests {
                match request {
                    Request::Open(flow) => flows.push(flow.flow),
                    Request::Reverse(reverse) => flows.push(reverse.flow.flow),
                    Request::Begin => begun += 1,
                    Request::Clocks { .. } => estimates += 1,
                    Request::Ended { .. } => ended += 1,
                    Request::Admit => prop_assert!(false, "it is admitted"),
                    Request::Watch { .. } | Request::Farewell => {}
                }
                if let Some(flow) = flows.last() {
                    server.ready(*flow, 1, 1);
                }
            }
            server.output().clear();
        }
        let all = flows.len();
        flows.sort_unstable();
        flows.dedup();
        prop_assert!(flows.len() == all && all <= usize::from(LIMITS.flows));
        prop_assert!(begun <= 1 && estimates <= 8 && ended <= all);
    }

    #[test]
    fn no_receiver_makes_a_sender_panic_or_grow(
        frames in frames(), known in prop::sample::select(&["", "right"][..]), open: bool, clock in number(),
    ) {
        let (mut client, mut server) = (client(known), server(known, 7));
        if open {
            talk(&mut client, &mut server).unwrap();
        }
        client.output().clear();
        for frame in frames {
            let Ok(news) = client.receive(clock, &frame) else {
                break;
            };
            prop_assert!(news.len() <= 1);
            prop_assert!(client.output().len() < 100);
        }
    }
}
