//! What a row finds, and the advice that follows from all of them.

use std::fmt;

use analysis::Findings;
use analysis::compare::{Comparison, Difference, NotFound};
use document::Tone;
use plan::metric::Better;

use super::{Line, advised};
use crate::section::summary;

/// The change in per cent below which a row makes no difference, although it is beyond
/// chance.
const LEAST: f64 = 1.0;

/// The change in per cent that must have shown before a row says that there is none.
const WOULD_SHOW: f64 = 10.0;

/// What a row finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// A change for the better, of at least [`LEAST`].
    Better,
    /// A change for the worse, of at least [`LEAST`].
    Worse,
    /// A smaller change; or none was found, and one of [`WOULD_SHOW`] would have shown.
    Same,
    /// Too few trials, or they vary too much.
    Undecided,
}

impl Finding {
    pub(crate) fn of(comparison: &Comparison) -> Self {
        let change = comparison.change;
        let percent = change.and_then(|change| change.percent);
        let is_small = percent.is_some_and(|percent| percent.abs() < LEAST);
        match (comparison.difference, comparison.not_found()) {
            (Some(Difference::Found), _) if is_small => Self::Same,
            (Some(Difference::Found), _) => {
                let rises = change.is_some_and(|change| change.difference > 0.0);
                match (comparison.metric.better, rises) {
                    (Better::Higher, true) | (Better::Lower, false) => Self::Better,
                    (Better::Higher, false) | (Better::Lower, true) => Self::Worse,
                }
            }
            (Some(Difference::NotFound), Some(NotFound::Above(margin))) if margin <= WOULD_SHOW => {
                Self::Same
            }
            (Some(Difference::NotFound), Some(NotFound::Resolution(_))) if is_small => Self::Same,
            (Some(Difference::NotFound | Difference::Unknown) | None, _) => Self::Undecided,
        }
    }

    /// The finding of several rows about one place: what any of them finds, unless they
    /// contradict each other.
    fn together(all: &[Self]) -> Option<Self> {
        let any = |finding| all.contains(&finding);
        match (any(Self::Better), any(Self::Worse)) {
            (true, true) => None,
            (true, false) => Some(Self::Better),
            (false, true) => Some(Self::Worse),
            (false, false) if any(Self::Undecided) => Some(Self::Undecided),
            (false, false) => Some(Self::Same),
        }
    }

    pub(crate) const fn tone(self) -> Tone {
        match self {
            Self::Better => Tone::Good,
            Self::Worse => Tone::Bad,
            Self::Same | Self::Undecided => Tone::Neutral,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Undecided => "undecided",
        })
    }
}

/// The clauses of the advice, in their order. `None`: rows of a place contradict each other.
const CLAUSES: [(Option<Finding>, &str); 5] = [
    (Some(Finding::Better), "is better"),
    (Some(Finding::Worse), "is worse"),
    (None, "is better in one way and worse in another"),
    (Some(Finding::Same), "makes no difference"),
    (Some(Finding::Undecided), "is undecided"),
];

/// One sentence: where the level of the headline is better than the baseline, where it is
/// worse, where it makes no difference, and where these trials do not decide. It consists
/// of what the rows find and of the words that the experiment has for their places.
pub(crate) fn advice(found: &Findings<'_>, lines: &[Line<'_>]) -> Option<String> {
    let plan = found.plan;
    let level = advised(found)?;
    let mut places: Vec<(&str, Vec<Finding>)> = Vec::new();
    for line in lines.iter().filter(|line| *line.level == level) {
        let Some(place) = &line.row.place else {
            continue;
        };
        let finding = Finding::of(line.comparison);
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
    let among = plan.world.profile().words.among;
    let opening = among.split(',').next().unwrap_or(among);
    let factor = &plan.compare.factor;
    (!clauses.is_empty()).then(|| {
        format!(
            "{opening}, {} {} against {} {}.",
            summary::factor(plan),
            plan.label(factor, &level),
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
