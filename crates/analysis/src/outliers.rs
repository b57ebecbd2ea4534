//! Outliers among the trials of a cell.
//!
//! No trial is removed because of its value: the cause of an outlier may be of
//! interest, and outliers are named with the median and the mean of all trials.
//! Comparisons of a metric with gross outliers use trimmed means, which leave out
//! as many trials at both ends of every cell ([`crate::statistics::Estimator`]).

use plan::metric::{METRICS, Metric};
use plan::{Factors, Plan, Trial};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::statistics::{Interval, OUTLIER, median, scores};

/// The number of samples of the bootstrap, and the seed of their draws.
const SAMPLES: usize = 2_000;
const SEED: u64 = 1;

/// The most values from which samples are drawn. Of more, the percentiles that samples
/// approximate are known well enough without them.
const MOST_SAMPLED: usize = 2_000;

/// The distance of the 97.5 % percentile of a normal variable from its mean, in standard
/// deviations.
const REACH: f64 = 1.959_963_984_540_054;

/// The trials of one cell that are outliers in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier<'a> {
    pub metric: &'static Metric,
    /// The cell's factors.
    pub factors: &'a Factors,
    /// Trials of the cell that report the metric.
    pub n: usize,
    /// The number of values far above the median.
    pub above: usize,
    /// The number of values far below the median.
    pub below: usize,
    /// The mean of all values, which outliers move.
    pub mean: f64,
    /// The median, which few outliers hardly move.
    pub median: f64,
    /// Its 95 % interval by the bootstrap's percentiles [Efron1979].
    pub median_ci95: Interval,
    /// The name of the trial that is farthest from it, and its value.
    pub farthest: (&'a str, f64),
}

/// The outliers of each cell and leading metric.
pub fn outliers<'a>(plan: &'a Plan, by_cell: &[Vec<&'a Trial>]) -> Vec<Outlier<'a>> {
    let metrics = METRICS.iter().filter(|metric| plan.leads(metric));
    let cells = || plan.cells.iter().zip(by_cell);
    metrics
        .flat_map(|metric| cells().map(move |(cell, trials)| (metric, cell, trials)))
        .filter_map(|(metric, cell, trials)| {
            let values: Vec<(&str, f64)> = trials
                .iter()
                .filter(|trial| trial.failure.is_none())
                .filter_map(|trial| Some((trial.id.as_str(), *trial.metrics.get(metric.name)?)))
                .collect();
            of_cell(metric, &cell.factors, &values)
        })
        .collect()
}

fn of_cell<'a>(
    metric: &'static Metric,
    factors: &'a Factors,
    values: &[(&'a str, f64)],
) -> Option<Outlier<'a>> {
    let figures: Vec<f64> = values.iter().map(|&(_, value)| value).collect();
    let far: Vec<(f64, (&str, f64))> = scores(&figures, 0.0)
        .into_iter()
        .zip(values.iter().copied())
        .filter(|(score, _)| score.abs() > OUTLIER)
        .collect();
    let &(_, farthest) = far
        .iter()
        .max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()))?;
    let above = far.iter().filter(|(score, _)| *score > 0.0).count();
    Some(Outlier {
        metric,
        factors,
        n: values.len(),
        above,
        below: far.len() - above,
        mean: figures.iter().sum::<f64>() / figures.len() as f64,
        median: median(figures.iter().copied()),
        median_ci95: bootstrap(values),
        farthest,
    })
}

/// The interval between the 2.5 % and the 97.5 % percentile of the medians of
/// samples drawn from `values` with replacement [Efron1979]. The same values
/// have the same interval.
///
/// The rank of the median of a sample in `values` is that of a binomial count with the
/// probability 1/2 [Efron1979], which is nearly normal for many values.
fn bootstrap(values: &[(&str, f64)]) -> Interval {
    if values.len() > MOST_SAMPLED {
        let figures: Vec<f64> = values.iter().map(|&(_, value)| value).collect();
        return of_ranks(figures);
    }
    let mut chance = ChaCha8Rng::seed_from_u64(SEED);
    let mut draw = || values[chance.random_range(0..values.len())].1;
    let mut medians: Vec<f64> = (0..SAMPLES)
        .map(|_| median((0..values.len()).map(|_| draw())))
        .collect();
    medians.sort_by(f64::total_cmp);
    Interval {
        low: medians[SAMPLES / 40],
        high: medians[SAMPLES - 1 - SAMPLES / 40],
    }
}

/// The values at the ranks between which 95 % of the medians of samples are.
fn of_ranks(mut values: Vec<f64>) -> Interval {
    let count = values.len();
    let far = (REACH * (count as f64).sqrt() / 2.0).ceil();
    let far = (0..count / 2)
        .take_while(|&rank| (rank as f64) < far)
        .count();
    let (low, high) = ((count - 1) / 2 - far, (count / 2 + far).min(count - 1));
    let mut at = |rank: usize| *values.select_nth_unstable_by(rank, f64::total_cmp).1;
    Interval {
        low: at(low),
        high: at(high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{by_cell, compare};
    use plan::synthetic::{Normal, cell, factors, plan, trial};

    fn run(values: &[f64]) -> (Plan, Vec<Trial>) {
        let trials = (1..)
            .zip(values)
            .map(|(repeat, &value)| trial(factors(9000), repeat, &[("throughput", value)]))
            .collect();
        (plan(vec![cell(factors(9000))], 20, Vec::new()), trials)
    }

    #[test]
    fn one_sided_outliers_are_named_and_do_not_decide_what_is_compared() {
        let mut values = Normal::new(3).sample(20, 980.0, 0.5);
        (values[4], values[11]) = (610.0, 900.0);
        let (plan, trials) = run(&values);
        let found = outliers(&plan, &by_cell(&plan, &trials));
        let [outlier] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((outlier.n, outlier.above, outlier.below), (20, 0, 2));
        assert_eq!(outlier.farthest, ("mtu=9000-r05", 610.0));
        let mean = compare(&plan, &trials)[0].mean.unwrap();
        assert!(mean.ci95.unwrap().holds(980.0) && mean.ci95.unwrap().half() < 0.5);
        let trimmed = mean.trimmed.unwrap();
        assert!((trimmed.plain - outlier.mean).abs() < 1e-9);
        assert_eq!(trimmed.outliers, 2);
    }

    #[test]
    fn a_few_outliers_move_the_mean_and_not_the_median() {
        let mut values = Normal::new(3).sample(20, 980.0, 0.5);
        (values[4], values[11]) = (610.0, 900.0);
        let (plan, trials) = run(&values);
        let found = outliers(&plan, &by_cell(&plan, &trials));
        let interval = found[0].median_ci95;
        assert!(
            interval.holds(980.0) && interval.half() < 1.0,
            "{interval:?}"
        );
        assert!(found[0].mean < 960.0);
    }

    #[test]
    fn the_interval_of_the_median_covers_as_often_as_it_says() {
        let mut normal = Normal::new(9);
        let covered = (0..200).filter(|_| {
            let sample = normal.sample(15, 980.0, 5.0);
            let values: Vec<(&str, f64)> = sample.iter().map(|&value| ("", value)).collect();
            bootstrap(&values).holds(980.0)
        });
        // 95 % within the error of 200 samples, and of 15 values.
        assert!(covered.count() >= 180);
    }

    #[test]
    fn ranks_and_samples_have_the_same_interval() {
        let mut normal = Normal::new(7);
        for count in [1999, 2000] {
            let sample = normal.sample(count, 980.0, 5.0);
            let values: Vec<(&str, f64)> = sample.iter().map(|&value| ("", value)).collect();
            let (drawn, ranked) = (bootstrap(&values), of_ranks(sample.clone()));
            // The ends of the samples' interval have errors of their own.
            let most = 0.1 * drawn.half();
            assert!(
                (drawn.low - ranked.low).abs() < most,
                "{drawn:?}, {ranked:?}"
            );
            assert!(
                (drawn.high - ranked.high).abs() < most,
                "{drawn:?}, {ranked:?}"
            );
        }
    }

    #[test]
    fn the_interval_of_many_values_is_one_of_their_ranks() {
        let mut values: Vec<(&str, f64)> = (0..10_001).map(|rank| ("", f64::from(rank))).collect();
        values.reverse();
        let interval = bootstrap(&values);
        assert_eq!((interval.low, interval.high), (4901.0, 5099.0));
    }

    #[test]
    fn quiet_trials_equal_trials_and_few_trials_have_none() {
        let quiet = Normal::new(4).sample(20, 980.0, 0.5);
        for values in [quiet, vec![980.0; 20], vec![1.0, 980.0, 980.0]] {
            let (plan, trials) = run(&values);
            assert_eq!(outliers(&plan, &by_cell(&plan, &trials)), []);
        }
    }
}
