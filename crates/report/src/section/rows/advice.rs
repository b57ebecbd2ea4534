//! The advice that follows from what the rows find.

use analysis::Findings;
use analysis::answer::Finding;
use document::Emphasis;

use crate::section::summary;

/// The tone of a finding.
pub(super) const fn tone(finding: Finding) -> Emphasis {
    match finding {
        Finding::MetricDirection => Emphasis::Good,
        Finding::Worse => Emphasis::Bad,
        Finding::Same | Finding::Undecided => Emphasis::Neutral,
    }
}

/// The clauses of the advice, in their order. `None`: rows of a place contradict each other.
const CLAUSES: [(Option<Finding>, &str); 5] = [
    (Some(Finding::MetricDirection), "is better"),
    (Some(Finding::Worse), "is worse"),
    (None, "is better in one way and worse in another"),
    (Some(Finding::Same), "makes no difference"),
    (Some(Finding::Undecided), "is undecided"),
];

/// One sentence: where the level of the headline is better than the baseline, where it is
/// worse, where it makes no difference, and where these trials do not decide. It consists
/// of what the rows find and of the words that the experiment has for their places.
pub(super) fn advice(found: &Findings<'_>) -> Option<String> {
    let plan = found.plan;
    let level = found.answer.level.as_ref()?;
    let mut places: Vec<(&str, Vec<Finding>)> = Vec::new();
    for line in found.answer.rows.iter().filter(|line| line.level == level) {
        let Some(place) = &line.declared.place else {
            continue;
        };
        let finding = line.finding;
        match places.iter_mut().find(|(other, _)| other == place) {
            Some((_, findings)) => findings.push(finding),
            None => places.push((place, vec![finding])),
        }
    }
    let clause = |(finding, words): &(Option<Finding>, &str)| {
        let places = places
            .iter()
            .filter(|(_, findings)| Finding::together(findings) == *finding);
        let places: Vec<&str> = places.map(|(place, _)| *place).collect();
        (!places.is_empty()).then(|| format!("{words} {}", listed(&places)))
    };
    let clauses: Vec<String> = CLAUSES.iter().filter_map(clause).collect();
    let among = plan.backend.profile().words.among;
    let opening = among.split(',').next().unwrap_or(among);
    let factor = &plan.compare.factor;
    (!clauses.is_empty()).then(|| {
        format!(
            "{opening}, {} {} against {} {}.",
            summary::factor(plan),
            plan.label(factor, level),
            plan.label(factor, &plan.compare.baseline),
            clauses.join("; ")
        )
    })
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
