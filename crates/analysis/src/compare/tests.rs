use plan::Level;
use plan::synthetic::{Normal, cell, factors, full_factors, plan, published, trial};
use units::Bytes;

use super::*;

/// Trials of `metric` in `cell`, one per value.
fn trials_of(factors: &Factors, metric: &str, values: &[f64]) -> Vec<Trial> {
    (1..)
        .zip(values)
        .map(|(repeat, &value)| trial(factors.clone(), repeat, &[(metric, value)]))
        .collect()
}

fn copy_of(factors: &Factors) -> Factors {
    let mut copy = factors.clone();
    copy.0.push(("copy".into(), Level::Integer(2)));
    copy
}

#[test]
fn every_cell_is_held_against_the_baseline_of_its_own_kind() {
    let all = [
        full_factors("LU-LU", "off", 1500),
        full_factors("LU-LU", "off", 9000),
        copy_of(&full_factors("LU-LU", "off", 1500)),
        full_factors("LU-LU", "on", 1500),
        full_factors("LU-LU", "on", 9000),
    ];
    let plan = plan(all.iter().cloned().map(cell).collect(), 2, Vec::new());
    assert_eq!(
        baselines(&plan),
        [Some(0), Some(0), Some(0), Some(3), Some(3)]
    );
}

#[test]
fn failed_trials_are_counted_and_left_out() {
    let plan = plan(vec![cell(factors(1500))], 3, Vec::new());
    let mut trials = trials_of(&factors(1500), "throughput", &[900.0, 902.0, 1.0]);
    trials[2].failure = Some("the receiver died".into());
    let comparison = &compare(&plan, &trials)[0];
    assert_eq!((comparison.n, comparison.failed), (2, 1));
    assert_eq!(comparison.mean.unwrap().mean, 901.0);
    assert_eq!(comparison.change, None);
    assert_eq!(comparison.judgement, None);
}

#[test]
fn cells_without_figures_say_why() {
    let mut cells = vec![
        cell(factors(1500)),
        cell(factors(4000)),
        cell(factors(9000)),
    ];
    cells[2].setting = Err("needs a Windows host".into());
    let mut said_already = cell(factors(65_000));
    said_already.setting = Err("not measured here: needs a Windows host".into());
    cells.push(said_already);
    let claims = published("throughput", &[(1500, 750.94)], &[(9000, 25.03)]);
    let plan = plan(cells, 2, vec![claims]);
    let mut trials = trials_of(&factors(4000), "throughput", &[940.0, 941.0]);
    for trial in &mut trials {
        trial.failure = Some("timed out".into());
    }
    let reasons: Vec<_> = compare(&plan, &trials)
        .into_iter()
        .map(|comparison| comparison.judgement.unwrap())
        .map(|judgement| (judgement.verdict.as_str(), judgement.reason))
        .collect();
    assert_eq!(
        reasons,
        [
            (
                "not measured",
                "no trial was run; continue with --resume".into()
            ),
            ("not measured", "all 2 trials failed".into()),
            (
                "not measured",
                "not measured here: needs a Windows host".to_owned()
            ),
            (
                "not measured",
                "not measured here: needs a Windows host".to_owned()
            ),
        ]
    );
}

#[test]
fn one_trial_leaves_the_difference_unknown() {
    let plan = plan(
        vec![cell(factors(1500)), cell(factors(9000))],
        1,
        Vec::new(),
    );
    let mut trials = trials_of(&factors(1500), "throughput", &[900.0]);
    trials.extend(trials_of(&factors(9000), "throughput", &[980.0]));
    let comparisons = compare(&plan, &trials);
    assert_eq!(comparisons[0].difference, None);
    assert_eq!(comparisons[1].difference, Some(Difference::Unknown));
    assert!(comparisons[1].change.unwrap().percent.unwrap() > 8.0);
}

#[test]
fn a_difference_below_the_resolution_is_not_found() {
    let plan = plan(
        vec![cell(factors(1500)), cell(factors(9000))],
        3,
        Vec::new(),
    );
    let mut trials = trials_of(&factors(1500), "throughput", &[900.0, 900.01, 899.99]);
    let above = [901.0, 901.01, 900.99];
    trials.extend(trials_of(&factors(9000), "throughput", &above));
    let comparison = &compare(&plan, &trials)[1];
    assert!(comparison.change.unwrap().p.unwrap() < 1e-6);
    assert_eq!(comparison.difference, Some(Difference::NotFound));
    // Per cent of the baseline.
    let threshold = comparison.threshold.unwrap();
    let percent = comparison.resolution_percent.unwrap();
    assert!((percent - threshold / 9.0).abs() < 1e-9, "{percent}");
}

#[test]
fn the_cpu_of_one_end_is_judged_over_its_attribution_interval() {
    let claims = published("cpu_sender", &[], &[(9000, -17.19)]);
    let plan = plan(
        vec![cell(factors(1500)), cell(factors(9000))],
        3,
        vec![claims],
    );
    let run = |mtu, alone: [f64; 3], softirq: f64| {
        (1..).zip(alone).map(move |(repeat, alone)| {
            let metrics = [("cpu_sender", alone), ("cpu_sender_high", alone + softirq)];
            trial(factors(mtu), repeat, &metrics)
        })
    };
    let trials: Vec<Trial> = run(1500, [1.0, 1.01, 0.99], 1.0)
        .chain(run(9000, [0.83, 0.84, 0.82], 0.2))
        .collect();
    let comparisons = compare(&plan, &trials);
    let sender = &comparisons[1];
    assert_eq!(sender.metric.name, "cpu_sender");
    let [low, high] = sender.attribution.unwrap();
    assert!((low - 0.83).abs() < 1e-9 && (high - 1.03).abs() < 1e-9);
    let judgement = sender.judgement.as_ref().unwrap();
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.reason.contains("attribution decides"));
    // Per cent of a CPU, unless a trial states its own.
    assert_eq!(sender.resolution, Some(0.01));
}

/// Twenty kinds of cell, each with a baseline and two more: 40 comparisons.
fn forty(change: f64, normal: &mut Normal) -> (Plan, Vec<Trial>) {
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for kind in 0..20 {
        for (mtu, mean) in [(1500, 900.0), (4000, 900.0), (9000, 900.0 * change)] {
            let factors = full_factors(&kind.to_string(), "off", mtu);
            let values = normal.sample(20, mean, 0.005 * mean);
            trials.extend(trials_of(&factors, "throughput", &values));
            cells.push(cell(factors));
        }
    }
    (plan(cells, 20, Vec::new()), trials)
}

fn found(comparisons: &[Comparison]) -> usize {
    let is_found = |c: &&Comparison| c.difference == Some(Difference::Found);
    comparisons.iter().filter(is_found).count()
}

#[test]
fn forty_comparisons_of_the_same_find_a_difference_in_one_run_of_twenty_at_most() {
    let mut normal = Normal::new(11);
    let runs = 200;
    let with_finding = (0..runs)
        .filter(|_| {
            let (plan, trials) = forty(1.0, &mut normal);
            let comparisons = compare(&plan, &trials);
            assert_eq!(comparisons.len(), 60);
            found(&comparisons) > 0
        })
        .count();
    assert!(with_finding * 20 <= runs, "{with_finding} of {runs}");
}

#[test]
fn a_planted_gain_of_three_per_cent_is_found() {
    let mut normal = Normal::new(12);
    let (mut hits, mut planted) = (0, 0);
    for _ in 0..20 {
        let (plan, trials) = forty(1.03, &mut normal);
        let large: Vec<Comparison> = compare(&plan, &trials)
            .into_iter()
            .filter(|comparison| comparison.factors.level("mtu") == Some(&Level::Integer(9000)))
            .collect();
        planted += large.len();
        hits += found(&large);
    }
    assert_eq!(planted, 400);
    assert!(hits * 100 > planted * 99, "{hits} of {planted}");
}

/// Cells at MTU 1500 and 9000 for these buffers and congestion controls, with
/// the gain at 9000 that `gain` names, and a claim of +25 %.
fn gains(settings: &[(&str, &str)], gain: impl Fn(&str, &str) -> f64) -> Vec<(Verdict, String)> {
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for &(buffer, congestion) in settings {
        for mtu in [1500, 9000] {
            let factors = Factors(vec![
                ("network.buffer".into(), Level::Text(buffer.into())),
                ("congestion".into(), Level::Text(congestion.into())),
                ("mtu".into(), Level::Integer(mtu)),
            ]);
            let mut cell = cell(factors.clone());
            let setting = cell.setting.as_mut().unwrap();
            setting.host.congestion = congestion.into();
            for link in &mut setting.network.links {
                link.buffer = Bytes::new(buffer.parse().unwrap());
            }
            cells.push(cell);
            let level = if mtu == 1500 {
                750.0
            } else {
                750.0 * gain(buffer, congestion)
            };
            trials.extend(trials_of(
                &factors,
                "throughput",
                &[level - 1.0, level, level + 1.0],
            ));
        }
    }
    let claims = published("throughput", &[], &[(9000, 25.0)]);
    let comparisons = compare(&plan(cells, 3, vec![claims]), &trials);
    let judged = comparisons
        .into_iter()
        .filter_map(|comparison| comparison.judgement);
    judged
        .map(|judgement| (judgement.verdict, judgement.reason))
        .collect()
}

const FOUR: [(&str, &str); 4] = [
    ("100000", "cubic"),
    ("100000", "reno"),
    ("500000", "cubic"),
    ("500000", "reno"),
];

#[test]
fn the_reason_of_a_reproduced_gain_names_other_buffers_and_congestion_controls() {
    let everywhere = gains(&FOUR, |_, _| 1.25);
    let plain = |(verdict, reason): &(Verdict, String)| {
        *verdict == Verdict::Reproduced && reason.ends_with("holds the published change")
    };
    assert!(everywhere.iter().all(plain), "{everywhere:?}");
    let single = gains(&FOUR[..1], |_, _| 1.25);
    assert_eq!(single[0].0, Verdict::Reproduced);
    assert!(
        single[0]
            .1
            .contains("--set network.buffer=100kB,500kB --set host.congestion=cubic,reno"),
        "{single:?}"
    );
    let one_congestion = gains(&[FOUR[0], FOUR[2]], |_, _| 1.25);
    assert_eq!(one_congestion[0].0, Verdict::Reproduced);
    assert!(
        one_congestion[0].1.contains("--set host.congestion")
            && !one_congestion[0].1.contains("network.buffer"),
        "{one_congestion:?}"
    );
}

#[test]
fn a_gain_by_a_bad_slow_start_is_said_not_to_be_so_at_another_buffer() {
    let small_only = gains(
        &FOUR,
        |buffer, _| if buffer == "100000" { 1.25 } else { 1.064 },
    );
    let verdicts: Vec<Verdict> = small_only.iter().map(|(verdict, _)| *verdict).collect();
    use Verdict::{DirectionOnly, Reproduced};
    assert_eq!(
        verdicts,
        [Reproduced, Reproduced, DirectionOnly, DirectionOnly]
    );
    assert!(
        small_only[0].1.contains("not so at network.buffer=500000"),
        "{small_only:?}"
    );
}

#[test]
fn what_is_open_says_how_many_trials_would_settle_it() {
    let compared = |values: &[f64], claim: &[(i64, f64)]| {
        let claims = published("throughput", &[], claim);
        let plan = plan(
            vec![cell(factors(1500)), cell(factors(9000))],
            20,
            vec![claims],
        );
        let baseline: Vec<f64> = [90.0, 110.0].repeat(values.len() / 2);
        let trials = [
            trials_of(
                &factors(1500),
                "throughput",
                &baseline[..values.len().min(baseline.len())],
            ),
            trials_of(&factors(9000), "throughput", values),
        ];
        compare(&plan, &trials.concat()).remove(1)
    };
    let settle = |values: &[f64], claim: &[(i64, f64)]| compared(values, claim).trials_to_settle;
    // A change of 5 % seen with an interval of some 15 points to either side.
    let noisy = [95.0, 115.0, 95.0, 115.0];
    let undecided = settle(&noisy, &[]).unwrap();
    assert!((20..80).contains(&undecided), "{undecided}");
    // Half of a claimed 5 % takes about four times as many.
    let of_claim = settle(&noisy, &[(9000, 5.0)]).unwrap();
    assert!((100..300).contains(&of_claim), "{of_claim}");
    // A clear change leaves nothing open, and a difference below the resolution
    // stays open for any number of trials.
    assert_eq!(settle(&[195.0, 205.0, 195.0, 205.0], &[]), None);
    assert_eq!(
        settle(&[90.0, 110.1, 90.0, 110.0], &[]),
        None,
        "below 0.2 %"
    );
    // A change as large as the resolution cannot be seen.
    let mut open = compared(&noisy, &[]);
    let percent = open.change.and_then(|change| change.percent).unwrap();
    open.resolution_percent = Some(percent);
    assert_eq!(sample_size::trials_to_settle(&open), None);
    open.resolution_percent = Some(0.99 * percent);
    assert_eq!(sample_size::trials_to_settle(&open), Some(undecided));
}

#[test]
fn a_change_that_only_many_comparisons_explain_says_so_and_one_that_a_coarse_instrument_does() {
    let levels: Vec<i64> = (0..13).map(|number| 1500 + 100 * number).collect();
    let cells: Vec<Cell> = levels.iter().map(|&mtu| cell(factors(mtu))).collect();
    let plan = plan(cells, 4, Vec::new());
    let values = |mtu: i64, metric: &str, values: [f64; 4]| -> Vec<Trial> {
        let values = (1..).zip(values);
        values
            .map(|(repeat, value)| trial(factors(mtu), repeat, &[(metric, value)]))
            .collect()
    };
    let of = |metric: &str, changed: f64| -> Vec<Comparison> {
        let trials = levels.iter().flat_map(|&mtu| {
            let add = if mtu == 2700 { changed } else { 0.0 };
            values(mtu, metric, [99.0, 101.0, 98.0, 102.0].map(|one| one + add))
        });
        let trials: Vec<Trial> = trials.collect();
        compare(&plan, &trials)
    };
    let last = |metric: &str, changed: f64| of(metric, changed).pop().unwrap();
    let chance = last("delay", 4.0);
    assert!(!chance.change.unwrap().ci95.unwrap().holds(0.0));
    assert_eq!(chance.not_found(), Some(NotFound::Together(12)));
    assert_eq!(last("delay", 40.0).not_found(), None, "it is found");
    let none = last("delay", 0.0).not_found();
    assert!(
        matches!(none, Some(NotFound::Above(margin)) if margin < 5.0),
        "{none:?}"
    );
    // The resolution of goodput is 0.2 %, so that an equal shift of narrow trials
    // is beyond chance and not visible.
    let narrow = |mtu: i64, shift: f64| {
        let near = [899.99, 900.01, 900.0, 900.0].map(|one| one + shift);
        values(mtu, "throughput", near)
    };
    let trials = [narrow(1500, 0.0), narrow(2700, 0.5)].concat();
    let compared = compare(&plan, &trials);
    let hidden = compared.last().unwrap().not_found();
    assert!(
        matches!(hidden, Some(NotFound::Resolution(own)) if own > 0.5),
        "{hidden:?}"
    );
}

/// Trials of a link of 928.1 Mbit/s and of one that is 2 % faster, one of eight
/// trials of each stalled.
fn stalled_pair() -> (Plan, Vec<Trial>) {
    let cells = [1500, 9000].map(|mtu| cell(factors(mtu))).to_vec();
    let slow = [928.1, 928.0, 928.2, 928.3, 890.0, 928.1, 928.0, 928.2];
    let fast = [946.1, 945.1, 890.0, 946.8, 946.3, 945.7, 946.0, 946.2];
    let mut trials = trials_of(&factors(1500), "throughput", &slow);
    trials.extend(trials_of(&factors(9000), "throughput", &fast));
    (plan(cells, 8, Vec::new()), trials)
}

#[test]
fn a_link_two_per_cent_faster_is_found_beside_an_outlier_in_each_cell() {
    let (plan, trials) = stalled_pair();
    let found = compare(&plan, &trials);
    assert_eq!(found[1].difference, Some(Difference::Found));
    let interval = found[1].change.unwrap().ci95.unwrap();
    assert!(
        interval.holds(1.94) && interval.half() < 0.2,
        "{interval:?}"
    );
    for comparison in &found {
        let trimmed = comparison.mean.unwrap().trimmed.unwrap();
        assert_eq!((comparison.n, trimmed.outliers), (8, 1));
        assert!(trimmed.plain < comparison.mean.unwrap().mean - 4.0);
    }
    // Stalls of a few per cent in one cell change the estimates of all.
    let mut mended = trials.clone();
    mended[4].metrics.insert("throughput", 928.1);
    let mended = compare(&plan, &mended);
    assert_eq!(mended[0].mean.unwrap().trimmed.unwrap().outliers, 0);
}

#[test]
fn a_simulated_outlier_stays_in_the_mean() {
    let (mut plan, trials) = stalled_pair();
    plan.backend = plan::Backend::Sim;
    let found = compare(&plan, &trials);
    assert_eq!(found[1].difference, Some(Difference::NotFound));
    for comparison in found {
        assert_eq!(comparison.mean.unwrap().trimmed, None);
    }
}
