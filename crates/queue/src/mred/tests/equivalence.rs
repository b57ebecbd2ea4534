//! Where nothing is bundled MRED is RED, and what it takes is what RED would.

use proptest::prelude::*;

use super::*;
use crate::Red;

fn settings() -> impl Strategy<Value = MredSettings> {
    let limit = prop_oneof![
        (1_500u64..12_000).prop_map(|most| Limit::Bytes(Bytes::new(most))),
        (2u32..30).prop_map(Limit::Packets),
    ];
    let unit = prop::sample::select([Unit::Frames, Unit::Inner, Unit::Bytes].to_vec());
    let spread = [Spread::Independent, Spread::Uniform, Spread::Wait];
    let candidates = [Candidates::Arriving, Candidates::Head, Candidates::Queue];
    let (spread, candidates) = (
        prop::sample::select(spread.to_vec()),
        prop::sample::select(candidates.to_vec()),
    );
    let flags = any::<(bool, bool, bool, bool, bool)>();
    (limit, unit, spread, candidates, flags, 0.002f64..0.9).prop_map(
        |(limit, unit, spread, candidates, (adaptive, mark, gentle, ns2, header), weight)| {
            let scale = if unit == Unit::Bytes { 700.0 } else { 1.0 };
            // Where ns-2 drops another victim, it drops the second packet.
            let ns2 = ns2 && candidates == Candidates::Arriving;
            MredSettings {
                unit,
                curve: Curve {
                    min: 1.5 * scale,
                    max: 6.0 * scale,
                    max_probability: 0.3,
                    gentle,
                },
                weight,
                spread,
                adaptive,
                mark,
                candidates,
                size: if header { SizeOf::Header } else { SizeOf::Live },
                profile: if ns2 { Profile::Ns2 } else { Profile::Clean },
                ..MredSettings::new(limit, Bytes::new(700))
            }
        },
    )
}

proptest! {
    #[test]
    fn mred_of_bare_packets_is_red_to_the_last_drop(
        settings in settings(),
        acts in prop::collection::vec((any::<bool>(), 40u64..1_500, any::<bool>()), 0..400),
    ) {
        let mut mred = queue(&settings);
        let mut red: Red<Bundle<Inner>> = Red::new(&settings.red(), RATE, Seed::new(8)).unwrap();
        let (mut one, mut other) = (Drops::new(), Drops::new());
        for (number, (arrives, bytes, able)) in (0..).zip(acts) {
            let now = Time::ZERO + Span::from_micros(700) * number;
            if arrives {
                let packet = Inner { bytes, able, ..inner(number) };
                mred.enqueue(now, Bundle::bare(packet), &mut one);
                red.enqueue(now, Bundle::bare(packet), &mut other);
            } else {
                let left = mred.dequeue(now, &mut one).map(|frame| frame.unpack().next());
                let expected = red.dequeue(now, &mut other).map(|frame| frame.unpack().next());
                prop_assert_eq!(left, expected);
            }
            prop_assert_eq!(one.drain_inner().count(), 0);
            let first = |drop: (Bundle<Inner>, Reason)| (drop.0.unpack().next(), drop.1);
            let dropped: Vec<_> = one.drain().map(first).collect();
            let expected: Vec<_> = other.drain().map(first).collect();
            prop_assert_eq!(dropped, expected);
            prop_assert_eq!(mred.average(), red.average());
            prop_assert_eq!(mred.backlog(), red.backlog());
        }
    }
}

/// The share of packets that are met of those that arrive in bundles of `each`
/// while ten frames wait, and how many arrived.
fn loss(settings: &MredSettings, each: u64) -> (f64, f64) {
    let mut mred = queue(settings);
    let mut drops = Drops::new();
    let (mut arrived, mut lost) = (0u64, 0u64);
    while arrived < 12_000 {
        while mred.frames.len() < 10 {
            mred.frames.push(bundle(0, each));
        }
        mred.enqueue(Time::ZERO, bundle(0, each), &mut drops);
        let inner_dropped = drops.drain_inner().count() as u64;
        let whole: u64 = drops.drain().map(|drop| u64::from(drop.0.live())).sum();
        arrived += each;
        lost += inner_dropped + whole;
        while mred.frames.len() > 10 {
            mred.dequeue(Time::ZERO, &mut drops);
        }
    }
    (lost as f64 / arrived as f64, arrived as f64)
}

#[test]
fn on_average_every_pick_but_ceil_takes_what_red_would_whatever_the_bundles() {
    for candidates in [Candidates::Arriving, Candidates::Head, Candidates::Queue] {
        for each in [1, 2, 3, 7, 20] {
            for max_probability in [0.06, 0.5] {
                let share = max_probability / 2.0;
                for rounding in [
                    Rounding::Each,
                    Rounding::Round,
                    Rounding::Ceil,
                    Rounding::Binomial,
                ] {
                    let mut settings = MredSettings {
                        candidates,
                        rounding,
                        ..plain()
                    };
                    settings.curve.max_probability = max_probability;
                    let (lost, arrived) = loss(&settings, each);
                    let expected = match rounding {
                        Rounding::Ceil => libm::ceil(share * each as f64) / each as f64,
                        _ => share,
                    };
                    let error = libm::sqrt(expected * (1.0 - expected) / arrived);
                    let off = (lost - expected).abs();
                    assert!(
                        off <= 3.3 * error,
                        "{candidates:?} {each} {rounding:?}: {lost} {expected}"
                    );
                }
            }
        }
    }
}
