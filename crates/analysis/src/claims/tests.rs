use plan::synthetic::{Normal, cell, factors, full_factors, plan, trial};
use plan::{Level, Over};

use super::*;
use crate::compare::compare;

fn claim(expected: Expected) -> Assertion {
    Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: plan::Alternatives::default(),
        expected,
        tolerance: None,
    }
}

fn more_by(by: f64) -> Expected {
    Expected::Than {
        than: factors(1500),
        higher: true,
        by,
    }
}

/// The verdict for means of ten trials of each cell near these values.
fn verdict(expected: Expected, small: f64, large: f64) -> Verdict {
    verdict_of(expected, small, large, None)
}

/// The same where the instrument tells no less than `resolution` apart.
fn verdict_of(expected: Expected, small: f64, large: f64, resolution: Option<f64>) -> Verdict {
    let mut plan = plan(vec![cell(factors(1500)), cell(factors(9000))], 10, vec![]);
    plan.claims = vec![claim(expected)];
    let mut normal = Normal::new(7);
    let mut trials = Vec::new();
    for (mtu, mean) in [(1500, small), (9000, large)] {
        for (repeat, value) in (1..).zip(normal.sample(10, mean, 1.0)) {
            trials.push(trial(factors(mtu), repeat, &[("throughput", value)]));
        }
    }
    let mut rows = compare(&plan, &trials);
    for row in &mut rows {
        row.resolution = resolution.or(row.resolution);
    }
    judged(&plan, &rows)[0].verdict
}

#[test]
fn a_claim_of_direction_holds_fails_or_is_open() {
    assert_eq!(verdict(more_by(0.0), 900.0, 940.0), Verdict::Reproduced);
    assert_eq!(verdict(more_by(0.0), 940.0, 900.0), Verdict::NotReproduced);
    assert_eq!(verdict(more_by(0.0), 900.0, 900.0), Verdict::Inconclusive);
    // More, and surely not by so much; less, and surely not by so much.
    assert_eq!(verdict(more_by(80.0), 900.0, 940.0), Verdict::NotReproduced);
    assert_eq!(verdict(more_by(-80.0), 940.0, 900.0), Verdict::Reproduced);
}

#[test]
fn what_counts_against_the_instrument_is_the_distance_from_the_bound() {
    let of = |by, large| verdict_of(more_by(by), 900.0, large, Some(20.0));
    assert_eq!(of(0.0, 910.0), Verdict::Inconclusive);
    assert_eq!(of(0.0, 940.0), Verdict::Reproduced);
    // Equal, which is far above "80 less" and hardly above "10 less".
    assert_eq!(of(-80.0, 900.0), Verdict::Reproduced);
    assert_eq!(of(-10.0, 900.0), Verdict::Inconclusive);
    assert_eq!(of(30.0, 940.0), Verdict::Inconclusive);
}

#[test]
fn a_bound_is_kept_broken_or_within_the_interval() {
    for (bound, at_most, at_least) in [
        (950.0, Verdict::Reproduced, Verdict::NotReproduced),
        (850.0, Verdict::NotReproduced, Verdict::Reproduced),
        (900.0, Verdict::Inconclusive, Verdict::Inconclusive),
    ] {
        assert_eq!(verdict(Expected::AtMost(bound), 1.0, 900.0), at_most);
        assert_eq!(verdict(Expected::AtLeast(bound), 1.0, 900.0), at_least);
    }
}

#[test]
fn figures_without_spread_are_equal_within_a_tolerance() {
    let of = |expected: Expected, large: f64, tolerance: Option<f64>| {
        let mut plan = plan(vec![cell(factors(1500)), cell(factors(9000))], 3, vec![]);
        plan.claims = vec![Assertion {
            tolerance: tolerance.map(|within| plan::Tolerance {
                within,
                reason: "of the clock".into(),
            }),
            ..claim(expected)
        }];
        let trials: Vec<_> = [(1500, 900.0), (9000, large)]
            .into_iter()
            .flat_map(|(mtu, value)| {
                (1..=3).map(move |repeat| trial(factors(mtu), repeat, &[("throughput", value)]))
            })
            .collect();
        let mut rows = compare(&plan, &trials);
        rows.iter_mut().for_each(|row| row.resolution = None);
        judged(&plan, &rows)[0].verdict
    };
    use Verdict::{NotReproduced, Reproduced};
    // Figures that reports print alike are equal; a thousandth more is not.
    assert_eq!(of(more_by(0.0), 900.3, None), NotReproduced);
    assert_eq!(of(more_by(0.0), 900.9, None), Reproduced);
    assert_eq!(of(more_by(0.0), 900.9, Some(2.0)), NotReproduced);
    assert_eq!(of(Expected::AtMost(900.0), 900.9, Some(2.0)), Reproduced);
    assert_eq!(of(Expected::AtMost(900.0), 902.1, Some(2.0)), NotReproduced);
    assert_eq!(of(Expected::AtLeast(902.0), 900.9, Some(2.0)), Reproduced);
    let by = |percent| Expected::Changed {
        than: factors(1500),
        higher: true,
        percent,
        over: Over::Each,
    };
    assert_eq!(of(by(9.9), 990.0, None), Reproduced);
    assert_eq!(of(by(9.9), 990.0, Some(0.2)), NotReproduced);
}

#[test]
fn a_claim_about_a_cell_that_this_backend_cannot_measure_says_why() {
    let mut rejected = cell(factors(9000));
    rejected.setting = Err("not measured here: needs Windows hosts".into());
    let mut plan = plan(vec![cell(factors(1500)), rejected], 2, vec![]);
    plan.claims = vec![claim(Expected::AtLeast(1.0))];
    let trials = [trial(factors(1500), 1, &[("throughput", 900.0)])];
    let rows = compare(&plan, &trials);
    let judged = &judged(&plan, &rows)[0];
    assert_eq!(judged.verdict, Verdict::NotMeasured);
    assert_eq!(judged.not_measured.as_deref(), Some("needs Windows hosts"));
}

#[test]
fn all_settings_must_hold_and_those_that_are_missing_say_nothing() {
    let of = |verdicts: &[Verdict]| together(verdicts.iter().copied());
    use Verdict::{Inconclusive, NotMeasured, NotReproduced, Reproduced};
    assert_eq!(of(&[]), NotMeasured);
    assert_eq!(of(&[Reproduced, Reproduced]), Reproduced);
    assert_eq!(of(&[Reproduced, Inconclusive]), Inconclusive);
    assert_eq!(
        of(&[Reproduced, Inconclusive, NotReproduced]),
        NotReproduced
    );
    let cells = [(
        "mtu".to_owned(),
        vec![4000, 9000].into_iter().map(Level::Integer).collect(),
    )];
    assert!(has(&factors(9000), &cells) && !has(&factors(1500), &cells));
}

/// The verdict on a claimed change in per cent if two settings change from 100
/// to these values.
fn changed(over: Over, higher: bool, percent: f64, to: [f64; 2]) -> (Verdict, Option<f64>) {
    let places = [("a", to[0]), ("b", to[1])];
    let of_mtu = factors;
    let factors = |scenario: &str, mtu| full_factors(scenario, "off", mtu);
    let cells = places.map(|(scenario, _)| [1500, 9000].map(|mtu| cell(factors(scenario, mtu))));
    let mut plan = plan(cells.into_iter().flatten().collect(), 10, vec![]);
    plan.claims = vec![claim(Expected::Changed {
        than: of_mtu(1500),
        higher,
        percent,
        over,
    })];
    let mut normal = Normal::new(11);
    let mut trials = Vec::new();
    for (scenario, large) in places {
        for (mtu, mean) in [(1500, 100.0), (9000, large)] {
            for (repeat, value) in (1..).zip(normal.sample(10, mean, 1.0)) {
                trials.push(trial(
                    factors(scenario, mtu),
                    repeat,
                    &[("throughput", value)],
                ));
            }
        }
    }
    let rows = compare(&plan, &trials);
    let judged = judged(&plan, &rows).remove(0);
    (
        judged.verdict,
        judged.average.map(|average| average.percent),
    )
}

#[test]
fn a_change_is_claimed_of_each_setting_of_one_or_on_average() {
    use Verdict::{Inconclusive, NotReproduced, Reproduced};
    let of = |over, percent| changed(over, true, percent, [150.0, 190.0]).0;
    for (percent, each, any, mean) in [
        (40.0, Reproduced, Reproduced, Reproduced),
        (60.0, NotReproduced, Reproduced, Reproduced),
        (80.0, NotReproduced, Reproduced, NotReproduced),
        (99.0, NotReproduced, NotReproduced, NotReproduced),
        (70.0, NotReproduced, Reproduced, Inconclusive),
        (90.0, NotReproduced, Inconclusive, NotReproduced),
    ] {
        assert_eq!(of(Over::Each, percent), each, "each {percent}");
        assert_eq!(of(Over::Any, percent), any, "any {percent}");
        assert_eq!(of(Over::Mean, percent), mean, "mean {percent}");
    }
    // A fall; and a rise is none.
    let fallen = |percent, to| changed(Over::Any, false, percent, to).0;
    assert_eq!(fallen(58.5, [90.0, 40.0]), Reproduced);
    assert_eq!(fallen(58.5, [90.0, 60.0]), NotReproduced);
    assert_eq!(fallen(0.0, [150.0, 190.0]), NotReproduced);
    // "By no more than": it may be so much to the other side.
    let about = |higher, to| changed(Over::Each, higher, -5.0, to).0;
    assert_eq!(about(true, [98.0, 110.0]), Reproduced);
    assert_eq!(about(true, [90.0, 110.0]), NotReproduced);
    assert_eq!(about(false, [98.0, 103.0]), Reproduced);
    assert_eq!(about(false, [98.0, 110.0]), NotReproduced);
    let (_, average) = changed(Over::Mean, true, 0.0, [150.0, 190.0]);
    assert!((average.unwrap() - 70.0).abs() < 2.0, "{average:?}");
    assert_eq!(changed(Over::Any, true, 0.0, [150.0, 190.0]).1, None);
}

#[test]
fn the_settings_in_which_a_claim_holds_are_counted() {
    let levels = [1500, 4000, 9000];
    let mut plan = plan(levels.map(|mtu| cell(factors(mtu))).into(), 2, vec![]);
    plan.claims = vec![Assertion {
        cells: Vec::new(),
        ..claim(Expected::AtLeast(900.0))
    }];
    let trials: Vec<_> = [(1500, 800.0), (4000, 950.0), (9000, 990.0)]
        .into_iter()
        .flat_map(|(mtu, value)| {
            (1..=2).map(move |repeat| trial(factors(mtu), repeat, &[("throughput", value)]))
        })
        .collect();
    assert_eq!(judged(&plan, &compare(&plan, &trials))[0].holds_in(), 2);
}

#[test]
fn nothing_is_judged_by_the_values_that_hosts_are_fitted_to() {
    let of = |scenario: &str, mtu| full_factors(scenario, "off", mtu);
    let mut cells = Vec::new();
    let mut trials = Vec::new();
    let mut rows = Vec::new();
    for (scenario, values) in [("LU-LU", [750.0, 949.0]), ("WS-WS", [662.0, 924.0])] {
        let printed = [(1500, values[0]), (9000, values[1] - 10.0)];
        let mut row = plan::synthetic::published("throughput", &printed, &[]);
        row.factors = Factors(vec![("scenario".into(), Level::Text(scenario.into()))]);
        row.used_in_fit = vec![Level::Integer(1500)];
        rows.push(row);
        for (mtu, value) in [1500, 9000].into_iter().zip(values) {
            let mut fitted = cell(of(scenario, mtu));
            let setting = fitted.setting.as_mut().unwrap();
            setting.host.costs.fitted_to = Some("Praptodiyono2019".into());
            cells.push(fitted);
            let value = [("throughput", value)];
            trials.extend([1, 2].map(|repeat| trial(of(scenario, mtu), repeat, &value)));
        }
    }
    let mut plan = plan(cells, 2, rows);
    let at = |mtu: &[i64], expected| {
        let mut claim = claim(expected);
        let mtus = mtu.iter().map(|mtu| Level::Integer(*mtu)).collect();
        claim.cells = vec![
            ("scenario".into(), vec![Level::Text("LU-LU".into())]),
            ("mtu".into(), mtus),
        ];
        claim
    };
    let windows = || Factors(vec![("scenario".into(), Level::Text("WS-WS".into()))]);
    let more = |percent| match percent {
        None => Expected::Than {
            than: windows(),
            higher: true,
            by: 0.0,
        },
        Some(percent) => Expected::Changed {
            than: windows(),
            higher: true,
            percent,
            over: Over::Each,
        },
    };
    plan.claims = vec![
        at(&[1500], more(None)),
        at(&[1500], more(Some(5.0))),
        at(&[1500], Expected::AtLeast(700.0)),
        at(&[1500, 9000], more(None)),
        at(&[9000], Expected::AtLeast(900.0)),
        at(
            &[9000],
            Expected::Than {
                than: factors(1500),
                higher: true,
                by: 0.0,
            },
        ),
    ];
    let found = |plan: &Plan| {
        let rows = compare(plan, &trials);
        let claims = judged(plan, &rows);
        let of = |one: &ClaimResult<'_>| (one.verdict, one.settings.len());
        (claims.iter().map(of).collect::<Vec<_>>(), rows)
    };
    let (verdicts, rows) = found(&plan);
    let none = (Verdict::NotMeasured, 0);
    let one = (Verdict::Reproduced, 1);
    assert_eq!(verdicts, [none, none, none, one, one, one]);
    let comparisons = compare(&plan, &trials);
    let why = judged(&plan, &comparisons)[0].not_measured.clone();
    let expected = "not judged: its published value is used in the fit of the hosts";
    assert_eq!(why.as_deref(), Some(expected));
    let judgement = rows.iter().find_map(|row| row.judgement.as_ref()).unwrap();
    assert!(
        judgement.reason.starts_with("fitted hosts, "),
        "{judgement:?}"
    );
    // Hosts without a fit have results of their own.
    for cell in &mut plan.cells {
        cell.setting.as_mut().unwrap().host.costs.fitted_to = None;
    }
    let (verdicts, _) = found(&plan);
    let both = (Verdict::Reproduced, 2);
    assert_eq!(verdicts, [one, one, one, both, one, one]);
}
