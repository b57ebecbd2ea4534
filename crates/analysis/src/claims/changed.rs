//! Claims of changes in per cent: in each setting, in at least one, or of the
//! mean.

use plan::{Factors, Over};
use serde::Serialize;

use super::{
    ALIKE, SettingResult, above, beyond_chance, is_by_fit, margin, negative, together, with,
};
use crate::compare::Comparison;
use crate::statistics::{Contrast, Interval, Mean, mean_percent};
use crate::verdict::Verdict;

/// A claimed change.
#[derive(Clone, Copy)]
pub(super) struct Changed<'a> {
    pub(super) than: &'a Factors,
    pub(super) higher: bool,
    pub(super) percent: f64,
    pub(super) over: Over,
    /// Up to how many points changes without spread count as equal.
    pub(super) tolerance: Option<f64>,
}

/// A mean of changes in per cent with its 95 % interval; `None` for single
/// trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Average {
    /// The mean.
    pub percent: f64,
    pub interval: Option<Interval>,
}

/// The measurements of one setting: the cell and the one that it is compared
/// with.
struct Pair<'a> {
    row: &'a Comparison,
    mean: Mean,
    other: &'a Comparison,
    than: Mean,
}

impl Changed<'_> {
    /// The results in the settings among `about`, the mean if it is claimed,
    /// and the overall verdict.
    pub(super) fn judged(
        self,
        about: &[&Comparison],
        rows: &[&Comparison],
    ) -> (Vec<SettingResult>, Option<Average>, Verdict) {
        let pairs: Vec<Pair<'_>> = about
            .iter()
            .filter_map(|row| self.pair(row, rows))
            .collect();
        // The best of several settings is better by chance than each alone: all
        // intervals together have a confidence of 95 % [Dunn1961].
        let level = match self.over {
            Over::Any => 1.0 - 0.05 / count(pairs.len().max(1)),
            Over::Each | Over::Mean => 0.95,
        };
        let settings: Vec<SettingResult> =
            pairs.iter().map(|pair| self.held(pair, level)).collect();
        let average = match self.over {
            Over::Mean => average(&pairs),
            Over::Each | Over::Any => None,
        };
        let verdict = match self.over {
            Over::Each => together(settings.iter().map(|held| held.verdict)),
            Over::Any => in_any(&settings),
            Over::Mean if settings.is_empty() => Verdict::NotMeasured,
            Over::Mean => {
                let resolutions: f64 = pairs.iter().map(Pair::resolution).sum();
                let resolution = resolutions / count(pairs.len());
                average.map_or(Verdict::Inconclusive, |Average { percent, interval }| {
                    self.verdict(percent, interval, resolution)
                })
            }
        };
        (settings, average, verdict)
    }

    fn pair<'a>(&self, row: &'a Comparison, rows: &[&'a Comparison]) -> Option<Pair<'a>> {
        let wanted = with(&row.factors, self.than);
        let other = *rows.iter().find(|other| other.factors == wanted)?;
        // A cell is not compared with itself.
        (other.cell != row.cell && !is_by_fit(row, Some(other))).then_some(())?;
        Some(Pair {
            row,
            mean: row.mean?,
            other,
            than: other.mean?,
        })
    }

    fn held(self, pair: &Pair<'_>, level: f64) -> SettingResult {
        let percent = pair.percent();
        let contrast = Contrast::of(&[&pair.mean], &[&pair.than]);
        let predicted = [pair.mean, pair.than].iter().all(|mean| mean.is_predicted);
        let interval = match (percent, predicted) {
            (Some(percent), true) => Some(Interval {
                low: percent,
                high: percent,
            }),
            _ => contrast.and_then(|contrast| contrast.interval(level)),
        };
        let verdict = percent.map_or(Verdict::Inconclusive, |percent| {
            self.verdict(percent, interval, pair.resolution())
        });
        SettingResult {
            factors: pair.row.factors.clone(),
            mean: pair.mean,
            other: Some(pair.than),
            percent,
            interval,
            verdict,
        }
    }

    fn verdict(self, percent: f64, interval: Option<Interval>, resolution: f64) -> Verdict {
        let (more, claimed) = match self.higher {
            true => (percent, interval),
            false => (-percent, interval.map(negative)),
        };
        let margin = margin(interval, 100.0, self.tolerance.unwrap_or(100.0 * ALIKE));
        beyond_chance(
            above(claimed, self.percent + margin),
            more - self.percent,
            resolution,
        )
    }
}

impl Pair<'_> {
    /// The change in per cent; `None` against a mean of zero.
    fn percent(&self) -> Option<f64> {
        let percent = 100.0 * (self.mean.mean / self.than.mean - 1.0);
        (self.than.mean > 0.0 && percent.is_finite()).then_some(percent)
    }

    /// The resolution of the instrument for the change, in per cent of the other cell.
    fn resolution(&self) -> f64 {
        let coarser = [self.row, self.other]
            .iter()
            .filter_map(|row| row.resolution)
            .fold(0.0, f64::max);
        100.0 * coarser / self.than.mean
    }
}

fn average(pairs: &[Pair<'_>]) -> Option<Average> {
    let changes: Vec<_> = pairs
        .iter()
        .map(|pair| [(pair.row.cell, pair.mean), (pair.other.cell, pair.than)])
        .collect();
    let (percent, interval) = mean_percent(&changes)?;
    Some(Average { percent, interval })
}

/// The overall verdict if one setting is sufficient: only all of them
/// contradict the claim.
fn in_any(settings: &[SettingResult]) -> Verdict {
    let any = |verdict| settings.iter().any(|held| held.verdict == verdict);
    match settings {
        [] => Verdict::NotMeasured,
        _ if any(Verdict::Reproduced) => Verdict::Reproduced,
        _ if any(Verdict::Inconclusive) => Verdict::Inconclusive,
        _ => Verdict::NotReproduced,
    }
}

fn count(settings: usize) -> f64 {
    settings as f64
}
