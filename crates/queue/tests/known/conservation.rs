//! Properties of every discipline, for all parameters and loads.

use std::collections::BTreeMap;

use jumbolab_queue::law::{Curve, Profile, Spread};
use jumbolab_queue::{
    AdaptiveRedSettings, BadSpec, CodelSettings, Drops, FqCodelSettings, Limit, MredSettings,
    PieSettings, RedSettings, RioSettings, Spec, Unit, Victim, View,
};
use proptest::prelude::*;
use units::{Bytes, Seed, Span, Time};

use crate::server::{Tiny, rate};

/// An operation on a queue after this many nanoseconds.
#[derive(Clone, Debug)]
enum Act {
    Arrive(Tiny),
    Leave,
    Rest,
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let packet = (1u64..2_000, 0u64..6, 0u8..9, 0u8..3, 1u32..9, any::<bool>());
    let arrive = packet.prop_map(|(size, flow, class, precedence, live, capable)| {
        Act::Arrive(Tiny {
            view: View {
                size: Bytes::new(size),
                flow,
                class,
                precedence,
            },
            live,
            capable,
            ..Tiny::new(0, size)
        })
    });
    let act = prop_oneof![6 => arrive, 4 => Just(Act::Leave), 1 => Just(Act::Rest)];
    let gap = prop_oneof![3 => 0u64..1_000_000, 1 => 0u64..200_000_000];
    prop::collection::vec((gap, act), 0..300)
}

fn limits() -> impl Strategy<Value = Limit> {
    limits_from(2_000)
}

fn limits_from(least: u64) -> impl Strategy<Value = Limit> {
    prop_oneof![
        (least..30_000).prop_map(|most| Limit::Bytes(Bytes::new(most))),
        (1u32..40).prop_map(Limit::Packets),
    ]
}

fn sizes() -> impl Strategy<Value = Bytes> {
    (1u64..2_000).prop_map(Bytes::new)
}

fn curves() -> impl Strategy<Value = Curve> {
    (0.0..10.0, 0.1..10.0, 0.0..=1.0, any::<bool>()).prop_map(
        |(min, width, max_probability, gentle)| Curve {
            min,
            max: min + width,
            max_probability,
            gentle,
        },
    )
}

fn spreads() -> impl Strategy<Value = Spread> {
    prop::sample::select(vec![Spread::Independent, Spread::Uniform, Spread::Wait])
}

fn reds() -> impl Strategy<Value = RedSettings> {
    let units = prop::sample::select(vec![Unit::Frames, Unit::Bytes, Unit::Inner]);
    let selection = prop::sample::select(vec![Victim::Arriving, Victim::Front, Victim::Random]);
    let profiles = prop::sample::select(vec![Profile::Clean, Profile::Ns2]);
    (
        (limits(), units, curves(), 0.000_1..=1.0, sizes()),
        (spreads(), any::<bool>(), any::<bool>(), selection, profiles),
    )
        .prop_map(
            |(
                (limit, unit, curve, weight, mean_size),
                (spread, adaptive, ecn, victim, profile),
            )| {
                let scale = if unit == Unit::Bytes { 1_000.0 } else { 1.0 };
                let curve = Curve {
                    min: curve.min * scale,
                    max: curve.max * scale,
                    ..curve
                };
                RedSettings {
                    limit,
                    unit,
                    curve,
                    weight,
                    mean_size,
                    spread,
                    adaptive,
                    ecn,
                    victim,
                    profile,
                }
            },
        )
}

fn codels() -> impl Strategy<Value = CodelSettings> {
    (
        limits(),
        1u64..20_000,
        1u64..200_000,
        sizes(),
        any::<bool>(),
    )
        .prop_map(|(limit, target, interval, largest, ecn)| CodelSettings {
            limit,
            target: Span::from_micros(target),
            interval: Span::from_micros(interval),
            largest,
            ecn,
        })
}

fn simple() -> impl Strategy<Value = Spec> {
    prop_oneof![
        limits_from(1).prop_map(|limit| Spec::DropTail { limit }),
        limits_from(1).prop_map(|limit| Spec::DropFront { limit }),
        reds().prop_map(Spec::Red),
        (limits(), sizes(), any::<bool>()).prop_map(|(limit, size, ecn)| {
            let usual = AdaptiveRedSettings::new(limit, size);
            Spec::AdaptiveRed(AdaptiveRedSettings { ecn, ..usual })
        }),
        (
            limits(),
            sizes(),
            curves(),
            curves(),
            spreads(),
            any::<bool>()
        )
            .prop_map(|(limit, size, inside, outside, spread, ecn)| {
                Spec::Rio(RioSettings {
                    inside,
                    outside,
                    spread,
                    ecn,
                    weight: 0.3,
                    ..RioSettings::new(limit, size)
                })
            }),
        (limits(), sizes(), any::<bool>()).prop_map(|(limit, size, letter)| {
            Spec::Mred(match letter {
                true => MredSettings::letter(limit, size),
                false => MredSettings::new(limit, size),
            })
        }),
        codels().prop_map(Spec::Codel),
        (
            limits(),
            sizes(),
            10u64..20_000,
            0u64..50_000,
            any::<bool>(),
            0.0..50.0
        )
            .prop_map(|(limit, size, update, burst, derandomise, beta)| {
                Spec::Pie(PieSettings {
                    update: Span::from_micros(update),
                    burst: Span::from_micros(burst),
                    derandomise,
                    beta,
                    ecn: Some(0.5),
                    ..PieSettings::new(limit, size)
                })
            }),
        (codels(), 1u16..20, sizes()).prop_map(|(codel, queues, quantum)| {
            Spec::FqCodel(FqCodelSettings {
                codel,
                queues,
                quantum,
            })
        }),
    ]
}

fn specs() -> impl Strategy<Value = Spec> {
    prop_oneof![
        6 => simple(),
        1 => (1u8..5, simple()).prop_map(|(classes, each)| Spec::Priority {
            classes,
            each: Box::new(each),
        }),
    ]
}

/// Where packets are: what came and is neither out nor dropped.
#[derive(Default)]
struct Contents {
    inside: BTreeMap<u64, Tiny>,
    outcomes: Vec<(u64, bool, bool)>,
}

impl Contents {
    fn out(&mut self, packet: Tiny, dropped: bool) {
        let came = self.inside.remove(&packet.number);
        let came = came.expect("a packet leaves once, and only if it came");
        assert_eq!((came.view, came.live), (packet.view, packet.live));
        assert!(came.capable || !packet.marked);
        self.outcomes.push((packet.number, dropped, packet.marked));
    }
}

/// Does all this to a queue; checks it at every time; the outcome of everyone.
fn run(spec: &Spec, seed: u64, acts: &[(u64, Act)]) -> Vec<(u64, bool, bool)> {
    let mut queue = spec.build(Some(rate(8_000_000)), Seed::new(seed)).unwrap();
    let (mut contents, mut drops) = (Contents::default(), Drops::new());
    let mut now = Time::ZERO;
    let end = std::iter::repeat_n((1_000, Act::Leave), acts.len() + 1);
    for (number, (gap, act)) in (0..).zip(acts.iter().cloned().chain(end)) {
        now += Span::from_nanos(gap);
        match act {
            Act::Arrive(packet) => {
                let packet = Tiny { number, ..packet };
                contents.inside.insert(number, packet);
                queue.enqueue(now, packet, &mut drops);
            }
            Act::Leave => {
                if let Some(packet) = queue.dequeue(now, &mut drops) {
                    contents.out(packet, false);
                }
            }
            Act::Rest => queue.rest(now),
        }
        for (packet, _) in drops.drain() {
            contents.out(packet, true);
        }
        let backlog = queue.backlog();
        let bytes: u64 = contents.inside.values().map(Tiny::size).sum();
        assert_eq!(backlog.packets as usize, contents.inside.len());
        assert_eq!(backlog.bytes.get(), bytes);
        assert_eq!(queue.ready_at().is_some(), backlog.packets > 0);
    }
    assert!(contents.inside.is_empty(), "all that came went");
    contents.outcomes
}

proptest! {
    #[test]
    fn what_came_waits_or_left_or_was_dropped_and_the_same_seed_repeats_it(
        spec in specs(), seed in any::<u64>(), acts in acts(),
    ) {
        prop_assert_eq!(run(&spec, seed, &acts), run(&spec, seed, &acts));
    }

    #[test]
    fn no_more_waits_than_may(spec in simple(), acts in acts()) {
        let limit = spec.limit();
        // ns-2 gives one place to one packet, whatever its size.
        let by_bytes = matches!(limit, Limit::Bytes(_));
        let ns2 = matches!(&spec, Spec::Red(settings) if settings.profile == Profile::Ns2);
        prop_assume!(!(ns2 && by_bytes));
        let mut queue = spec.build(Some(rate(8_000_000)), Seed::new(1)).unwrap();
        let mut drops = Drops::new();
        for (gap, act) in acts {
            if let Act::Arrive(packet) = act {
                queue.enqueue(Time::from_nanos(gap / 1_000_000), packet, &mut drops);
                prop_assert!(!limit.is_exceeded(queue.backlog()));
            }
        }
    }
}

#[test]
fn queues_that_there_cannot_be_are_rejected_in_words() {
    let (limit, size) = (Limit::Packets(10), Bytes::new(1500));
    let red = RedSettings::new(limit, size);
    let curve = |curve| {
        Spec::Red(RedSettings {
            curve,
            ..red.clone()
        })
    };
    let codel = CodelSettings::new(limit, size);
    let fq = FqCodelSettings::new(limit, size);
    for (spec, why) in [
        (
            Spec::Red(RedSettings {
                limit: Limit::Packets(0),
                ..red.clone()
            }),
            BadSpec::Empty,
        ),
        (
            Spec::Red(RedSettings {
                limit: Limit::Bytes(Bytes::new(1499)),
                ..red.clone()
            }),
            BadSpec::Small,
        ),
        (
            curve(Curve {
                max: 5.0,
                ..red.curve
            }),
            BadSpec::Thresholds,
        ),
        (
            curve(Curve {
                min: f64::NAN,
                ..red.curve
            }),
            BadSpec::Thresholds,
        ),
        (
            curve(Curve {
                max_probability: 1.1,
                ..red.curve
            }),
            BadSpec::Probability("max_probability"),
        ),
        (
            Spec::Red(RedSettings {
                weight: 0.0,
                ..red.clone()
            }),
            BadSpec::Weight,
        ),
        (
            Spec::Red(RedSettings {
                mean_size: Bytes::ZERO,
                ..red.clone()
            }),
            BadSpec::Zero("mean_size"),
        ),
        (
            Spec::AdaptiveRed(AdaptiveRedSettings::new(limit, Bytes::ZERO)),
            BadSpec::Zero("mean_size"),
        ),
        (
            Spec::Codel(CodelSettings {
                interval: Span::ZERO,
                ..codel
            }),
            BadSpec::Zero("interval"),
        ),
        (
            Spec::FqCodel(FqCodelSettings {
                queues: 0,
                ..fq.clone()
            }),
            BadSpec::Zero("queues"),
        ),
        (
            Spec::FqCodel(FqCodelSettings {
                quantum: Bytes::ZERO,
                ..fq
            }),
            BadSpec::Zero("quantum"),
        ),
        (
            Spec::Rio(RioSettings {
                weight: 0.0,
                ..RioSettings::new(limit, size)
            }),
            BadSpec::Weight,
        ),
        (
            Spec::Pie(PieSettings {
                alpha: -1.0,
                ..PieSettings::new(limit, size)
            }),
            BadSpec::Negative("alpha"),
        ),
        (
            Spec::Priority {
                classes: 0,
                each: Box::new(Spec::DropTail { limit }),
            },
            BadSpec::Zero("classes"),
        ),
        (
            Spec::Priority {
                classes: 1,
                each: Box::new(Spec::Priority {
                    classes: 1,
                    each: Box::new(Spec::DropTail { limit }),
                }),
            },
            BadSpec::Nested,
        ),
    ] {
        let built = spec.build::<Tiny>(Some(rate(1_000_000)), Seed::new(1));
        assert_eq!(built.err(), Some(why), "{spec:?}");
        assert!(!why.to_string().contains('\n'));
    }
    for (spec, name) in [
        (Spec::Red(red), "RED"),
        (
            Spec::AdaptiveRed(AdaptiveRedSettings::new(limit, size)),
            "adaptive RED",
        ),
        (Spec::Rio(RioSettings::new(limit, size)), "RIO"),
        (Spec::Pie(PieSettings::new(limit, size)), "PIE"),
    ] {
        let built = spec.build::<Tiny>(None, Seed::new(1));
        assert_eq!(built.err(), Some(BadSpec::NoRate(name)));
    }
}
