//! Known answers for links: serialisation, propagation, impairments.

use link::{JitterDistribution, Link, PacketOutcome, Settings};
use queue::{Limit, Spec};
use units::{Bytes, Rate, Seed, Span, Time};

use crate::queueing::Plain;
use crate::row::Row;

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = constant();
    rows.extend(impairments());
    rows.extend(jitter());
    rows.push(crooked());
    rows
}

fn perfect(rate: u64) -> Settings {
    let limit = Limit::Bytes(Bytes::new(u64::MAX));
    Settings::perfect(Rate::from_bits_per_second(rate), Spec::DropTail { limit })
}

/// Frames of one size at a constant rate.
fn constant() -> Vec<Row> {
    let mut rows = Vec::new();
    for (frame, rate, delay) in [
        (1518, 1_000_000_000, 10),
        (9018, 1_000_000_000, 10),
        (9018, 100_000_000, 3),
        (64, 10_000_000_000, 0),
    ] {
        let delay = Span::from_millis(delay);
        let settings = Settings {
            delay,
            ..perfect(rate)
        };
        let mut link = Link::new(settings, Seed::new(1)).expect("a plain link");
        // Preamble and gap take 20 bytes [IEEE802.3 s3.1.1] [IEEE802.3 s4.4.2].
        let bits = (frame + 20) * 8;
        let expected = bits * (1_000_000_000_000 / rate) + delay.as_picos();
        let (mut shortest, mut longest) = (u64::MAX, 0);
        let mut now = Time::ZERO;
        for _ in 0..1_000 {
            now += Span::from_millis(1);
            link.receive(now, Plain(frame));
            let out = link.poll_transmit(now + Span::from_secs(1));
            let took = out.and_then(|out| out.at.since(now));
            let took = took.map_or(0, Span::as_picos);
            (shortest, longest) = (shortest.min(took), longest.max(took));
        }
        let frame = format!("{frame} bytes at {} Mbit/s, {delay}", rate / 1_000_000);
        rows.push(Row::same(
            format!("{frame}: serialisation and propagation, ps"),
            expected,
            longest,
        ));
        rows.push(Row::same(
            format!("{frame}: jitter of 1000 frames, ps"),
            0,
            longest - shortest,
        ));
    }
    rows
}

/// A rate at which no frame takes whole picoseconds: no rounding error adds up over
/// many frames.
fn crooked() -> Row {
    const RATE: u64 = 12_345_678;
    const FRAMES: u64 = 10_000;
    let mut link = Link::new(perfect(RATE), Seed::new(1)).expect("a plain link");
    for _ in 0..FRAMES {
        link.receive(Time::ZERO, Plain(1518));
    }
    let mut last = Time::ZERO;
    while let Some(out) = link.poll_transmit(Time::from_picos(u64::MAX)) {
        last = out.at;
    }
    let bits = u128::from(FRAMES) * 1538 * 8;
    let expected = bits * 1_000_000_000_000 / u128::from(RATE);
    Row::same(
        "10000 frames of 1518 bytes in a row at 12.345678 Mbit/s: last bit, ps",
        u64::try_from(expected).unwrap_or(u64::MAX),
        last.as_picos(),
    )
}

/// The frequency of each impairment.
fn impairments() -> Vec<Row> {
    const FRAMES: u64 = 100_000;
    let hits = |settings: Settings, frame: u64, outcome: PacketOutcome| {
        let mut link = Link::new(settings, Seed::new(3)).expect("a plain link");
        for number in 0..FRAMES {
            let now = Time::ZERO + Span::from_micros(100) * number;
            link.receive(now, Plain(frame));
            while link.poll_transmit(now).is_some() {}
        }
        while link.poll_transmit(Time::from_picos(u64::MAX)).is_some() {}
        link.counters().of(outcome)
    };
    let mut rows = Vec::new();
    for loss in [0.001, 0.01, 0.1] {
        let settings = Settings {
            loss,
            ..perfect(1_000_000_000)
        };
        let what = format!("loss = {loss}: share lost of {FRAMES} frames");
        rows.push(Row::frequency(
            what,
            loss,
            hits(settings, 1518, PacketOutcome::Lost),
            FRAMES,
        ));
    }
    for (bit_error_rate, frame) in [(1e-6, 1518), (1e-6, 9018), (1e-5, 9018)] {
        let settings = Settings {
            bit_error_rate,
            ..perfect(1_000_000_000)
        };
        // 1 - (1 - rate)^bits: independent errors.
        let bits = 8.0 * frame as f64;
        let expected = -(bits * (-bit_error_rate).ln_1p()).exp_m1();
        let what = format!("bit error rate {bit_error_rate:e}, {frame} bytes: share damaged");
        let hits = hits(settings, frame, PacketOutcome::Damaged);
        rows.push(Row::frequency(what, expected, hits, FRAMES));
    }
    let settings = Settings {
        duplicate: 0.05,
        ..perfect(1_000_000_000)
    };
    rows.push(Row::frequency(
        "duplicate = 0.05: share that arrives twice",
        0.05,
        hits(settings, 1518, PacketOutcome::Duplicated),
        FRAMES,
    ));
    rows
}

/// The mean extra delay of each distribution. Frames are far enough apart not to delay each
/// other.
fn jitter() -> Vec<Row> {
    let distributions = [
        (JitterDistribution::Uniform, "uniform", 0.5),
        (
            JitterDistribution::Normal,
            "normal",
            std::f64::consts::FRAC_2_PI.sqrt(),
        ),
        (JitterDistribution::Exponential, "exponential", 1.0),
    ];
    let row = |(distribution, name, expected): (JitterDistribution, &str, f64)| {
        let runs: [f64; 20] = std::array::from_fn(|run| mean_jitter(distribution, run as u64));
        let what = format!("jitter = 1 ms, {name}: mean extra delay, ms");
        Row::covered(what, expected, &runs)
    };
    distributions.map(row).into()
}

fn mean_jitter(distribution: JitterDistribution, seed: u64) -> f64 {
    const FRAMES: u32 = 1_000;
    let settings = Settings {
        jitter: Span::from_millis(1),
        jitter_distribution: distribution,
        rate: None,
        ..perfect(1)
    };
    let mut link = Link::new(settings, Seed::new(seed)).expect("a plain link");
    let (mut now, mut total) = (Time::ZERO, 0.0);
    for _ in 0..FRAMES {
        now += Span::from_secs(1);
        link.receive(now, Plain(100));
        let out = link.poll_transmit(now + Span::from_millis(999));
        let extra = out.and_then(|out| out.at.since(now));
        total += extra.unwrap_or_default().as_millis_f64();
    }
    total / f64::from(FRAMES)
}
