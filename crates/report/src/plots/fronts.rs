//! Plots of trade-offs between two metrics: each setting is a point, and the
//! points of the front are joined.

use analysis::Findings;
use analysis::pareto::{Front, Point};
use plotly::common::{HoverInfo, Line, Marker, Mode};
use plotly::layout::{Axis, AxisType, RangeMode};
use plotly::{Plot, Scatter};

use super::{alone, axis, layout, marks, text, traces};
use crate::document::Figure;
use crate::figure;
use crate::plots::empty_plot;

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
        let along = |at: usize| {
            points
                .iter()
                .map(move |point| traces::brief(point.means[at].mean))
        };
        let texts = points
            .iter()
            .map(|point| text(&figure::point(found.plan, front, point)));
        Scatter::new(along(0).collect(), along(1).collect())
            .hover_text_array(texts.collect())
            .hover_info(HoverInfo::Text)
    };
    let mut plot = empty_plot();
    plot.add_trace(
        trace(false)
            .mode(Mode::Markers)
            .name("others")
            .meta("limit")
            .marker(Marker::new().size(6)),
    );
    plot.add_trace(
        trace(true)
            .mode(Mode::LinesMarkers)
            .name("front")
            .meta(marks::role(0))
            .marker(Marker::new().size(11))
            .line(Line::new().width(1.5)),
    );
    plot.set_layout(layout(of_metric(front, 0), of_metric(front, 1), 400));
    plot
}

fn of_metric(front: &Front<'_>, at: usize) -> Axis {
    let metric = front.metrics[at];
    let axis = axis(&format!("{} ({})", metric.title, metric.unit));
    let figures = || front.points.iter().map(|point| point.means[at].mean);
    let least = figures().fold(f64::INFINITY, f64::min);
    let most = figures().fold(f64::NEG_INFINITY, f64::max);
    match least > 0.0 && most / least > WIDE {
        true => axis.type_(AxisType::Log),
        false => axis.range_mode(RangeMode::ToZero),
    }
}
