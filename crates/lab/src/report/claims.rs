//! What became of claims without figures: lines for people, objects for
//! programs.

use serde::Serialize;

use crate::claims::{Held, Judged, judged};
use crate::compare::Comparison;
use crate::plan::{Expected, Factors, Plan};
use crate::report::figure;
use crate::report::json::{json_line, pair};
use crate::report::section::{Found, Section};
use crate::statistics::{Interval, Mean};
use crate::verdict::Verdict;

/// A terminal is shown so many settings of a claim.
const MOST_SETTINGS: usize = 4;

/// What became of the claims of a plan.
pub(super) struct Claims;

impl Section for Claims {
    fn heading(&self) -> &'static str {
        "Claims"
    }

    fn lines(&self, found: &Found<'_>) -> Vec<String> {
        lines(found.plan, found.comparisons)
    }

    fn brief(&self, found: &Found<'_>) -> Vec<String> {
        let claims = judged(found.plan, found.comparisons);
        let lines = claims.iter().flat_map(|judged| brief(found.plan, judged));
        lines.collect()
    }

    fn json(&self, found: &Found<'_>) -> Vec<String> {
        json_lines(found.plan, found.comparisons)
    }
}

/// A line for each claim with its verdict, and below it one for each setting
/// that it was held against.
fn lines(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let claims = judged(plan, comparisons);
    let lines = claims.iter().flat_map(|judged| {
        let settings = judged.settings.iter();
        let settings = settings.map(|held| format!("  {}", setting(plan, judged, held)));
        std::iter::once(claim(judged)).chain(settings)
    });
    lines.collect()
}

/// The same of one claim, of many settings only those that tell the most: where it
/// fails, those by most first, then the others, those nearest to the bound first.
fn brief(plan: &Plan, judged: &Judged<'_>) -> Vec<String> {
    let mut settings: Vec<&Held> = judged.settings.iter().collect();
    let rank = |held: &Held| {
        let far = distance(&judged.claim.expected, held);
        match held.verdict {
            Verdict::NotReproduced => (0, -far),
            Verdict::Reproduced => (2, far),
            _ => (1, far),
        }
    };
    settings.sort_by(|one, other| {
        let [one, other] = [one, other].map(|held| rank(held));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let more = settings.len().saturating_sub(MOST_SETTINGS);
    settings.truncate(MOST_SETTINGS);
    let settings = settings.into_iter();
    let settings = settings.map(|held| format!("  {}", setting(plan, judged, held)));
    let more = (more > 0).then(|| format!("  and {more} more settings: the page has them all"));
    std::iter::once(claim(judged))
        .chain(settings)
        .chain(more)
        .collect()
}

/// How far a mean is from what is claimed of it, as a share of that.
fn distance(expected: &Expected, held: &Held) -> f64 {
    let bound = match (expected, held.other) {
        (Expected::Than { higher, by, .. }, Some(other)) if *higher => other.mean + by,
        (Expected::Than { by, .. }, Some(other)) => other.mean - by,
        (Expected::Than { .. }, None) => return 0.0,
        (Expected::AtMost(bound) | Expected::AtLeast(bound), _) => *bound,
    };
    (held.mean.mean - bound).abs() / bound.abs().max(f64::MIN_POSITIVE)
}

/// One object a claim, without line ends.
fn json_lines(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let claims = judged(plan, comparisons);
    let lines = claims.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

fn claim(judged: &Judged<'_>) -> String {
    let settings = match judged.settings.len() {
        0 | 1 => String::new(),
        many => format!(", it holds in {} of {many} settings", judged.holds_in()),
    };
    format!(
        "{} {}: {}{settings}",
        judged.claim.text, judged.claim.source, judged.verdict
    )
}

/// Where, what was measured, and against what.
fn setting(plan: &Plan, judged: &Judged<'_>, held: &Held) -> String {
    let cell = figure::cell(plan, &held.factors);
    let (metric, unit) = (&judged.claim.metric, judged.unit);
    let measured = figure::four_digits(held.mean.mean);
    let bound = match (&judged.claim.expected, held.other) {
        (Expected::Than { than, by, .. }, Some(other)) => {
            let by = match *by {
                by if by > 0.0 => format!(", claimed by {by} at least"),
                by if by < 0.0 => format!(", which may fall short by {}", -by),
                _ => String::new(),
            };
            let other = figure::four_digits(other.mean);
            format!(" against {other} with {than}{by}")
        }
        (Expected::Than { .. }, None) => String::new(),
        (Expected::AtMost(bound), _) => format!(", claimed at most {bound}"),
        (Expected::AtLeast(bound), _) => format!(", claimed at least {bound}"),
    };
    let interval = held.interval.map_or_else(
        || "; a single trial has no interval, run more".to_owned(),
        |Interval { low, high }| {
            let [low, high] = [low, high].map(figure::four_digits);
            let what = if held.other.is_some() {
                "difference"
            } else {
                "mean"
            };
            format!("; {what} [{low}, {high}]")
        },
    );
    let verdict = held.verdict;
    format!("{cell}: {metric} {measured} {unit}{bound}{interval}: {verdict}")
}

/// The object of one claim. The order of fields is the format's.
#[derive(Serialize)]
struct Line<'a> {
    metric: Option<&'a str>,
    claim: &'a str,
    source: &'a str,
    of: &'a str,
    unit: &'a str,
    is: &'static str,
    by: Option<f64>,
    bound: Option<f64>,
    verdict: &'static str,
    settings: Vec<Setting<'a>>,
}

#[derive(Serialize)]
struct Setting<'a> {
    factors: &'a Factors,
    than: Option<&'a Factors>,
    n: usize,
    mean: f64,
    than_mean: Option<f64>,
    interval: Option<[f64; 2]>,
    verdict: &'static str,
}

impl<'a> Line<'a> {
    fn of(judged: &'a Judged<'_>) -> Self {
        let claim = judged.claim;
        let (is, by, bound) = match claim.expected {
            Expected::Than { higher, by, .. } => {
                (if higher { "higher" } else { "lower" }, Some(by), None)
            }
            Expected::AtMost(bound) => ("at most", None, Some(bound)),
            Expected::AtLeast(bound) => ("at least", None, Some(bound)),
        };
        let than = match &claim.expected {
            Expected::Than { than, .. } => Some(than),
            Expected::AtMost(_) | Expected::AtLeast(_) => None,
        };
        let settings = judged.settings.iter().map(|held| Setting {
            factors: &held.factors,
            than,
            n: held.mean.n,
            mean: held.mean.mean,
            than_mean: held.other.map(|Mean { mean, .. }| mean),
            interval: held.interval.map(pair),
            verdict: held.verdict.as_str(),
        });
        Self {
            metric: None,
            claim: &claim.text,
            source: &claim.source,
            of: &claim.metric,
            unit: judged.unit,
            is,
            by,
            bound,
            verdict: Verdict::as_str(judged.verdict),
            settings: settings.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
