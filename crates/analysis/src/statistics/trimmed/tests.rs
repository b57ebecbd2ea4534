use plan::synthetic::Normal;

use super::*;
use crate::statistics::{change, holm};

/// The trials of a cell with noise of one kind.
type Noise = fn(&mut Normal, usize) -> Vec<f64>;

fn quiet(normal: &mut Normal, n: usize) -> Vec<f64> {
    normal.sample(n, 928.1, 0.2)
}

/// Of normal deviates about `percent` of 100 are stalls of 5 to 30 %.
fn stalled(normal: &mut Normal, n: usize, percent: f64) -> Vec<f64> {
    let chance = normal.sample(2 * n, 0.0, 1.0);
    let uniform = |deviate: f64| (deviate * 1_000.0).rem_euclid(1.0);
    let values = quiet(normal, n).into_iter().zip(chance.chunks(2));
    let values = values.map(
        |(value, chance)| match uniform(chance[0]) < percent / 100.0 {
            true => value * (0.95 - 0.25 * uniform(chance[1])),
            false => value,
        },
    );
    values.collect()
}

fn skewed(normal: &mut Normal, n: usize) -> Vec<f64> {
    let values = normal.sample(n, 0.0, 0.3).into_iter();
    values.map(f64::exp).collect()
}

/// The estimator of samples whose values are exact.
fn of(samples: &[Vec<f64>]) -> Estimator {
    let samples = samples.iter().map(|values| (values.clone(), 0.0));
    Estimator::of(&samples.collect::<Vec<_>>())
}

/// The p-values of the changes of all cells but the first against it.
fn p_values(cells: &[Vec<f64>], estimator: Estimator) -> Vec<f64> {
    let means = cells.iter().map(|cell| estimator.estimate(cell).unwrap());
    let means: Vec<Mean> = means.collect();
    let others = means[1..].iter();
    others
        .map(|mean| change(mean, &means[0]).p.unwrap())
        .collect()
}

#[test]
fn a_trimmed_mean_worked_by_hand() {
    // Left out: 1, 2, 9, 100. Winsorized: 3 3 3 4 5 6 7 8 8 8 with mean 5.5 and
    // squares 42.5; variance 42.5 / (6 x 5); the quantile of t with five degrees
    // of freedom is 2.570582.
    let values = [100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let trimmed = trimmed_mean(&values).unwrap();
    assert_eq!((trimmed.n, trimmed.mean, trimmed.freedom), (10, 5.5, 5.0));
    assert!((trimmed.variance.unwrap() - 42.5 / 30.0).abs() < 1e-12);
    assert!((trimmed.ci95.unwrap().half() - 3.059_612).abs() < 1e-5);
    let expected = Trimmed {
        plain: 14.5,
        outliers: 1,
    };
    assert_eq!(trimmed.trimmed, Some(expected));
}

#[test]
fn few_values_equal_ones_and_those_without_gross_outliers_have_their_mean() {
    let gross = [928.0, 928.1, 928.2, 928.2, 928.3, 664.0];
    let estimator = of(&[gross.to_vec()]);
    assert_eq!(estimator, Estimator::TrimmedMean);
    for values in [&gross[1..], &[7.0; 9][..]] {
        assert_eq!(estimator.estimate(values), mean(values));
        assert_eq!(of(&[values.to_vec()]), Estimator::Mean);
    }
    assert_eq!(estimator.estimate(&[]), None);
    assert_eq!(estimator.estimate(&[f64::NAN; 8]), None);
    let even: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(of(&[even]), Estimator::Mean);
}

#[test]
fn a_spread_below_the_resolution_makes_no_gross_outlier() {
    // Processor time in ticks of 0.25 s/GB; one trial has one tick less.
    let ticks = vec![2.269, 2.514, 2.515, 2.515, 2.516, 2.522];
    assert_eq!(of(std::slice::from_ref(&ticks)), Estimator::TrimmedMean);
    assert_eq!(Estimator::of(&[(ticks, 0.25)]), Estimator::Mean);
}

#[test]
fn no_cell_loses_all_of_its_spread() {
    let gross = vec![928.0, 928.1, 928.2, 928.2, 928.3, 664.0];
    let counts = vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0];
    assert_eq!(of(std::slice::from_ref(&counts)), Estimator::Mean);
    assert_eq!(of(&[gross, counts]), Estimator::Mean);
}

#[test]
fn equal_cells_differ_in_no_more_than_one_of_twenty_comparisons() {
    const PAIRS: usize = 600;
    let kinds: [(&str, Noise); 4] = [
        ("quiet", quiet),
        ("5 % stalls", |normal, n| stalled(normal, n, 5.0)),
        ("10 % stalls", |normal, n| stalled(normal, n, 10.0)),
        ("skewed", skewed),
    ];
    for (name, noise) in kinds {
        for n in [6, 8, 10, 20] {
            let mut normal = Normal::new(11);
            let found = (0..PAIRS).filter(|_| {
                let cells = [noise(&mut normal, n), noise(&mut normal, n)];
                p_values(&cells, of(&cells))[0] < 0.05
            });
            // 5.4 % at most in 30 000 pairs, and three standard errors of 600.
            let share = found.count() as f64 / PAIRS as f64;
            assert!(share <= 0.054 + 0.028, "{name}, {n} trials: {share}");
        }
    }
}

#[test]
fn a_family_of_equal_cells_has_a_difference_in_no_more_than_one_of_twenty_runs() {
    const RUNS: usize = 300;
    for noise in [
        quiet,
        (|normal, n| stalled(normal, n, 5.0)) as Noise,
        skewed,
    ] {
        for n in [6, 8] {
            let mut normal = Normal::new(12);
            let found = (0..RUNS).filter(|_| {
                let cells: Vec<Vec<f64>> = (0..6).map(|_| noise(&mut normal, n)).collect();
                let p_values = p_values(&cells, of(&cells));
                holm(&p_values, 0.05).contains(&true)
            });
            // 5 % and three standard errors of 300 runs.
            let share = found.count() as f64 / RUNS as f64;
            assert!(share <= 0.05 + 0.038, "{n} trials: {share}");
        }
    }
}

#[test]
fn two_per_cent_are_found_beside_an_outlier_in_each_cell() {
    let mut normal = Normal::new(13);
    let (mut by_means, mut by_estimate) = (0, 0);
    for run in 0..100 {
        let mut cells = [928.1, 946.6].map(|mean| normal.sample(8, mean, 0.3));
        for cell in &mut cells {
            cell[run % 8] *= 0.96 - 0.0026 * run as f64;
        }
        let is_found = |estimator| usize::from(p_values(&cells, estimator)[0] < 0.05);
        by_means += is_found(Estimator::Mean);
        by_estimate += is_found(of(&cells));
    }
    assert_eq!(by_estimate, 100);
    assert!(by_means <= 10, "{by_means}");
}
