//! RED and adaptive RED.

use jumbolab_queue::law::{Average, Curve, Profile, Red as Law, Spread, Verdict};
use jumbolab_queue::{
    AdaptiveRedSettings, Discipline as _, Drops, Limit, Reason, Red, RedSettings, Spec, Unit,
    Victim,
};
use proptest::prelude::*;
use units::{Bytes, Seed, Span, Time};

use crate::server::{Server, Tiny, rate};
use crate::statistics::{Chance, covers, kolmogorov, moments};

pub(crate) const CURVE: Curve = Curve {
    min: 5.0,
    max: 15.0,
    max_probability: 0.1,
    gentle: true,
};

/// A law whose average is whatever it was fed last.
fn immediate(spread: Spread) -> Law {
    let average = Average::new(1.0, rate(1_500_000), Bytes::new(1500));
    Law::new(average, CURVE, spread, false, Profile::Clean)
}

/// How many arrivals lie between one drop and the next, the latter counted, where the
/// average stays at 7 and the curve says 0.02.
fn gaps(spread: Spread, count: usize) -> Vec<u64> {
    let (mut law, mut chance) = (immediate(spread), Chance::new(1));
    let mut gaps = Vec::new();
    let mut gap = 0;
    while gaps.len() <= count {
        gap += 1;
        law.observe(Time::ZERO, 7.0);
        if law.judge(7, || chance.uniform()) == Verdict::Early {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // Before the first there was no drop.
    gaps.remove(0);
    gaps
}

fn mean(gaps: &[u64]) -> (f64, f64) {
    let gaps: Vec<f64> = gaps.iter().map(|&gap| gap as f64).collect();
    let (mean, deviation) = moments(&gaps);
    (mean, 2.576 * deviation / (gaps.len() as f64).sqrt())
}

#[test]
fn gaps_between_drops_are_uniform_and_as_long_as_published() {
    // p = 0.02: uniform from 1 to 1/p - 1, or with waiting from 1/p to 2/p - 1
    // [Floyd1993 s7].
    for (spread, first, last) in [(Spread::Uniform, 1, 49), (Spread::Wait, 50, 99)] {
        let gaps = gaps(spread, 5_000);
        let (mean, half) = mean(&gaps);
        let expected = (first + last) as f64 / 2.0;
        assert!((mean - expected).abs() <= half, "{mean} +- {half}");
        assert!(kolmogorov(&gaps, first, last) < 1.628);
        assert!(gaps.iter().all(|gap| (first..=last).contains(gap)));
    }
    let (mean, half) = mean(&gaps(Spread::Independent, 5_000));
    assert!((mean - 50.0).abs() <= half, "{mean} +- {half}");
}

#[test]
fn single_packets_are_lost_as_often_as_the_curve_says() {
    for average in [6.0, 10.0, 15.0, 20.0, 29.0] {
        let (mut law, mut chance) = (immediate(Spread::Independent), Chance::new(2));
        let losses = [0; 20].map(|_: u8| {
            let dropped = |_: &u32| {
                law.observe(Time::ZERO, average);
                law.judge(9, || chance.uniform()) == Verdict::Early
            };
            (0..4_000).filter(dropped).count() as f64 / 4_000.0
        });
        covers(&losses, CURVE.probability(average), "loss");
    }
}

/// Bursts with pauses, from a little to far too much for 1.5 Mb/s, of packets of
/// 40 and of 1500 bytes.
pub(crate) fn bursts(seed: u64, count: u64) -> Vec<(Time, Tiny)> {
    let size = |uniform| if uniform < 0.2 { 40 } else { 1500 };
    bursts_of(seed, count, size)
}

/// The same of packets whose size follows from something uniform in [0, 1).
pub(crate) fn bursts_of(seed: u64, count: u64, size: fn(f64) -> u64) -> Vec<(Time, Tiny)> {
    let mut chance = Chance::new(seed);
    let mut seconds = 0.0;
    let arrival = |number: u64| {
        let load = [0.3, 0.9, 1.2, 2.5][(number / 400) as usize % 4];
        seconds += chance.exponential(0.008 / load);
        let at = Time::from_picos((seconds * 1e12) as u64);
        (at, Tiny::new(number, size(chance.uniform())))
    };
    (0..count).map(arrival).collect()
}

/// The clean profile in a few dresses.
fn clean() -> Vec<RedSettings> {
    let usual = RedSettings::new(Limit::Packets(25), Bytes::new(1500));
    let bytes = Curve {
        min: 7_500.0,
        max: 22_500.0,
        ..CURVE
    };
    vec![
        usual.clone(),
        RedSettings {
            spread: Spread::Wait,
            victim: Victim::Front,
            weight: 0.02,
            ..usual.clone()
        },
        RedSettings {
            unit: Unit::Bytes,
            curve: bytes,
            limit: Limit::Bytes(Bytes::new(40_000)),
            victim: Victim::Random,
            weight: 0.05,
            ..usual.clone()
        },
        RedSettings::ns2(25, Bytes::new(1500)),
    ]
}

#[test]
fn a_link_k_times_as_fast_drops_the_same_packets_of_what_comes_k_times_as_fast() {
    for (settings, seed) in clean().into_iter().zip(1..) {
        // Bytes take 4 us at 2 Mb/s, and whole picoseconds at the others.
        let outcomes = [1, 5, 1_000].map(|faster| {
            let spec = Spec::Red(settings.clone());
            let mut server = Server::new(&spec, rate(2_000_000 * faster), seed);
            for (at, packet) in bursts(seed, 4_000) {
                let picos = at.as_picos() / 1_000 * 1_000 / faster;
                server.arrive(Time::from_picos(picos), packet);
            }
            server.finish();
            (server.sent(), server.dropped())
        });
        assert!(outcomes[0].1.len() > 50);
        assert_eq!(outcomes[0], outcomes[1]);
        assert_eq!(outcomes[0], outcomes[2]);
    }
}

#[test]
fn counting_packets_in_bundles_of_one_is_counting_frames() {
    for settings in clean() {
        if settings.unit != Unit::Frames {
            continue;
        }
        let outcomes = [Unit::Frames, Unit::Inner].map(|unit| {
            let spec = Spec::Red(RedSettings {
                unit,
                ..settings.clone()
            });
            let mut server = Server::new(&spec, rate(1_500_000), 3);
            for (at, packet) in bursts(3, 4_000) {
                server.arrive(at, packet);
            }
            server.outcomes
        });
        assert_eq!(outcomes[0], outcomes[1]);
    }
}

#[test]
fn packets_in_bundles_fill_the_average_each() {
    let settings = RedSettings {
        unit: Unit::Inner,
        weight: 1.0,
        curve: Curve {
            min: 100.0,
            max: 200.0,
            ..CURVE
        },
        ..RedSettings::new(Limit::Packets(100), Bytes::new(1500))
    };
    let mut queue = Red::new(&settings, rate(1_500_000), Seed::new(1)).unwrap();
    let mut drops = Drops::new();
    for number in 0..10 {
        let bundle = Tiny {
            live: 7,
            ..Tiny::new(number, 9000)
        };
        queue.enqueue(Time::ZERO, bundle, &mut drops);
        assert!((queue.law().average() - 7.0 * number as f64).abs() < 1e-12);
    }
    queue.dequeue(Time::ZERO, &mut drops);
    queue.enqueue(Time::ZERO, Tiny::new(10, 1500), &mut drops);
    assert!((queue.law().average() - 63.0).abs() < 1e-12);
}

/// A queue whose average is what waits, filled with `count` packets at once;
/// and what it dropped of them.
pub(crate) fn filled(
    settings: RedSettings,
    count: u64,
    capable: bool,
) -> (Red<Tiny>, Vec<(Tiny, Reason)>) {
    let settings = RedSettings {
        weight: 1.0,
        spread: Spread::Independent,
        ..settings
    };
    let mut queue = Red::new(&settings, rate(1_500_000), Seed::new(5)).unwrap();
    let mut drops = Drops::new();
    for number in 0..count {
        let packet = Tiny {
            capable,
            ..Tiny::new(number, 1000)
        };
        queue.enqueue(Time::ZERO, packet, &mut drops);
    }
    let dropped = drops.drain().collect();
    (queue, dropped)
}

#[test]
fn who_can_be_marked_is_marked_up_to_max_and_dropped_beyond() {
    let settings = RedSettings {
        ecn: true,
        curve: Curve {
            max_probability: 1.0,
            gentle: false,
            ..CURVE
        },
        ..RedSettings::new(Limit::Packets(100), Bytes::new(1000))
    };
    let (mut queue, dropped) = filled(settings.clone(), 300, true);
    assert!(dropped.iter().all(|drop| drop.1 == Reason::Forced));
    assert_eq!(queue.backlog().packets, 15);
    let mut drops = Drops::new();
    let waiting = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops));
    assert!(waiting.filter(|packet| packet.marked).count() > 2);
    // Those that cannot are dropped where the others would be marked.
    let (_, dropped) = filled(settings, 300, false);
    assert!(
        dropped
            .iter()
            .filter(|drop| drop.1 == Reason::Early)
            .count()
            > 2
    );
}

#[test]
fn the_victim_is_who_it_should_be() {
    let base = RedSettings::new(Limit::Packets(12), Bytes::new(1000));
    let numbers = |victim| {
        let (_, dropped) = filled(
            RedSettings {
                victim,
                ..base.clone()
            },
            200,
            false,
        );
        dropped.iter().map(|drop| drop.0.number).collect::<Vec<_>>()
    };
    let front = numbers(Victim::Front);
    assert!(front.iter().copied().eq(0..front.len() as u64));
    assert!(front.len() == 188);
    let arriving = numbers(Victim::Arriving);
    assert!(arriving.is_sorted() && arriving[0] > 4);
    let random = numbers(Victim::Random);
    assert!(!random.is_sorted() && random.len() == 188);
}

/// A curve that lets nobody in from an average of 0.06 on.
pub(crate) const WALL: Curve = Curve {
    min: 0.05,
    max: 0.06,
    max_probability: 1.0,
    gentle: false,
};

#[test]
fn an_average_ages_while_the_link_rests_even_if_its_packets_are_dropped() {
    let settings = RedSettings {
        weight: 0.1,
        curve: WALL,
        ..RedSettings::new(Limit::Packets(100), Bytes::new(1000))
    };
    // 1000 bytes take 8 ms at 1 Mb/s.
    let mut queue = Red::new(&settings, rate(1_000_000), Seed::new(5)).unwrap();
    let mut drops = Drops::new();
    // The first one passes, and all others find it waiting.
    for number in 0..20 {
        queue.enqueue(Time::ZERO, Tiny::new(number, 1000), &mut drops);
    }
    queue.dequeue(Time::ZERO, &mut drops);
    queue.rest(Time::ZERO);
    let mut expected = 1.0 - 0.9_f64.powi(19);
    for step in 1..=8 {
        let now = Time::ZERO + Span::from_millis(8) * step;
        queue.enqueue(now, Tiny::new(20 + step, 1000), &mut drops);
        // One packet that could have left, and one look at an empty queue.
        expected *= 0.81;
        assert!((queue.law().average() - expected).abs() < 1e-12);
    }
    let dropped = drops.drain().filter(|drop| drop.1 == Reason::Forced);
    assert_eq!(dropped.count(), 19 + 8);
}

#[test]
fn the_count_begins_anew_when_the_average_comes_over_min() {
    // The curve says 0.05; after ten arrivals without a drop it would be 0.1.
    for (spread, draw, verdict) in [
        (Spread::Uniform, 0.0499, Verdict::Early),
        (Spread::Uniform, 0.0501, Verdict::Pass),
        (Spread::Wait, 0.0, Verdict::Pass),
    ] {
        let mut law = immediate(spread);
        for _ in 0..10 {
            law.observe(Time::ZERO, 10.0);
            assert_eq!(law.judge(10, || 0.999), Verdict::Pass);
        }
        law.observe(Time::ZERO, 4.0);
        assert_eq!(law.judge(4, || 0.0), Verdict::Pass);
        law.observe(Time::ZERO, 10.0);
        assert_eq!(law.judge(10, || draw), verdict, "{spread:?} {draw}");
    }
}

#[test]
fn adaptive_red_takes_its_parameters_from_the_link() {
    let settings = AdaptiveRedSettings::new(Limit::Packets(1_000), Bytes::new(1250));
    // 1000 packets a second: 5 ms are 5 packets, and their half is less than 5.
    let slow = settings.settings(rate(10_000_000));
    assert!((slow.curve.min - 5.0).abs() < 1e-12 && (slow.curve.max - 15.0).abs() < 1e-12);
    assert!((slow.weight / (1.0 - (-0.001_f64).exp()) - 1.0).abs() < 1e-12);
    // 100 000: 500 packets, 250, and 750.
    let fast = settings.settings(rate(1_000_000_000));
    assert!((fast.curve.min - 250.0).abs() < 1e-9 && (fast.curve.max - 750.0).abs() < 1e-9);
    assert!((fast.weight - 0.999_995e-5).abs() < 1e-12 && fast.adaptive);
    for ecn in [false, true] {
        let settings = AdaptiveRedSettings { ecn, ..settings };
        assert_eq!(settings.settings(rate(10_000_000)).ecn, ecn);
    }
}

proptest! {
    #[test]
    fn the_average_is_within_what_was_fed_to_it(
        weight in 0.000_01..1.0, steps in prop::collection::vec((0.0..1e6, 0u64..1_000_000_000_000), 1..50),
    ) {
        let mut average = Average::new(weight, rate(1_000_000), Bytes::new(1000));
        let (mut now, mut most) = (Time::ZERO, 0.0_f64);
        for (queue, picos) in steps {
            now += Span::from_picos(picos);
            average.arrive(now, queue);
            most = most.max(queue);
            prop_assert!((0.0..=most).contains(&average.value()));
            average.rest(now);
        }
    }
}
