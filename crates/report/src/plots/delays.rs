//! Cumulative distributions of round-trip times, as far as trials hold them: a
//! journal has percentiles, not the times of single messages.

use std::collections::BTreeSet;

use analysis::Findings;
use analysis::compare::find;
use plan::metric::Metric;
use plotly::common::{HoverInfo, Line, Marker, Mode};
use plotly::layout::{Axis, AxisType};
use plotly::{Plot, Scatter};

use super::{Frame, axis, configuration, layout, marks, small_title, text, traces};
use crate::document::{Drawing, Figure};
use crate::series::{level_label, place};

/// The metrics of percentiles, and the shares of messages that they state.
const PERCENTILES: [(&str, f64); 3] = [("rtt_p50", 0.50), ("rtt_p95", 0.95), ("rtt_p99", 0.99)];

/// The ratio of the longest to the shortest time from which the axis is
/// logarithmic.
const WIDE: f64 = 20.0;

/// The explanation of the plots.
const NOTE: &str = "share of messages that were answered within a time, through the 50th, 95th and 99th percentile of each trial, means over the trials; the lines between these points are drawn, not measured";

/// Times in ms with the shares of messages that took no longer.
type Curve = Vec<(f64, f64)>;

/// A figure for each flow with percentiles: a plot for each series of cells.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let frame = &Frame::of(found.plan, found.trials, &found.comparisons);
    let first = PERCENTILES[0].0;
    let names = frame.comparisons.iter().map(|row| row.metric.name);
    let mut flows: BTreeSet<&str> = names.filter_map(|name| name.strip_prefix(first)).collect();
    // The metric without a flow is the largest of all.
    if flows.len() > 1 {
        flows.remove("");
    }
    let mut figures = Vec::new();
    for (number, flow) in flows.into_iter().enumerate() {
        figures.extend(figure(frame, flow, number));
    }
    figures
}

/// The plots of one flow; `flow` is empty or begins with a slash.
fn figure(frame: &Frame<'_>, flow: &str, number: usize) -> Option<Figure> {
    let series = frame.series.iter().map(|series| {
        let curves = series.cells.iter().filter_map(|&cell| {
            let level = place(frame.plan, &frame.levels, cell)?;
            Some((level, curve(frame, flow, cell)?))
        });
        (
            series.name.as_str(),
            curves.collect::<Vec<(usize, Curve)>>(),
        )
    });
    let series: Vec<_> = series.filter(|(_, curves)| !curves.is_empty()).collect();
    let times = || {
        let curves = series.iter().flat_map(|(_, curves)| curves);
        curves.flat_map(|(_, curve)| curve.iter().map(|(time, _)| *time))
    };
    let least = times().fold(f64::INFINITY, f64::min);
    let most = times().fold(f64::NEG_INFINITY, f64::max);
    if series.is_empty() {
        return None;
    }
    let title = match flow.trim_start_matches('/') {
        "" => "Distribution of round-trip times".to_owned(),
        flow => format!("Distribution of round-trip times, flow {flow}"),
    };
    let plots = series
        .into_iter()
        .enumerate()
        .map(|(position, (name, curves))| {
            let id = format!("delays-{number}-{position}");
            let mut plot = plot(frame, curves);
            let time = time_axis(least, most);
            let share = axis("share of messages").range(vec![0.45, 1.01]);
            plot.set_layout(layout(time, share, 320).title(small_title(name)));
            plot.set_configuration(configuration(&id));
            Drawing {
                id,
                label: format!("{title}, {name}"),
                is_change: false,
                plot,
            }
        });
    Some(Figure {
        plots: plots.collect(),
        title,
        note: NOTE.to_owned(),
    })
}

/// The percentiles of a cell, if it has all of them.
fn curve(frame: &Frame<'_>, flow: &str, cell: usize) -> Option<Curve> {
    let point = |(name, share): (&str, f64)| {
        let metric = Metric::named(&format!("{name}{flow}"))?;
        let mean = find(frame.comparisons, metric, cell)?.mean?;
        Some((traces::brief(mean.mean), share))
    };
    PERCENTILES.into_iter().map(point).collect()
}

fn plot(frame: &Frame<'_>, curves: Vec<(usize, Curve)>) -> Plot {
    let mut plot = Plot::new();
    for (level, curve) in curves {
        let name = level_label(frame.plan, &frame.levels[level]);
        let name = format!("{} {name}", frame.plan.compare.factor);
        let texts = curve.iter().map(|(time, share)| {
            let percent = share * 100.0;
            text(&format!("{name}: {percent} % within {time} ms"))
        });
        let texts = texts.collect();
        let (x, y): (Vec<f64>, Vec<f64>) = curve.into_iter().unzip();
        plot.add_trace(
            Scatter::new(x, y)
                .mode(Mode::LinesMarkers)
                .name(text(&name))
                .meta(marks::role(level))
                .marker(Marker::new().symbol(marks::symbol(level)).size(8))
                .line(Line::new().width(1.6).dash(marks::dash(level)))
                .hover_text_array(texts)
                .hover_info(HoverInfo::Text),
        );
    }
    plot
}

/// The axis of times, the same in all plots of a figure.
fn time_axis(least: f64, most: f64) -> Axis {
    let axis = axis("round-trip time (ms)");
    match least > 0.0 && most / least > WIDE {
        true => {
            let range = vec![least.log10() - 0.05, most.log10() + 0.05];
            axis.type_(AxisType::Log).range(range)
        }
        false => axis.range(vec![0.0, traces::brief(most * 1.05)]),
    }
}
