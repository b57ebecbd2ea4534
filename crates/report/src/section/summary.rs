//! The summary: the effect of a level of the compared factor, the contributions to it,
//! and its uncertainty.

mod caveats;
mod subject;

use analysis::Findings;
use analysis::compare::{Comparison, Difference, NotFound};
use analysis::decomposition::slowest;
use analysis::quality_check::Warning;
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use plan::metric::Metric;
use plan::{Cell, Factors, Level, Plan};

use crate::figure;
use crate::rows::framing_note;
use caveats::{caveats, opening};
pub(crate) use subject::{Subject, factor};

/// The shares of a gain that count as "nearly all" and "most" of it.
const NEARLY_ALL: f64 = 0.9;
const MOST: f64 = 0.5;

/// A sentence for each measured combination of the other factors: the change by the
/// subject's level of the compared factor against the baseline, and its
/// decomposition.
pub(crate) fn sentences(found: &Findings<'_>, subject: &Subject<'_>) -> Vec<String> {
    let Some(level) = &subject.level else {
        return Vec::new();
    };
    let cells = subject.plan.cells.iter().enumerate();
    let sentences: Vec<String> = cells
        .filter(|(_, cell)| subject.includes(cell))
        .filter_map(|(position, cell)| sentence(found, subject, position, cell, level))
        .collect();
    match sentences.len() > subject.most {
        true => together(found, subject, level),
        false => sentences,
    }
}

/// The warnings about figures of the cells at these positions and of their
/// baselines, as the end of a sentence.
fn warned(found: &Findings<'_>, cells: &[usize]) -> String {
    let baselines = cells.iter().filter_map(|&cell| found.baselines[cell]);
    let mut cells: Vec<usize> = cells.iter().copied().chain(baselines).collect();
    cells.sort_unstable();
    cells.dedup();
    let warnings: Vec<String> = found
        .warnings(&cells)
        .iter()
        .map(Warning::to_string)
        .collect();
    match warnings.as_slice() {
        [] => String::new(),
        warnings => format!(" (warning: {})", warnings.join("; ")),
    }
}

/// With many settings, one sentence per metric: the number of settings in which
/// the level changes it, the range of changes, and the number without a
/// difference.
fn together(found: &Findings<'_>, subject: &Subject<'_>, level: &Level) -> Vec<String> {
    let plan = subject.plan;
    let settings: Vec<usize> = (0..plan.cells.len())
        .filter(|&cell| subject.includes(&plan.cells[cell]))
        .collect();
    let all = settings.len();
    let caveats = caveats(found, &settings);
    let warnings = match subject.repeats_warnings() {
        true => warned(found, &settings),
        false => String::new(),
    };
    let sentence = |(metric, words): &(&Metric, String)| {
        let rows: Vec<&Comparison> = found
            .comparisons
            .iter()
            .filter(|row| row.metric == *metric && settings.contains(&row.cell))
            .collect();
        let count = |is: Difference| rows.iter().filter(|row| row.difference == Some(is)).count();
        let percents: Vec<f64> = rows
            .iter()
            .filter(|row| row.difference == Some(Difference::Found))
            .filter_map(|row| row.change?.percent)
            .collect();
        let parts = [
            range(
                "higher",
                percents.iter().copied().filter(|&percent| percent > 0.0),
            ),
            range(
                "lower",
                percents.iter().copied().filter(|&percent| percent <= 0.0),
            ),
            counted(count(Difference::NotFound), "no difference found"),
            counted(count(Difference::Unknown), "too few trials to say"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let note = in_brackets(figure::passes(rows));
        (!parts.is_empty()).then(|| {
            format!(
                "{} {all} settings{}, {}, {words}: {}{note}{caveats}{warnings}.",
                opening(plan, &settings, plan.backend.profile().words.among),
                subject.selection(),
                subject.comparison(level),
                parts.join("; ")
            )
        })
    };
    subject.metrics.iter().filter_map(sentence).collect()
}

/// The number of settings with a change in one direction, and its range.
fn range(sign: &str, percents: impl Iterator<Item = f64>) -> Option<String> {
    let mut percents: Vec<f64> = percents.collect();
    percents.sort_by(f64::total_cmp);
    let (least, most) = (*percents.first()?, *percents.last()?);
    let [least, most] = [least, most].map(|percent| {
        let places = usize::from(percent.abs() < 1_000.0);
        figure::signed(percent, places)
    });
    Some(match percents.len() {
        1 => format!("{sign} in 1 ({least} %)"),
        many => format!("{sign} in {many} ({least} to {most} %)"),
    })
}

fn counted(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{what} in {count}"))
}

fn sentence(
    found: &Findings<'_>,
    subject: &Subject<'_>,
    position: usize,
    cell: &Cell,
    level: &Level,
) -> Option<String> {
    let (plan, comparisons) = (found.plan, &found.comparisons);
    let with_note = |words: &str, comparison: &Comparison| {
        let answer = answer(plan, words, comparison)?;
        Some((answer, in_brackets(figure::passes([comparison]))))
    };
    let answers: Vec<(String, String)> = subject
        .metrics
        .iter()
        .filter_map(|(metric, words)| with_note(words, found.find(metric, position)?))
        .collect();
    // If the experiment names its metrics, they include those of flows or not.
    let is_chosen = !plan.leading.is_empty() || !plan.report.metrics.is_empty();
    let here = |other: &&Comparison| other.cell == position && !is_chosen;
    let of_flows = comparisons.iter().filter(here);
    let of_flows = of_flows.filter_map(|comparison| {
        let flow = comparison.metric.name.strip_prefix("delay/")?;
        with_note(&format!("delay of {flow}"), comparison)
    });
    let answers: Vec<(String, String)> = answers.into_iter().chain(of_flows).collect();
    let setting = cell.setting.as_ref().ok()?;
    let link = slowest(setting).map_or_else(
        || "links without a rate".to_owned(),
        |rate| format!("{} links", figure::rate(rate)),
    );
    let place = match others(subject, &cell.factors) {
        Some(others) => format!("with {others}, "),
        None => String::new(),
    };
    (!answers.is_empty()).then(|| {
        format!(
            "{} {link}, {place}{}: {}{}{}.",
            opening(plan, &[position], plan.backend.profile().words.alone),
            subject.comparison(level),
            joined(&answers),
            caveats(found, &[position]),
            match subject.repeats_warnings() {
                true => warned(found, &[position]),
                false => String::new(),
            }
        )
    })
}

/// Answers with the notes behind them. A note that all of them have stands once, at the end.
fn joined(answers: &[(String, String)]) -> String {
    let mut notes = answers.iter().map(|(_, note)| note.as_str());
    let first = notes.next().unwrap_or_default();
    let common = if notes.all(|note| note == first) {
        first
    } else {
        ""
    };
    let answers = answers.iter().map(|(answer, note)| match common {
        "" => format!("{answer}{note}"),
        _ => answer.clone(),
    });
    let answers: Vec<String> = answers.collect();
    format!("{}{common}", answers.join("; "))
}

/// A note as the end of an answer.
fn in_brackets(note: Option<String>) -> String {
    note.map_or_else(String::new, |note| format!(" ({note})"))
}

/// A sentence about one metric; `None` if it was not measured.
fn answer(plan: &Plan, words: &str, comparison: &Comparison) -> Option<String> {
    Some(match comparison.difference? {
        Difference::Found => {
            let change = figure::change_percent(comparison);
            let trimmed = comparison.mean.filter(|mean| !mean.is_approximate);
            let trimmed = trimmed.and_then(|mean| mean.trimmed);
            let trimmed = trimmed.map_or("", |_| " (trimmed means)");
            format!("{words} {change}{trimmed}{}", composition(plan, comparison))
        }
        Difference::NotFound => match comparison.not_found() {
            Some(NotFound::Above(margin)) => {
                let margin = figure::two_digits(margin);
                format!("no difference in {words} found (one above {margin} % would have shown)")
            }
            Some(NotFound::Resolution(_)) => {
                let change = figure::change_percent(comparison);
                format!("{words} {change}, within the resolution of the instrument")
            }
            Some(NotFound::Together(comparisons)) => {
                let change = figure::change_percent(comparison);
                let chance = figure::beyond_chance(comparisons);
                format!("{words} {change}, {chance}")
            }
            Some(NotFound::NoResult) => {
                format!("no result for {words}: the interval is wider than the baseline")
            }
            Some(NotFound::Chance) | None => format!("no difference in {words} found"),
        },
        Difference::Unknown => format!("too few trials to say about {words}"),
    })
}

/// The decomposition of a gain, or the reason why it is unknown, as a suffix.
pub(crate) fn composition(plan: &Plan, comparison: &Comparison) -> String {
    if let Some(note) = framing_note(plan, comparison) {
        return format!(" ({note})");
    }
    let (Some(decomposition), Some(change)) = (comparison.decomposition, comparison.change) else {
        return String::new();
    };
    let Some(percent) = change.percent else {
        return String::new();
    };
    let framing = decomposition.framing_percent;
    let may_be_all = |interval: Interval| (interval.low..=interval.high).contains(&framing);
    let headers = match decomposition.framing_share(percent) {
        Some(share) if (NEARLY_ALL..=1.0 / NEARLY_ALL).contains(&share) => {
            "nearly all of it header overhead"
        }
        _ if change.ci95.is_some_and(may_be_all) => "which header overhead alone may explain",
        Some(share) if share > 1.0 => "less than header overhead alone gives",
        Some(share) if share >= MOST => "most of it header overhead",
        Some(share) if share > 0.0 => "the smaller part of it header overhead",
        _ => "against header overhead",
    };
    format!(", {headers} ({})", parts(comparison).join(", "))
}

/// The factors of a change of goodput with intervals.
pub(crate) fn parts(comparison: &Comparison) -> Vec<String> {
    let Some(decomposition) = &comparison.decomposition else {
        return Vec::new();
    };
    let framing = format!("framing {:+.1} %", decomposition.framing_percent);
    let rest = [
        ("start-up and loss", &decomposition.startup_and_loss),
        ("host cost", &decomposition.host),
    ];
    let rest = rest.iter().filter_map(|(name, part)| {
        let part = figure::part(part.as_ref()?);
        Some(format!("{name} {part}"))
    });
    std::iter::once(framing).chain(rest).collect()
}

/// The other factors that distinguish a cell from other measured cells.
fn others(subject: &Subject<'_>, factors: &Factors) -> Option<String> {
    let plan = subject.plan;
    let measured = || plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let varying = factors.0.iter().filter(|(name, level)| {
        *name != plan.compare.factor
            && measured().any(|cell| cell.factors.level(name) != Some(level))
    });
    let words = subject.words(varying.map(|(name, level)| (name, level)));
    (!words.is_empty()).then_some(words)
}

/// A sentence on the published changes, if any could be measured.
pub(crate) fn verdicts(found: &Findings<'_>) -> Option<String> {
    let judged = judged(found);
    let counts = counts(judged.iter().map(|&(_, verdict)| verdict));
    let figures = match judged.len() {
        0 => return None,
        1 => "Of 1 comparison with a published change".to_owned(),
        many => format!("Of {many} comparisons with published changes"),
    };
    let cells: Vec<usize> = judged.iter().map(|&(cell, _)| cell).collect();
    let warnings = warned(found, &cells);
    Some(format!("{figures}: {counts}{warnings}."))
}

/// The verdicts on published changes that could be measured, with their cells.
pub(crate) fn judged(found: &Findings<'_>) -> Vec<(usize, Verdict)> {
    found
        .comparisons
        .iter()
        .filter(|comparison| comparison.published.claim.is_some())
        .filter_map(|comparison| Some((comparison.cell, comparison.judgement.as_ref()?.verdict)))
        .filter(|&(_, verdict)| verdict != Verdict::NotMeasured)
        .collect()
}

/// How many verdicts of each kind there are: `9 reproduced, 2 inconclusive`.
pub(crate) fn counts(verdicts: impl Iterator<Item = Verdict> + Clone) -> String {
    let counts = Verdict::ALL.iter().filter_map(|verdict| {
        let count = verdicts.clone().filter(|other| other == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    });
    counts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::passes::leave_out_disturbed;
    use analysis::quality_check::State;
    use plan::Trial;
    use plan::synthetic::{facts, study};

    /// The sentences on the synthetic study after a change to its trials.
    fn sentences_of(change: impl Fn(&mut Trial)) -> Vec<String> {
        let (plan, mut trials) = study();
        trials.iter_mut().for_each(change);
        let facts = facts();
        crate::section::headline::sentences(&Findings::of(&plan, &trials, &facts))
    }

    /// Gives the flag to trials at these offloads in this repeat.
    fn flagged(trial: &mut Trial, flag: &str, offloads: &str, repeat: u32) {
        if trial.factors.to_string().contains(offloads) && trial.repeat == repeat {
            trial.flags.push(flag.to_owned());
        }
    }

    #[test]
    fn the_answer_is_a_sentence_for_each_kind_that_was_measured() {
        assert_eq!(
            sentences_of(|_| ()),
            [
                "On this machine and 1 Gbit/s links, with offloads off, MTU 9000 against 1500: goodput +4.3 % [3.6, 5.0], less than header overhead alone gives (framing +6.4 %).",
                "On this machine and 1 Gbit/s links, with offloads on, MTU 9000 against 1500: no difference in goodput found (one above 0.52 % would have shown).",
                "Of 4 comparisons with published changes: 1 reproduced, 1 direction only, 2 not reproduced.",
            ]
        );
    }

    #[test]
    fn a_sentence_says_that_its_result_is_approximate_and_no_other_does() {
        let sentences = sentences_of(|trial| flagged(trial, "disturbed", "offloads=off", 1));
        assert_eq!(sentences.len(), 3);
        let note = " (approximate: other work disturbed 2 of 4 trials).";
        assert!(sentences[0].ends_with(note), "{}", sentences[0]);
        assert!(
            sentences[0].contains("goodput +4.3 % [3."),
            "{}",
            sentences[0]
        );
        assert!(!sentences[1].contains("approximate"), "{}", sentences[1]);
    }

    #[test]
    fn a_sentence_says_how_many_trials_its_result_uses() {
        let (plan, mut trials) = study();
        let template = trials.clone();
        for repeat in 3..=8 {
            let further = template.iter().filter(|trial| trial.repeat == 1);
            trials.extend(further.cloned().map(|trial| Trial { repeat, ..trial }));
        }
        for trial in &mut trials {
            flagged(trial, "disturbed", "offloads=off", 1);
            flagged(trial, "disturbed", "offloads=off", 5);
        }
        leave_out_disturbed(&plan, &mut trials);
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        let sentences = crate::section::headline::sentences(&found);
        let note = " (12 of 16 trials; other work disturbed the rest).";
        assert!(sentences[0].ends_with(note), "{}", sentences[0]);
        assert!(!sentences[1].contains("trials"), "{}", sentences[1]);
        assert_eq!(found.state(), State::Passed);
    }

    #[test]
    fn a_note_that_all_answers_have_stands_once() {
        let note = || " (approximate)".to_owned();
        let one = ("goodput +1 %".to_owned(), note());
        let other = ("CPU -2 %".to_owned(), note());
        let both = [one.clone(), other];
        assert_eq!(joined(&both), "goodput +1 %; CPU -2 % (approximate)");
        let differing = [one, ("CPU -2 %".to_owned(), String::new())];
        assert_eq!(joined(&differing), "goodput +1 % (approximate); CPU -2 %");
        assert_eq!(joined(&[]), "");
    }

    #[test]
    fn only_the_sentence_about_a_host_says_that_the_host_was_measured() {
        let sentences = sentences_of(|trial| flagged(trial, "cpu-bound", "offloads=on", 2));
        let warning = " (warning: the host was measured, not the link: an end used a whole CPU in 2 of 4 trials).";
        assert!(!sentences[0].contains("warning:"), "{}", sentences[0]);
        assert!(sentences[1].ends_with(warning), "{}", sentences[1]);
    }
}
