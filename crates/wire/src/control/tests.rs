//! Emitted messages parse back, and hostile octets do no harm.

use std::string::String;
use std::vec;

use proptest::prelude::*;
use units::Transport;

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
    let mut expected = b"\x01JLCT\x00\x03".to_vec();
    expected.extend([7; 16]);
    expected.extend([9; 8]);
    assert_eq!(room[..length], expected);
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

proptest! {
    #[test]
    fn what_was_emitted_parses_back_and_nothing_less_or_more_does(message in message()) {
        let mut room = [0; LONGEST];
        let length = message.emit(&mut room);
        prop_assert!(length + TAG_LEN <= LONGEST);
        prop_assert_eq!(Control::parse(&room[..length]), Ok(message));
        prop_assert!(Control::parse(&room[..length - 1]).is_err());
        prop_assert!(Control::parse(&room[..=length]).is_err());
    }
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
        prop::sample::select(&REASONS[..]).prop_map(Control::Refused),
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
        any::<(u16, u64, u64)>().prop_map(|(flow, messages, octets)| Control::Ended {
            flow,
            messages,
            octets
        }),
        any::<(u16, [u64; 17])>().prop_map(|(flow, fields)| {
            let mut octets = flow.to_be_bytes().to_vec();
            octets.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
            let mut fields = Fields {
                octets: &octets,
                at: 0,
            };
            Control::Report(Report::read(&mut fields).unwrap())
        }),
        Just(Control::Farewell),
        (flow(), traffic())
            .prop_map(|(flow, traffic)| { Control::Reverse(Reverse { flow, traffic }) }),
        Just(Control::Begin),
        sent(),
        any::<u32>().prop_map(|number| Control::Watch { number }),
        any::<(u16, u32, [u64; 10])>().prop_map(|(flow, number, fields)| {
            let mut octets = flow.to_be_bytes().to_vec();
            octets.extend(number.to_be_bytes());
            octets.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
            let mut fields = Fields {
                octets: &octets,
                at: 0,
            };
            Control::Progress(Progress::read(&mut fields).unwrap())
        }),
    ]
}

fn sent() -> impl Strategy<Value = Control> {
    (any::<(u16, [u64; 18], [u8; 16])>(), congestion()).prop_map(
        |((flow, numbers, router), congestion)| {
            let mut octets = flow.to_be_bytes().to_vec();
            octets.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            octets.extend(router);
            octets.extend(congestion);
            let mut fields = Fields {
                octets: &octets,
                at: 0,
            };
            Control::Sent(SentReport::read(&mut fields).unwrap())
        },
    )
}

fn congestion() -> impl Strategy<Value = [u8; LONGEST_CONGESTION]> {
    "[a-z0-9_-]{0,16}".prop_map(|text: String| {
        let mut octets = [0; LONGEST_CONGESTION];
        octets[..text.len()].copy_from_slice(text.as_bytes());
        octets
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let law = (0..Law::FAMILIES, any::<[u64; 2]>())
        .prop_map(|(family, parameters)| Law { family, parameters });
    (
        any::<[u64; 5]>(),
        [law.clone(), law],
        any::<(bool, bool, u8, u16, u32)>(),
        0..Traffic::PATH_MTU_MODES,
        congestion(),
    )
        .prop_map(
            |(
                [seed, delay, length, packets, octets],
                [gaps, sizes],
                (paced, nagle, ttl, segmentation, send_buffer),
                path_mtu,
                congestion,
            )| Traffic {
                seed,
                delay,
                length,
                packets,
                octets,
                gaps,
                sizes,
                paced,
                nagle,
                ttl,
                path_mtu,
                segmentation,
                send_buffer,
                congestion,
            },
        )
}

fn flow() -> impl Strategy<Value = Flow> {
    let name = "[a-zA-Z0-9._-]{1,32}".prop_map(|text: String| Name::new(&text).unwrap());
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (
        any::<u16>(),
        name,
        kind,
        0_u8..64,
        any::<(u32, u32, [u8; 16])>(),
    )
        .prop_map(
            |(flow, name, (tcp, round, busy, merge), dscp, (buffer, largest, cookie))| Flow {
                flow,
                name,
                transport: if tcp { Transport::Tcp } else { Transport::Udp },
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
                cookie,
            },
        )
}
