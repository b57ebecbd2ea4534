//! RED's profile of ns-2 [Ns2]: what is peculiar to it, and against a plain second
//! implementation.

use jumbolab_queue::law::{Average, Curve, Profile, Red as Law, Spread, Verdict};
use jumbolab_queue::{Discipline as _, Drops, Limit, RedSettings, Spec, Unit, Victim};
use units::{Bytes, Seed, Span, Time};

use crate::naive::{NaiveRed, Parameters};
use crate::red::{CURVE, bursts, bursts_of, filled};
use crate::server::{Server, Tiny, rate};

/// The options gentle, wait, adaptive and drop-from-front that `seed` selects: 5 to 15
/// packets of `mean_size`, and room for 25.
fn both(seed: u64, mean_size: u64) -> (RedSettings, Parameters) {
    let [gentle, wait, adaptive, drop_front] = [0, 1, 2, 3].map(|bit| seed >> bit & 1 == 1);
    let settings = RedSettings {
        curve: Curve { gentle, ..CURVE },
        spread: if wait { Spread::Wait } else { Spread::Uniform },
        adaptive,
        victim: if drop_front {
            Victim::Front
        } else {
            Victim::Arriving
        },
        ..RedSettings::ns2(25, Bytes::new(mean_size))
    };
    let parameters = Parameters {
        bandwidth: 1.5e6,
        mean_size: mean_size as f64,
        limit: 25.0,
        thresh: 5.0,
        maxthresh: 15.0,
        q_weight: 0.0027,
        max_p: 0.1,
        gentle,
        wait,
        adaptive,
        drop_front,
        bytes: false,
    };
    (settings, parameters)
}

/// Asserts that both drop and send the same packets, each in its order. How
/// many of either were dropped.
#[track_caller]
fn decide_alike(
    (settings, parameters): (RedSettings, Parameters),
    seed: u64,
    arrivals: Vec<(Time, Tiny)>,
) -> usize {
    let mut ours = Server::new(&Spec::Red(settings), rate(1_500_000), seed);
    let mut theirs = NaiveRed::new(parameters, seed);
    for (at, packet) in arrivals {
        ours.arrive(at, packet);
        let seconds = at.as_picos() as f64 / 1e12;
        theirs.arrive(seconds, packet.number, packet.size() as f64);
    }
    ours.finish();
    theirs.until(f64::MAX);
    assert_eq!(ours.dropped(), theirs.dropped, "run {seed}");
    assert_eq!(ours.sent(), theirs.sent, "run {seed}");
    theirs.dropped.len()
}

#[test]
fn the_profile_of_ns2_does_what_a_plain_second_implementation_does() {
    let dropped = (0..48)
        .map(|seed| decide_alike(both(seed, 1_500), seed, bursts(seed, 4_000)))
        .sum::<usize>();
    assert!(dropped > 5_000, "{dropped}");
}

#[test]
fn in_bytes_too_the_profile_of_ns2_does_what_a_plain_second_implementation_does() {
    // Acknowledgements, ordinary packets, and larger ones than the average.
    let size = |uniform| match uniform {
        ..0.3 => 40,
        ..0.8 => 1_500,
        _ => 3_000,
    };
    // Also where the mean size is far from what comes.
    for mean_size in [500, 1_200, 1_500] {
        let bytes = Bytes::new(mean_size);
        let dropped = (0..48)
            .map(|seed| {
                let (mut settings, mut parameters) = both(seed, mean_size);
                settings.unit = Unit::Bytes;
                settings.limit = Limit::Bytes(Bytes::new(25 * mean_size));
                settings.curve.min *= bytes.get() as f64;
                settings.curve.max *= bytes.get() as f64;
                parameters.bytes = true;
                decide_alike((settings, parameters), seed, bursts_of(seed, 4_000, size))
            })
            .sum::<usize>();
        assert!(dropped > 5_000, "{dropped}");
    }
}

#[test]
fn ns2s_bytes_count_whole_packets_of_the_mean_size_and_scale_the_draw() {
    // The average stays at 10 packets of 1000 bytes, where the curve says 0.05; the
    // first arrival sets the count of bytes to its own and passes.
    let curve = Curve {
        min: 5_000.0,
        max: 15_000.0,
        ..CURVE
    };
    let mean_size = Bytes::new(1_000);
    let waiting = Bytes::new(10_000);
    for (sizes, share) in [
        // 900 + 900 bytes are one packet, not 1.8: 0.05/(1 - 0.05) x 900/1000.
        ([900, 900], 0.05 / 0.95 * 0.9),
        // 1500 + 1500 are three: 0.05/(1 - 0.15) x 1500/1000.
        ([1_500, 1_500], 0.05 / 0.85 * 1.5),
        // 40 + 40 are none, and what is small is hardly ever drawn.
        ([40, 40], 0.05 * 0.04),
        // 9000 + 9000 are eighteen: 0.05/(1 - 0.9) x 9.
        ([9_000, 9_000], 1.0),
        // Beyond a product of 1 a packet of 40 bytes is lost for certain, not scaled.
        ([20_000, 40], 1.0),
    ] {
        for (draw, verdict) in [
            (share * (1.0 - 1e-9), Verdict::Early),
            (share * (1.0 + 1e-9), Verdict::Pass),
        ] {
            if draw >= 1.0 {
                continue;
            }
            let average = Average::new(1.0, rate(1_500_000), mean_size);
            let mut law = Law::new(average, curve, Spread::Uniform, false, Profile::Ns2);
            law.observe(Time::ZERO, 10_000.0);
            let [first, second] = sizes.map(Bytes::new);
            let passed = law.judge_bytes(waiting, first, mean_size, || 0.0);
            assert_eq!(passed, Verdict::Pass);
            law.observe(Time::ZERO, 10_000.0);
            let judged = law.judge_bytes(waiting, second, mean_size, || draw);
            assert_eq!(judged, verdict, "{sizes:?} {draw}");
        }
    }
}

#[test]
fn ns2_drops_the_second_for_want_of_room_and_never_with_one_waiting() {
    let settings = RedSettings {
        victim: Victim::Front,
        curve: Curve {
            min: 50.0,
            max: 100.0,
            ..CURVE
        },
        ..RedSettings::ns2(3, Bytes::new(1000))
    };
    let (mut queue, dropped) = filled(settings, 5, false);
    let dropped: Vec<u64> = dropped.iter().map(|drop| drop.0.number).collect();
    assert_eq!(dropped, [1, 2]);
    let mut drops = Drops::new();
    assert_eq!(queue.dequeue(Time::ZERO, &mut drops).unwrap().number, 0);
    for (spec, kept) in [
        (Spec::ns2_drop_tail(5), [0, 1, 2, 3]),
        (Spec::ns2_drop_front(5), [5, 6, 7, 8]),
    ] {
        let mut server = spec.build::<Tiny>(None, Seed::new(1)).unwrap();
        for number in 0..9 {
            server.enqueue(Time::ZERO, Tiny::new(number, 1000), &mut drops);
        }
        let numbers = std::iter::from_fn(|| server.dequeue(Time::ZERO, &mut drops));
        assert!(numbers.map(|packet| packet.number).eq(kept));
    }
}

#[test]
fn ns2_drops_one_packet_for_each_that_finds_no_room_whoever_is_the_victim() {
    for victim in [Victim::Arriving, Victim::Front, Victim::Random] {
        let settings = RedSettings {
            victim,
            curve: Curve {
                min: 50.0,
                max: 100.0,
                ..CURVE
            },
            ..RedSettings::ns2(3, Bytes::new(1000))
        };
        let (queue, dropped) = filled(settings, 200, false);
        assert_eq!((queue.backlog().packets, dropped.len()), (3, 197));
    }
}

#[test]
fn an_average_of_min_is_over_min_in_ns2() {
    let average = Average::new(1.0, rate(1_500_000), Bytes::new(1500));
    // The first arrival over min is never dropped; those behind it may be.
    for (between, verdict) in [
        (CURVE.min, Verdict::Early),
        (CURVE.min - 0.001, Verdict::Pass),
    ] {
        let mut law = Law::new(
            average.clone(),
            CURVE,
            Spread::Independent,
            false,
            Profile::Ns2,
        );
        for queue in [10.0, between] {
            law.observe(Time::ZERO, queue);
            assert_eq!(law.judge(9, || 1.0), Verdict::Pass);
        }
        law.observe(Time::ZERO, 10.0);
        assert_eq!(law.judge(9, || 0.0), verdict, "{between}");
    }
}

#[test]
fn ns2_takes_the_slope_it_began_with_from_max_on() {
    let average = Average::new(1.0, rate(1_500_000), Bytes::new(1500));
    let mut law = Law::new(average, CURVE, Spread::Independent, true, Profile::Ns2);
    law.observe(Time::ZERO, CURVE.max);
    law.judge(9, || 1.0);
    law.observe(Time::ZERO + Span::from_secs(1), CURVE.max);
    assert!((law.max_probability() - 0.11).abs() < 1e-12);
    // Between the largest probability as it was and as it is now.
    assert_eq!(law.judge(9, || 0.105), Verdict::Pass);
    assert_eq!(law.judge(9, || 0.1), Verdict::Early);
}
