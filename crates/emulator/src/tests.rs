//! Parity: real frames have the same outcomes as simulated packets with the same headers,
//! because every queue decides by [`Packet`] alone.

mod bundles;

use std::collections::VecDeque;
use std::ops::Range;

use link::{Event, Link, Settings};
use proptest::prelude::*;
use queue::law::Spread;
use queue::{CodelSettings, DISCIPLINES, Limit, Packet, RedSettings, Spec, Unit, Victim, View};
use units::{Bytes, Rate, Seed, Span, Time};

use os::frames::{Frame, Pool};
use os::sys::packet::HEADER;

/// A packet as in the simulator: only the properties that a queue may see.
struct Header {
    view: View,
    /// Whether it can be marked, and whether it is [RFC3168 s5].
    capable: bool,
    marked: bool,
    number: u32,
}

impl Packet for Header {
    fn view(&self) -> View {
        self.view
    }

    fn markable(&self) -> bool {
        self.capable
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.capable;
        self.capable
    }
}

/// An arrival at the link.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Time since the previous arrival.
    gap: Span,
    /// Bytes of the frame without FCS.
    size: usize,
    /// Source port of its flow.
    port: u8,
    /// Service byte: DSCP and ECN.
    service: u8,
}

/// A frame of IPv4 and UDP with its number in the payload [RFC791] [RFC768].
fn bytes(arrival: Arrival, number: u32) -> Vec<u8> {
    let mut bytes = vec![0; HEADER + arrival.size];
    let frame = &mut bytes[HEADER..];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..16].copy_from_slice(&[0x45, arrival.service]);
    let length = u16::try_from(arrival.size - 14).unwrap();
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[23] = 17;
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..38].copy_from_slice(&[4, arrival.port, 0, 9]);
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The simulated packet with the properties of the frame.
fn header(arrival: Arrival, number: u32) -> Header {
    let codepoint = arrival.service >> 2;
    let precedence = match (codepoint >> 3, codepoint & 0b111) {
        (1..=4, 0b100) => 1,
        (1..=4, 0b110) => 2,
        _ => 0,
    };
    Header {
        view: View {
            size: Bytes::new(arrival.size as u64 + 4).max(Bytes::new(64)),
            flow: wire::frame::flow(&bytes(arrival, number)[HEADER..]),
            class: arrival.service >> 5,
            precedence,
        },
        capable: arrival.service & 0b11 != 0,
        marked: false,
        number,
    }
}

/// Every discipline with its default settings, and variants that drop more.
fn disciplines() -> Vec<Spec> {
    let limit = Limit::Packets(12);
    let size = Bytes::new(1_000);
    let red = RedSettings::new(limit, size);
    let usual = DISCIPLINES.iter().map(|choice| {
        let configured = choice.configure(limit, size, &mut |_, _, _| false);
        configured.spec.unwrap()
    });
    let set = [
        Spec::Red(RedSettings { weight: 0.2, ..red }),
        Spec::Red(RedSettings {
            weight: 0.2,
            ecn: true,
            unit: Unit::Bytes,
            victim: Victim::Random,
            spread: Spread::Wait,
            ..red
        }),
        Spec::Red(RedSettings::ns2(12, size)),
        Spec::Priority {
            classes: 8,
            each: Box::new(Spec::Codel(CodelSettings::new(limit, size))),
        },
    ];
    usual.chain(set).collect()
}

/// The counters, and the deliveries with their times and marks.
fn run<P: Packet + 'static>(
    spec: &Spec,
    arrivals: &[Arrival],
    make: impl Fn(Arrival, u32) -> P,
    number: impl Fn(&P) -> (u32, bool),
) -> (Vec<Event>, Vec<(Time, u32, bool)>) {
    let rate = Rate::from_bits_per_second(10_000_000);
    let settings = Settings::perfect(rate, spec.clone());
    let mut link = Link::new(settings, Seed::new(7)).unwrap();
    link.record();
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    let mut coming: VecDeque<(u32, Arrival)> = (0u32..).zip(arrivals.iter().copied()).collect();
    while let Some((place, arrival)) = coming.pop_front() {
        now += arrival.gap;
        assert!(link.receive(now, make(arrival, place)).is_none());
    }
    while let Some(next) = link.next_timeout() {
        while let Some(delivery) = link.poll_transmit(next) {
            let (number, marked) = number(&delivery.packet);
            out.push((delivery.at, number, marked));
        }
    }
    (link.take_events(), out)
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec(arrival(60..9_000), 1..400)
}

/// An arrival whose frame has a size in this range.
fn arrival(size: Range<usize>) -> impl Strategy<Value = Arrival> {
    (0u64..2_000, size, 0u8..4, any::<u8>()).prop_map(|(micros, size, port, service)| Arrival {
        gap: Span::from_micros(micros),
        size,
        port,
        service,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_discipline_treats_frames_as_it_treats_headers(arrivals in arrivals()) {
        let pool = Pool::default();
        for spec in disciplines() {
            let frames = run(
                &spec,
                &arrivals,
                |arrival, number| pool.keep(&bytes(arrival, number), None),
                |frame: &Frame| {
                    let frame = &frame.bytes()[HEADER..];
                    let number = u32::from_be_bytes(frame[42..46].try_into().unwrap());
                    (number, frame[15] & 0b11 == 0b11)
                },
            );
            let headers = run(&spec, &arrivals, header, |header: &Header| {
                let before = arrivals[header.number as usize].service & 0b11 == 0b11;
                (header.number, header.marked || before)
            });
            prop_assert_eq!(&frames, &headers, "{:?}", spec);
        }
    }
}
