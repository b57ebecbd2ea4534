//! JSON lines of claims, one object each.

use analysis::claims::{Alternative, Average, ClaimResult};
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use document::json_line;
use plan::{Expected, Factors, Over};
use serde::Serialize;

use super::line::Estimate;

/// One object per claim, without line ends.
pub(super) fn lines(claims: &[ClaimResult<'_>]) -> Vec<String> {
    let lines = claims.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

/// The object of one claim, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    claim: &'a str,
    source: &'a str,
    metric: &'a str,
    unit: &'a str,
    is: &'static str,
    by: Option<f64>,
    bound: Option<f64>,
    by_percent: Option<f64>,
    over: Option<&'static str>,
    average: Option<Average>,
    tolerance: Option<f64>,
    verdict: Verdict,
    alternatives: &'a [Alternative],
    not_measured: Option<&'a str>,
    settings: Vec<Setting<'a>>,
}

#[derive(Serialize)]
struct Setting<'a> {
    factors: &'a Factors,
    than: Option<&'a Factors>,
    n: usize,
    mean: f64,
    than_mean: Option<f64>,
    change_percent: Option<f64>,
    interval: Option<Interval>,
    verdict: Verdict,
    #[serde(flatten)]
    estimate: Estimate,
}

impl<'a> Line<'a> {
    fn of(judged: &'a ClaimResult<'_>) -> Self {
        let claim = judged.claim;
        let sign = |higher| if higher { "higher" } else { "lower" };
        let (is, by, bound) = match claim.expected {
            Expected::Than { higher, by, .. } => (sign(higher), Some(by), None),
            Expected::Changed { higher, .. } => (sign(higher), None, None),
            Expected::AtMost(bound) => ("at_most", None, Some(bound)),
            Expected::AtLeast(bound) => ("at_least", None, Some(bound)),
        };
        let than = match &claim.expected {
            Expected::Than { than, .. } | Expected::Changed { than, .. } => Some(than),
            Expected::AtMost(_) | Expected::AtLeast(_) => None,
        };
        let (by_percent, over) = match claim.expected {
            Expected::Changed { percent, over, .. } => (
                Some(percent),
                Some(match over {
                    Over::Each => "each",
                    Over::Any => "any",
                    Over::Mean => "mean",
                }),
            ),
            Expected::Than { .. } | Expected::AtMost(_) | Expected::AtLeast(_) => (None, None),
        };
        let settings = judged.settings.iter().map(|held| Setting {
            factors: &held.factors,
            than,
            n: held.mean.n,
            mean: held.mean.mean,
            than_mean: held.other.map(|other| other.mean),
            change_percent: held.percent,
            interval: held.interval,
            verdict: held.verdict,
            estimate: Estimate::of(Some(&held.mean)),
        });
        Self {
            kind: "claim",
            claim: &claim.text,
            source: &claim.source,
            metric: &claim.metric,
            unit: judged.unit,
            is,
            by,
            bound,
            by_percent,
            over,
            average: judged.average,
            tolerance: claim.tolerance.as_ref().map(|own| own.within),
            verdict: judged.verdict,
            alternatives: { judged.alternatives.as_ref() }.map_or(&[], |all| &all.each),
            not_measured: judged.not_measured.as_deref(),
            settings: settings.collect(),
        }
    }
}
