//! Trimmed means whose spread is that of the bootstrap.
//!
//! They are for samples of which other work on the machine disturbed some values. How far
//! such values lie from the others, and how many they are, is not known, so no
//! distribution of them is assumed: the variance is that of the trimmed means of samples
//! that are drawn from the values with replacement [Efron1979]. The trimmed mean leaves out
//! the lowest and the highest fifth, so that the worst disturbances do not decide it
//! [TukeyMcLaughlin1963].

use super::trimmed::{TRIMMED_AT_EACH_END, Trimmed, count_outliers, trimmed_mean};
use super::{Mean, count, interval, mean};

/// The minimum number of values of which some are left out. Fewer have their mean.
const FEWEST: usize = TRIMMED_AT_EACH_END;

/// The most values whose bootstrap is computed. Of more, the Winsorized variance differs
/// from it by less than a hundredth.
const MOST: usize = 200;

/// The trimmed mean of at least five values, with the variance of the bootstrap.
pub(super) fn bootstrapped(values: &[f64]) -> Option<Mean> {
    let plain = mean(values)?;
    if values.len() < FEWEST {
        return None;
    }
    if values.len() > MOST {
        return trimmed_mean(values);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let out = values.len() / TRIMMED_AT_EACH_END;
    let kept = &sorted[out..sorted.len() - out];
    let estimate = kept.iter().sum::<f64>() / count(kept.len());
    let n = count(values.len());
    // The variance of values in a sample is n - 1 parts in n of that of their source.
    let variance = variance(&sorted, out, estimate) * n / (n - 1.0);
    let freedom = n - 1.0;
    estimate.is_finite().then(|| Mean {
        mean: estimate,
        variance: Some(variance),
        freedom,
        ci95: interval(estimate, variance, freedom),
        trimmed: Some(Trimmed {
            plain: plain.mean,
            outliers: count_outliers(values),
        }),
        ..plain
    })
}

/// The variance of the trimmed mean of a sample that is drawn from the `sorted` values with
/// replacement, as many as there are, and that loses `out` values at each end. It is that
/// of infinitely many samples, so nothing is left to chance. `near` is a value in their
/// midst.
///
/// From the lowest value to the highest it is decided how often the sample has each. Of a
/// number of draws so far the probability is known, and the first two moments of the sum
/// of those that the trimmed mean keeps, each multiplied by that probability.
fn variance(sorted: &[f64], out: usize, near: f64) -> f64 {
    let n = sorted.len();
    let kept = n - 2 * out;
    let mut states = vec![[0.0; 3]; n + 1];
    states[0] = [1.0, 0.0, 0.0];
    for (place, value) in sorted.iter().enumerate() {
        let value = value - near;
        // The probability that a draw which is no lower value is this one.
        let odds = 1.0 / count(n - place);
        let mut next = vec![[0.0; 3]; n + 1];
        for (drawn, &[probability, first, second]) in states.iter().enumerate() {
            for (times, share) in binomial(n - drawn, odds).into_iter().enumerate() {
                let end = (drawn + times).clamp(out, n - out);
                let part = value * count(end - drawn.clamp(out, n - out));
                let state = &mut next[drawn + times];
                state[0] += share * probability;
                state[1] += share * (first + part * probability);
                state[2] += share * (second + 2.0 * part * first + part * part * probability);
            }
        }
        states = next;
    }
    let [_, first, second] = states[n].map(|moment| moment / count(kept));
    (second / count(kept) - first * first).max(0.0)
}

/// The probabilities of 0 to `tries` successes.
fn binomial(tries: usize, odds: f64) -> Vec<f64> {
    let mut all = vec![0.0; tries + 1];
    if odds >= 1.0 {
        all[tries] = 1.0;
        return all;
    }
    all[0] = (1.0 - odds).powi(i32::try_from(tries).unwrap_or(i32::MAX));
    for hits in 0..tries {
        all[hits + 1] = all[hits] * count(tries - hits) / count(hits + 1) * odds / (1.0 - odds);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Estimator;
    use plan::synthetic::Normal;

    /// The trimmed means of all samples of five values.
    fn all_samples(values: [f64; 5], out: usize) -> Vec<f64> {
        let digits = |number: usize| [1, 5, 25, 125, 625].map(|power| values[number / power % 5]);
        let trimmed = |mut sample: [f64; 5]| {
            sample.sort_by(f64::total_cmp);
            sample[out..5 - out].iter().sum::<f64>() / count(5 - 2 * out)
        };
        (0..3125).map(|number| trimmed(digits(number))).collect()
    }

    #[test]
    fn the_variance_is_that_of_all_samples() {
        let values = [1.0, 3.0, 4.0, 20.0, 31.0];
        for out in [0, 1, 2] {
            let samples = all_samples(values, out);
            let centre = samples.iter().sum::<f64>() / 3125.0;
            let squares = samples.iter().map(|one| (one - centre).powi(2));
            let expected = squares.sum::<f64>() / 3125.0;
            for near in [0.0, 8.0] {
                let found = variance(&values, out, near);
                assert!((found - expected).abs() < 1e-9, "{out}: {found} {expected}");
            }
        }
    }

    #[test]
    fn of_a_mean_it_is_students() {
        let mut values = Normal::new(3).sample(12, 930.0, 9.0);
        values.sort_by(f64::total_cmp);
        let found = variance(&values, 0, 930.0) * 12.0 / 11.0;
        let known = mean(&values).unwrap().variance.unwrap();
        assert!((found / known - 1.0).abs() < 1e-9, "{found} {known}");
    }

    #[test]
    fn of_many_values_it_is_nearly_the_winsorized_variance() {
        let values = Normal::new(4).sample(MOST, 930.0, 9.0);
        let own = bootstrapped(&values).unwrap();
        let known = trimmed_mean(&values).unwrap();
        assert_eq!(own.mean, known.mean);
        let ratio = own.variance.unwrap() / known.variance.unwrap();
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn an_approximate_result_of_few_or_equal_values_is_their_mean() {
        for values in [&[1.0, 2.0, 6.0, 3.0][..], &[7.0; 9]] {
            let found = Estimator::Approximate.estimate(values).unwrap();
            assert!(found.is_approximate);
            assert_eq!((found.mean, found.ci95), {
                let plain = mean(values).unwrap();
                (plain.mean, plain.ci95)
            });
        }
        let found = Estimator::Approximate.estimate(&[930.0, 929.0, 931.0, 928.0, 400.0]);
        let found = found.unwrap();
        assert_eq!(
            (found.mean, found.n),
            (929.0, 5),
            "without the lowest and the highest"
        );
    }
}
