//! Alternatives that exclude each other: interpretations of a text, settings that it
//! leaves open, and rival explanations. Each is reported, and none speaks for the others.

use plan::{Alternatives as Named, Factors, Level, Plan};
use serde::Serialize;

use super::{Average, has};
use crate::verdict::Verdict;

/// Alternatives with their verdicts.
#[derive(Clone, Debug)]
pub struct Alternatives {
    /// Each with its verdict, in the plan's order.
    pub each: Vec<Alternative>,
}

/// One of several alternatives.
#[derive(Clone, Debug, Serialize)]
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

/// The overall verdict of several alternatives. Those that were not measured say nothing.
pub fn overall(each: impl Iterator<Item = Verdict>) -> Verdict {
    use Verdict::{DirectionOnly, InSome, Inconclusive, NotMeasured, NotReproduced, Reproduced};
    let measured: Vec<Verdict> = each.filter(|one| *one != NotMeasured).collect();
    let all = measured.iter().all(|one| *one == Reproduced);
    let best_first = [
        Reproduced,
        InSome,
        Inconclusive,
        DirectionOnly,
        NotReproduced,
    ];
    match best_first.into_iter().find(|one| measured.contains(one)) {
        Some(Reproduced) if !all => InSome,
        best => best.unwrap_or(NotMeasured),
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
        overall(count.map(|one| one.verdict))
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

/// Alternatives in words, with their verdicts: `holds in A; not in B`.
pub fn where_it_holds(each: &[(String, Verdict)]) -> String {
    let with = |wanted: Verdict| -> Vec<&str> {
        let own = each.iter().filter(|(_, verdict)| *verdict == wanted);
        own.map(|(name, _)| name.as_str()).collect()
    };
    let parts = [
        ("holds in", with(Verdict::Reproduced)),
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
    own: &Named,
    cells: &[(String, Vec<Level>)],
) -> Vec<Factors> {
    match own.factors.is_empty() {
        true => Vec::new(),
        false => levels(plan, cells, &own.factors),
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
