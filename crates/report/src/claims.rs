//! What became of claims in words: lines for people, objects for programs.

use analysis::Findings;
use serde::Serialize;

use crate::figure;
use crate::json::{json_line, pair};
use crate::section::Section;
use analysis::claims::{Average, Held, Judged};
use analysis::statistics::{Interval, Mean};
use analysis::verdict::Verdict;
use plan::{Expected, Factors, Over, Plan};

/// A terminal is shown so many settings of a claim.
const MOST_SETTINGS: usize = 4;

/// What became of the claims of a plan.
pub(super) struct Claims;

impl Section for Claims {
    fn heading(&self) -> &'static str {
        "Claims"
    }

    fn lines(&self, found: &Findings<'_>) -> Vec<String> {
        lines(found)
    }

    fn brief(&self, found: &Findings<'_>) -> Vec<String> {
        let lines = found
            .claims
            .iter()
            .flat_map(|judged| brief(found.plan, judged));
        lines.collect()
    }

    fn json(&self, found: &Findings<'_>) -> Vec<String> {
        json_lines(found)
    }
}

/// A line for each claim with its verdict, and below it one for each setting
/// that it was held against.
fn lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.claims.iter().flat_map(|judged| {
        let settings = judged.settings.iter();
        let settings = settings.map(|held| format!("  {}", setting(found.plan, judged, held)));
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
        (
            Expected::Changed {
                higher, percent, ..
            },
            _,
        ) => {
            let claimed = if *higher { *percent } else { -percent };
            let apart = held.percent.map(|change| (change - claimed).abs());
            return apart.unwrap_or(0.0) / percent.max(f64::MIN_POSITIVE);
        }
        (Expected::Than { .. }, None) => return 0.0,
        (Expected::AtMost(bound) | Expected::AtLeast(bound), _) => *bound,
    };
    (held.mean.mean - bound).abs() / bound.abs().max(f64::MIN_POSITIVE)
}

/// One object a claim, without line ends.
fn json_lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.claims.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

fn claim(judged: &Judged<'_>) -> String {
    let settings = match judged.settings.len() {
        0 | 1 => String::new(),
        many => format!(", it holds in {} of {many} settings", judged.holds_in()),
    };
    format!(
        "{} {}: {}{}{settings}",
        judged.claim.text,
        judged.claim.source,
        judged.verdict,
        average(judged)
    )
}

/// The average that is held against the claim, and what is claimed.
fn average(judged: &Judged<'_>) -> String {
    let Expected::Changed {
        higher, percent, ..
    } = judged.claim.expected
    else {
        return String::new();
    };
    judged.average.map_or_else(String::new, |average| {
        let measured = percent_of(average.percent, average.interval);
        format!(
            ", on average {measured}, claimed {}",
            least(higher, percent)
        )
    })
}

/// A claimed change, e.g. `+117 % or more`.
fn least(higher: bool, percent: f64) -> String {
    match higher {
        true => format!("+{percent} % or more"),
        false => format!("-{percent} % or lower"),
    }
}

fn percent_of(percent: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => figure::percent_in(percent, interval),
        None => format!("{} %", figure::four_digits(percent)),
    }
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
        (Expected::Changed { than, .. }, Some(other)) => {
            format!(" against {} with {than}", figure::four_digits(other.mean))
        }
        (Expected::Than { .. } | Expected::Changed { .. }, None) => String::new(),
        (Expected::AtMost(bound), _) => format!(", claimed at most {bound}"),
        (Expected::AtLeast(bound), _) => format!(", claimed at least {bound}"),
    };
    if let Expected::Changed {
        higher,
        percent,
        over,
        ..
    } = judged.claim.expected
    {
        let change = match held.percent {
            Some(change) => percent_of(change, held.interval),
            None => "no change in per cent: from 0".to_owned(),
        };
        let claimed = match over {
            // Said once, of all of them.
            Over::Mean => String::new(),
            Over::Each | Over::Any => format!(", claimed {}", least(higher, percent)),
        };
        let verdict = held.verdict;
        return format!("{cell}: {metric} {measured} {unit}{bound}; {change}{claimed}: {verdict}");
    }
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
    by_percent: Option<f64>,
    over: Option<&'static str>,
    average_percent: Option<f64>,
    average_interval: Option<[f64; 2]>,
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
    change_percent: Option<f64>,
    interval: Option<[f64; 2]>,
    verdict: &'static str,
}

impl<'a> Line<'a> {
    fn of(judged: &'a Judged<'_>) -> Self {
        let claim = judged.claim;
        let way = |higher| if higher { "higher" } else { "lower" };
        let (is, by, bound) = match claim.expected {
            Expected::Than { higher, by, .. } => (way(higher), Some(by), None),
            Expected::Changed { higher, .. } => (way(higher), None, None),
            Expected::AtMost(bound) => ("at most", None, Some(bound)),
            Expected::AtLeast(bound) => ("at least", None, Some(bound)),
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
        let ends = |Interval { low, high }| [low, high];
        let settings = judged.settings.iter().map(|held| Setting {
            factors: &held.factors,
            than,
            n: held.mean.n,
            mean: held.mean.mean,
            than_mean: held.other.map(|Mean { mean, .. }| mean),
            change_percent: held.percent,
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
            by_percent,
            over,
            average_percent: judged.average.map(|Average { percent, .. }| percent),
            average_interval: judged
                .average
                .and_then(|average| average.interval)
                .map(ends),
            verdict: Verdict::as_str(judged.verdict),
            settings: settings.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
