use analysis::prober_accuracy::{COST, RIGHT};
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
