use proptest::prelude::*;
use queue::law::{Curve, Profile, Spread};
use queue::{AdaptiveRedSettings, Limit, RedSettings, Spec, Unit, Victim, View};
use units::{Rate, Span};

use super::*;
use crate::Link;

/// A frame with a number, a size, and whether it can be marked and was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    number: u64,
    size: u64,
    markable: bool,
    marked: bool,
}

impl Packet for Frame {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.size),
            ..View::default()
        }
    }

    fn markable(&self) -> bool {
        self.markable
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.markable;
        self.markable
    }
}

/// Every transmission: packet, arrival, begin and end.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<(u64, Time, Time, Time)>);

impl LinkObserver<Frame> for Seen {
    fn sent(
        &mut self,
        frame: &Frame,
        arrival: Entered,
        begins: Time,
        ends: Time,
        _: PacketOutcome,
    ) {
        self.0.push((frame.number, arrival.at, begins, ends));
    }
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1u32..12).prop_map(Limit::Packets),
        (1_518u64..15_000).prop_map(|most| Limit::Bytes(Bytes::new(most))),
    ]
}

fn specs() -> impl Strategy<Value = Spec> {
    let red = |limit, bytes, adaptive, ecn, ns2, uniform, gentle| {
        let scale = if bytes { 1_000.0 } else { 1.0 };
        Spec::Red(RedSettings {
            unit: if bytes { Unit::Bytes } else { Unit::Frames },
            curve: Curve {
                min: scale,
                max: 4.0 * scale,
                max_probability: 0.3,
                gentle,
            },
            weight: 0.2,
            spread: if uniform {
                Spread::Uniform
            } else {
                Spread::Wait
            },
            adaptive,
            ecn,
            profile: if ns2 { Profile::Ns2 } else { Profile::Clean },
            ..RedSettings::new(limit, Bytes::new(1_000))
        })
    };
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    prop_oneof![
        limits().prop_map(|limit| Spec::DropTail { limit }),
        (limits(), flags, any::<bool>(), any::<bool>()).prop_map(
            move |(limit, (bytes, adaptive, ecn, ns2), uniform, gentle)| red(
                limit, bytes, adaptive, ecn, ns2, uniform, gentle
            )
        ),
        limits().prop_map(|limit| Spec::AdaptiveRed(AdaptiveRedSettings::new(
            limit,
            Bytes::new(1_000)
        ))),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let rate = prop_oneof![1u64..20_000_000, Just(10_000_000)];
    (specs(), rate, 0u64..5_000, any::<bool>()).prop_map(|(queue, rate, micros, ethernet)| {
        Settings {
            ethernet,
            delay: Span::from_micros(micros),
            largest_packet: Some(Bytes::new(1_400)),
            ..Settings::perfect(Rate::from_bits_per_second(rate), queue)
        }
    })
}

proptest! {
    #[test]
    fn it_does_what_the_patient_link_does(
        settings in settings(),
        arrivals in prop::collection::vec((0u64..3_000, 40u64..1_518, any::<bool>()), 1..200),
        seed in any::<u64>(),
    ) {
        let seed = Seed::new(seed);
        let mut fast_link = FastLink::new(&settings, seed, Seen::default()).expect("nothing is settled later");
        let mut patient = Link::observed(settings, seed, Seen::default()).expect("sound");
        let mut now = Time::ZERO;
        let mut out = [Vec::new(), Vec::new()];
        for ((micros, size, markable), number) in arrivals.into_iter().zip(0..) {
            now += Span::from_micros(micros);
            // Every other packet is polled for deliveries before the next arrival.
            while markable && let Some(frame) = fast_link.poll_transmit(now) {
                out[0].push(frame);
            }
            let mut frame = Frame { number, size, markable, marked: false };
            let too_big = patient.receive(now, frame);
            match fast_link.receive(now, &mut frame) {
                Entry::TooBig => prop_assert_eq!(Some(frame), too_big),
                Entry::Passes(arrives) => {
                    prop_assert!(too_big.is_none());
                    let first = fast_link.hold(arrives, frame);
                    prop_assert_eq!(first, fast_link.rest.held.len() == 1);
                }
                Entry::Dropped => prop_assert!(too_big.is_none()),
            }
            let free_at = fast_link.free_at();
            prop_assert_eq!(fast_link.rest.backlog_at(now, free_at), patient.backlog());
        }
        let end = Time::from_picos(u64::MAX);
        out[0].extend(std::iter::from_fn(|| fast_link.poll_transmit(end)));
        let mut arrivals = Vec::new();
        while let Some(delivery) = patient.poll_transmit(end) {
            arrivals.push(delivery.at);
            out[1].push(delivery.packet);
        }
        prop_assert_eq!(&out[0], &out[1]);
        prop_assert_eq!(fast_link.counters(), patient.counters());
        let delay = fast_link.delay;
        let ends: Vec<Time> = fast_link.observer().0.iter().map(|sent| sent.3 + delay).collect();
        prop_assert_eq!(ends, arrivals);
        prop_assert_eq!(fast_link.observer(), patient.observer());
    }
}

#[test]
fn where_outcomes_are_settled_later_it_is_not_built() {
    let limit = Limit::Packets(10);
    let rate = Rate::from_bits_per_second(1_000_000);
    let perfect = Settings::perfect(rate, Spec::DropTail { limit });
    let red = RedSettings::new(limit, Bytes::new(1_000));
    let build = |settings: &Settings| FastLink::<Frame>::new(settings, Seed::new(1), ()).is_some();
    assert!(build(&perfect));
    for settings in [
        Settings {
            loss: 0.1,
            ..perfect.clone()
        },
        Settings {
            jitter: Span::from_micros(1),
            ..perfect.clone()
        },
        Settings {
            cut_through: true,
            ..perfect.clone()
        },
        Settings {
            queue: Spec::DropFront { limit },
            ..perfect.clone()
        },
        Settings {
            queue: Spec::Red(RedSettings {
                victim: Victim::Front,
                ..red.clone()
            }),
            ..perfect.clone()
        },
        Settings {
            queue: Spec::Red(RedSettings {
                unit: Unit::Inner,
                ..red
            }),
            ..perfect.clone()
        },
        Settings {
            rate: None,
            queue: Spec::AdaptiveRed(AdaptiveRedSettings::new(limit, Bytes::new(1_000))),
            ..perfect
        },
    ] {
        assert!(!build(&settings), "{settings:?}");
    }
}
