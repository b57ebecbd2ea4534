//! Judges the claims that a study makes in words by the trials of a run.
//!
//! A claim holds in a setting if the 95 % interval of the measured value is
//! entirely on the claimed side, and fails if it is entirely on the other side.
//! A claim about several settings is reproduced if it holds in each of them, so
//! that no correction for their number is needed [Berger1982]. A change in per
//! cent may also be claimed of at least one setting, or of the mean.
//!
//! Alternatives exclude each other, such as interpretations of a text or rival
//! explanations: a claim that names some is judged for each of them alone.

mod alternatives;
mod changed;

use plan::{Assertion, Expected, Factors, Level, Plan};

use crate::compare::{Comparison, NOT_HERE};
use crate::statistics::{Interval, Mean, difference};
use crate::verdict::Verdict;
pub(crate) use alternatives::alternatives;
pub use alternatives::{Alternative, Alternatives, is_stated, overall, where_it_holds};
pub use changed::Average;
use changed::Changed;

/// Figures without spread are equal, where a claim states no tolerance, if they
/// differ by no more than this share: half a unit of the fourth digit, the last that
/// reports print.
const ALIKE: f64 = 0.0005;

/// A claim and what became of it.
#[derive(Clone, Debug)]
pub struct ClaimResult<'a> {
    pub claim: &'a Assertion,
    /// The metric's unit.
    pub unit: &'static str,
    /// The result in each setting of the claim that was measured, in the plan's
    /// order.
    pub settings: Vec<SettingResult>,
    /// The mean of the changes, if it is claimed and known; of several alternatives each
    /// has its own.
    pub average: Option<Average>,
    /// Alternatives that exclude each other; none where all settings are needed.
    pub alternatives: Option<Alternatives>,
    /// The overall verdict.
    pub verdict: Verdict,
    /// Why nothing was measured, if nothing was.
    pub not_measured: Option<String>,
}

/// The result of a claim in one setting.
#[derive(Clone, Debug)]
pub struct SettingResult {
    /// The factors of the cell.
    pub factors: Factors,
    pub mean: Mean,
    /// The mean of the cell that it is compared with, if any.
    pub other: Option<Mean>,
    /// The change against the other mean in per cent, if a change is claimed.
    pub percent: Option<f64>,
    /// The interval that is judged: of the mean, of the difference, or of
    /// `percent`; `None` with single trials. If one of several settings is
    /// sufficient, all intervals of `percent` together have a confidence of 95
    /// %.
    pub interval: Option<Interval>,
    /// The verdict in this setting.
    pub verdict: Verdict,
}

/// Every claim of the plan, judged by `comparisons`.
pub fn judged<'a>(plan: &'a Plan, comparisons: &[Comparison]) -> Vec<ClaimResult<'a>> {
    let claims = plan.claims.iter();
    claims
        .map(|claim| judge(plan, claim, comparisons))
        .collect()
}

/// One claim, judged by `comparisons`.
fn judge<'a>(plan: &Plan, claim: &'a Assertion, comparisons: &[Comparison]) -> ClaimResult<'a> {
    let named = &claim.alternatives.factors;
    if named.is_empty() {
        let InAll {
            unit,
            settings,
            average,
            verdict,
        } = in_all(claim, comparisons);
        return ClaimResult {
            claim,
            unit,
            not_measured: settings
                .is_empty()
                .then(|| why_not(plan, claim, comparisons)),
            settings,
            average,
            alternatives: None,
            verdict,
        };
    }
    let of = |levels: Factors| {
        let here = in_all(&within(claim, &levels), comparisons);
        let alternative = Alternative {
            is_stated: is_stated(&claim.alternatives, &levels),
            levels,
            verdict: here.verdict,
            holds: holds_in(here.settings.iter()),
            settings: here.settings.len(),
            average: here.average,
        };
        (alternative, here.settings, here.unit)
    };
    let judged = alternatives::levels(plan, &claim.cells, named);
    let judged: Vec<_> = judged.into_iter().map(of).collect();
    let unit = judged.iter().map(|(.., unit)| *unit);
    let unit = unit.max_by_key(|unit| unit.len()).unwrap_or_default();
    let (each, settings): (Vec<_>, Vec<_>) = judged
        .into_iter()
        .map(|(alternative, settings, _)| (alternative, settings))
        .unzip();
    let settings: Vec<SettingResult> = settings.into_iter().flatten().collect();
    let alternatives = Alternatives { each };
    ClaimResult {
        claim,
        unit,
        not_measured: settings
            .is_empty()
            .then(|| why_not(plan, claim, comparisons)),
        settings,
        average: alternatives.average(),
        verdict: alternatives.verdict(),
        alternatives: Some(alternatives),
    }
}

/// A claim that needs all of its settings.
struct InAll {
    unit: &'static str,
    settings: Vec<SettingResult>,
    average: Option<Average>,
    verdict: Verdict,
}

/// The claim at these levels alone.
fn within(claim: &Assertion, levels: &Factors) -> Assertion {
    let mut here = claim.clone();
    let levels = levels.0.iter();
    here.cells
        .extend(levels.map(|(name, level)| (name.clone(), vec![level.clone()])));
    here
}

/// One claim, which needs all of its settings.
fn in_all(claim: &Assertion, comparisons: &[Comparison]) -> InAll {
    let rows: Vec<&Comparison> = comparisons
        .iter()
        .filter(|row| row.metric.name == claim.metric)
        .collect();
    let about: Vec<&Comparison> = (rows.iter().copied())
        .filter(|row| has(&row.factors, &claim.cells))
        .collect();
    let (settings, average, verdict) = match &claim.expected {
        Expected::Changed {
            than,
            higher,
            percent,
            over,
        } => {
            let changed = Changed {
                than,
                higher: *higher,
                percent: *percent,
                over: *over,
                tolerance: claim.tolerance.as_ref().map(|own| own.within),
            };
            changed.judged(&about, &rows)
        }
        Expected::Than { .. } | Expected::AtMost(_) | Expected::AtLeast(_) => {
            let held = about.iter().filter_map(|row| held(claim, row, &rows));
            let settings: Vec<SettingResult> = held.collect();
            let verdict = together(settings.iter().map(|held| held.verdict));
            (settings, None, verdict)
        }
    };
    InAll {
        unit: rows.first().map_or("", |row| row.metric.unit),
        settings,
        average,
        verdict,
    }
}

/// Why no cell that a claim is about was measured, or none that it is compared with.
fn why_not(plan: &Plan, claim: &Assertion, comparisons: &[Comparison]) -> String {
    let about = || {
        plan.cells
            .iter()
            .filter(|cell| has(&cell.factors, &claim.cells))
    };
    let others = about().filter_map(|cell| {
        let (Expected::Than { than, .. } | Expected::Changed { than, .. }) = &claim.expected else {
            return None;
        };
        let wanted = with(&cell.factors, than);
        plan.cells.iter().find(|other| other.factors == wanted)
    });
    let mut rejected = about().chain(others);
    let rejected = rejected.find_map(|cell| cell.setting.as_ref().err());
    let mut rows = comparisons.iter();
    let is_by_fit = rows.any(|row| {
        row.metric.name == claim.metric && row.is_fit() && has(&row.factors, &claim.cells)
    });
    let other = match is_by_fit {
        true => "not judged: its published value is used in the fit of the hosts",
        false => "no cell that it is about was measured",
    };
    rejected.map_or_else(
        || other.to_owned(),
        |why| why.trim_start_matches(NOT_HERE).to_owned(),
    )
}

impl ClaimResult<'_> {
    /// Takes the verdicts away, for a reason of the whole run.
    pub(crate) fn leave_unjudged(&mut self, why: &str) {
        self.settings.clear();
        self.average = None;
        self.alternatives = None;
        self.verdict = Verdict::NotMeasured;
        self.not_measured = Some(why.to_owned());
    }

    /// The settings that decide the overall verdict: those of the alternatives that the
    /// source states, else all.
    pub fn deciding(&self) -> Vec<&SettingResult> {
        let own = &self.claim.alternatives;
        let stated = self
            .settings
            .iter()
            .filter(|held| is_stated(own, &held.factors));
        let stated: Vec<&SettingResult> = stated.collect();
        match stated.is_empty() {
            true => self.settings.iter().collect(),
            false => stated,
        }
    }

    /// In how many of these the claim holds.
    pub fn holds_in(&self) -> usize {
        holds_in(self.deciding().into_iter())
    }
}

fn holds_in<'a>(settings: impl Iterator<Item = &'a SettingResult>) -> usize {
    let holding = settings.filter(|held| held.verdict == Verdict::Reproduced);
    holding.count()
}

/// The claim in the setting of one row, if it and the other cell were measured.
fn held(claim: &Assertion, row: &Comparison, rows: &[&Comparison]) -> Option<SettingResult> {
    let mean = row.mean.filter(|_| !is_by_fit(row, None))?;
    let within = claim.tolerance.as_ref().map(|own| own.within);
    let margin =
        |interval, figures: f64| margin(interval, figures, within.unwrap_or(ALIKE * figures));
    let (other, interval, verdict) = match &claim.expected {
        Expected::AtMost(bound) | Expected::AtLeast(bound) => {
            let own = margin(mean.judged(), mean.mean.abs().max(bound.abs()));
            let verdict = match claim.expected {
                Expected::AtMost(_) => at_least(mean.judged().map(negative), -bound - own),
                _ => at_least(mean.judged(), bound - own),
            };
            (None, mean.judged(), verdict)
        }
        Expected::Than { than, higher, by } => {
            let wanted = with(&row.factors, than);
            let against = rows.iter().find(|other| other.factors == wanted)?;
            let other = against.mean.filter(|_| !is_by_fit(row, Some(against)))?;
            let apart = difference(&mean, &other);
            let claimed = apart.map(|apart| if *higher { apart } else { negative(apart) });
            let resolution = [row, *against]
                .iter()
                .filter_map(|row| row.resolution)
                .fold(0.0, f64::max);
            let more = mean.mean - other.mean;
            let beyond = if *higher { more - by } else { -more - by };
            let own = margin(apart, mean.mean.abs().max(other.mean.abs()));
            let verdict = beyond_chance(above(claimed, by + own), beyond, resolution);
            (Some(other), apart, verdict)
        }
        // Their settings are judged together.
        Expected::Changed { .. } => return None,
    };
    Some(SettingResult {
        factors: row.factors.clone(),
        mean,
        other,
        percent: None,
        interval,
        verdict,
    })
}

/// Whether a comparison with a bound, or with another cell, is one of published values alone:
/// the hosts are fitted to them, so their results say nothing of it.
fn is_by_fit(row: &Comparison, other: Option<&Comparison>) -> bool {
    row.is_fit() && other.is_none_or(Comparison::is_fit)
}

/// Makes a verdict "reproduced" inconclusive if the value exceeds the bound by no
/// more than the instrument resolves.
fn beyond_chance(verdict: Verdict, beyond: f64, resolution: f64) -> Verdict {
    match verdict {
        Verdict::Reproduced if beyond <= resolution => Verdict::Inconclusive,
        verdict => verdict,
    }
}

/// How far figures may be apart and still count as equal: where trials have no spread,
/// the allowance; else nothing, for the interval says how sure a distance is.
fn margin(interval: Option<Interval>, figures: f64, allowance: f64) -> f64 {
    match interval {
        Some(interval) if interval.is_exact(figures) => allowance,
        Some(_) | None => 0.0,
    }
}

/// Whether all of an interval is above a bound. Means that are equal without
/// any spread are not above one another.
fn above(interval: Option<Interval>, bound: f64) -> Verdict {
    match interval {
        Some(interval) if interval.low > bound => Verdict::Reproduced,
        Some(interval) if interval.high <= bound => Verdict::NotReproduced,
        Some(_) | None => Verdict::Inconclusive,
    }
}

/// Whether an entire interval is at or above a bound.
fn at_least(interval: Option<Interval>, bound: f64) -> Verdict {
    match interval {
        Some(interval) if interval.low >= bound => Verdict::Reproduced,
        Some(interval) if interval.high < bound => Verdict::NotReproduced,
        Some(_) | None => Verdict::Inconclusive,
    }
}

const fn negative(interval: Interval) -> Interval {
    Interval {
        low: -interval.high,
        high: -interval.low,
    }
}

/// The overall verdict: all settings are needed to reproduce a claim, and one
/// is sufficient to contradict it.
pub(crate) fn together(settings: impl Iterator<Item = Verdict>) -> Verdict {
    use Verdict::{DirectionOnly, Inconclusive, NotMeasured, NotReproduced, Reproduced};
    let settings: Vec<Verdict> = settings.collect();
    let telling = [NotReproduced, DirectionOnly, Inconclusive, Reproduced];
    let found = telling.into_iter().find(|one| settings.contains(one));
    found.unwrap_or(NotMeasured)
}

/// Whether a cell has one of the levels of each factor.
pub(crate) fn has(factors: &Factors, cells: &[(String, Vec<Level>)]) -> bool {
    let mut cells = cells.iter();
    cells.all(|(name, levels)| {
        let own = factors.level(name);
        own.is_some_and(|own| levels.iter().any(|level| own.is_same(level)))
    })
}

/// The factors of a cell with these levels in place of its own.
pub(crate) fn with(factors: &Factors, levels: &Factors) -> Factors {
    let one = |(name, own): &(String, _)| {
        let level = levels.level(name).unwrap_or(own);
        (name.clone(), level.clone())
    };
    Factors(factors.0.iter().map(one).collect())
}

#[cfg(test)]
mod tests;
