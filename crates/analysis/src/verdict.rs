//! Judges published changes by the results of a run.

use std::fmt;

use plan::metric::Metric;
use plan::{Alternatives, Factors, Level, Plan, Published};
use serde::Serialize;

use crate::statistics::{Change, Interval};

/// The verdict on a published change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing comparable was measured here.
    NotMeasured,
    /// The instrument, the spread or the study's instrument is coarser than the
    /// published change, or the measured interval contains both 0 and that
    /// change.
    Inconclusive,
    /// The measured interval excludes 0 and contains the published change.
    Reproduced,
    /// Of interpretations that exclude each other some reproduce it, and others do not.
    #[serde(rename = "reproduced_in_some_interpretations")]
    InSome,
    /// The measured interval excludes 0 on the published side, but does not
    /// contain the published change.
    DirectionOnly,
    /// None of these.
    NotReproduced,
}

impl Verdict {
    /// The words of reports and of docs/results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured",
            Self::Inconclusive => "inconclusive",
            Self::Reproduced => "reproduced",
            Self::InSome => "reproduced in some interpretations",
            Self::DirectionOnly => "direction only",
            Self::NotReproduced => "not reproduced",
        }
    }
}

impl Verdict {
    /// Every verdict, in the order of the tables that explain them.
    pub const ALL: [Self; 6] = [
        Self::Reproduced,
        Self::InSome,
        Self::DirectionOnly,
        Self::NotReproduced,
        Self::Inconclusive,
        Self::NotMeasured,
    ];

    /// The definition of reports and of docs/guides/reports.md, which has no other.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Reproduced => {
                "our interval of the change excludes 0 and holds the published change; deterministic trials: our change is the published one, within its rounding and the standard error of the printed means"
            }
            Self::InSome => {
                "the source leaves open what was run, and its interpretations exclude each other: some of them reproduce it, others do not"
            }
            Self::DirectionOnly => {
                "our interval excludes 0 on the published side, but does not hold the published change"
            }
            Self::NotReproduced => "neither, though our trials could tell",
            Self::Inconclusive => {
                "nothing can be said: our instrument, the spread of our trials, or the study's instrument is coarser than the published change, our interval holds both 0 and that change, or there are too few trials"
            }
            Self::NotMeasured => "there was nothing here to compare, with the reason",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A verdict and its reason in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// A published change against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The change in per cent, decreases negative.
    pub percent: f64,
    /// The maximum error by rounding in print, in percentage points.
    pub rounding: f64,
    /// The standard error of the change; `None` where printed means are taken as exact.
    pub error: Option<StandardError>,
    /// The smallest change that the study's instrument could resolve, if known.
    pub resolution_percent: Option<f64>,
}

/// The standard error of a change between two printed means.
#[derive(Clone, Debug, PartialEq)]
pub struct StandardError {
    /// The error in percentage points.
    pub points: f64,
    /// The number of trials of each mean.
    pub trials: u32,
    /// The place that the spread of single trials is from.
    pub source: String,
}

impl Claim {
    /// How far a change may be from the printed one and still be the same: rounding in
    /// print, and the standard error of the printed means.
    pub fn margin(&self) -> f64 {
        self.rounding + self.error.as_ref().map_or(0.0, |error| error.points)
    }

    /// The margin in words.
    fn margin_text(&self) -> String {
        match &self.error {
            None => format!("its rounding of {} points", digits(self.rounding)),
            Some(error) => format!(
                "{} points: rounding {}, standard error {} of means of {} trials, from {}",
                digits(self.margin()),
                digits(self.rounding),
                digits(error.points),
                error.trials,
                error.source
            ),
        }
    }
}

/// The published values of a study for one metric of one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedFigures {
    /// The value, if it is printed in the metric's unit.
    pub value: Option<f64>,
    /// The change against the baseline; the baseline itself has none.
    pub claim: Option<Claim>,
    /// The place where it is printed.
    pub source: Option<String>,
    /// Alternatives that exclude each other.
    pub alternatives: Alternatives,
    /// Whether the costs of hosts with a fit are fitted to the value.
    pub used_in_fit: bool,
}

impl PublishedFigures {
    /// Whether anything is printed.
    pub const fn is_any(&self) -> bool {
        self.value.is_some() || self.claim.is_some()
    }
}

/// A measured change with its resolution.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The change against the baseline.
    pub change: &'a Change,
    /// The resolution in per cent, if known.
    pub resolution_percent: Option<f64>,
}

/// The plan's published values of `metric` in the cell `factors`.
pub fn published_figures(plan: &Plan, metric: &Metric, factors: &Factors) -> PublishedFigures {
    let Some(level) = factors.level(&plan.compare.factor) else {
        return PublishedFigures::default();
    };
    plan.published
        .iter()
        .filter(|published| published.metric == metric.name && matches(&published.factors, factors))
        .find_map(|published| {
            let value = at(&published.values, level);
            let claim = claim(published, level, &plan.compare.baseline);
            (value.is_some() || claim.is_some()).then(|| PublishedFigures {
                value: value.filter(|_| published.unit == metric.unit),
                claim,
                source: Some(published.source.clone()),
                alternatives: published.alternatives.clone(),
                used_in_fit: { published.used_in_fit.iter() }.any(|used| used.is_same(level)),
            })
        })
        .unwrap_or_default()
}

/// Judges a claim by a measured change.
pub fn judge(claim: &Claim, measured: Measured<'_>) -> Judgement {
    let size = claim.percent.abs();
    if size <= claim.margin() {
        let within = claim.margin_text();
        return below(format!("the published change is 0 within {within}"));
    }
    if let Some(resolution) = claim
        .resolution_percent
        .filter(|&resolution| resolution > size)
    {
        return below(format!(
            "the study's instrument tells changes above {} %, the published one is {size:.2} %",
            digits(resolution)
        ));
    }
    let resolution = measured.resolution_percent.unwrap_or(0.0);
    if resolution > size {
        return below(format!(
            "our instrument tells changes above {} %, the published one is {size:.2} %",
            digits(resolution)
        ));
    }
    let change = measured.change;
    // Trials without spread say nothing of chance, nor do closed forms: their change
    // is exact.
    match (change.percent, change.ci95) {
        (Some(percent), _) if change.is_predicted => {
            return judge_exact(claim, percent, "predicted by closed forms");
        }
        (Some(percent), Some(interval)) if interval.is_exact(100.0) => {
            return judge_exact(claim, percent, "deterministic");
        }
        _ => {}
    }
    let (Some(percent), Some(interval)) = (change.percent, change.ci95) else {
        return below(format!(
            "{}; run more trials",
            change
                .missing
                .unwrap_or("our change has no interval: the baseline is not positive")
        ));
    };
    if interval.half() > size {
        return below(format!(
            "our interval spans ±{} points, more than the published change of {size:.2} %; run more trials",
            digits(interval.half())
        ));
    }
    let published = Interval {
        low: claim.percent - claim.margin(),
        high: claim.percent + claim.margin(),
    };
    let (verdict, reason) = if interval.holds(0.0) && interval.meets(published) {
        return below("our interval holds both 0 and the published change; run more trials".into());
    } else if interval.holds(0.0) {
        (Verdict::NotReproduced, "our interval holds 0".into())
    } else if percent.abs() <= resolution {
        let reason = format!(
            "our change is below our resolution of {} %",
            digits(resolution)
        );
        (Verdict::NotReproduced, reason)
    } else if (percent > 0.0) != (claim.percent > 0.0) {
        let reason = "our change has the other sign".into();
        (Verdict::NotReproduced, reason)
    } else if interval.meets(published) {
        let reason = "our interval excludes 0 and holds the published change";
        let within = match &claim.error {
            Some(_) => format!(" within {}", claim.margin_text()),
            None => String::new(),
        };
        (Verdict::Reproduced, format!("{reason}{within}"))
    } else {
        let size = if percent.abs() < size {
            "smaller"
        } else {
            "larger"
        };
        let reason = format!("same sign, but our change is {size} than the published one");
        (Verdict::DirectionOnly, reason)
    };
    Judgement { verdict, reason }
}

/// Compares the change `of` trials that are all equal, or of closed forms, with a claim: it may be
/// as far from the published change as rounding in print and the standard error of the
/// printed means allow.
fn judge_exact(claim: &Claim, percent: f64, of: &str) -> Judgement {
    let margin = claim.margin();
    let apart = (percent - claim.percent).abs();
    let within = claim.margin_text();
    let (verdict, reason) = if apart <= margin {
        let reason = format!("{of}; our change is the published one within {within}");
        (Verdict::Reproduced, reason)
    } else if percent.abs() <= claim.rounding {
        let reason = format!("{of}; our change is 0 within the rounding of the printed one");
        (Verdict::NotReproduced, reason)
    } else if (percent > 0.0) != (claim.percent > 0.0) {
        let reason = format!("{of}; our change has the other sign");
        (Verdict::NotReproduced, reason)
    } else {
        let reason = format!(
            "{of}; same sign, but our change differs by {} points, more than {within}",
            digits(apart)
        );
        (Verdict::DirectionOnly, reason)
    };
    Judgement { verdict, reason }
}

/// Holds the two ends of an attribution interval against a claim: the verdict
/// must be the same at both.
pub fn judge_interval(claim: &Claim, low: Measured<'_>, high: Option<Measured<'_>>) -> Judgement {
    let alone = judge(claim, low);
    let Some(high) = high else {
        return below("softirq was not metered: this end's share of the CPU is unknown".into());
    };
    let with_softirq = judge(claim, high);
    if alone.verdict == with_softirq.verdict {
        return alone;
    }
    below(format!(
        "attribution decides: {} by the process alone, {} with all softirq",
        alone.verdict, with_softirq.verdict
    ))
}

/// A resolution or a width in two digits, or all that stand before the point.
fn digits(figure: f64) -> String {
    let places = match figure {
        _ if figure >= 10.0 => 0,
        _ if figure >= 1.0 => 1,
        _ => 2,
    };
    format!("{figure:.places$}")
}

fn below(reason: String) -> Judgement {
    Judgement {
        verdict: Verdict::Inconclusive,
        reason,
    }
}

/// Whether figures for `published` belong to the cell `factors`.
fn matches(published: &Factors, factors: &Factors) -> bool {
    published
        .0
        .iter()
        .all(|(name, level)| factors.level(name).is_none_or(|ours| ours.is_same(level)))
}

fn at(figures: &[(Level, f64)], level: &Level) -> Option<f64> {
    figures
        .iter()
        .find(|(other, _)| other.is_same(level))
        .map(|&(_, figure)| figure)
}

/// The change printed at `level`, or computed from the values printed.
fn claim(published: &Published, level: &Level, baseline: &Level) -> Option<Claim> {
    if level.is_same(baseline) {
        return None;
    }
    // A study prints all values of a table alike, so the longest tells how
    // many places were printed; a trailing zero is lost in reading.
    let places = published.values.iter().map(|&(_, value)| places(value));
    let half_unit = 0.5 / 10f64.powi(places.max().unwrap_or(0));
    let derived = at(&published.values, level)
        .zip(at(&published.values, baseline))
        .filter(|&(_, baseline)| baseline > 0.0)
        .map(|(value, baseline)| {
            let percent = 100.0 * (value / baseline - 1.0);
            let rounding = 100.0 * (half_unit + value.abs() / baseline * half_unit) / baseline;
            (percent, rounding)
        });
    let printed = at(&published.changes, level);
    let percent = printed.or_else(|| derived.map(|(percent, _)| percent))?;
    let of_change = if printed.is_some() { 0.005 } else { 0.0 };
    Some(Claim {
        percent,
        rounding: of_change + derived.map_or(0.0, |(_, rounding)| rounding),
        error: published.sampling.as_ref().map(|own| StandardError {
            points: own.standard_error(percent),
            trials: own.trials,
            source: own.source.clone(),
        }),
        resolution_percent: published.resolution_percent,
    })
}

/// How many decimal places a number needs.
fn places(value: f64) -> i32 {
    let text = value.to_string();
    text.split_once('.').map_or(0, |(_, fraction)| {
        i32::try_from(fraction.len()).unwrap_or(17)
    })
}

#[cfg(test)]
mod tests;
