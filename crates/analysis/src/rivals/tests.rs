use plan::synthetic::{cell, full_factors, plan, published, trial};
use plan::{Assertion, Expected};

use super::*;
use crate::compare::compare;

/// Two explanations: with `a` throughput rises by 25 %, with `b` it falls.
fn found() -> (Plan, Vec<Comparison>) {
    let places = [("a", 1250.0), ("b", 900.0)];
    let cells =
        places.map(|(word, _)| [1500, 9000].map(|mtu| cell(full_factors(word, "off", mtu))));
    let claims = published("throughput", &[], &[(9000, 25.0)]);
    let mut plan = plan(cells.into_iter().flatten().collect(), 3, vec![claims]);
    let claim = |text: &str, higher| Assertion {
        text: text.into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: plan::Alternatives::default(),
        expected: Expected::Than {
            than: Factors(vec![("mtu".into(), Level::Integer(1500))]),
            higher,
            by: 0.0,
        },
        tolerance: None,
    };
    plan.claims = vec![claim("more", true), claim("less", false)];
    let mut trials = Vec::new();
    for (word, large) in places {
        for (mtu, mean) in [(1500, 1000.0), (9000, large)] {
            for (repeat, more) in (1..).zip([-1.0, 0.0, 1.0]) {
                let values = [("throughput", mean + more)];
                trials.push(trial(full_factors(word, "off", mtu), repeat, &values));
            }
        }
    }
    let rows = compare(&plan, &trials);
    (plan, rows)
}

fn asked(claims: &[&str]) -> (Vec<usize>, Vec<Vec<Verdict>>) {
    let (mut plan, rows) = found();
    plan.rivals = vec![Rivals {
        text: "why it carries more".into(),
        factor: "scenario".into(),
        claims: claims.iter().map(|&text| text.to_owned()).collect(),
        published: vec!["throughput".into()],
    }];
    let judged = judged(&plan, &rows, &[]).remove(0);
    let verdicts = judged.sentences.iter();
    let verdicts = verdicts.map(|sentence| sentence.verdicts.clone());
    (judged.matching(), verdicts.collect())
}

#[test]
fn a_sentence_needs_one_explanation_and_two_are_no_contradiction() {
    use Verdict::{Inconclusive, NotMeasured, NotReproduced, Reproduced};
    let sentence = |verdicts: &[Verdict]| Sentence {
        text: String::new(),
        source: String::new(),
        verdicts: verdicts.to_vec(),
    };
    let of = |verdicts: &[Verdict]| {
        let sentence = sentence(verdicts);
        (sentence.verdict(), sentence.explained_by())
    };
    let some = [NotReproduced, Reproduced, NotMeasured, Reproduced];
    assert_eq!(of(&some), (Reproduced, vec![1, 3]));
    assert_eq!(of(&[NotReproduced, Inconclusive]).0, Inconclusive);
    assert_eq!(of(&[NotReproduced, NotReproduced]).0, NotReproduced);
}

#[test]
fn an_explanation_matches_only_if_it_matches_every_sentence() {
    use Verdict::{NotReproduced, Reproduced};
    let (matching, verdicts) = asked(&["more"]);
    assert_eq!(matching, [0]);
    // The claim, and the published change.
    let first_only = vec![Reproduced, NotReproduced];
    assert_eq!(verdicts, [first_only.clone(), first_only]);
    let (matching, verdicts) = asked(&["more", "less"]);
    assert!(matching.is_empty(), "each explains one of the two claims");
    assert_eq!(verdicts[1], [NotReproduced, Reproduced]);
}
