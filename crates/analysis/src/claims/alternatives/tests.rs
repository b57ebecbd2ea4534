use plan::synthetic::{cell, factors, full_factors, plan, trial};
use plan::{Assertion, Expected, Trial};

use super::super::judged;
use super::*;
use crate::compare::compare;
use crate::sensitivity::Answer;
use crate::sensitivity::questions::{answers, questions};

/// Three readings of a text, each with offloads off and on; throughput at MTU 9000 against
/// 1000 Mbit/s at 1500.
fn study(large: [[f64; 2]; 3]) -> (Plan, Vec<Trial>) {
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for (reading, means) in ["early", "late", "never"].into_iter().zip(large) {
        for (offloads, mean) in ["off", "on"].into_iter().zip(means) {
            for (mtu, mean) in [(1500, 1000.0), (9000, mean)] {
                let factors = full_factors(reading, offloads, mtu);
                cells.push(cell(factors.clone()));
                trials.extend((1..).zip([-1.0, 0.0, 1.0]).map(|(repeat, more)| {
                    trial(factors.clone(), repeat, &[("throughput", mean + more)])
                }));
            }
        }
    }
    let mut plan = plan(cells, 3, Vec::new());
    plan.claims = vec![Assertion {
        text: "large frames carry more".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: by_scenario(),
        expected: Expected::Than {
            than: factors(1500),
            higher: true,
            by: 0.0,
        },
        tolerance: None,
    }];
    (plan, trials)
}

fn by_scenario() -> plan::Alternatives {
    plan::Alternatives {
        factors: vec!["scenario".into()],
        stated: Vec::new(),
    }
}

/// The overall verdict, and that of each alternative.
fn verdicts(plan: &Plan, trials: &[Trial]) -> (Verdict, Vec<Verdict>) {
    let judged = judged(plan, &compare(plan, trials)).remove(0);
    let each = judged.alternatives.into_iter().flat_map(|all| all.each);
    (judged.verdict, each.map(|one| one.verdict).collect())
}

#[test]
fn alternatives_are_judged_one_by_one_and_their_settings_together() {
    use Verdict::{InSome, NotReproduced, Reproduced};
    let (up, down) = (1100.0, 900.0);
    for (large, overall, each) in [
        ([[up; 2]; 3], Reproduced, [Reproduced; 3]),
        ([[down; 2]; 3], NotReproduced, [NotReproduced; 3]),
        // One of two settings is not enough for an interpretation.
        (
            [[up, down], [up, up], [down, down]],
            InSome,
            [NotReproduced, Reproduced, NotReproduced],
        ),
    ] {
        let (plan, trials) = study(large);
        assert_eq!(verdicts(&plan, &trials), (overall, each.to_vec()));
    }
    let (mut plan, trials) = study([[up; 2], [up; 2], [down; 2]]);
    assert_eq!(verdicts(&plan, &trials).0, InSome);
    // All settings are needed where the claim names no alternatives.
    plan.claims[0].alternatives.factors.clear();
    assert_eq!(verdicts(&plan, &trials), (NotReproduced, vec![]));
}

#[test]
fn an_alternative_that_the_source_states_decides_alone() {
    use Answer::{Fails, Holds};
    use Verdict::{NotReproduced, Reproduced};
    let (mut plan, trials) = study([[900.0; 2], [1100.0; 2], [1100.0; 2]]);
    let stated = |words: &[&str]| {
        let words = words.iter().map(|&word| Level::Text(word.into()));
        vec![("scenario".to_owned(), words.collect())]
    };
    let each = vec![NotReproduced, Reproduced, Reproduced];
    for (own, overall, any) in [
        (&["late", "never"][..], Reproduced, Holds),
        (&["early"], NotReproduced, Fails),
        (&["early", "late"], Verdict::InSome, Holds),
    ] {
        plan.claims[0].alternatives.stated = stated(own);
        assert_eq!(verdicts(&plan, &trials), (overall, each.clone()), "{own:?}");
        let judged = judged(&plan, &compare(&plan, &trials)).remove(0);
        assert_eq!(judged.deciding().len(), 2 * own.len(), "{own:?}");
        let of_any = answers(&plan, &questions(&plan), &trials).pop();
        assert_eq!(of_any, Some(Some(any)), "{own:?}");
    }
}

#[test]
fn what_is_undecided_or_not_measured_contradicts_nothing() {
    use Verdict::{DirectionOnly, InSome, Inconclusive, NotMeasured, NotReproduced, Reproduced};
    for (each, all) in [
        (vec![], NotMeasured),
        (vec![NotMeasured, NotMeasured], NotMeasured),
        (vec![Reproduced, NotMeasured], Reproduced),
        (vec![Reproduced, Inconclusive], InSome),
        (vec![Reproduced, DirectionOnly], InSome),
        (vec![NotReproduced, Inconclusive], Inconclusive),
        (vec![NotReproduced, DirectionOnly], DirectionOnly),
        (vec![NotReproduced, NotMeasured], NotReproduced),
    ] {
        assert_eq!(overall(each.iter().copied()), all, "{each:?}");
    }
}

#[test]
fn a_search_asks_of_each_alternative_and_of_any() {
    use Answer::{Fails, Holds};
    let (plan, trials) = study([[1100.0; 2], [900.0; 2], [1100.0, 900.0]]);
    let asked = questions(&plan);
    let names: Vec<Option<String>> = asked
        .iter()
        .map(|one| Some(plan.in_words(one.alternative.as_ref()?)))
        .collect();
    let name = |words: &str| Some(words.to_owned());
    assert_eq!(
        names,
        [
            name("scenario early"),
            name("scenario late"),
            name("scenario never"),
            None
        ]
    );
    let of_each = [Some(Holds), Some(Fails), Some(Fails), Some(Holds)];
    assert_eq!(answers(&plan, &asked, &trials), of_each);
}

#[test]
fn a_search_asks_of_a_printed_change_in_each_alternative_and_in_any() {
    use Answer::{Fails, Holds};
    let (mut plan, trials) = study([[1100.0; 2], [900.0; 2], [1100.0; 2]]);
    plan.claims.clear();
    let mut figures = plan::synthetic::published("throughput", &[], &[(9000, 10.0)]);
    figures.factors = Factors(vec![("offloads".into(), Level::Text("on".into()))]);
    figures.alternatives = by_scenario();
    plan.published = vec![figures];
    let asked = questions(&plan);
    let of_each = [Some(Holds), Some(Fails), Some(Holds), Some(Holds)];
    assert_eq!(answers(&plan, &asked, &trials), of_each);
    let texts: Vec<&str> = asked.iter().map(|one| &*one.text).collect();
    assert_eq!(texts, ["Throughput: +10 %, offloads=on mtu=9000"; 4]);
    assert_eq!(asked[3].alternative, None);
    plan.published[0].alternatives.factors.clear();
    assert_eq!(questions(&plan).len(), 3, "no question of any");
}
