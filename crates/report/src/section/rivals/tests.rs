use plan::Rivals;
use plan::synthetic::{facts, study};
use plan::{Assertion, Expected, Factors};

use super::*;
use crate::run::of_run;

#[test]
fn the_answer_the_table_and_the_lines_name_what_matches_all_sentences() {
    let (mut plan, trials) = study();
    plan.claims = vec![Assertion {
        text: "more is carried".into(),
        source: "[Mathis1997]".into(),
        metric: "throughput".into(),
        cells: vec![("mtu".into(), vec![Level::Integer(9000)])],
        alternatives: plan::Alternatives::default(),
        expected: Expected::Than {
            than: Factors(vec![("mtu".into(), Level::Integer(1500))]),
            higher: true,
            by: 20.0,
        },
        tolerance: None,
    }];
    plan.rivals = vec![Rivals {
        text: "Why more is carried".into(),
        factor: "offloads".into(),
        claims: vec!["more is carried".into()],
        published: Vec::new(),
    }];
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let answer = "Why more is carried: offloads off matches all 1 sentences.";
    assert_eq!(answers(&found, |_, level| level.to_string()), [answer]);
    let text = crate::text(&of_run(&found, None), 100);
    let rows = [
        "off  on   reproduced  sentence",
        "yes  no   by 1 of 2   more is carried [Mathis1997]",
    ];
    for line in rows.into_iter().chain([answer]) {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let lines = crate::json_lines(&found);
    let expected = r#"{"metric":null,"rivals":"Why more is carried","factor":"offloads","sentences":[{"text":"more is carried","source":"[Mathis1997]"}],"alternatives":[{"level":"off","matches_all":true,"explained":1,"verdicts":["reproduced"]},{"level":"on","matches_all":false,"explained":0,"verdicts":["not reproduced"]}]}"#;
    assert!(lines.iter().any(|line| line == expected), "{lines:?}");
}
