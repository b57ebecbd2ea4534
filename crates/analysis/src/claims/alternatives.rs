//! Alternatives that exclude each other: interpretations of a text, settings that it
//! leaves open, and rival causes.

use plan::{Alternatives as Named, Factors, Level, Plan};

use super::{Average, has};
use crate::verdict::Verdict;

/// What is needed of alternatives to reproduce a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Interpretations of a source: each is reported, and none speaks for the others.
    Each,
    /// Rival causes of what a study saw: one of them is sufficient.
    One,
}

/// Alternatives with their verdicts.
#[derive(Clone, Debug)]
pub struct Alternatives {
    /// What is needed of them.
    pub needs: Needs,
    /// Each with its verdict, in the plan's order.
    pub each: Vec<Alternative>,
}

/// One of several alternatives.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its levels of the factors that the claim names.
    pub levels: Factors,
    /// Whether the source states it; if it states none, all of them count.
    pub is_stated: bool,
    /// The verdict over all settings that have these levels.
    pub verdict: Verdict,
    /// In how many of these settings the claim holds.
    pub holds: usize,
    /// The number of these settings that were measured.
    pub settings: usize,
    /// The mean of the changes, if it is claimed and known.
    pub average: Option<Average>,
}

impl Needs {
    /// The factors whose levels are alternatives of a sentence, and what is needed of
    /// them: the sentence names its own, else the levels of the factor of each
    /// `[[rivals]]` that lists it are causes of what it says.
    pub(crate) fn of(plan: &Plan, text: &String, own: &Named) -> (Vec<String>, Option<Self>) {
        if !own.factors.is_empty() {
            return (own.factors.clone(), Some(Self::Each));
        }
        let rivals = plan.rivals.iter().filter(|one| one.claims.contains(text));
        let causes: Vec<String> = rivals.map(|one| one.factor.clone()).collect();
        let needs = (!causes.is_empty()).then_some(Self::One);
        (causes, needs)
    }

    /// The overall verdict. Alternatives that were not measured say nothing.
    pub fn verdict(self, each: impl Iterator<Item = Verdict>) -> Verdict {
        use Verdict::{
            DirectionOnly, InSome, Inconclusive, NotMeasured, NotReproduced, Reproduced,
        };
        let measured: Vec<Verdict> = each.filter(|one| *one != NotMeasured).collect();
        let all = measured.iter().all(|one| *one == Reproduced);
        let best_first = [
            Reproduced,
            InSome,
            Inconclusive,
            DirectionOnly,
            NotReproduced,
        ];
        let best = best_first.into_iter().find(|one| measured.contains(one));
        match (self, best) {
            (Self::Each, Some(Reproduced)) if !all => InSome,
            (_, best) => best.unwrap_or(NotMeasured),
        }
    }
}

/// Whether the source states the alternative with these levels.
pub fn is_stated(own: &Named, levels: &Factors) -> bool {
    !own.stated.is_empty() && has(levels, &own.stated)
}

impl Alternatives {
    /// The overall verdict: of those that the source states, else of all.
    pub fn verdict(&self) -> Verdict {
        let some_stated = self.each.iter().any(|one| one.is_stated);
        let count = self.each.iter().filter(|one| one.is_stated || !some_stated);
        self.needs.verdict(count.map(|one| one.verdict))
    }

    /// The mean of the changes, where a single alternative decides the overall verdict.
    pub(super) fn average(&self) -> Option<Average> {
        let stated: Vec<&Alternative> = self.each.iter().filter(|one| one.is_stated).collect();
        match (stated.as_slice(), self.each.as_slice()) {
            ([one], _) => one.average,
            ([], [one]) => one.average,
            _ => None,
        }
    }
}

/// Alternatives in words, with their verdicts and whether the source states one of them:
/// `holds in A; not in B`. Of rival causes, of which one is sufficient: `by 2 of 7: A, B`.
pub fn where_it_holds(each: &[(String, Verdict)], overall: Verdict, some_stated: bool) -> String {
    let with = |wanted: Verdict| -> Vec<&str> {
        let own = each.iter().filter(|(_, verdict)| *verdict == wanted);
        own.map(|(name, _)| name.as_str()).collect()
    };
    let holds = with(Verdict::Reproduced);
    if overall == Verdict::Reproduced && holds.len() < each.len() && !some_stated {
        return format!(
            "by {} of {}: {}",
            holds.len(),
            each.len(),
            holds.join(" and ")
        );
    }
    let parts = [
        ("holds in", holds),
        ("not in", with(Verdict::NotReproduced)),
        ("another size in", with(Verdict::DirectionOnly)),
        ("undecided in", with(Verdict::Inconclusive)),
        ("not measured in", with(Verdict::NotMeasured)),
    ];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let parts = parts.map(|(words, names)| format!("{words} {}", names.join(" and ")));
    parts.collect::<Vec<_>>().join("; ")
}

/// The alternatives of a sentence about these cells; none where all settings are needed.
pub(crate) fn alternatives(
    plan: &Plan,
    text: &String,
    own: &Named,
    cells: &[(String, Vec<Level>)],
) -> Vec<Factors> {
    match Needs::of(plan, text, own) {
        (_, None) => Vec::new(),
        (factors, Some(_)) => levels(plan, cells, &factors),
    }
}

/// The combinations of levels of `factors` among the cells of a claim, in the plan's
/// order.
pub(super) fn levels(
    plan: &Plan,
    cells: &[(String, Vec<Level>)],
    factors: &[String],
) -> Vec<Factors> {
    let mut found: Vec<Factors> = Vec::new();
    let about = plan.cells.iter().map(|cell| &cell.factors);
    for own in about.filter(|own| has(own, cells)) {
        let levels = own.only(factors);
        if !found.contains(&levels) {
            found.push(levels);
        }
    }
    found
}

#[cfg(test)]
mod tests;
