//! Known answers for RED, adaptive RED, CoDel and PIE.

use queue::law::{Adaptation, Average, Codel, Curve, Pie, PieGains, Profile, Red, Spread, Verdict};
use queue::{AdaptiveRedSettings, Limit};
use units::{Bytes, Rate, Span, Time};

use crate::chance::Chance;
use crate::row::{Row, digits};

const CURVE: Curve = Curve {
    min: 5.0,
    max: 15.0,
    max_probability: 0.1,
    gentle: true,
};

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = averages();
    rows.extend(curve());
    rows.extend(gaps());
    rows.extend(adaptive());
    rows.push(codel());
    rows.extend(pie());
    rows
}

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).expect("more than nothing")
}

fn average(weight: f64) -> Average {
    Average::new(weight, rate(1_500_000), Bytes::new(1500))
}

/// The average queue size after a burst into an empty queue, and after an idle period.
fn averages() -> Vec<Row> {
    let mut rows = Vec::new();
    for (weight, length) in [(0.001, 100_u32), (0.002, 50)] {
        let mut average = average(weight);
        for waiting in 1..=length {
            average.arrive(Time::ZERO, f64::from(waiting));
        }
        // L + 1 + ((1 - w)^(L + 1) - 1)/w [Floyd1993 s6.1].
        let more = f64::from(length) + 1.0;
        let expected = more + (more * (-weight).ln_1p()).exp_m1() / weight;
        let what = format!("RED: average after a burst of {length}, w = {weight}");
        rows.push(Row::exact(what, expected, average.value()));
    }
    for (millis, departures) in [(7, 0), (8, 1), (800, 100)] {
        let mut average = average(0.002);
        average.arrive(Time::ZERO, 20.0);
        let before = average.value();
        average.rest(Time::ZERO);
        average.wake(Time::ZERO + Span::from_millis(millis));
        // (1 - w)^m, where m is the number of packets that could have left
        // [Floyd1993 s4].
        let expected = before * (f64::from(departures) * (-0.002_f64).ln_1p()).exp();
        let what = format!("RED: average after {millis} ms of rest, 8 ms a packet");
        rows.push(Row::exact(what, expected, average.value()));
    }
    rows
}

fn curve() -> Vec<Row> {
    let points = [(10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)];
    let row = |(average, probability)| {
        let what = format!("RED, gentle, 5 to 15, 0.1: probability at an average of {average}");
        Row::exact(what, probability, CURVE.probability(average))
    };
    points.map(row).into()
}

/// The gaps between drops at a probability of 0.02.
fn gaps() -> Vec<Row> {
    let row = |(spread, name, expected): (Spread, &str, f64)| {
        let runs: [f64; 20] = std::array::from_fn(|run| mean_gap(spread, run as u64));
        let what = format!("RED: mean gap between drops at p = 0.02, {name}");
        Row::covered(what, expected, &runs)
    };
    // Uniform from 1 to 1/p - 1, uniform from 1/p to 2/p - 1, or geometric
    // [Floyd1993 s7].
    [
        (Spread::Uniform, "uniform", 25.0),
        (Spread::Wait, "wait", 74.5),
        (Spread::Independent, "independent", 50.0),
    ]
    .map(row)
    .into()
}

fn mean_gap(spread: Spread, seed: u64) -> f64 {
    const GAPS: u32 = 500;
    let average = Average::new(1.0, rate(1_500_000), Bytes::new(1500));
    let mut law = Red::new(average, CURVE, spread, false, Profile::Clean);
    let mut chance = Chance::new(seed);
    let (mut drops, mut arrivals) = (0, 0.0);
    // The gap before the first drop does not count.
    let mut begun = false;
    while drops < GAPS {
        arrivals += 1.0;
        law.observe(Time::ZERO, 7.0);
        if law.judge(7, || chance.uniform()) == Verdict::Early {
            if std::mem::replace(&mut begun, true) {
                drops += 1;
            } else {
                arrivals = 0.0;
            }
        }
    }
    arrivals / f64::from(GAPS)
}

fn adaptive() -> Vec<Row> {
    let after = |moves: u64, average: f64| {
        let mut adaptation = Adaptation::default();
        let mut curve = CURVE;
        for tenth in 1..=5 * moves {
            let now = Time::ZERO + Span::from_millis(100) * tenth;
            curve.max_probability = adaptation.adapt(now, average, &curve, Profile::Clean);
        }
        curve.max_probability
    };
    let raised = (0..10).fold(0.1_f64, |old, _| old + 0.01_f64.min(old / 4.0));
    let settings = AdaptiveRedSettings::new(Limit::Packets(1_000), Bytes::new(1250));
    let fast = settings.settings(rate(1_000_000_000));
    vec![
        Row::exact(
            "adaptive RED: largest probability after 5 s below its target",
            0.1 * 0.9_f64.powi(10),
            after(10, 8.9),
        ),
        Row::exact("adaptive RED: after 5 s above it", raised, after(10, 11.1)),
        Row::exact("adaptive RED: after 5 s within it", 0.1, after(10, 10.0)),
        Row::exact(
            "adaptive RED: min at 100 000 packets/s and 5 ms",
            250.0,
            fast.curve.min,
        ),
        Row::exact(
            "adaptive RED: weight there",
            -(-1e-5_f64).exp_m1(),
            fast.weight,
        ),
    ]
}

/// The times of drops while the queue never empties.
fn codel() -> Row {
    const INTERVAL: Span = Span::from_millis(100);
    let mut law = Codel::new(Span::from_millis(5), INTERVAL, Bytes::new(1500));
    let (late, left) = (Some(Span::from_millis(6)), Bytes::new(100_000));
    law.is_ripe(Time::ZERO, late, left);
    let ripe = Time::ZERO + INTERVAL;
    law.is_ripe(ripe, late, left);
    law.begin(ripe);
    let mut expected = ripe + INTERVAL;
    let mut same = u64::from(law.next() == expected);
    for number in 2..=1_000_u32 {
        law.count();
        law.schedule();
        // t + interval / sqrt(n) [RFC8289 s5.4], rounded to a picosecond.
        let step = (1e11 / f64::from(number).sqrt()).round();
        expected += Span::from_picos(crate::queueing::whole(step));
        same += u64::from(law.next() == expected);
    }
    Row::same(
        "CoDel: of 1000 drops in a standing queue, those at t + interval / sqrt(n)",
        1_000,
        same,
    )
}

/// The first steps of the probability, by hand [RFC8033 s4.2].
fn pie() -> Vec<Row> {
    let gains = PieGains {
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        burst: Span::ZERO,
        alpha: 0.125,
        beta: 1.25,
        derandomise: false,
    };
    // 1 Mb/s: 5000 bytes are 40 ms.
    let mut law = Pie::new(gains, rate(1_000_000));
    let mut rows = Vec::new();
    let first = (0.125 * 0.025 + 1.25 * 0.04) / 2048.0;
    let second = first + 0.125 * 0.025 / 128.0;
    let third = second + 0.125 * 0.025 / 128.0;
    for (step, expected) in [(1, first), (2, second), (3, third)] {
        let now = Time::ZERO + Span::from_millis(15) * step;
        law.advance(now, Bytes::new(5_000));
        let what = format!("PIE: probability after {step} steps at a delay of 40 ms");
        let obtained = law.probability();
        rows.push(Row {
            holds: (obtained - expected).abs() <= 1e-12 * expected,
            expected: digits(expected),
            obtained: digits(obtained),
            rule: "1e-12 relative",
            what,
        });
    }
    rows
}
