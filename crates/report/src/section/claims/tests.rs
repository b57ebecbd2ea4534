use plan::synthetic::{cell, factors, facts, full_factors, plan, trial};
use plan::{Assertion, Level};

use super::*;

#[test]
fn a_claim_is_told_with_its_settings_for_people_and_programs() {
    let mut plan = plan(vec![cell(factors(1500)), cell(factors(9000))], 3, vec![]);
    let claim = |expected| Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: plan::Alternatives::default(),
        expected,
        tolerance: None,
    };
    plan.claims = vec![
        claim(Expected::Than {
            than: factors(1500),
            higher: true,
            by: 10.0,
        }),
        claim(Expected::AtMost(800.0)),
    ];
    let mut trials = Vec::new();
    for (repeat, more) in (1..).zip([-1.0, 0.0, 1.0]) {
        for (mtu, mean) in [(1500, 900.0), (9000, 940.0)] {
            trials.push(trial(factors(mtu), repeat, &[("throughput", mean + more)]));
        }
    }
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    assert_eq!(
        lines(&found),
        [
            "large frames carry more [Mathis1997]: reproduced",
            "  mtu=9000: throughput 940.0 Mbit/s against 900.0 with mtu=1500, claimed by 10 at least; difference [37.73, 42.27]: reproduced",
            "large frames carry more [Mathis1997]: not reproduced",
            "  mtu=9000: throughput 940.0 Mbit/s, claimed at most 800; mean [937.5, 942.5]: not reproduced",
        ]
    );
    let objects = crate::json_lines(&found);
    let is_claim = |line: &&String| line.contains(r#""kind":"claim""#);
    let objects: Vec<&String> = objects.iter().filter(is_claim).collect();
    assert!(
        objects[1].starts_with(
            r#"{"kind":"claim","claim":"large frames carry more","source":"[Mathis1997]","metric":"throughput","unit":"Mbit/s","is":"at_most","by":null,"bound":800.0,"by_percent":null,"over":null,"average":null,"tolerance":null,"verdict":"not_reproduced","alternatives":[],"not_measured":null,"settings":[{"factors":{"mtu":9000},"than":null,"n":3,"mean":940.0,"than_mean":null,"change_percent":null,"interval":[937."#
        ),
        "{}",
        objects[1]
    );
}

#[test]
fn a_claim_of_changes_is_told_with_its_average() {
    let mut plan = plan(vec![cell(factors(1500)), cell(factors(9000))], 3, vec![]);
    let claim = |higher, percent, over| Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: plan::Alternatives::default(),
        expected: Expected::Changed {
            than: factors(1500),
            higher,
            percent,
            over,
        },
        tolerance: None,
    };
    plan.claims = vec![
        claim(true, 117.0, Over::Mean),
        claim(false, 58.5, Over::Any),
    ];
    let mut trials = Vec::new();
    for (repeat, more) in (1..).zip([-1.0, 0.0, 1.0]) {
        for (mtu, mean) in [(1500, 900.0), (9000, 945.0)] {
            trials.push(trial(factors(mtu), repeat, &[("throughput", mean + more)]));
        }
    }
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    assert_eq!(
        lines(&found),
        [
            "large frames carry more [Mathis1997]: not reproduced, on average +5.00 % [4.74, 5.26], claimed +117 % or more",
            "  mtu=9000: throughput 945.0 Mbit/s against 900.0 with mtu=1500; +5.00 % [4.74, 5.26]: not reproduced",
            "large frames carry more [Mathis1997]: not reproduced",
            "  mtu=9000: throughput 945.0 Mbit/s against 900.0 with mtu=1500; +5.00 % [4.74, 5.26], claimed -58.5 % or lower: not reproduced",
        ]
    );
    let objects = crate::json_lines(&found);
    let is_claim = |line: &&String| line.contains(r#""kind":"claim""#);
    let objects: Vec<&String> = objects.iter().filter(is_claim).collect();
    assert!(
        objects[0].contains(r#""is":"higher","by":null,"bound":null,"by_percent":117.0,"over":"mean","average":{"percent":5.0,"interval":"#),
        "{}",
        objects[0]
    );
    assert!(objects[0].contains(r#""than_mean":900.0,"change_percent":5.0"#));
}

#[test]
fn a_claim_says_in_which_interpretations_it_holds() {
    let scenarios = ["early", "late"];
    let of = |scenario: &str, mtu| full_factors(scenario, "off", mtu);
    let cells = scenarios.map(|scenario| [1500, 9000].map(|mtu| cell(of(scenario, mtu))));
    let mut plan = plan(cells.into_iter().flatten().collect(), 3, vec![]);
    let late = [("late".to_owned(), "marked late".to_owned())];
    plan.report
        .labels
        .insert("scenario".into(), late.into_iter().collect());
    let named = |stated| plan::Alternatives {
        factors: vec!["scenario".into()],
        stated,
    };
    let claim = |stated| Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: named(stated),
        expected: Expected::Than {
            than: factors(1500),
            higher: true,
            by: 0.0,
        },
        tolerance: None,
    };
    let of_late = vec![Level::Text("late".into())];
    plan.claims = vec![claim(Vec::new()), claim(vec![("scenario".into(), of_late)])];
    let mut trials = Vec::new();
    for (scenario, large) in scenarios.into_iter().zip([870.0, 945.0]) {
        for (repeat, more) in (1..).zip([-1.0, 0.0, 1.0]) {
            for (mtu, mean) in [(1500, 900.0), (9000, large)] {
                let values = [("throughput", mean + more)];
                trials.push(trial(of(scenario, mtu), repeat, &values));
            }
        }
    }
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let lines = lines(&found);
    let claims: Vec<&String> = lines.iter().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        claims,
        [
            "large frames carry more [Mathis1997]: reproduced in some interpretations, holds in marked late; not in scenario early",
            "large frames carry more [Mathis1997]: reproduced, holds in marked late (as stated); not in scenario early",
        ]
    );
    let objects = crate::json_lines(&found);
    assert!(
        objects.iter().any(|line| line.contains(
            r#""verdict":"reproduced","alternatives":[{"levels":{"scenario":"early"},"is_stated":false,"verdict":"not_reproduced","holds":0,"settings":1,"average":null},"#
        )),
        "{objects:#?}"
    );
}
