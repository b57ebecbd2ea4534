//! Judges rival explanations by all claims of a study.
//!
//! Each explanation is a level of one factor. A sentence is judged over the cells of
//! one level at a time; an explanation matches if every sentence is reproduced there.

use plan::{Factors, Level, Plan, Rivals};

use crate::claims::{Needs, in_all, together, within};
use crate::compare::Comparison;
use crate::sizes;
use crate::verdict::Verdict;

/// Rival explanations with their verdicts on each sentence.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The question.
    pub rivals: &'a Rivals,
    /// The explanations, in the plan's order.
    pub alternatives: Vec<Level>,
    /// The sentences that they have to explain.
    pub sentences: Vec<Sentence>,
}

/// A sentence, with the verdict for each explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The sentence, one line.
    pub text: String,
    /// Where it is printed.
    pub source: String,
    /// A verdict for each explanation.
    pub verdicts: Vec<Verdict>,
}

impl Judged<'_> {
    /// The explanations, by position, with which every sentence is reproduced.
    pub fn matching(&self) -> Vec<usize> {
        let matches = |at: &usize| self.explained(*at) == self.sentences.len();
        (0..self.alternatives.len()).filter(matches).collect()
    }

    /// The explanations that contradict no sentence, and leave some open.
    pub fn open(&self) -> Vec<usize> {
        let is_open = |at: &usize| {
            let mut verdicts = self.sentences.iter().map(|sentence| sentence.verdicts[*at]);
            let undecided =
                |verdict| matches!(verdict, Verdict::Inconclusive | Verdict::NotMeasured);
            self.explained(*at) < self.sentences.len()
                && verdicts.all(|verdict| verdict == Verdict::Reproduced || undecided(verdict))
        };
        (0..self.alternatives.len()).filter(is_open).collect()
    }

    /// How many sentences the explanation at this position contradicts.
    pub fn contradicted(&self, at: usize) -> usize {
        let contradicts = |sentence: &&Sentence| {
            let verdict = sentence.verdicts[at];
            matches!(verdict, Verdict::NotReproduced | Verdict::DirectionOnly)
        };
        self.sentences.iter().filter(contradicts).count()
    }

    /// How many sentences the explanation at this position reproduces.
    pub fn explained(&self, at: usize) -> usize {
        let sentences = self.sentences.iter();
        sentences
            .filter(|sentence| sentence.verdicts[at] == Verdict::Reproduced)
            .count()
    }
}

impl Sentence {
    /// The explanations, by position, that reproduce the sentence.
    pub fn explained_by(&self) -> Vec<usize> {
        let reproduces = |at: &usize| self.verdicts[*at] == Verdict::Reproduced;
        (0..self.verdicts.len()).filter(reproduces).collect()
    }

    /// Whether the sentence is reproduced: one explanation is sufficient.
    pub fn verdict(&self) -> Verdict {
        Needs::One.verdict(self.verdicts.iter().copied())
    }
}

/// The rival explanations of the plan, judged by what was measured.
pub fn judged<'a>(
    plan: &'a Plan,
    comparisons: &[Comparison],
    curves: &[sizes::Curve<'_>],
) -> Vec<Judged<'a>> {
    let one = |rivals: &'a Rivals| {
        let mut alternatives: Vec<Level> = Vec::new();
        let cells = plan.cells.iter();
        for level in cells.filter_map(|cell| cell.factors.level(&rivals.factor)) {
            if !alternatives.contains(level) {
                alternatives.push(level.clone());
            }
        }
        let sentences = [
            of_claims(plan, rivals, &alternatives, comparisons),
            of_steps(plan, rivals, &alternatives, curves),
            of_figures(rivals, &alternatives, comparisons),
        ];
        Judged {
            rivals,
            alternatives,
            sentences: sentences.concat(),
        }
    };
    plan.rivals.iter().map(one).collect()
}

fn of_claims(
    plan: &Plan,
    rivals: &Rivals,
    alternatives: &[Level],
    comparisons: &[Comparison],
) -> Vec<Sentence> {
    let claims = plan.claims.iter();
    let asked = claims.filter(|claim| rivals.claims.contains(&claim.text));
    let sentence = |claim: &plan::Assertion| {
        let verdict = |level: &Level| {
            let levels = Factors(vec![(rivals.factor.clone(), level.clone())]);
            in_all(&within(claim, &levels), comparisons).verdict
        };
        Sentence {
            text: claim.text.clone(),
            source: claim.source.clone(),
            verdicts: alternatives.iter().map(verdict).collect(),
        }
    };
    asked.map(sentence).collect()
}

fn of_steps(
    plan: &Plan,
    rivals: &Rivals,
    alternatives: &[Level],
    curves: &[sizes::Curve<'_>],
) -> Vec<Sentence> {
    let steps = sizes::judged(plan, curves);
    let asked = steps
        .iter()
        .filter(|step| rivals.claims.contains(&step.claim.text));
    let sentence = |step: &sizes::Judged<'_>| {
        let verdict = |level: &Level| {
            let curves = step.curves.iter();
            let here = curves.filter(|(factors, ..)| is_at(factors, rivals, level));
            together(here.map(|(_, verdict, _)| *verdict))
        };
        Sentence {
            text: step.claim.text.clone(),
            source: step.claim.source.clone(),
            verdicts: alternatives.iter().map(verdict).collect(),
        }
    };
    asked.map(sentence).collect()
}

/// A sentence for each published change that the explanations have in common.
fn of_figures(
    rivals: &Rivals,
    alternatives: &[Level],
    comparisons: &[Comparison],
) -> Vec<Sentence> {
    let others = |factors: &Factors| {
        let factors = factors.0.iter();
        let other = |(name, _): &&(String, Level)| *name != rivals.factor;
        Factors(factors.filter(other).cloned().collect())
    };
    // The metric and the other factors of each sentence.
    let mut families: Vec<(&str, Factors)> = Vec::new();
    let mut sentences: Vec<Sentence> = Vec::new();
    for row in comparisons {
        let asked = rivals.published.iter().any(|name| name == row.metric.name);
        let (Some(claim), Some(level), true) = (
            &row.published.claim,
            row.factors.level(&rivals.factor),
            asked,
        ) else {
            continue;
        };
        let family = (row.metric.name, others(&row.factors));
        let known = families.iter().position(|other| *other == family);
        let known = known.unwrap_or_else(|| {
            sentences.push(Sentence {
                text: format!(
                    "{} changes by {:+.2} % ({})",
                    row.metric.title, claim.percent, family.1
                ),
                source: row.published.source.clone().unwrap_or_default(),
                verdicts: vec![Verdict::NotMeasured; alternatives.len()],
            });
            families.push(family);
            sentences.len() - 1
        });
        let at = alternatives.iter().position(|other| other == level);
        if let (Some(at), Some(judgement)) = (at, &row.judgement) {
            sentences[known].verdicts[at] = judgement.verdict;
        }
    }
    sentences
}

fn is_at(factors: &Factors, rivals: &Rivals, level: &Level) -> bool {
    factors.level(&rivals.factor) == Some(level)
}

#[cfg(test)]
mod tests;
