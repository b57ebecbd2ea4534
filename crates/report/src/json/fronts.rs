//! JSON lines of Pareto fronts, one object each.

use analysis::pareto::Front;
use analysis::statistics::Interval;
use plan::Factors;
use serde::Serialize;

use super::line::json_line;

/// One object per front, without line ends.
pub(super) fn lines(fronts: &[Front<'_>]) -> Vec<String> {
    let lines = fronts.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

/// The object of one front, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    metric: Option<&'a str>,
    pareto: [&'a str; 2],
    units: [&'a str; 2],
    within: &'a Factors,
    cells: usize,
    front: Vec<Setting<'a>>,
}

#[derive(Serialize)]
struct Setting<'a> {
    factors: &'a Factors,
    means: [f64; 2],
    ci95: [Option<Interval>; 2],
}

impl<'a> Line<'a> {
    fn of(front: &'a Front<'_>) -> Self {
        let settings = front.front().map(|point| Setting {
            factors: &point.factors,
            means: point.means.each_ref().map(|mean| mean.mean),
            ci95: point.means.each_ref().map(|mean| mean.ci95),
        });
        Self {
            metric: None,
            pareto: front.metrics.map(|metric| metric.name),
            units: front.metrics.map(|metric| metric.unit),
            within: &front.within,
            cells: front.points.len(),
            front: settings.collect(),
        }
    }
}
