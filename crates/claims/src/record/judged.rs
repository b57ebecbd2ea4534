//! The lines of a record from the findings of a run or of a search.

use std::collections::BTreeMap;

use analysis::claims::{Alternative, Alternatives, ClaimResult, SettingResult, is_stated};
use analysis::compare::Comparison;
use analysis::sensitivity::findings::Asked as SearchOf;
use analysis::sensitivity::questions::Asked;
use analysis::sizes;
use plan::{Level, Plan};

use super::lines::{Named, OfAlternative, OfClaim, OfFigure, OfJump};
use super::measured::{Measured, measured, rounded};

/// The metric and the cell of a published change; of any of several the levels that
/// they have in common.
pub(super) fn subject(
    search: &SearchOf<'_>,
    asked: &Asked,
) -> (Option<String>, BTreeMap<String, Level>) {
    match asked {
        Asked::Claim(_) | Asked::Step(_) => (None, BTreeMap::new()),
        Asked::Change(metric, cell) => {
            let levels = search.plan.cells[*cell].factors.0.iter().cloned();
            (Some(metric.name.to_owned()), levels.collect())
        }
        Asked::Any(each) => {
            let of_each = each.iter().map(|&at| &search.questions[at].asked);
            let of_each = of_each.map(|asked| subject(search, asked));
            let common = of_each.reduce(|(metric, mut common), (_, other)| {
                common.retain(|name, level| other.get(name) == Some(level));
                (metric, common)
            });
            common.unwrap_or_default()
        }
    }
}

/// The alternatives in the record's form.
fn of_alternatives(plan: &Plan, alternatives: Option<&Alternatives>) -> Vec<OfAlternative> {
    let each = alternatives.into_iter().flat_map(|all| &all.each);
    let one = |one: &Alternative| OfAlternative {
        name: plan.in_words(&one.levels),
        cell: one.levels.0.iter().cloned().collect(),
        stated: one.is_stated,
        verdict: one.verdict,
        holds: one.holds,
        settings: one.settings,
    };
    each.map(one).collect()
}

pub(super) fn of_claim(plan: &Plan, judged: &ClaimResult<'_>) -> OfClaim {
    let mut figures: Vec<(Measured, bool)> =
        judged.deciding().into_iter().map(of_setting).collect();
    figures.sort_by(|(one, _), (other, _)| one.value.total_cmp(&other.value));
    let is_percent = figures.iter().any(|(_, is_percent)| *is_percent);
    let (lowest, highest) = match figures.as_slice() {
        [] => (None, None),
        [(one, _)] => (Some(*one), None),
        [(first, _), .., (last, _)] => (Some(*first), Some(*last)),
    };
    let is_difference = judged.settings.iter().any(|held| held.other.is_some());
    let unit = match judged.unit {
        _ if is_percent => "%",
        "%" if is_difference => "points",
        unit => unit,
    };
    OfClaim {
        claim: judged.claim.text.clone(),
        verdict: judged.verdict,
        holds: judged.holds_in(),
        settings: judged.deciding().len(),
        unit: unit.to_owned(),
        lowest,
        highest,
        average: judged
            .average
            .map(|average| measured(average.percent, average.interval)),
        alternatives: of_alternatives(plan, judged.alternatives.as_ref()),
    }
}

/// The figure of one setting, and whether it is a change in per cent.
fn of_setting(held: &SettingResult) -> (Measured, bool) {
    let difference = held.other.map(|other| held.mean.mean - other.mean);
    let value = held.percent.or(difference).unwrap_or(held.mean.mean);
    (measured(value, held.interval), held.percent.is_some())
}

pub(super) fn of_jump(plan: &Plan, judged: &sizes::StepResult<'_>) -> Option<OfJump> {
    let verdict = judged.verdict;
    let mut curves = judged.curves.iter();
    let (factors, _, seen) = curves
        .find(|(_, own, _)| *own == verdict)
        .or_else(|| judged.curves.first())?;
    let among = match judged.curves.len() {
        1 => String::new(),
        _ => format!(" ({factors})"),
    };
    Some(OfJump {
        jump: judged.claim.text.clone(),
        verdict,
        holds: judged.holds_in(),
        settings: judged.curves.len(),
        seen: format!("{seen}{among}"),
        alternatives: of_alternatives(plan, judged.alternatives.as_ref()),
    })
}

/// The verdict of a published figure, where something was measured.
pub(super) fn of_figure(plan: &Plan, comparison: &Comparison) -> Option<OfFigure> {
    let judgement = comparison.judgement.as_ref()?;
    let mean = comparison.mean?;
    let change = comparison.change.as_ref();
    let percent = change.and_then(|change| change.percent);
    let published = &comparison.published;
    let own = &published.alternatives;
    let levels = comparison.factors.only(&own.factors);
    Some(OfFigure {
        metric: comparison.metric.name.to_owned(),
        unit: comparison.metric.unit.to_owned(),
        cell: comparison.factors.0.iter().cloned().collect(),
        mean: measured(mean.mean, mean.ci95),
        change: percent.map(|percent| measured(percent, change.and_then(|change| change.ci95))),
        published: published.value,
        published_change: published.claim.as_ref().map(|claim| rounded(claim.percent)),
        verdict: judgement.verdict,
        reason: judgement.reason.clone(),
        alternative: (!levels.0.is_empty()).then(|| Named {
            name: plan.in_words(&levels),
            stated: is_stated(own, &levels),
        }),
    })
}
