//! Cumulative distributions of delays and round-trip times, as far as trials hold them: a
//! journal has quantiles, not the times of single messages.

use std::collections::BTreeSet;

use analysis::details::Times;
use analysis::{Findings, digits};
use document::{Drawing, Figure, Plot};
use meter::streaming_recorder::SHARES;
use plan::metric::{self, Metric};
use serde_json::{Value, json};

use super::{Frame, axis, layout, marks, small_title, text, traces};
use crate::series::{level_label, place};

/// The metrics of percentiles, and the shares of messages that they state.
const PERCENTILES: [(&str, f64); 3] = [
    (metric::RTT_P50.name, 0.50),
    (metric::RTT_P95.name, 0.95),
    (metric::RTT_P99.name, 0.99),
];

/// The ratio of the longest to the shortest time from which the axis is
/// logarithmic.
const WIDE: f64 = 20.0;

/// The explanation of the plots.
const NOTE: &str = "share of messages that took no longer than a time, through quantiles of each trial, means over the trials; the lines between these points are drawn, not measured";

/// Times in ms with the shares of messages that took no longer.
type Curve = Vec<(f64, f64)>;

/// The subject of a figure.
struct Subject<'a> {
    times: Times,
    flow: &'a str,
}

/// A figure for each flow with quantiles: a plot for each series of cells.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let frame = &Frame::of(found.plan, found.trials, &found.comparisons);
    let mut figures = Vec::new();
    for times in [Times::Delay, Times::RoundTrip] {
        let cells = (0..found.plan.cells.len()).map(|cell| found.details(cell));
        let flows = cells.flat_map(|details| details.quantiles(times));
        let mut flows: BTreeSet<String> = flows.map(|(flow, _)| flow.to_owned()).collect();
        if flows.is_empty() && times == Times::RoundTrip {
            flows = with_percentiles(frame);
        }
        for flow in flows {
            let subject = Subject { times, flow: &flow };
            figures.extend(figure(found, frame, &subject, figures.len()));
        }
    }
    figures
}

/// The flows of which there are metrics of percentiles only, as in journals of older
/// versions.
fn with_percentiles(frame: &Frame<'_>) -> BTreeSet<String> {
    let first = PERCENTILES[0].0;
    let names = frame.comparisons.iter().map(|row| row.metric.name);
    let names = names.filter_map(|name| name.strip_prefix(first));
    let flows = names.map(|name| name.trim_start_matches('/').to_owned());
    let mut flows: BTreeSet<String> = flows.collect();
    // The metric without a flow is the largest of all.
    if flows.len() > 1 {
        flows.remove("");
    }
    flows
}

/// The plots of one flow.
fn figure(
    found: &Findings<'_>,
    frame: &Frame<'_>,
    subject: &Subject<'_>,
    number: usize,
) -> Option<Figure> {
    let series = frame.series.iter().map(|series| {
        let curves = series.cells.iter().filter_map(|&cell| {
            let level = place(frame.plan, &frame.levels, cell)?;
            Some((level, curve(found, subject, cell)?))
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
    let shares = series.iter().flat_map(|(_, curves)| curves);
    let shares = shares.flat_map(|(_, curve)| curve.iter().map(|(_, share)| *share));
    let (times, axis_title) = match subject.times {
        Times::Delay => ("one-way delays", "one-way delay (ms)"),
        Times::RoundTrip => ("round-trip times", "round-trip time (ms)"),
    };
    let title = match subject.flow {
        "" => format!("Distribution of {times}"),
        flow => format!("Distribution of {times}, flow {flow}"),
    };
    let first_share = shares.fold(f64::INFINITY, f64::min);
    let plots = series
        .into_iter()
        .enumerate()
        .map(|(position, (name, curves))| {
            let time = time_axis(axis_title, least, most);
            let range = [first_share - 0.05, 1.03];
            let share = axis("share of messages", json!({"range": range}));
            let mut layout = layout(time, share, 320);
            layout["title"] = small_title(name);
            let data = data(frame, curves);
            Drawing {
                id: format!("delays-{number}-{position}"),
                label: format!("{title}, {name}"),
                is_change: false,
                plot: Plot { data, layout },
            }
        });
    Some(Figure {
        plots: plots.collect(),
        title,
        note: NOTE.to_owned(),
    })
}

/// The quantiles of a cell, or else its percentiles, if it has all of them.
fn curve(found: &Findings<'_>, subject: &Subject<'_>, cell: usize) -> Option<Curve> {
    let mut flows = found.details(cell).quantiles(subject.times);
    if let Some((_, means)) = flows.find(|(flow, _)| *flow == subject.flow) {
        let times = means.iter().map(|mean| traces::brief(mean.mean));
        return Some(times.zip(SHARES).collect());
    }
    let point = |(name, share): (&str, f64)| {
        let metric = match subject.flow {
            "" => Metric::named(name)?,
            flow => Metric::named(&format!("{name}/{flow}"))?,
        };
        let mean = found.find(metric, cell)?.mean?;
        Some((traces::brief(mean.mean), share))
    };
    match subject.times {
        Times::RoundTrip => PERCENTILES.into_iter().map(point).collect(),
        Times::Delay => None,
    }
}

fn data(frame: &Frame<'_>, curves: Vec<(usize, Curve)>) -> Vec<Value> {
    let trace = |(level, curve): (usize, Curve)| {
        let name = level_label(frame.plan, &frame.levels[level]);
        let name = format!("{} {name}", frame.plan.compare.factor);
        let texts = curve.iter().map(|(time, share)| {
            let percent = traces::brief(share * 100.0);
            text(&format!("{name}: {percent} % within {time} ms"))
        });
        let texts: Vec<String> = texts.collect();
        let (x, y): (Vec<f64>, Vec<f64>) = curve.into_iter().unzip();
        json!({
            "mode": "lines+markers",
            "x": x,
            "y": y,
            "name": text(&name),
            "meta": marks::role(level),
            "marker": {"symbol": marks::symbol(level), "size": 8},
            "line": {"width": 1.6, "dash": marks::dash(level)},
            "hovertext": texts,
            "hoverinfo": "text",
        })
    };
    curves.into_iter().map(trace).collect()
}

/// The axis of times, the same in all plots of a figure.
fn time_axis(title: &str, least: f64, most: f64) -> Value {
    let attributes = match least > 0.0 && most / least > WIDE {
        true => {
            json!({"type": "log", "range": [digits::log10(least) - 0.05, digits::log10(most) + 0.05]})
        }
        false => json!({"range": [0.0, traces::brief(most * 1.05)]}),
    };
    axis(title, attributes)
}
