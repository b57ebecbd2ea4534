use analysis::scores::{COST, RIGHT};
use plan::Trial;

use super::*;
use crate::brief::{MOST_LINES, Places, brief};

/// A study whose trials are scores; the investigations of the last trial's cell are wrong in the
/// hop, the first one of them.
fn study() -> (plan::Plan, Vec<Trial>) {
    let (plan, mut trials) = plan::synthetic::study();
    let last = trials.last().unwrap().factors.clone();
    for trial in &mut trials {
        trial.failure = None;
        let is_wrong = trial.factors == last && trial.repeat == 1;
        let hop = if is_wrong { 0.0 } else { 100.0 };
        let figures = [100.0, 100.0, hop, 68.0, 284_644.0, 160.0];
        let names = RIGHT.into_iter().chain(COST).map(str::to_owned);
        trial.metrics = names.zip(figures).collect();
    }
    (plan, trials)
}

#[test]
fn scores_are_the_answer_and_the_table_of_a_report() {
    let (plan, trials) = study();
    let facts = plan::synthetic::facts();
    let found = Findings::of(&plan, &trials, &facts);
    let wrong: usize = found.scores.iter().map(Score::wrong).sum();
    let n: usize = found.scores.iter().map(|score| score.n).sum();
    assert!(wrong > 0 && wrong < n, "{wrong} of {n}");
    let answer = answer(&found);
    let [totals, worst] = &answer[..] else {
        panic!("{answer:?}")
    };
    let expected =
        format!("Of {n} investigations of paths with known faults, {n} have the right verdict (");
    assert!(totals.starts_with(&expected), "{totals}");
    assert!(
        totals.contains(&format!("{} have the right hop (", n - wrong)),
        "{totals}"
    );
    assert!(worst.starts_with("Most were wrong with "), "{worst}");
    let text = brief(&found, Places::default(), 100);
    assert!(text.lines().count() <= MOST_LINES, "{text}");
    assert!(text.contains("right hop"), "{text}");
    // Where not all rows fit, the wrong ones stay.
    let one = table(&found, 1, true).unwrap();
    let worst = found
        .scores
        .iter()
        .max_by_key(|score| score.wrong())
        .unwrap();
    let right = format!("{} of {}", worst.right[2].right, worst.n);
    let is_right = |cell: &Cell| matches!(cell, Cell::Figure(text, _) if *text == right);
    assert!(one.rows[0].iter().any(is_right), "{right}");
}

#[test]
fn other_traffic_has_no_scores() {
    let (plan, trials) = plan::synthetic::study();
    let facts = plan::synthetic::facts();
    let found = Findings::of(&plan, &trials, &facts);
    assert!(section(&found).is_none());
    assert_eq!(answer(&found), Vec::<String>::new());
}

/// Two probers on two paths: the second one names no hop, and was not run on the second
/// path.
fn beside_each_other() -> (plan::Plan, Vec<Trial>) {
    let (mut plan, mut trials) = plan::synthetic::study();
    let mut cells = plan.cells.iter_mut();
    let mut kept = Vec::new();
    for fault in ["clean", "silent"] {
        for prober in ["jumbolab", "scamper"] {
            let cell = cells.next().unwrap();
            let old = cell.factors.clone();
            let level = |text: &str| Level::Text(text.to_owned());
            cell.factors = Factors(vec![
                ("fault".to_owned(), level(fault)),
                ("prober".to_owned(), level(prober)),
            ]);
            for trial in trials.iter_mut().filter(|trial| *trial.factors == old) {
                trial.factors = cell.factors.clone().into();
                let is_missing = prober == "scamper" && fault == "silent";
                let why = "not run: no program `scamper`; apt-get install scamper";
                trial.failure = is_missing.then(|| why.into());
                let figures = [100.0, 100.0, 0.0, 68.0, 284_644.0, 160.0];
                let names = RIGHT.into_iter().chain(COST).map(str::to_owned);
                trial.metrics = names.zip(figures).collect();
                if prober == "scamper" {
                    trial.metrics.remove("hop_right");
                }
                kept.push(trial.clone());
            }
        }
    }
    drop(cells);
    plan.cells.truncate(4);
    (plan, kept)
}

#[test]
fn probers_stand_side_by_side_with_what_they_do_not_answer() {
    let (plan, trials) = beside_each_other();
    let facts = plan::synthetic::facts();
    let found = Findings::of(&plan, &trials, &facts);
    let [first, second, third, _] = [0, 1, 2, 3].map(|cell: usize| found.scores[cell].n);
    let shown = |figure| {
        let probers = probers(&found).unwrap();
        let table = beside(&found, &probers, figure, usize::MAX, true);
        let text = |cell: &Cell| match cell {
            Cell::Text(text) | Cell::Figure(text, _) => text.clone(),
            other => panic!("{other:?}"),
        };
        let rows = table.rows.iter();
        rows.map(|row| row.iter().map(text).collect::<Vec<_>>().join(" | "))
            .collect::<Vec<_>>()
    };
    let mtus = [
        format!("clean | {first} of {first} | {second} of {second}"),
        format!("silent | {third} of {third} | not run"),
    ];
    assert_eq!(shown(Figure::Right(MTU)), mtus);
    let hops = [
        format!("clean | 0 of {first} | -"),
        format!("silent | 0 of {third} | not run"),
    ];
    assert_eq!(shown(Figure::Right(2)), hops);
    let answer = answer(&found);
    let all = first + third;
    assert_eq!(
        answer[0],
        format!(
            "jumbolab, {all} investigations: the right verdict in {all} of {all} answers, the right MTU in {all} of {all} answers, the right hop in 0 of {all} answers."
        )
    );
    assert!(!answer[1].contains("hop"), "{}", answer[1]);
    assert_eq!(rows(&found), 2);
    let text = brief(&found, Places::default(), 100);
    assert!(text.contains("scamper"), "{text}");
    assert_eq!(section(&found).unwrap().blocks.len(), 8);
}
