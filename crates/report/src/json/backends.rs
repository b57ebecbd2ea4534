//! JSON Lines of runs in several backends; docs/reference/json.md is their schema.

use analysis::across_backends::{AcrossBackends, Row};
use analysis::compare::{Comparison, Difference};
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use document::json_line;
use plan::metric::Metric;
use plan::{Backend, Factors};
use serde::Serialize;

use super::line::Estimate;
use crate::diff::Run;

/// One object per metric and combination of levels of `runs`, joined in `all`,
/// without line ends.
pub fn backends_json(all: &AcrossBackends, runs: &[Run<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in all.metrics() {
        for row in all.rows(metric) {
            lines.push(json_line(&line(metric, &row, runs, &all.names)));
        }
    }
    lines
}

/// One line, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    metric: &'a str,
    unit: &'a str,
    factors: &'a Factors,
    published: Option<f64>,
    published_change_percent: Option<f64>,
    source: Option<&'a str>,
    backends: Vec<OfBackend<'a>>,
}

#[derive(Serialize)]
struct OfBackend<'a> {
    name: &'a str,
    backend: Backend,
    folder: String,
    n: usize,
    mean: Option<f64>,
    ci95: Option<Interval>,
    change_percent: Option<f64>,
    change_ci95: Option<Interval>,
    difference: Option<Difference>,
    verdict: Option<Verdict>,
    reason: Option<&'a str>,
    #[serde(flatten)]
    estimate: Estimate,
}

fn line<'a>(
    metric: &'a Metric,
    row: &'a Row<'a>,
    runs: &[Run<'_>],
    names: &'a [String],
) -> Line<'a> {
    let published = row.published();
    let of_backends = names.iter().zip(runs).zip(&row.of_runs);
    Line {
        kind: "metric_by_backend",
        metric: metric.name,
        unit: metric.unit,
        factors: &row.factors,
        published: published.and_then(|figures| figures.value),
        published_change_percent: published
            .and_then(|figures| Some(figures.claim.as_ref()?.percent)),
        source: published.and_then(|figures| figures.source.as_deref()),
        backends: of_backends
            .map(|((name, run), of_run)| of_backend(name, run, *of_run))
            .collect(),
    }
}

fn of_backend<'a>(name: &'a str, run: &Run<'_>, row: Option<&'a Comparison>) -> OfBackend<'a> {
    let mean = row.and_then(|row| row.mean);
    let change = row.and_then(|row| row.change);
    let judgement = row.and_then(|row| row.judgement.as_ref());
    OfBackend {
        name,
        backend: run.found.plan.backend,
        folder: run.folder.display().to_string(),
        n: row.map_or(0, |row| row.n),
        mean: mean.map(|mean| mean.mean),
        ci95: mean.and_then(|mean| mean.ci95),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change.and_then(|change| change.ci95),
        difference: row.and_then(|row| row.difference),
        verdict: judgement.map(|judgement| judgement.verdict),
        reason: judgement.map(|judgement| judgement.reason.as_str()),
        estimate: row.map(Estimate::of_cell).unwrap_or_default(),
    }
}
