//! Message times between two sizes, with printed points and claimed steps.

use analysis::Findings;
use analysis::sizes::{Curve, median};
use document::Figure;
use plan::{Factors, ReportFigure, Sign, StepClaim};
use serde_json::{Value, json};

use super::{MOST_POINTS, line, plot};
use crate::plots::{alone, marks, text, traces};
use crate::series::labelled;

/// The explanation of the plot.
const NOTE: &str = "medians of the trials; open symbols are printed points, vertical lines the sizes at which the study sees a step (dotted) or none (dashed)";

/// The times of the cells of `figure` at sizes within `range`.
pub(in crate::plots) fn close_up(
    found: &Findings<'_>,
    figure: &ReportFigure,
    range: [u32; 2],
    id: String,
) -> Option<Figure> {
    let curves = found.curves.iter();
    let curves: Vec<&Curve<'_>> = curves
        .filter(|curve| figure.includes(&curve.factors))
        .collect();
    let mut data = Vec::new();
    let mut most = 0.0_f64;
    for (mark, curve) in curves.iter().enumerate() {
        let points = curve.points.iter();
        let points: Vec<_> = points
            .filter(|point| (range[0]..=range[1]).contains(&point.size))
            .collect();
        let step = points.len().div_ceil(MOST_POINTS).max(1);
        let medians = points.iter().step_by(step).filter_map(|point| {
            Some((f64::from(point.size), traces::brief(median(&point.times)?)))
        });
        let (x, y): (Vec<f64>, Vec<f64>) = medians.unzip();
        if x.is_empty() {
            continue;
        }
        most = y.iter().copied().fold(most, f64::max);
        let name = text(&labelled(found.plan, &curve.factors.0));
        data.push(line(x, y, &name, mark, 1.4));
    }
    if most == 0.0 {
        return None;
    }
    for (number, point) in figure.points.iter().enumerate() {
        most = most.max(point.y);
        data.push(json!({
            "mode": "markers",
            "x": [point.x],
            "y": [point.y],
            "name": text(&format!("printed, {}", point.name)),
            "meta": "published",
            "marker": {"symbol": marks::published(number), "size": 11},
        }));
    }
    data.extend(claimed(&found.plan.steps, &curves, range, most));
    let mut figure = alone(figure.title.clone(), NOTE, id, plot(data, "time (us)"));
    if let Some(drawing) = figure.plots.first_mut() {
        drawing.label = format!("{}: message time by size", figure.title);
    }
    Some(figure)
}

/// A vertical line at each claimed size.
fn claimed(claims: &[StepClaim], curves: &[&Curve<'_>], range: [u32; 2], most: f64) -> Vec<Value> {
    let is_about = |claim: &StepClaim, Factors(factors): &Factors| {
        claim.cells.iter().all(|(name, levels)| {
            let level = factors.iter().find(|(other, _)| other == name);
            level.is_none_or(|(_, level)| levels.iter().any(|listed| listed.is_same(level)))
        })
    };
    let shown = |claim: &&StepClaim| {
        let mut curves = curves.iter();
        (range[0]..=range[1]).contains(&claim.at)
            && curves.any(|curve| is_about(claim, &curve.factors))
    };
    let mut seen = false;
    let line = |claim: &StepClaim| {
        let at = f64::from(claim.at);
        let words = text(&format!("{} {}", claim.text, claim.source));
        let is_first = !std::mem::replace(&mut seen, true);
        let dash = match claim.sign {
            Sign::None => "dash",
            Sign::Up | Sign::Down => "dot",
        };
        json!({
            "mode": "lines",
            "x": [at, at],
            "y": [0.0, most],
            "name": "claimed in print",
            "legendgroup": "claimed",
            "showlegend": is_first,
            "meta": "limit",
            "line": {"width": 1.2, "dash": dash},
            "hovertext": [words, words],
            "hoverinfo": "text",
        })
    };
    claims.iter().filter(shown).map(line).collect()
}
