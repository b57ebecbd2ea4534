//! Every law compared with its distribution function, mean and variance.

use statrs::distribution::{
    Cauchy, ContinuousCDF, DiscreteCDF, Exp, Gamma, Normal, Pareto, Poisson, Uniform, Weibull,
};

use super::*;

const DRAWS: u32 = 20_000;

/// The distance between an empirical distribution function of `draws` values and its
/// law that one case in a thousand exceeds: the limit of Kolmogorov's distribution, 1 =
/// 1000 x 2 exp(-2 x^2), with the correction for a finite number [Stephens1974].
fn furthest(draws: u32) -> f64 {
    let root = f64::from(draws).sqrt();
    (2_000f64.ln() / 2.0).sqrt() / (root + 0.12 + 0.11 / root)
}

/// The largest distance between the drawn values and `below`, the distribution
/// function. Compared before and after each step of the former; at a step of the law
/// `below` has one, too.
fn distance(mut drawn: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
    drawn.sort_by(f64::total_cmp);
    let all = drawn.len() as f64;
    let mut before = 0;
    let mut largest = 0.0f64;
    for equal in drawn.chunk_by(|one, other| one == other) {
        let value = equal[0];
        let after = before + equal.len();
        let from_above = (after as f64 / all - below(value)).abs();
        let from_below = (before as f64 / all - below(value.next_down())).abs();
        largest = largest.max(from_above).max(from_below);
        before = after;
    }
    largest
}

fn drawn(law: &Law, seed: Seed) -> Vec<f64> {
    let sampler = Sampler::of(law.clone());
    let mut generator = ChaCha8Rng::seed_from_u64(seed.get());
    (0..DRAWS).map(|_| sampler.draw(&mut generator)).collect()
}

/// Negative values are replaced by zero.
fn from_zero(value: f64, law: &impl ContinuousCDF<f64, f64>) -> f64 {
    match value < 0.0 {
        true => 0.0,
        false => law.cdf(value),
    }
}

#[test]
fn every_law_passes_the_test_of_kolmogorov_and_smirnov() {
    type Below = Box<dyn Fn(f64) -> f64>;
    fn continuous(law: impl ContinuousCDF<f64, f64> + 'static) -> Below {
        Box::new(move |value| from_zero(value, &law))
    }
    let mut laws: Vec<(Law, Below)> = vec![
        (
            Law::Exponential(5e6),
            continuous(Exp::new(1.0 / 5e6).unwrap()),
        ),
        (
            Law::Uniform(2e6, 6e6),
            continuous(Uniform::new(2e6, 6e6).unwrap()),
        ),
        (
            Law::Empirical(vec![40.0, 1_500.0, 1_500.0, 576.0].into()),
            Box::new(|value| match value {
                ..40.0 => 0.0,
                ..576.0 => 0.25,
                ..1_500.0 => 0.5,
                _ => 1.0,
            }),
        ),
    ];
    for (mean, deviation) in [(5e6, 1e6), (1e6, 5e6), (0.0, 1e6)] {
        let law = Law::Normal(mean, deviation);
        laws.push((law, continuous(Normal::new(mean, deviation).unwrap())));
    }
    // Both sides of the mean at which `rand_distr` changes its method.
    for mean in [0.5, 3.0, 11.0, 13.0, 1_000.0] {
        let count = Poisson::new(mean).unwrap();
        let below = move |value: f64| match value < 0.0 {
            true => 0.0,
            // Multiples of a power of two are exact.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count, not below zero"
            )]
            false => count.cdf((value / 8.0).floor() as u64),
        };
        laws.push((Law::Poisson(8.0 * mean, 8.0), Box::new(below)));
    }
    for shape in [0.3, 1.0, 1.5, 2.5, 12.0] {
        let pareto = Pareto::new(1e6, shape).unwrap();
        laws.push((Law::Pareto(shape, 1e6), continuous(pareto)));
        let gamma = Gamma::new(shape, 1e-6).unwrap();
        laws.push((Law::Gamma(shape, 1e6), continuous(gamma)));
        let weibull = Weibull::new(shape, 1e6).unwrap();
        laws.push((Law::Weibull(shape, 1e6), continuous(weibull)));
    }
    for (median, scale) in [(5e6, 1e6), (1e6, 5e6)] {
        let cauchy = Cauchy::new(median, scale).unwrap();
        laws.push((Law::Cauchy(median, scale), continuous(cauchy)));
    }
    for (number, (law, below)) in laws.iter().enumerate() {
        let far = distance(drawn(law, SEED.with(number as u64)), below);
        assert!(far < furthest(DRAWS), "{law:?}: {far}");
    }
}

#[test]
fn the_test_of_kolmogorov_and_smirnov_tells_a_wrong_law() {
    // A mean that is wrong by a tenth is detected, so the test above can fail.
    let wrong = Exp::new(1.0 / 5.5e6).unwrap();
    let below = |value| from_zero(value, &wrong);
    assert!(distance(drawn(&Law::Exponential(5e6), SEED), below) > furthest(DRAWS));
}

#[test]
fn means_and_variances_are_those_of_what_is_drawn() {
    let laws = [
        Law::Normal(5e6, 1e6),
        Law::Normal(1e6, 5e6),
        Law::Normal(0.0, 1e6),
        Law::Poisson(21.0, 7.0),
        Law::Poisson(3e6, 1e3),
        Law::Pareto(5.0, 1e6),
        Law::Pareto(9.0, 1e6),
        Law::Gamma(0.3, 1e6),
        Law::Gamma(1.0, 1e6),
        Law::Gamma(12.0, 1e6),
        Law::Weibull(0.8, 1e6),
        Law::Weibull(1.0, 1e6),
        Law::Weibull(3.0, 1e6),
    ];
    let all = f64::from(DRAWS);
    for (number, law) in laws.iter().enumerate() {
        let drawn = drawn(law, SEED.with(100 + number as u64));
        let mean = drawn.iter().sum::<f64>() / all;
        let central = |power: i32| {
            let powers = drawn.iter().map(|one| (one - law.mean()).powi(power));
            powers.sum::<f64>() / all
        };
        // 3.29 standard errors: 99.9 %. The standard error of the variance follows from
        // the fourth moment of the drawn values.
        let error = 3.29 * (law.variance() / all).sqrt();
        assert!((mean - law.mean()).abs() < error, "{law:?}: mean {mean}");
        let variance = central(2);
        let error = 3.29 * ((central(4) - variance * variance) / all).sqrt();
        assert!(
            (variance - law.variance()).abs() < error,
            "{law:?}: variance {variance}, not {}",
            law.variance()
        );
    }
}

#[test]
fn known_answers_of_means_and_variances() {
    let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
    // Shape 1 of gamma and of Weibull is the exponential law.
    for law in [Law::Gamma(1.0, 3e6), Law::Weibull(1.0, 3e6)] {
        assert!(
            close(law.mean(), 3e6) && close(law.variance(), 9e12),
            "{law:?}"
        );
    }
    // Shape 2 of Weibull is Rayleigh's law.
    let rayleigh = Law::Weibull(2.0, 1.0);
    let pi = std::f64::consts::PI;
    assert!(close(rayleigh.mean(), pi.sqrt() / 2.0));
    assert!(close(rayleigh.variance(), 1.0 - pi / 4.0));
    assert!(close(Law::Pareto(3.0, 2.0).mean(), 3.0));
    assert!(close(Law::Pareto(3.0, 2.0).variance(), 3.0));
    // Half of a normal law with mean zero is replaced by zero.
    let half = Law::Normal(0.0, 1.0);
    assert!(close(half.mean(), 1.0 / (2.0 * pi).sqrt()));
    assert!(close(half.variance(), 0.5 - 0.5 / pi));
    // Far above zero no value is replaced.
    assert!(close(Law::Normal(20.0, 1.0).mean(), 20.0));
    assert!(close(Law::Normal(20.0, 1.0).variance(), 1.0));
    // Laws without a mean or variance.
    let infinite = f64::INFINITY;
    assert_eq!(Law::Cauchy(1.0, 1.0).mean(), infinite);
    assert_eq!(Law::Cauchy(1.0, 1.0).variance(), infinite);
    assert_eq!(Law::Pareto(1.0, 1.0).mean(), infinite);
    assert_eq!(Law::Pareto(2.0, 1.0).variance(), infinite);
    assert_eq!(Law::Pareto(2.0, 1.0).mean(), 2.0);
}

#[test]
fn what_is_no_law_is_refused_and_nothing_but_zeros_are_drawn_of_it() {
    for (law, why) in [
        (Law::Constant(f64::NAN), BadLaw::Numbers),
        (Law::Exponential(-1.0), BadLaw::Numbers),
        (Law::Uniform(2.0, 1.0), BadLaw::Numbers),
        (Law::Empirical(Vec::new().into()), BadLaw::Numbers),
        (Law::Empirical(vec![1.0, -1.0].into()), BadLaw::Numbers),
        (Law::Normal(-1.0, 1.0), BadLaw::Numbers),
        (Law::Normal(1.0, f64::INFINITY), BadLaw::Numbers),
        (Law::Poisson(0.0, 1.0), BadLaw::Count),
        (Law::Poisson(1.0, 0.0), BadLaw::Count),
        (Law::Poisson(1.1e9, 1.0), BadLaw::Count),
        (Law::Pareto(0.0, 1.0), BadLaw::Shape),
        (Law::Pareto(1.0, 0.0), BadLaw::Scale),
        (Law::Cauchy(1.0, 0.0), BadLaw::Scale),
        (Law::Gamma(1_001.0, 1.0), BadLaw::Shape),
        (Law::Weibull(0.04, 1.0), BadLaw::Shape),
        (Law::Weibull(1.0, 0.0), BadLaw::Scale),
    ] {
        assert_eq!(law.check(), Err(why), "{law:?}");
        let mut stream = Stream::new(law, SEED);
        assert!((0..10).all(|_| stream.next() == 0));
    }
}

proptest! {
    #[test]
    fn whatever_the_parameters_are_a_law_is_refused_or_drawn_from(
        which in 0usize..10, one in prop::num::f64::ANY, other in prop::num::f64::ANY,
    ) {
        let law = match which {
            0 => Law::Constant(one),
            1 => Law::Exponential(one),
            2 => Law::Uniform(one, other),
            3 => Law::Empirical(vec![one, other].into()),
            4 => Law::Normal(one, other),
            5 => Law::Poisson(one, other),
            6 => Law::Pareto(one, other),
            7 => Law::Cauchy(one, other),
            8 => Law::Gamma(one, other),
            _ => Law::Weibull(one, other),
        };
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        let sampler = Sampler::of(law.clone());
        for _ in 0..10 {
            let drawn = sampler.draw(&mut generator);
            prop_assert!((0.0..=1.8e19).contains(&drawn));
            let (least, most) = law.range();
            let most = most.min(1.8e19);
            prop_assert!(law.check().is_err() || (least.min(most)..=most).contains(&drawn));
        }
        Schedule::new(Time::ZERO, law.clone(), law, SEED).take(10).for_each(drop);
    }

    #[test]
    fn every_mean_lies_within_what_is_drawn(law in laws()) {
        prop_assume!(law.check().is_ok());
        prop_assert!(law.mean() >= 0.0);
        prop_assert!(law.variance() >= 0.0);
        let (least, most) = law.range();
        prop_assert!(least <= law.mean() * (1.0 + 1e-9) && law.mean() <= most * (1.0 + 1e-9));
    }
}
