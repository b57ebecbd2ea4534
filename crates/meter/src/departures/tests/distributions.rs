//! Every distribution compared with its distribution function, mean and variance.

use statrs::distribution::{
    Cauchy, ContinuousCDF, DiscreteCDF, Exp, Gamma, Normal, Pareto, Poisson, Uniform, Weibull,
};

use super::*;

const DRAWS: u32 = 20_000;

/// The distance between an empirical distribution function of `draws` values and its
/// distribution that one case in a thousand exceeds: the limit of Kolmogorov's distribution, 1 =
/// 1000 x 2 exp(-2 x^2), with the correction for a finite number [Stephens1974].
fn furthest(draws: u32) -> f64 {
    let root = f64::from(draws).sqrt();
    (2_000f64.ln() / 2.0).sqrt() / (root + 0.12 + 0.11 / root)
}

/// The largest distance between the drawn values and `below`, the distribution
/// function. Compared before and after each step of the former; at a step of the distribution
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

fn drawn(distribution: &Distribution, seed: Seed) -> Vec<f64> {
    let mut sampler = Sampler::of(distribution.clone());
    let mut generator = ChaCha8Rng::seed_from_u64(seed.get());
    (0..DRAWS).map(|_| sampler.draw(&mut generator)).collect()
}

/// Negative values are replaced by zero.
fn from_zero(value: f64, distribution: &impl ContinuousCDF<f64, f64>) -> f64 {
    match value < 0.0 {
        true => 0.0,
        false => distribution.cdf(value),
    }
}

#[test]
fn every_distribution_passes_the_test_of_kolmogorov_and_smirnov() {
    type Below = Box<dyn Fn(f64) -> f64>;
    fn continuous(distribution: impl ContinuousCDF<f64, f64> + 'static) -> Below {
        Box::new(move |value| from_zero(value, &distribution))
    }
    let mut distributions: Vec<(Distribution, Below)> = vec![
        (
            Distribution::Exponential(5e6),
            continuous(Exp::new(1.0 / 5e6).unwrap()),
        ),
        (
            Distribution::Uniform(2e6, 6e6),
            continuous(Uniform::new(2e6, 6e6).unwrap()),
        ),
        (
            Distribution::Empirical(vec![40.0, 1_500.0, 1_500.0, 576.0].into()),
            Box::new(|value| match value {
                ..40.0 => 0.0,
                ..576.0 => 0.25,
                ..1_500.0 => 0.5,
                _ => 1.0,
            }),
        ),
    ];
    for (mean, deviation) in [(5e6, 1e6), (1e6, 5e6), (0.0, 1e6)] {
        let distribution = Distribution::Normal(mean, deviation);
        distributions.push((
            distribution,
            continuous(Normal::new(mean, deviation).unwrap()),
        ));
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
        distributions.push((Distribution::Poisson(8.0 * mean, 8.0), Box::new(below)));
    }
    for shape in [0.3, 1.0, 1.5, 2.5, 12.0] {
        let pareto = Pareto::new(1e6, shape).unwrap();
        distributions.push((Distribution::Pareto(shape, 1e6), continuous(pareto)));
        let gamma = Gamma::new(shape, 1e-6).unwrap();
        distributions.push((Distribution::Gamma(shape, 1e6), continuous(gamma)));
        let weibull = Weibull::new(shape, 1e6).unwrap();
        distributions.push((Distribution::Weibull(shape, 1e6), continuous(weibull)));
    }
    for (median, scale) in [(5e6, 1e6), (1e6, 5e6)] {
        let cauchy = Cauchy::new(median, scale).unwrap();
        distributions.push((Distribution::Cauchy(median, scale), continuous(cauchy)));
    }
    for (number, (distribution, below)) in distributions.iter().enumerate() {
        let far = distance(drawn(distribution, SEED.with(number as u64)), below);
        assert!(far < furthest(DRAWS), "{distribution:?}: {far}");
    }
}

#[test]
fn the_test_of_kolmogorov_and_smirnov_tells_a_wrong_distribution() {
    // A mean that is wrong by a tenth is detected, so the test above can fail.
    let wrong = Exp::new(1.0 / 5.5e6).unwrap();
    let below = |value| from_zero(value, &wrong);
    assert!(distance(drawn(&Distribution::Exponential(5e6), SEED), below) > furthest(DRAWS));
}

#[test]
fn means_and_variances_are_those_of_what_is_drawn() {
    let distributions = [
        Distribution::Normal(5e6, 1e6),
        Distribution::Normal(1e6, 5e6),
        Distribution::Normal(0.0, 1e6),
        Distribution::Poisson(21.0, 7.0),
        Distribution::Poisson(3e6, 1e3),
        Distribution::Pareto(5.0, 1e6),
        Distribution::Pareto(9.0, 1e6),
        Distribution::Gamma(0.3, 1e6),
        Distribution::Gamma(1.0, 1e6),
        Distribution::Gamma(12.0, 1e6),
        Distribution::Weibull(0.8, 1e6),
        Distribution::Weibull(1.0, 1e6),
        Distribution::Weibull(3.0, 1e6),
    ];
    let all = f64::from(DRAWS);
    for (number, distribution) in distributions.iter().enumerate() {
        let drawn = drawn(distribution, SEED.with(100 + number as u64));
        let mean = drawn.iter().sum::<f64>() / all;
        let central = |power: i32| {
            let powers = drawn
                .iter()
                .map(|one| (one - distribution.mean()).powi(power));
            powers.sum::<f64>() / all
        };
        // 3.29 standard errors: 99.9 %. The standard error of the variance follows from
        // the fourth moment of the drawn values.
        let error = 3.29 * (distribution.variance() / all).sqrt();
        assert!(
            (mean - distribution.mean()).abs() < error,
            "{distribution:?}: mean {mean}"
        );
        let variance = central(2);
        let error = 3.29 * ((central(4) - variance * variance) / all).sqrt();
        assert!(
            (variance - distribution.variance()).abs() < error,
            "{distribution:?}: variance {variance}, not {}",
            distribution.variance()
        );
    }
}

#[test]
fn known_answers_of_means_and_variances() {
    let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
    // Shape 1 of gamma and of Weibull is the exponential distribution.
    for distribution in [
        Distribution::Gamma(1.0, 3e6),
        Distribution::Weibull(1.0, 3e6),
    ] {
        assert!(
            close(distribution.mean(), 3e6) && close(distribution.variance(), 9e12),
            "{distribution:?}"
        );
    }
    // Shape 2 of Weibull is Rayleigh's distribution.
    let rayleigh = Distribution::Weibull(2.0, 1.0);
    let pi = std::f64::consts::PI;
    assert!(close(rayleigh.mean(), pi.sqrt() / 2.0));
    assert!(close(rayleigh.variance(), 1.0 - pi / 4.0));
    assert!(close(Distribution::Pareto(3.0, 2.0).mean(), 3.0));
    assert!(close(Distribution::Pareto(3.0, 2.0).variance(), 3.0));
    // Half of a normal distribution with mean zero is replaced by zero.
    let half = Distribution::Normal(0.0, 1.0);
    assert!(close(half.mean(), 1.0 / (2.0 * pi).sqrt()));
    assert!(close(half.variance(), 0.5 - 0.5 / pi));
    // Far above zero no value is replaced.
    assert!(close(Distribution::Normal(20.0, 1.0).mean(), 20.0));
    assert!(close(Distribution::Normal(20.0, 1.0).variance(), 1.0));
    // Distributions without a mean or variance.
    let infinite = f64::INFINITY;
    assert_eq!(Distribution::Cauchy(1.0, 1.0).mean(), infinite);
    assert_eq!(Distribution::Cauchy(1.0, 1.0).variance(), infinite);
    assert_eq!(Distribution::Pareto(1.0, 1.0).mean(), infinite);
    assert_eq!(Distribution::Pareto(2.0, 1.0).variance(), infinite);
    assert_eq!(Distribution::Pareto(2.0, 1.0).mean(), 2.0);
}

#[test]
fn what_is_no_distribution_is_rejected_and_nothing_but_zeros_are_drawn_of_it() {
    for (distribution, why) in [
        (Distribution::Constant(f64::NAN), BadDistribution::Numbers),
        (Distribution::Exponential(-1.0), BadDistribution::Numbers),
        (Distribution::Uniform(2.0, 1.0), BadDistribution::Numbers),
        (
            Distribution::Empirical(Vec::new().into()),
            BadDistribution::Numbers,
        ),
        (
            Distribution::Empirical(vec![1.0, -1.0].into()),
            BadDistribution::Numbers,
        ),
        (Distribution::Normal(-1.0, 1.0), BadDistribution::Numbers),
        (
            Distribution::Normal(1.0, f64::INFINITY),
            BadDistribution::Numbers,
        ),
        (Distribution::Poisson(0.0, 1.0), BadDistribution::Count),
        (Distribution::Poisson(1.0, 0.0), BadDistribution::Count),
        (Distribution::Poisson(1.1e9, 1.0), BadDistribution::Count),
        (Distribution::Pareto(0.0, 1.0), BadDistribution::Shape),
        (Distribution::Pareto(1.0, 0.0), BadDistribution::Scale),
        (Distribution::Cauchy(1.0, 0.0), BadDistribution::Scale),
        (Distribution::Gamma(1_001.0, 1.0), BadDistribution::Shape),
        (Distribution::Weibull(0.04, 1.0), BadDistribution::Shape),
        (Distribution::Weibull(1.0, 0.0), BadDistribution::Scale),
    ] {
        assert_eq!(distribution.check(), Err(why), "{distribution:?}");
        let mut stream = Stream::new(distribution, SEED);
        assert!((0..10).all(|_| stream.next() == 0));
    }
}

proptest! {
    #[test]
    fn whatever_the_parameters_are_a_distribution_is_rejected_or_drawn_from(
        which in 0usize..10, one in prop::num::f64::ANY, other in prop::num::f64::ANY,
    ) {
        let distribution = match which {
            0 => Distribution::Constant(one),
            1 => Distribution::Exponential(one),
            2 => Distribution::Uniform(one, other),
            3 => Distribution::Empirical(vec![one, other].into()),
            4 => Distribution::Normal(one, other),
            5 => Distribution::Poisson(one, other),
            6 => Distribution::Pareto(one, other),
            7 => Distribution::Cauchy(one, other),
            8 => Distribution::Gamma(one, other),
            _ => Distribution::Weibull(one, other),
        };
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        let mut sampler = Sampler::of(distribution.clone());
        for _ in 0..10 {
            let drawn = sampler.draw(&mut generator);
            prop_assert!((0.0..=1.8e19).contains(&drawn));
            let (least, most) = distribution.range();
            let most = most.min(1.8e19);
            prop_assert!(distribution.check().is_err() || (least.min(most)..=most).contains(&drawn));
        }
        Schedule::new(Time::ZERO, distribution.clone(), distribution, SEED).take(10).for_each(drop);
    }

    #[test]
    fn every_mean_lies_within_what_is_drawn(distribution in distributions()) {
        prop_assume!(distribution.check().is_ok());
        prop_assert!(distribution.mean() >= 0.0);
        prop_assert!(distribution.variance() >= 0.0);
        let (least, most) = distribution.range();
        prop_assert!(least <= distribution.mean() * (1.0 + 1e-9) && distribution.mean() <= most * (1.0 + 1e-9));
    }
}
