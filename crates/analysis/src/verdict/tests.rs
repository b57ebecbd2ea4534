use plan::synthetic;

use super::*;

fn claim_of(percent: f64) -> Claim {
    Claim {
        percent,
        rounding: 0.01,
        error: None,
        resolution_percent: None,
    }
}

fn change(low: f64, percent: f64, high: f64) -> Change {
    Change {
        percent: Some(percent),
        ci95: Some(Interval { low, high }),
        difference: percent,
        p: Some(0.01),
        excluded_above: None,
        missing: None,
        is_predicted: false,
    }
}

#[track_caller]
fn check(claim: &Claim, (low, percent, high): (f64, f64, f64), resolution: f64, expected: Verdict) {
    let judgement = judge(
        claim,
        Measured {
            change: &change(low, percent, high),
            resolution_percent: Some(resolution),
        },
    );
    assert_eq!(judgement.verdict, expected, "{}", judgement.reason);
    assert!(!judgement.reason.is_empty() && !judgement.reason.contains('\n'));
}

#[test]
fn each_verdict_has_its_case() {
    use Verdict::*;
    let gain = &claim_of(25.03);
    check(gain, (24.0, 25.0, 26.0), 0.2, Reproduced);
    check(gain, (6.1, 6.4, 6.7), 0.2, DirectionOnly);
    check(gain, (39.0, 40.0, 41.0), 0.2, DirectionOnly);
    check(gain, (-0.3, 0.1, 0.5), 0.2, NotReproduced);
    check(gain, (-6.0, -5.0, -4.0), 0.2, NotReproduced);
    check(gain, (-1.0, 13.0, 27.0), 0.2, Inconclusive);
    check(gain, (-1.0, 11.0, 23.0), 0.2, NotReproduced);
    check(gain, (0.05, 0.1, 0.15), 0.2, NotReproduced);
    check(gain, (-10.0, 25.0, 60.0), 0.2, Inconclusive);
    check(gain, (24.0, 25.0, 26.0), 30.0, Inconclusive);
    check(&claim_of(0.0), (-0.1, 0.0, 0.1), 0.2, Inconclusive);
    let meter_of_whole_per_cents = Claim {
        resolution_percent: Some(14.3),
        ..claim_of(-6.96)
    };
    check(
        &meter_of_whole_per_cents,
        (-7.5, -7.0, -6.5),
        0.2,
        Inconclusive,
    );
    check(&claim_of(-24.74), (-25.0, -24.0, -23.0), 0.2, Reproduced);
}

#[test]
fn rounding_of_the_printed_figures_is_allowed() {
    let outside = (25.04, 25.2, 25.4);
    check(&claim_of(25.03), outside, 0.2, Verdict::Reproduced);
    let exact = Claim {
        rounding: 0.001,
        ..claim_of(25.03)
    };
    check(&exact, outside, 0.2, Verdict::DirectionOnly);
}

#[test]
fn deterministic_trials_compare_within_rounding_and_the_error_of_printed_means() {
    use Verdict::*;
    let exact = |percent: f64| (percent, percent, percent);
    let gain = &claim_of(25.03);
    check(gain, exact(25.035), 0.0, Reproduced);
    check(gain, exact(25.05), 0.0, DirectionOnly);
    check(gain, exact(-25.0), 0.0, NotReproduced);
    check(gain, exact(0.0), 0.0, NotReproduced);
    let of_means = |percent, points| Claim {
        error: Some(StandardError {
            points,
            trials: 20,
            source: "our kernel trials".into(),
        }),
        ..claim_of(percent)
    };
    let wide = &of_means(25.03, 1.2);
    check(wide, exact(26.2), 0.0, Reproduced);
    check(wide, exact(23.83), 0.0, Reproduced);
    check(wide, exact(26.3), 0.0, DirectionOnly);
    check(wide, exact(-26.0), 0.0, NotReproduced);
    // Seeds make an interval, which the printed mean's own error adds to.
    check(wide, (26.0, 26.3, 26.6), 0.0, Reproduced);
    check(wide, (26.3, 26.6, 26.9), 0.0, DirectionOnly);
    // Twenty trials of that spread do not tell such a change from none.
    check(&of_means(1.1, 1.2), exact(1.1), 0.0, Inconclusive);
    check(&of_means(1.1, 1.2), (0.9, 1.1, 1.3), 0.0, Inconclusive);
    let reason = judge(
        wide,
        Measured {
            change: &change(26.0, 26.0, 26.0),
            resolution_percent: None,
        },
    )
    .reason;
    assert_eq!(
        reason,
        "deterministic; our change is the published one within 1.2 points: rounding 0.01, \
         standard error 1.2 of means of 20 trials, from our kernel trials"
    );
}

#[test]
fn the_error_of_a_change_follows_from_the_spread_of_single_trials() {
    // Two means of eight trials that spread by 4 %: sqrt(2 x 16 / 8) = 2 % of the ratio.
    let mut figures = synthetic::published("throughput", &[(1500, 500.0), (9000, 600.0)], &[]);
    figures.sampling = Some(plan::Sampling {
        trials: 8,
        spread_percent: 4.0,
        source: "the study".into(),
    });
    let large = Level::Integer(9000);
    let claim = claim(&figures, &large, &Level::Integer(1500)).unwrap();
    assert!((claim.percent - 20.0).abs() < 1e-9);
    assert!((claim.error.as_ref().unwrap().points - 2.4).abs() < 1e-9);
    assert!((claim.margin() - claim.rounding - 2.4).abs() < 1e-9);
}

#[test]
fn one_trial_is_inconclusive() {
    let single = Change {
        ci95: None,
        p: None,
        missing: Some("too few trials: a single one has no interval"),
        ..change(0.0, 25.0, 0.0)
    };
    let judgement = judge(
        &claim_of(25.0),
        Measured {
            change: &single,
            resolution_percent: None,
        },
    );
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert_eq!(
        judgement.reason,
        "too few trials: a single one has no interval; run more trials"
    );
}

#[test]
fn a_verdict_on_one_end_must_hold_with_and_without_softirq() {
    let claim = claim_of(-17.19);
    let (near, far) = (change(-18.0, -17.0, -16.0), change(-41.0, -40.0, -39.0));
    let of = |change| Measured {
        change,
        resolution_percent: Some(1.0),
    };
    let verdict = |low, high| judge_interval(&claim, of(low), high).verdict;
    assert_eq!(verdict(&near, Some(of(&near))), Verdict::Reproduced);
    assert_eq!(verdict(&far, Some(of(&far))), Verdict::DirectionOnly);
    assert_eq!(verdict(&near, Some(of(&far))), Verdict::Inconclusive);
    assert_eq!(verdict(&near, None), Verdict::Inconclusive);
}

#[test]
fn published_figures_are_found_by_their_factors() {
    let throughput = Metric::named("throughput").unwrap();
    let mut linux = synthetic::published(
        "throughput",
        &[(1500, 750.94), (9000, 938.88)],
        &[(9000, 25.03)],
    );
    linux.factors = Factors(vec![("scenario".into(), Level::Text("LU-LU".into()))]);
    let mut windows = synthetic::published("throughput", &[(1500, 662.37), (9000, 884.96)], &[]);
    windows.factors = Factors(vec![("scenario".into(), Level::Text("WS-WS".into()))]);
    let plan = synthetic::plan(Vec::new(), 1, vec![linux, windows]);

    let of = |scenario, mtu| {
        published_figures(
            &plan,
            throughput,
            &synthetic::full_factors(scenario, "on", mtu),
        )
    };
    assert_eq!(of("LU-LU", 1500).value, Some(750.94));
    assert_eq!(of("LU-LU", 1500).claim, None, "a baseline has no change");
    let printed = of("LU-LU", 9000).claim.unwrap();
    assert_eq!(printed.percent, 25.03);
    // 100 (0.005 + 1.25027 * 0.005) / 750.94 = 0.0014983, and 0.005 printed.
    assert!((printed.rounding - 0.006_498).abs() < 1e-6, "{printed:?}");
    let derived = of("WS-WS", 9000).claim.unwrap();
    assert!((derived.percent - 33.605).abs() < 0.001, "{derived:?}");
    assert_eq!(of("LU-LU", 4000), PublishedFigures::default());
    // A cell that does not name the scenario takes the first that fits.
    assert_eq!(
        published_figures(&plan, throughput, &synthetic::factors(9000)).value,
        Some(938.88)
    );
    assert_eq!(
        published_figures(
            &plan,
            Metric::named("rtt").unwrap(),
            &synthetic::factors(9000)
        ),
        PublishedFigures::default()
    );
}

#[test]
fn figures_in_another_unit_are_not_shown_as_ours() {
    let mut published = synthetic::published("throughput", &[(1500, 10.0), (9000, 20.0)], &[]);
    published.unit = "Gbit/s".into();
    let plan = synthetic::plan(Vec::new(), 1, vec![published]);
    let figures = published_figures(
        &plan,
        Metric::named("throughput").unwrap(),
        &synthetic::factors(9000),
    );
    assert_eq!(figures.value, None);
    assert_eq!(figures.claim.unwrap().percent, 100.0);
}

#[test]
fn figures_are_there_where_a_value_or_a_change_is_printed() {
    let value = PublishedFigures {
        value: Some(938.88),
        ..PublishedFigures::default()
    };
    let change = PublishedFigures {
        claim: Some(claim_of(25.03)),
        ..PublishedFigures::default()
    };
    assert!(value.is_any() && change.is_any());
    assert!(!PublishedFigures::default().is_any());
}

#[test]
fn the_guide_defines_each_verdict_in_the_words_of_the_reports() {
    let guide = include_str!("../../../../docs/guides/reports.md");
    for verdict in Verdict::ALL {
        let row = format!("\n| {verdict} | {} |\n", verdict.meaning());
        assert!(guide.contains(&row), "not in docs/guides/reports.md:{row}");
    }
}

#[test]
fn a_resolution_is_written_in_two_digits_and_no_more_than_two_places() {
    for (figure, text) in [
        (0.0, "0.00"),
        (0.254, "0.25"),
        (1.0, "1.0"),
        (9.94, "9.9"),
        (10.0, "10"),
        (123.4, "123"),
    ] {
        assert_eq!(digits(figure), text);
    }
}
