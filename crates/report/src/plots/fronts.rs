//! Plots of trade-offs between two metrics: each setting is a point, and the
//! points of the front are joined.

use analysis::Findings;
use analysis::pareto::{Front, Point};
use serde_json::{Value, json};

use super::{alone, axis, layout, marks, text, traces, with};
use crate::document::{Figure, Plot};
use crate::figure;

/// The ratio of the largest to the smallest value from which an axis is
/// logarithmic.
const WIDE: f64 = 20.0;

/// A plot for each front.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let figures = found.fronts.iter().enumerate().map(|(number, front)| {
        alone(
            figure::front(front),
            "each symbol is a setting; no setting is preferable to the joined ones",
            format!("front-{number}"),
            plot(found, front),
        )
    });
    figures.collect()
}

fn plot(found: &Findings<'_>, front: &Front<'_>) -> Plot {
    let trace = |is_front: bool| {
        let points: Vec<&Point> = front
            .points
            .iter()
            .filter(|point| point.is_front == is_front)
            .collect();
        let along = |at: usize| -> Vec<f64> {
            let means = points.iter().map(|point| point.means[at].mean);
            means.map(traces::brief).collect()
        };
        let texts = points
            .iter()
            .map(|point| text(&figure::point(found.plan, front, point)));
        json!({
            "x": along(0),
            "y": along(1),
            "hovertext": texts.collect::<Vec<String>>(),
            "hoverinfo": "text",
        })
    };
    let others =
        json!({"mode": "markers", "name": "others", "meta": "limit", "marker": {"size": 6}});
    let joined = json!({
        "mode": "lines+markers",
        "name": "front",
        "meta": marks::role(0),
        "marker": {"size": 11},
        "line": {"width": 1.5},
    });
    Plot {
        data: vec![with(trace(false), others), with(trace(true), joined)],
        layout: layout(of_metric(front, 0), of_metric(front, 1), 400),
    }
}

fn of_metric(front: &Front<'_>, at: usize) -> Value {
    let metric = front.metrics[at];
    let figures = || front.points.iter().map(|point| point.means[at].mean);
    let least = figures().fold(f64::INFINITY, f64::min);
    let most = figures().fold(f64::NEG_INFINITY, f64::max);
    let attributes = match least > 0.0 && most / least > WIDE {
        true => json!({"type": "log"}),
        false => json!({"rangemode": "tozero"}),
    };
    axis(&format!("{} ({})", metric.title, metric.unit), attributes)
}
