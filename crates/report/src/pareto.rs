//! Pareto fronts: lines and plots for people, objects for programs.

use analysis::Findings;
use serde::Serialize;

use crate::figure;
use crate::json::{json_line, pair};
use crate::page::fronts::plots;
use crate::section::{Part, Section};
use analysis::pareto::{Front, Point};
use analysis::statistics::{Interval, Mean};
use plan::{Factors, Plan};

/// How the plots are meant.
const PREFERABLE: &str = "Symbols are means over the trials. A setting is preferable to another if it is no worse in either metric, and in one better by more than chance.";

/// What it takes of one metric to have more of another.
pub(super) struct Fronts;

impl Section for Fronts {
    fn heading(&self) -> &'static str {
        "Pareto fronts"
    }

    fn lines(&self, found: &Findings<'_>) -> Vec<String> {
        lines(found)
    }

    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        vec![
            Part::plotted(self.heading(), PREFERABLE, plots(found)),
            Part::listed(self.heading(), &self.lines(found)),
        ]
    }

    fn json(&self, found: &Findings<'_>) -> Vec<String> {
        json_lines(found)
    }
}

/// A line for each front, and below it one for each setting on it.
fn lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.fronts.iter().flat_map(|front| {
        let points = front
            .front()
            .map(|point| format!("  {}", setting(found.plan, front, point)));
        std::iter::once(heading(front)).chain(points)
    });
    lines.collect()
}

/// One object a front, without line ends.
fn json_lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.fronts.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

/// What is weighed, and within what.
pub(super) fn title(front: &Front<'_>) -> String {
    let [first, second] = front.metrics.map(|metric| metric.title);
    match front.within.0.is_empty() {
        true => format!("{first} against {second}"),
        false => format!("{first} against {second}, {}", front.within),
    }
}

/// A setting and its two figures.
pub(super) fn setting(plan: &Plan, front: &Front<'_>, point: &Point) -> String {
    let own = point.factors.0.iter();
    let own = own.filter(|factor| !front.within.0.contains(factor));
    let cell = figure::cell(plan, &Factors(own.cloned().collect()));
    let figures = front.metrics.iter().zip(&point.means);
    let figures = figures.map(|(metric, mean)| format!("{} {}", figure_of(mean), metric.unit));
    let figures: Vec<String> = figures.collect();
    format!("{cell}: {}", figures.join(", "))
}

fn heading(front: &Front<'_>) -> String {
    let (on, all) = (front.front().count(), front.points.len());
    let settings = if all == 1 { "setting" } else { "settings" };
    format!(
        "{}: to {on} of {all} {settings} no other one is preferable",
        title(front)
    )
}

fn figure_of(mean: &Mean) -> String {
    let figure = figure::four_digits(mean.mean);
    match mean.ci95.map(Interval::half) {
        Some(half) => format!("{figure} ± {}", figure::four_digits(half)),
        None => figure,
    }
}

/// The object of one front. The order of fields is the format's.
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
    ci95: [Option<[f64; 2]>; 2],
}

impl<'a> Line<'a> {
    fn of(front: &'a Front<'_>) -> Self {
        let settings = front.front().map(|point| Setting {
            factors: &point.factors,
            means: point.means.each_ref().map(|mean| mean.mean),
            ci95: point.means.each_ref().map(|mean| mean.ci95.map(pair)),
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

#[cfg(test)]
mod tests;
