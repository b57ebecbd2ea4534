//! What a run says about claims that a study makes in words.
//!
//! A claim holds in a setting if the 95 % interval of what was measured lies
//! wholly on the claimed side, and fails if it lies wholly on the other one.
//! A claim about several settings is reproduced if it holds in each of them, so
//! that no correction for their number is needed [Berger1982]; a change in per
//! cent may also be claimed of one of them, or on average.

mod changed;

use plan::{Assertion, Expected, Factors, Level, Plan};

use crate::compare::Comparison;
use crate::statistics::{Interval, Mean, difference};
use crate::verdict::Verdict;
pub use changed::Average;
use changed::Changed;

/// A claim and what became of it.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The claim.
    pub claim: &'a Assertion,
    /// The metric's unit.
    pub unit: &'static str,
    /// What is said of it in each setting that it is about and that was
    /// measured, in the plan's order.
    pub settings: Vec<Held>,
    /// The mean of the changes, where that is claimed and known.
    pub average: Option<Average>,
    /// What that comes to.
    pub verdict: Verdict,
}

/// What a claim came to in one setting.
#[derive(Clone, Debug)]
pub struct Held {
    /// The cell that it is about.
    pub factors: Factors,
    /// Its mean.
    pub mean: Mean,
    /// The mean of the cell that it is compared with, if it is.
    pub other: Option<Mean>,
    /// By how many per cent it is above the other one, where that is claimed.
    pub percent: Option<f64>,
    /// The interval that is judged: of the mean, of how far it is above the
    /// other one, or of `percent`; none of single trials. Of several `percent`
    /// of which one is enough all intervals together hold the truth at 95 %.
    pub interval: Option<Interval>,
    /// What that says.
    pub verdict: Verdict,
}

/// Every claim of the plan, judged by `comparisons`.
pub fn judged<'a>(plan: &'a Plan, comparisons: &[Comparison]) -> Vec<Judged<'a>> {
    let judge = |claim: &'a Assertion| {
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
                };
                changed.judged(&about, &rows)
            }
            Expected::Than { .. } | Expected::AtMost(_) | Expected::AtLeast(_) => {
                let held = about.iter().filter_map(|row| held(claim, row, &rows));
                let settings: Vec<Held> = held.collect();
                let verdict = together(&settings);
                (settings, None, verdict)
            }
        };
        Judged {
            claim,
            unit: rows.first().map_or("", |row| row.metric.unit),
            settings,
            average,
            verdict,
        }
    };
    plan.claims.iter().map(judge).collect()
}

impl Judged<'_> {
    /// In how many settings it holds.
    pub fn holds_in(&self) -> usize {
        let settings = self.settings.iter();
        settings
            .filter(|held| held.verdict == Verdict::Reproduced)
            .count()
    }
}

/// The claim in the setting of one row, if that was measured, and so was what
/// it is compared with.
fn held(claim: &Assertion, row: &Comparison, rows: &[&Comparison]) -> Option<Held> {
    let mean = row.mean?;
    let (other, interval, verdict) = match &claim.expected {
        Expected::AtMost(bound) => (None, mean.ci95, at_least(mean.ci95.map(negative), -bound)),
        Expected::AtLeast(bound) => (None, mean.ci95, at_least(mean.ci95, *bound)),
        Expected::Than { than, higher, by } => {
            let wanted = with(&row.factors, than);
            let against = rows.iter().find(|other| other.factors == wanted)?;
            let other = against.mean?;
            let apart = difference(&mean, &other);
            let claimed = apart.map(|apart| if *higher { apart } else { negative(apart) });
            let resolution = [row, *against]
                .iter()
                .filter_map(|row| row.resolution)
                .fold(0.0, f64::max);
            let more = mean.mean - other.mean;
            let beyond = if *higher { more - by } else { -more - by };
            let verdict = beyond_chance(above(claimed, *by), beyond, resolution);
            (Some(other), apart, verdict)
        }
        // Of these all settings are judged at once.
        Expected::Changed { .. } => return None,
    };
    Some(Held {
        factors: row.factors.clone(),
        mean,
        other,
        percent: None,
        interval,
        verdict,
    })
}

/// What is beyond the bound more than by chance, and less than the instrument
/// resolves, is below its resolution.
fn beyond_chance(verdict: Verdict, beyond: f64, resolution: f64) -> Verdict {
    match verdict {
        Verdict::Reproduced if beyond <= resolution => Verdict::BelowResolution,
        verdict => verdict,
    }
}

/// Whether all of an interval is above a bound. Means that are equal without
/// any spread are not above one another.
fn above(interval: Option<Interval>, bound: f64) -> Verdict {
    match interval {
        Some(interval) if interval.low > bound => Verdict::Reproduced,
        Some(interval) if interval.high <= bound => Verdict::NotReproduced,
        Some(_) | None => Verdict::BelowResolution,
    }
}

/// Whether all of an interval is at or above a bound.
fn at_least(interval: Option<Interval>, bound: f64) -> Verdict {
    match interval {
        Some(interval) if interval.low >= bound => Verdict::Reproduced,
        Some(interval) if interval.high < bound => Verdict::NotReproduced,
        Some(_) | None => Verdict::BelowResolution,
    }
}

const fn negative(interval: Interval) -> Interval {
    Interval {
        low: -interval.high,
        high: -interval.low,
    }
}

/// What the settings come to: it takes all of them to reproduce a claim, and
/// one that contradicts it is enough not to.
fn together(settings: &[Held]) -> Verdict {
    let any = |verdict| settings.iter().any(|held| held.verdict == verdict);
    match settings {
        [] => Verdict::NotMeasured,
        _ if any(Verdict::NotReproduced) => Verdict::NotReproduced,
        _ if any(Verdict::BelowResolution) => Verdict::BelowResolution,
        _ => Verdict::Reproduced,
    }
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
