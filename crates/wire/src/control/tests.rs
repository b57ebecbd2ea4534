//! Emitted messages parse back, and hostile bytes do no harm.

use std::string::String;
use std::vec;

use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::*;

#[test]
fn a_hello_is_what_travels() {
    let hello = Control::Hello {
        version: VERSION,
        nonce: [7; 16],
        clock: [9; 8],
    };
    let mut room = [0; LONGEST];
    let length = hello.emit(&mut room);
    let mut expected = b"\x01JLCT\x00\x07".to_vec();
    expected.extend([7; 16]);
    expected.extend([9; 8]);
    assert_eq!(room[..length], expected);
}

#[test]
fn numbers_are_short_and_what_a_question_states_is_not() {
    let ready = Control::Ready {
        flow: 300,
        port: 1,
        buffer: 128,
    };
    let watch = Control::Watch { number: 1 };
    let mut room = [0; LONGEST];
    let length = ready.emit(&mut room);
    assert_eq!(room[..length], [10, 0xac, 2, 1, 0x80, 1]);
    let length = watch.emit(&mut room);
    assert_eq!(room[..length], [12, 0, 0, 0, 1]);
    assert_eq!(Control::parse(&[12, 0, 0, 0, 1]), Ok(watch));
    let longer_than_it_needs_to_be = [10, 0xac, 2, 0x81, 0, 0x80, 1];
    let malformed = Err(Error::Malformed(Field::Message));
    assert_eq!(Control::parse(&longer_than_it_needs_to_be), malformed);
}

#[test]
fn the_longest_message_has_room_for_its_tag() {
    let most = (u16::MAX, [u64::MAX; 20], [0xff_u8; 16], [b'a'; 16]);
    let mut room = [0; LONGEST];
    let length = Control::Sent(of(most)).emit(&mut room);
    assert_eq!(length, 236);
    assert!(length + TAG_LEN <= LONGEST);
}

#[test]
fn a_frame_is_neither_empty_nor_longer_than_the_longest() {
    let malformed = Err(Error::Malformed(Field::Length));
    assert_eq!(frame_length(&[0, 0]), malformed);
    assert_eq!(frame_length(&[1, 1]), malformed);
    assert_eq!(frame_length(&[0xff, 0xff]), malformed);
    assert_eq!(frame_length(&[1, 0, 5]), Ok(LONGEST));
    let truncated = Err(Error::Truncated { need: 2, have: 1 });
    assert_eq!(frame_length(&[1]), truncated);
}

#[test]
fn a_name_has_letters_digits_and_little_else() {
    for text in ["a", "voice-1", "A.b_c", "12345678901234567890123456789012"] {
        assert_eq!(Name::new(text).unwrap().as_str(), text);
    }
    for text in [
        "",
        " ",
        "a b",
        "ü",
        "a/b",
        "123456789012345678901234567890123",
        "a\0",
    ] {
        let name = Name::new(text);
        assert!(name.is_none_or(|name| name.as_str() == "a"), "{text:?}");
    }
}

#[test]
fn a_protocol_with_impossible_figures_is_not_read() {
    let read = |bytes: &[u8]| postcard::from_bytes::<Protocol>(bytes).ok();
    // Those without figures have the bytes of their first version.
    assert_eq!(read(&[0]), Some(Protocol::Tcp));
    assert_eq!(read(&[1]), Some(Protocol::Udp));
    for (bytes, coverage) in [(0, Some(0)), (7, None), (8, Some(8)), (127, Some(127))] {
        let lite = coverage.map(|coverage| Protocol::UdpLite { coverage });
        assert_eq!(read(&[2, bytes]), lite, "{bytes}");
    }
    for (bytes, streams) in [
        (&[3, 0, 0][..], None),
        (&[3, 1, 1], Some(1)),
        (&[3, 0x80, 8, 1], Some(1024)),
        (&[3, 0x81, 8, 1], None),
        (&[3, 1, 2], None),
        (&[4], None),
    ] {
        let unordered = true;
        let sctp = streams.map(|streams| Protocol::Sctp { streams, unordered });
        assert_eq!(read(bytes), sctp, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn what_was_emitted_parses_back_and_nothing_less_or_more_does(message in message()) {
        let mut room = [0; LONGEST];
        let length = message.emit(&mut room);
        prop_assert!(length + TAG_LEN <= LONGEST);
        prop_assert_eq!(room[0], number(&message));
        prop_assert_eq!(Control::parse(&room[..length]), Ok(message));
        prop_assert!(Control::parse(&room[..length - 1]).is_err());
        prop_assert!(Control::parse(&room[..=length]).is_err());
    }
}

/// The first byte of a message, for ever.
fn number(message: &Control) -> u8 {
    match message {
        Control::Farewell => 0,
        Control::Hello { .. } => 1,
        Control::Challenge { .. } => 2,
        Control::Proof(_) => 3,
        Control::Welcome { .. } => 4,
        Control::Rejected(_) => 5,
        Control::Ask { .. } => 6,
        Control::Tell { .. } => 7,
        Control::Clocks { .. } => 8,
        Control::Flow(_) => 9,
        Control::Ready { .. } => 10,
        Control::Ended { .. } => 11,
        Control::Watch { .. } => 12,
        Control::Progress(_) => 13,
        Control::Reverse(_) => 14,
        Control::Begin => 15,
        Control::Sent(_) => 16,
        Control::Report(_) => 17,
    }
}

/// A message's part with these fields.
fn of<T: DeserializeOwned>(fields: impl Serialize) -> T {
    let mut room = [0; LONGEST];
    let bytes = postcard::to_slice(&fields, &mut room).unwrap();
    postcard::from_bytes(bytes).unwrap()
}

pub(super) fn message() -> impl Strategy<Value = Control> {
    prop_oneof![
        any::<(u16, [u8; 16], [u8; 8])>().prop_map(|(version, nonce, clock)| Control::Hello {
            version,
            nonce,
            clock
        }),
        any::<(u16, [u8; 16], [u8; 8], bool)>().prop_map(|(version, nonce, clock, secret)| {
            Control::Challenge {
                version,
                nonce,
                clock,
                secret,
            }
        }),
        any::<[u8; 32]>().prop_map(Control::Proof),
        any::<([u8; 32], u16, u32)>().prop_map(|(proof, flows, longest)| Control::Welcome {
            proof,
            flows,
            longest
        }),
        (0_u8..15).prop_map(|reason| Control::Rejected(of(reason))),
        any::<u64>().prop_map(|sent| Control::Ask { sent }),
        any::<[u64; 3]>().prop_map(|[asked, received, answered]| Control::Tell {
            asked,
            received,
            answered
        }),
        any::<(u64, i64, u64)>().prop_map(|(epoch, offset, bound)| Control::Clocks {
            epoch,
            offset,
            bound
        }),
        flow().prop_map(Control::Flow),
        any::<(u16, u16, u32)>().prop_map(|(flow, port, buffer)| Control::Ready {
            flow,
            port,
            buffer
        }),
        any::<(u16, [u64; 3])>().prop_map(|(flow, [messages, bytes, warmup])| Control::Ended {
            flow,
            messages,
            bytes,
            warmup
        }),
        any::<(u16, [u64; 16], Option<[u64; 2]>, Option<u64>, u64)>()
            .prop_map(|fields| Control::Report(of(fields))),
        Just(Control::Farewell),
        (flow(), traffic())
            .prop_map(|(flow, traffic)| { Control::Reverse(Reverse { flow, traffic }) }),
        Just(Control::Begin),
        sent(),
        any::<u32>().prop_map(|number| Control::Watch { number }),
        any::<(u16, u32, [u64; 10])>().prop_map(|fields| Control::Progress(of(fields))),
    ]
}

fn sent() -> impl Strategy<Value = Control> {
    let numbers = any::<(u16, [u64; 20], [u8; 16])>();
    (numbers, congestion()).prop_map(|fields| Control::Sent(of(fields)))
}

fn congestion() -> impl Strategy<Value = [u8; LONGEST_CONGESTION]> {
    "[a-z0-9_-]{0,16}".prop_map(|text: String| {
        let mut bytes = [0; LONGEST_CONGESTION];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        bytes
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let distribution = (0..Distribution::FAMILIES, any::<[u64; 2]>())
        .prop_map(|(family, parameters)| Distribution { family, parameters });
    (
        any::<[u64; 6]>(),
        [distribution.clone(), distribution],
        (any::<(bool, bool, u8, u16, u32)>(), 0_u8..4),
        0..Traffic::PATH_MTU_MODES,
        congestion(),
    )
        .prop_map(
            |(
                [seed, delay, length, omit, packets, bytes],
                [gaps, sizes],
                ((paced, nagle, ttl, segmentation, send_buffer), ecn),
                path_mtu,
                congestion,
            )| Traffic {
                seed,
                delay,
                length,
                omit,
                packets,
                bytes,
                gaps,
                sizes,
                paced,
                nagle,
                ecn,
                ttl,
                path_mtu,
                segmentation,
                send_buffer,
                congestion,
            },
        )
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop_oneof![
        Just(Protocol::Tcp),
        Just(Protocol::Udp),
        prop_oneof![Just(0), LEAST_COVERAGE..=u16::MAX]
            .prop_map(|coverage| Protocol::UdpLite { coverage }),
        (1..=MOST_STREAMS, any::<bool>())
            .prop_map(|(streams, unordered)| Protocol::Sctp { streams, unordered }),
    ]
}

fn flow() -> impl Strategy<Value = Flow> {
    let name = "[a-zA-Z0-9._-]{1,32}".prop_map(|text: String| Name::new(&text).unwrap());
    let kind = (protocol(), any::<bool>(), any::<bool>(), any::<bool>());
    (
        any::<u16>(),
        name,
        kind,
        0_u8..64,
        any::<(u32, u32, u16, [[u8; 16]; 2])>(),
        prop::option::of(prop::sample::select(&Codec::ALL[..])),
    )
        .prop_map(
            |(
                flow,
                name,
                (transport, round, busy, merge),
                dscp,
                (buffer, largest, port, [at, cookie]),
                codec,
            )| {
                Flow {
                    flow,
                    name,
                    transport,
                    meter: if round {
                        Meter::RoundTrip
                    } else {
                        Meter::OneWay
                    },
                    busy,
                    merge,
                    dscp,
                    buffer,
                    largest,
                    port,
                    at,
                    codec,
                    cookie,
                }
            },
        )
}
