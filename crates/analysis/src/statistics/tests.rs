use plan::synthetic::Normal;
use proptest::prelude::*;

use super::*;

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

#[test]
fn quantiles_are_those_of_printed_tables() {
    for (freedom, quantile) in [
        (1.0, 12.706),
        (2.0, 4.303),
        (4.0, 2.776),
        (19.0, 2.093),
        (38.0, 2.024),
        (1e6, 1.960),
    ] {
        close(student(freedom).inverse_cdf_two_sided(0.95), quantile, 5e-4);
    }
}

#[test]
fn a_mean_worked_by_hand() {
    // 1 2 3 4 5: variance 2.5, of the mean 0.5; 2.776445 * sqrt(0.5) = 1.963243.
    let mean = mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!((mean.n, mean.mean), (5, 3.0));
    let interval = mean.ci95.unwrap();
    close(interval.low, 3.0 - 1.963_243, 1e-6);
    close(interval.high, 3.0 + 1.963_243, 1e-6);
}

#[test]
fn a_change_worked_by_hand() {
    // Baseline 9 10 11 (mean 10, variance of the mean 1/3), sample 11 12 13
    // (mean 12, 1/3). Parts of the variance of ln 1.2 = 0.1823216 are 1/432 and
    // 1/300, their sum 0.00564815, its root 0.0751542; degrees of freedom
    // 0.00564815^2 / ((1/432)^2/2 + (1/300)^2/2) = 3.874024, whose quantile, by
    // Simpson's rule outside this program, is 2.812417.
    let change = change(
        &mean(&[11.0, 12.0, 13.0]).unwrap(),
        &mean(&[9.0, 10.0, 11.0]).unwrap(),
    );
    close(change.percent.unwrap(), 20.0, 1e-9);
    close(change.difference, 2.0, 1e-12);
    let interval = change.ci95.unwrap();
    close(interval.low, -2.862_556, 1e-5);
    close(interval.high, 48.243_555, 1e-5);
    assert!(change.p.unwrap() > 0.05 && change.p.unwrap() < 0.1);
}

#[test]
fn a_single_value_has_no_interval_and_equal_values_one_without_width() {
    assert_eq!(mean(&[]), None);
    assert_eq!(mean(&[f64::NAN]), None);
    assert_eq!(mean(&[7.0]).unwrap().ci95, None);
    let (one, same) = (mean(&[8.0]).unwrap(), mean(&[4.0, 4.0, 4.0]).unwrap());
    assert_eq!(
        same.ci95,
        Some(Interval {
            low: 4.0,
            high: 4.0
        })
    );
    let single = change(&one, &same);
    assert_eq!((single.percent, single.ci95), (Some(100.0), None));
    assert_eq!(
        single.missing,
        Some("too few trials: a single one has no interval")
    );
    let none = change(&same, &same);
    assert_eq!((none.percent, none.p), (Some(0.0), Some(1.0)));
    assert_eq!(
        none.ci95,
        Some(Interval {
            low: 0.0,
            high: 0.0
        })
    );
}

#[test]
fn means_that_are_not_positive_have_a_test_but_no_ratio() {
    let zero = mean(&[0.0, 0.0, 0.0]).unwrap();
    let some = mean(&[3.0, 4.0, 5.0]).unwrap();
    let appeared = change(&some, &zero);
    assert_eq!((appeared.percent, appeared.ci95), (None, None));
    assert!(appeared.p.unwrap() < 0.05);
    let vanished = change(&zero, &some);
    assert_eq!((vanished.percent, vanished.ci95), (Some(-100.0), None));
    assert_eq!(vanished.missing, Some("a ratio needs two positive means"));
    assert_eq!(change(&zero, &zero).p, Some(1.0));
}

#[test]
fn holm_steps_down_and_stops_at_the_first_failure() {
    // The thresholds are 0.0125, 0.0167, 0.025, 0.05.
    assert_eq!(
        holm(&[0.01, 0.04, 0.03, 0.005], 0.05),
        [true, false, false, true]
    );
    assert_eq!(holm(&[0.012, 0.016, 0.024, 0.049], 0.05), [true; 4]);
    assert_eq!(holm(&[0.013, 0.0, 0.9], 0.05), [true, true, false]);
    assert!(holm(&[], 0.05).is_empty());
}

/// The shares of 1000 data sets, in per cent, whose intervals contain the true
/// value: for the mean, the change, the ratio of two changes, and their mean.
fn coverage(n: usize, seed: u64) -> [f64; 4] {
    const SETS: u32 = 1000;
    let mut normal = Normal::new(seed);
    let mut hits = [0u32; 4];
    for _ in 0..SETS {
        let mut sample =
            |mean_of: f64, deviation: f64| mean(&normal.sample(n, mean_of, deviation)).unwrap();
        let (baseline, other) = (sample(100.0, 5.0), sample(120.0, 9.0));
        let (later_baseline, later) = (sample(50.0, 2.0), sample(90.0, 3.0));
        let change = change(&other, &baseline).ci95.unwrap();
        let changes = Contrast::of(&[&later, &baseline], &[&later_baseline, &other]);
        let both = [
            [(0, other), (1, baseline)],
            [(2, later), (3, later_baseline)],
        ];
        let (_, both) = mean_percent(&both).unwrap();
        for (hit, holds) in hits.iter_mut().zip([
            baseline.ci95.unwrap().holds(100.0),
            change.holds(20.0),
            // 90/50 over 120/100.
            changes.unwrap().interval(0.95).unwrap().holds(50.0),
            // 20 and 80.
            both.unwrap().holds(50.0),
        ]) {
            *hit += u32::from(holds);
        }
    }
    hits.map(|hits| 100.0 * f64::from(hits) / f64::from(SETS))
}

#[test]
fn intervals_hold_the_truth_in_95_of_100_data_sets() {
    for (n, seed) in [(20, 1), (5, 2)] {
        for share in coverage(n, seed) {
            close(share, 95.0, 1.5);
        }
    }
}

#[test]
fn a_mean_that_changes_share_moves_all_of_them() {
    let [one, other, base] = [[11.0, 13.0], [17.0, 19.0], [9.0, 11.0]].map(|of| mean(&of).unwrap());
    let (apart, wide) = mean_percent(&[[(0, one), (1, base)], [(2, other), (3, base)]]).unwrap();
    let (shared, wider) = mean_percent(&[[(0, one), (1, base)], [(2, other), (1, base)]]).unwrap();
    close(apart, 50.0, 1e-9);
    close(shared, 50.0, 1e-9);
    assert!(wider.unwrap().half() > wide.unwrap().half());
    // Against itself nothing changes, whatever the spread.
    let (none, nothing) = mean_percent(&[[(0, one), (0, one)]]).unwrap();
    assert_eq!((none, nothing.unwrap().half()), (0.0, 0.0));
    assert_eq!(mean_percent(&[]), None);
    let zero = mean(&[0.0, 0.0]).unwrap();
    assert_eq!(mean_percent(&[[(0, one), (1, zero)]]), None);
    let single = mean(&[12.0]).unwrap();
    let (_, unknown) = mean_percent(&[[(0, single), (1, base)]]).unwrap();
    assert_eq!(unknown, None);
}

#[test]
fn a_change_above_what_is_said_to_be_excluded_is_rare() {
    // The bound is one-sided at 5 %: with a true change of 2 %, it is below 2
    // in one data set of twenty.
    const SETS: u32 = 1000;
    let mut normal = Normal::new(7);
    let wrong = (0..SETS).filter(|_| {
        let baseline = mean(&normal.sample(20, 100.0, 2.0)).unwrap();
        let sample = mean(&normal.sample(20, 102.0, 2.0)).unwrap();
        change(&sample, &baseline).excluded_above.unwrap() < 2.0
    });
    close(100.0 * wrong.count() as f64 / f64::from(SETS), 5.0, 1.5);
}

#[test]
fn more_trials_narrow_an_interval_with_their_root() {
    // Half the width takes four times the trials, less a little: Student's
    // quantile falls from 1.9612 to 1.9603.
    assert_eq!(trials_to_narrow(1000, 2.0, 1.0), Some(3997));
    // A narrow enough interval needs no more trials.
    assert!(trials_to_narrow(20, 1.0, 1.0).unwrap() <= 20);
    // 2.776 / sqrt 3 = 1.603 at three trials, 2.101 / sqrt 10 = 0.664 at ten.
    assert_eq!(trials_to_narrow(3, 1.603, 0.665), Some(10));
    for (n, half, target) in [
        (1, 1.0, 1.0),
        (20, 1.0, 0.0),
        (20, f64::NAN, 1.0),
        (20, 1.0, 1e-9),
    ] {
        assert_eq!(trials_to_narrow(n, half, target), None);
    }
}

proptest! {
    #[test]
    fn the_interval_holds_the_change_and_agrees_with_the_test(
        sample in prop::collection::vec(0.1f64..1e6, 2..30),
        baseline in prop::collection::vec(0.1f64..1e6, 2..30),
    ) {
        let change = change(&mean(&sample).unwrap(), &mean(&baseline).unwrap());
        if let Some(interval) = change.ci95 {
            prop_assert!(interval.low <= change.percent.unwrap() + 1e-9);
            prop_assert!(interval.high >= change.percent.unwrap() - 1e-9);
            let p = change.p.unwrap();
            prop_assert!((p - 0.05).abs() < 1e-9 || interval.holds(0.0) == (p > 0.05));
        }
    }
}

/// Values from the whole range of numbers, close together and far apart.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    let extreme = prop::sample::select(vec![
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        0.0,
        -0.0,
        1e100,
        2e100,
        1e-200,
    ]);
    prop::collection::vec(prop_oneof![any::<f64>(), extreme], 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn any_values_have_findings_without_a_panic(one in anything(), other in anything()) {
        let means: Vec<Mean> = [&one, &other].into_iter().filter_map(|all| mean(all)).collect();
        if let [one, other] = means.as_slice() {
            let change = change(one, other);
            prop_assert!(change.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{change:?}");
            difference(one, other);
            mean_percent(&[[(0, *one), (1, *other)]]);
            if let Some(ratio) = Contrast::of(&[one], &[other]) {
                prop_assert!((0.0..=1.0).contains(&ratio.p()));
                ratio.interval(0.9);
            }
        }
        let points: Vec<[f64; 2]> = one.iter().zip(&other).map(|(x, y)| [*x, *y]).collect();
        steps::steps(&steps::jumps(&points, 3, 1e-3), 3);
        let rising: Vec<[f64; 2]> = (0..).map(f64::from).zip(&other).map(|(x, y)| [x, *y]).collect();
        steps::steps(&steps::jumps(&rising, 3, 1e-3), 3);
    }
}
