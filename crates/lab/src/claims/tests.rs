use super::*;
use crate::compare::compare;
use crate::compare::synthetic::{Normal, cell, factors, plan, trial};
use crate::plan::Level;

fn claim(expected: Expected) -> Assertion {
    Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        expected,
    }
}

fn more_by(by: f64) -> Expected {
    Expected::Than {
        than: factors(1500),
        higher: true,
        by,
    }
}

/// The verdict where the means of ten trials of each cell are about these.
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
    assert_eq!(
        verdict(more_by(0.0), 900.0, 900.0),
        Verdict::BelowResolution
    );
    // More, and surely not by so much; less, and surely not by so much.
    assert_eq!(verdict(more_by(80.0), 900.0, 940.0), Verdict::NotReproduced);
    assert_eq!(verdict(more_by(-80.0), 940.0, 900.0), Verdict::Reproduced);
}

#[test]
fn what_counts_against_the_instrument_is_the_distance_from_the_bound() {
    let of = |by, large| verdict_of(more_by(by), 900.0, large, Some(20.0));
    assert_eq!(of(0.0, 910.0), Verdict::BelowResolution);
    assert_eq!(of(0.0, 940.0), Verdict::Reproduced);
    // Equal, which is far above "80 less" and hardly above "10 less".
    assert_eq!(of(-80.0, 900.0), Verdict::Reproduced);
    assert_eq!(of(-10.0, 900.0), Verdict::BelowResolution);
    assert_eq!(of(30.0, 940.0), Verdict::BelowResolution);
}

#[test]
fn a_bound_is_kept_broken_or_within_the_interval() {
    for (bound, at_most, at_least) in [
        (950.0, Verdict::Reproduced, Verdict::NotReproduced),
        (850.0, Verdict::NotReproduced, Verdict::Reproduced),
        (900.0, Verdict::BelowResolution, Verdict::BelowResolution),
    ] {
        assert_eq!(verdict(Expected::AtMost(bound), 1.0, 900.0), at_most);
        assert_eq!(verdict(Expected::AtLeast(bound), 1.0, 900.0), at_least);
    }
}

#[test]
fn all_settings_must_hold_and_those_that_are_missing_say_nothing() {
    let held = |verdict| Held {
        factors: factors(9000),
        mean: crate::statistics::mean(&[1.0, 2.0]).unwrap(),
        other: None,
        interval: None,
        verdict,
    };
    let of =
        |verdicts: &[Verdict]| together(&verdicts.iter().map(|&of| held(of)).collect::<Vec<_>>());
    use Verdict::{BelowResolution, NotMeasured, NotReproduced, Reproduced};
    assert_eq!(of(&[]), NotMeasured);
    assert_eq!(of(&[Reproduced, Reproduced]), Reproduced);
    assert_eq!(of(&[Reproduced, BelowResolution]), BelowResolution);
    assert_eq!(
        of(&[Reproduced, BelowResolution, NotReproduced]),
        NotReproduced
    );
    let cells = [(
        "mtu".to_owned(),
        vec![4000, 9000].into_iter().map(Level::Integer).collect(),
    )];
    assert!(has(&factors(9000), &cells) && !has(&factors(1500), &cells));
}
