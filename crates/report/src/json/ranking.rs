//! JSON lines of a ranking: one object per setting and counting method.

use analysis::ranking::{Other, Ranked};
use analysis::statistics::Interval;
use plan::{Factors, Plan, Ranking};
use serde::Serialize;

use super::line::json_line;

/// One setting with one counting method, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    /// Null, so that readers who select lines by metric skip this one.
    metric: Option<&'a str>,
    ranking: &'a str,
    source: &'a str,
    rank: usize,
    factors: &'a Factors,
    counted: Vec<&'a str>,
    n: usize,
    distance: f64,
    distance_ci95: Option<Interval>,
    as_near_as_the_first: Option<bool>,
    figures: Vec<Figure<'a>>,
    others: &'a [Other],
}

#[derive(Serialize)]
struct Figure<'a> {
    of: &'a str,
    unit: &'a str,
    published: f64,
    gap: f64,
    mean: f64,
    ci95: Option<Interval>,
    apart: Option<f64>,
    apart_ci95: Option<Interval>,
}

/// All settings, the nearest first, without line ends.
pub(super) fn lines(plan: &Plan, ranked: &[Ranked]) -> Vec<String> {
    let Some(ranking) = &plan.ranking else {
        return Vec::new();
    };
    let lines = ranked.iter().enumerate();
    lines
        .map(|(place, one)| json_line(&line(ranking, place + 1, one)))
        .collect()
}

fn line<'a>(ranking: &'a Ranking, rank: usize, one: &'a Ranked) -> Line<'a> {
    let figures = one.figures.iter().zip(&ranking.figures);
    let countings = one
        .countings
        .iter()
        .filter_map(|&counting| ranking.countings.get(counting));
    Line {
        metric: None,
        ranking: &ranking.text,
        source: &ranking.source,
        rank,
        factors: &one.factors,
        counted: countings.map(String::as_str).collect(),
        n: one.n,
        distance: one.distance,
        distance_ci95: one.interval,
        as_near_as_the_first: one.is_tied,
        figures: figures
            .map(|(figure, target)| Figure {
                of: figure.metric.name,
                unit: target.unit,
                published: target.value,
                gap: target.gap,
                mean: figure.mean.mean,
                ci95: figure.mean.ci95,
                apart: figure.separation.map(|chance| chance.share),
                apart_ci95: figure.separation.and_then(|chance| chance.ci95),
            })
            .collect(),
        others: &one.others,
    }
}
