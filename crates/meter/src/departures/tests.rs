mod distributions;
mod schedules;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use units::{Seed, Time};

use super::draw::{Sampler, Stream};
use super::*;

const SEED: Seed = Seed::new(7);

fn distributions() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        (0.0..1e9).prop_map(Distribution::Constant),
        (1.0..1e9).prop_map(Distribution::Exponential),
        (0.0..1e6, 1e6..1e9).prop_map(|(least, most)| Distribution::Uniform(least, most)),
        prop::collection::vec(0.0..1e9, 0..20)
            .prop_map(|seen| Distribution::Empirical(seen.into())),
        prop::collection::vec(0.0..1e9, 0..20).prop_map(|seen| Distribution::Series(seen.into())),
        (0.0..1e9, 0.0..1e9).prop_map(|(mean, deviation)| Distribution::Normal(mean, deviation)),
        (1.0..1e9, 1.0..1e6).prop_map(|(mean, unit)| Distribution::Poisson(mean, unit)),
        (0.05..10.0, 1.0..1e9).prop_map(|(shape, scale)| Distribution::Pareto(shape, scale)),
        (0.0..1e9, 1.0..1e9).prop_map(|(median, scale)| Distribution::Cauchy(median, scale)),
        (0.05..10.0, 1.0..1e9).prop_map(|(shape, scale)| Distribution::Gamma(shape, scale)),
        (0.05..10.0, 1.0..1e9).prop_map(|(shape, scale)| Distribution::Weibull(shape, scale)),
    ]
}

/// Mean and variance of `draws` values, rounding included.
fn moments(distribution: &Distribution, draws: u32) -> (f64, f64) {
    let mut stream = Stream::new(distribution.clone(), SEED);
    let drawn: Vec<f64> = (0..draws).map(|_| stream.next() as f64).collect();
    let mean = drawn.iter().sum::<f64>() / f64::from(draws);
    let square = |value: &f64| (value - mean).powi(2);
    (
        mean,
        drawn.iter().map(square).sum::<f64>() / f64::from(draws),
    )
}

proptest! {
    #[test]
    fn instants_never_go_back_and_the_same_seed_gives_the_same_packets(
        gaps in distributions(), sizes in distributions(), seed: u64, begin in 0u64..1_000_000,
    ) {
        let seed = Seed::new(seed);
        let begin = Time::from_picos(begin);
        let packets = || Schedule::new(begin, gaps.clone(), sizes.clone(), seed).take(50);
        let mut last = begin;
        for (at, _) in packets() {
            prop_assert!(at >= last);
            last = at;
        }
        prop_assert!(packets().eq(packets()));
    }

    #[test]
    fn another_distribution_of_sizes_never_moves_an_instant(gaps in distributions(), one in distributions(), other in distributions()) {
        let instants = |sizes| {
            Schedule::new(Time::ZERO, gaps.clone(), sizes, SEED).take(50).map(|(at, _)| at)
        };
        prop_assert!(instants(one).eq(instants(other)));
    }

    #[test]
    fn constant_gaps_add_up_to_the_picosecond(
        bytes in 64u64..70_000, bits in 1_000u64..100_000_000_000, packets in 1usize..2_000,
    ) {
        let rate = Rate::from_bits_per_second(bits).unwrap();
        let gap = Distribution::Constant(mean_gap(Bytes::new(bytes), rate));
        let sizes = Distribution::Constant(bytes as f64);
        let (last, size) = Schedule::new(Time::ZERO, gap, sizes, SEED).nth(packets - 1).unwrap();
        prop_assert_eq!(size, Bytes::new(bytes));
        let all = rate.serialise(Bytes::new(bytes * packets as u64));
        // A sum of doubles may differ in its last bit.
        prop_assert!(last.as_picos().abs_diff(all.as_picos()) <= 1 + all.as_picos() / (1 << 50));
    }

    #[test]
    fn rounding_down_loses_less_than_one_in_all(distribution in distributions()) {
        let mut stream = Stream::new(distribution.clone(), SEED);
        let mut exact = ChaCha8Rng::seed_from_u64(SEED.get());
        let mut sampler = Sampler::of(distribution);
        let (mut whole, mut drawn, mut largest) = (0u128, 0.0, 1e9f64);
        for _ in 0..500 {
            whole += u128::from(stream.next());
            let one = sampler.draw(&mut exact);
            largest = largest.max(one);
            drawn += one;
        }
        // Doubles round the largest values.
        let off = drawn - whole as f64;
        let lost = 500.0 * 500.0 * largest * f64::EPSILON;
        prop_assert!((-0.01 - lost..1.01 + lost).contains(&off), "{}", off);
    }
}

#[test]
fn every_distribution_has_the_mean_and_the_variance_of_its_name() {
    // Within four standard errors; the variance of an exponential's square is the
    // largest of them.
    let draws = 200_000;
    let root = f64::from(draws).sqrt();
    for (distribution, variance) in [
        (Distribution::Constant(12_304.25), 0.0f64),
        (Distribution::Exponential(5e6), 25e12),
        (Distribution::Uniform(2e6, 6e6), 16e12 / 12.0),
        (
            Distribution::Empirical(vec![40.0, 1_500.0, 1_500.0, 576.0].into()),
            388_812.0,
        ),
    ] {
        let (mean, seen) = moments(&distribution, draws);
        let error = 4.0 * variance.sqrt() / root;
        assert!(
            (mean - distribution.mean()).abs() <= error + 1e-2,
            "{distribution:?}: {mean}"
        );
        assert!(
            (seen - variance).abs() <= 4.0 * variance * 3.0 / root + 1.0,
            "{distribution:?}: {seen}"
        );
    }
}

#[test]
fn a_series_is_taken_in_order_and_from_the_first_value_again() {
    let mut stream = Stream::new(Distribution::Series(vec![300.0, 100.0, 200.0].into()), SEED);
    let taken: Vec<u64> = (0..7).map(|_| stream.next()).collect();
    assert_eq!(taken, [300, 100, 200, 300, 100, 200, 300]);
    let parsed = WrittenDistribution::parse("series:sizes.txt", Measure::Sizes, |path| {
        Ok((path.to_owned(), vec![5.0].into()))
    });
    let parsed = parsed.unwrap();
    assert_eq!(parsed.to_string(), "series:sizes.txt");
    assert_eq!(parsed.distribution, Distribution::Series(vec![5.0].into()));
    assert!(is_file("series:a") && is_file("file:a") && !is_file("serial:a"));
}

#[test]
fn half_of_all_exponential_gaps_are_shorter_than_the_logarithm_of_two() {
    let mut stream = Stream::new(Distribution::Exponential(1e9), SEED);
    let short = (0..100_000).filter(|_| stream.next() < 693_147_181).count();
    // Four standard errors of a fair coin.
    assert!(short.abs_diff(50_000) < 632, "{short}");
}

#[test]
fn thirty_per_cent_of_a_gigabit_in_full_frames_is_one_in_41_us() {
    let rate = Rate::from_bits_per_second(300_000_000).unwrap();
    assert!((mean_gap(Bytes::new(1538), rate) - 41_013_333.333).abs() < 1e-3);
}
