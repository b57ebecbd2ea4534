//! Frequencies of the impairments, and the delays that they add.

use super::*;

/// The number of 100 000 frames of `size` bytes with `outcome`.
fn frequency(settings: Settings, size: u64, outcome: PacketOutcome) -> u64 {
    let mut link = link(Settings {
        rate: None,
        ..settings
    });
    for number in 0..100_000 {
        link.receive(Time::from_nanos(number), Frame(number, size));
        while link.poll_transmit(Time::from_nanos(number)).is_some() {}
    }
    link.counters().of(outcome)
}

/// Whether `count` of 100 000 lies within a 99 % interval of `probability`.
fn plausible(count: u64, probability: f64) {
    let expected = 100_000.0 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    let distance = (count as f64 - expected).abs();
    assert!(
        distance <= 2.576 * deviation,
        "{count} of 100000 at {probability}"
    );
}

#[test]
fn every_distribution_applies_as_often_as_asked() {
    let base = || perfect(1);
    for probability in [0.001, 0.01, 0.3] {
        let lossy = Settings {
            loss: probability,
            ..base()
        };
        plausible(frequency(lossy, 1518, PacketOutcome::Lost), probability);
        let doubling = Settings {
            duplicate: probability,
            ..base()
        };
        plausible(
            frequency(doubling, 1518, PacketOutcome::Duplicated),
            probability,
        );
    }
    assert_eq!(
        frequency(
            Settings {
                loss: 1.0,
                ..base()
            },
            64,
            PacketOutcome::Lost
        ),
        100_000
    );
    assert_eq!(frequency(base(), 64, PacketOutcome::Delivered), 100_000);
}

#[test]
fn bit_errors_hit_long_frames_more_often_by_the_formula() {
    for (rate, size) in [(1e-6, 64), (1e-6, 1518), (1e-6, 9018), (1e-5, 9018)] {
        let noisy = Settings {
            bit_error_rate: rate,
            ..perfect(1)
        };
        let expected = 1.0 - (1.0_f64 - rate).powf(8.0 * size as f64);
        plausible(frequency(noisy, size, PacketOutcome::Damaged), expected);
    }
}

/// Extra delays of frames too far apart to delay each other, in units of 100 us,
/// sorted.
fn extra_delays(distribution: JitterDistribution) -> Vec<f64> {
    let mut link = link(Settings {
        jitter: Span::from_micros(100),
        jitter_distribution: distribution,
        ..perfect(1_000_000_000)
    });
    let mut shares = Vec::new();
    for number in 0..10_000 {
        let sent = Time::from_picos(number * 5_000_000_000);
        link.receive(sent, Frame(number, 64));
        let (at, frame, _) = drain(&mut link)[0];
        assert_eq!(frame.0, number);
        let extra = at.since(sent + Span::from_nanos(672)).unwrap();
        assert!(extra < distribution.reach(Span::from_micros(100)));
        shares.push(extra.as_secs_f64() * 1e4);
    }
    shares.sort_by(f64::total_cmp);
    shares
}

#[test]
fn extra_delays_follow_the_distribution_that_was_asked_for() {
    // Mean, standard deviation and median of each distribution for a scale of 1.
    let half_normal = (2.0 / std::f64::consts::PI).sqrt();
    for (distribution, mean, deviation, median) in [
        (
            JitterDistribution::Uniform,
            0.5,
            (1.0f64 / 12.0).sqrt(),
            0.5,
        ),
        (
            JitterDistribution::Normal,
            half_normal,
            (1.0 - half_normal * half_normal).sqrt(),
            0.674_49,
        ),
        (
            JitterDistribution::Exponential,
            1.0,
            1.0,
            std::f64::consts::LN_2,
        ),
    ] {
        let shares = extra_delays(distribution);
        let seen = shares.iter().sum::<f64>() / 10_000.0;
        let off = (seen - mean).abs();
        assert!(off < 2.576 * deviation / 100.0, "{distribution:?}: {seen}");
        let below = shares.iter().filter(|&&share| share < median).count();
        // Half of 10 000 within 2.576 standard deviations of 50.
        assert!(below.abs_diff(5_000) <= 128, "{distribution:?}: {below}");
    }
}

#[test]
fn uniform_draws_are_the_same_for_ever() {
    let mut link = link(Settings {
        jitter: Span::from_micros(100),
        ..perfect(1_000_000_000)
    });
    let extras = [0u64, 1, 2].map(|number| {
        let sent = Time::from_picos(number * 1_000_000_000);
        link.receive(sent, Frame(number, 64));
        let (at, _, _) = drain(&mut link)[0];
        at.since(sent + Span::from_nanos(672)).unwrap().as_picos()
    });
    assert_eq!(extras, [72_367_472, 10_307_092, 3_872_187]);
}

#[test]
fn an_rng_that_begins_anew_is_that_of_a_new_link() {
    let settings = || Settings {
        loss: 0.3,
        ..perfect(1_000_000_000)
    };
    let outcomes = |link: &mut Link<Frame>| {
        for number in 0..100 {
            link.receive(Time::ZERO, Frame(number, 64));
        }
        drain(link).iter().map(|out| out.1.0).collect::<Vec<_>>()
    };
    let mut used = link(settings());
    outcomes(&mut used);
    used.reseed(Time::ZERO, Seed::new(7));
    let mut new = Link::new(settings(), Seed::new(7)).unwrap();
    assert_eq!(outcomes(&mut used), outcomes(&mut new));
}

#[test]
fn one_distribution_does_not_change_the_draws_of_another() {
    let lost = |jitter: Span, duplicate: f64| {
        let mut link = link(Settings {
            loss: 0.1,
            jitter,
            duplicate,
            ..perfect(1_000_000_000)
        });
        for number in 0..1_000 {
            link.receive(Time::ZERO, Frame(number, 1518));
        }
        let mut out: Vec<u64> = drain(&mut link).iter().map(|out| out.1.0).collect();
        out.sort_unstable();
        out
    };
    assert_eq!(lost(Span::default(), 0.0), lost(Span::from_millis(1), 0.2));
}
