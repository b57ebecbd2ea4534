//! The headline of a run: the answer to its question, in sentences.

use analysis::Findings;
use analysis::verdict::Verdict;
use plan::evidence;

use crate::section::summary::{self, Subject};
use crate::section::{prober_accuracy, rows};

/// The sentences of JSON: all cells, levels as written.
pub(crate) fn sentences(found: &Findings<'_>) -> Vec<String> {
    if rows::are_declared(found.plan) {
        return of_rows(found);
    }
    let mut sentences = summary::sentences(found, &Subject::of_run(found.plan));
    sentences.extend(summary::verdicts(found));
    sentences.extend(no_result(found));
    sentences
}

/// The answer to the question of the experiment, for people. Scores are the whole answer if
/// the experiment names no metric of it.
pub(crate) fn answer(found: &Findings<'_>) -> Vec<String> {
    let plan = found.plan;
    if rows::are_declared(plan) {
        return of_rows(found);
    }
    let scores = prober_accuracy::answer(found);
    let asks = plan.report.question.is_some() && plan.report.metrics.is_empty();
    if asks && !scores.is_empty() {
        return scores;
    }
    let mut sentences = summary::sentences(found, &Subject::of_headline(found));
    sentences.extend(scores);
    sentences.extend(no_result(found));
    sentences
}

/// The answer of an experiment that declares rows.
fn of_rows(found: &Findings<'_>) -> Vec<String> {
    let mut sentences = rows::sentences(found);
    sentences.extend(no_result(found));
    sentences
}

/// What to do about a run without a result.
fn no_result(found: &Findings<'_>) -> Option<String> {
    let plan = found.plan;
    // The interval of four times as many trials is half as wide.
    let more = plan.repeat.saturating_mul(4);
    let idle = match plan.backend.profile().depends_on_machine {
        true => ", or run on an idle machine",
        false => "",
    };
    let line = || {
        format!(
            "No result: the interval of every change holds 0 and is wider than the baseline. Run more trials (--repeat {more}){idle}."
        )
    };
    found.is_without_result().then(line)
}

/// The question of the experiment, else its title.
pub(crate) fn question<'a>(found: &Findings<'a>) -> &'a str {
    let plan = found.plan;
    plan.report.question.as_deref().unwrap_or(&plan.title)
}

/// The counted verdicts on claims and on published changes, in one line.
pub(crate) fn counted(found: &Findings<'_>) -> Option<String> {
    let claims = found.claims.iter().map(|judged| judged.verdict);
    let claims = claims.chain(found.steps.iter().map(|judged| judged.verdict));
    let changes = summary::judged(found).into_iter();
    let changes = changes.map(|(_, verdict)| verdict);
    let parts = [
        of("claim", claims.collect()),
        of("published change", changes.collect()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

fn of(name: &str, verdicts: Vec<Verdict>) -> Option<String> {
    let plural = if verdicts.len() == 1 { "" } else { "s" };
    let counts = summary::counts(verdicts.iter().copied());
    (!verdicts.is_empty()).then(|| format!("{} {name}{plural}: {counts}", verdicts.len()))
}

/// A line on the cells that this backend cannot measure, with the reasons.
pub(crate) fn not_measured(found: &Findings<'_>) -> Option<String> {
    let cells = &found.plan.cells;
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for why in cells.iter().filter_map(|cell| cell.setting.as_ref().err()) {
        let why = why.trim_start_matches("not measured here: ");
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    let parts: Vec<String> = reasons
        .iter()
        .map(|(why, count)| format!("{count} of {} settings: {why}", cells.len()))
        .collect();
    (!parts.is_empty()).then(|| format!("Not measured here: {}.", parts.join("; ")))
}

/// The metrics that closed forms leave out of cells that they predict, with the reasons.
pub(crate) fn not_predicted(found: &Findings<'_>) -> Option<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    let absent = found.trials.iter();
    let absent = absent.filter_map(|trial| trial.evidence.get(evidence::NOT_PREDICTED));
    for (metric, why) in absent.flatten() {
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, metrics)) if metrics.contains(&metric) => {}
            Some((_, metrics)) => metrics.push(metric),
            None => reasons.push((why, vec![metric])),
        }
    }
    let parts: Vec<String> = reasons
        .iter()
        .map(|(why, metrics)| format!("{} ({why})", metrics.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| format!("Not predicted: {}.", parts.join("; ")))
}
