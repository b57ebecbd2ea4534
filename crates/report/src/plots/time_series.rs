//! Plots of flows and of links' queues over time: means over the trials as lines, with
//! bands for their 95 % intervals.

mod flows;
mod queue_and_average;

use std::collections::BTreeSet;

use analysis::Findings;
use analysis::details::{Quantity, Resolution, TimeSeries};
use analysis::statistics::{Interval, Mean};
use document::{Figure, Plot};
use serde_json::{Value, json};

use super::clip::Range;
use super::{Frame, alone, axis, layout, marks, text, traces, with};
use crate::series::{level_label, place};
pub(crate) use flows::figure as flows;
pub(super) use queue_and_average::redrawn;

/// The least number of trials with a value in an interval that has a band: that of two
/// is 13 times as wide as their standard error.
const LEAST_TRIALS: usize = 3;

/// The plotted quantities of links, in the order of the page.
const QUANTITIES: [OfLink; 3] = [
    OfLink {
        quantity: Quantity::Queue,
        word: "queue",
        title: "Queue",
        axis: "queue (packets)",
        definition: "packets that waited, on average over each interval",
    },
    OfLink {
        quantity: Quantity::Average,
        word: "average",
        title: "Average queue of the discipline",
        axis: "average (frames)",
        definition: "average queue of the discipline in frames, mean over the arrivals of each interval",
    },
    OfLink {
        quantity: Quantity::Drops,
        word: "drops",
        title: "Dropped",
        axis: "dropped (% of arrivals)",
        definition: "packets that the queue dropped, of those that came in each interval",
    },
];

/// A quantity of a link, as it is plotted.
struct OfLink {
    quantity: Quantity,
    /// Its name in the id of a plot.
    word: &'static str,
    title: &'static str,
    axis: &'static str,
    definition: &'static str,
}

/// The plots of all links with a time series: one for each quantity and series of cells.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let frame = &Frame::of(found.plan, found.trials, &found.comparisons);
    let mut figures = Vec::new();
    let links =
        (0..found.plan.cells.len()).flat_map(|cell| found.details(cell).names(Quantity::Queue));
    for link in links.collect::<BTreeSet<&str>>() {
        for own in QUANTITIES {
            for (number, series) in frame.series.iter().enumerate() {
                let data = data(found, frame, link, own.quantity, &series.cells);
                if data.is_empty() {
                    continue;
                }
                let [time, quantity] =
                    ["time (s)", own.axis].map(|title| axis(title, json!({"rangemode": "tozero"})));
                let layout = layout(time, quantity, 400);
                let others = match series.name.as_str() {
                    "" => String::new(),
                    name => format!(", {name}"),
                };
                figures.push(alone(
                    format!("{} of {link}{others}", own.title),
                    own.definition,
                    format!("course-{link}-{}-{number}", own.word),
                    Plot { data, layout },
                ));
            }
        }
    }
    figures
}

/// The bands and lines of the cells that have this quantity.
fn data(
    found: &Findings<'_>,
    frame: &Frame<'_>,
    link: &str,
    quantity: Quantity,
    cells: &[usize],
) -> Vec<Value> {
    let (mut bands, mut lines) = (Vec::new(), Vec::new());
    for &cell in cells {
        let series = found.details(cell).series(quantity, link, Resolution::Plot);
        let (Some(series), Some(level)) = (series, place(frame.plan, &frame.levels, cell)) else {
            continue;
        };
        let name = text(&level_label(frame.plan, &frame.levels[level]));
        let group = json!({"legendgroup": format!("level {level}")});
        let band = band(series, &marks::band(level));
        bands.extend(band.map(|band| with(band, group.clone())));
        lines.push(with(line(series, &name, level), group));
    }
    [bands, lines].concat()
}

/// The means by interval, as steps.
fn line(series: &TimeSeries, name: &str, level: usize) -> Value {
    let mean = |mean: &Option<Mean>| mean.map(|mean| traces::brief(mean.mean));
    let mut y: Vec<Option<f64>> = series.means.iter().map(mean).collect();
    y.push(y.last().copied().flatten());
    json!({
        "mode": "lines",
        "x": series.instants(),
        "y": y,
        "name": name,
        "meta": marks::role(level),
        "line": {"width": 1.8, "shape": "hv", "dash": marks::dash(level)},
        "hoverinfo": "all",
    })
}

/// Their confidence band, as one outline for each stretch without a gap: along the upper
/// ends, and back along the lower ones. An interval that would rule the axis is cut.
fn band(series: &TimeSeries, role: &str) -> Option<Value> {
    let interval = |mean: &Option<Mean>| mean.filter(|mean| mean.n >= LEAST_TRIALS)?.ci95;
    let intervals: Vec<Option<Interval>> = series.means.iter().map(interval).collect();
    let known: Vec<Interval> = intervals.iter().copied().flatten().collect();
    let means = series.means.iter().flatten().map(|mean| mean.mean);
    let range = Range::of(&means.collect::<Vec<f64>>(), &known)?;
    let instants = series.instants();
    let steps: Vec<(&[f64], Option<Interval>)> = instants.windows(2).zip(intervals).collect();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for stretch in steps.split(|(_, interval)| interval.is_none()) {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for &(bounds, interval) in stretch {
            let Some(shown) = interval.map(|interval| range.clip(interval)) else {
                continue;
            };
            for &at in bounds {
                there.push((at, traces::brief(shown.high)));
                // No quantity is negative.
                back.push((at, traces::brief(shown.low.max(0.0))));
            }
        }
        let Some(&(begin, _)) = there.first() else {
            continue;
        };
        for (at, end) in there.into_iter().chain(back.into_iter().rev()) {
            x.push(at);
            y.push(Some(end));
        }
        x.push(begin);
        y.push(None);
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": "lines",
            "x": x,
            "y": y,
            "fill": "toself",
            "line": {"width": 0.0},
            "showlegend": false,
            "meta": role,
            "hoverinfo": "skip",
        })
    })
}

#[cfg(test)]
mod tests {
    use analysis::statistics::mean;

    use super::*;

    #[test]
    fn a_band_has_an_outline_for_each_stretch_and_ends_where_it_would_rule_the_axis() {
        let means = [
            mean(&[3.0, 4.0, 5.0]),
            None,
            mean(&[3.0, 9.0]),
            mean(&[4.0, 5.0, 6.0]),
            mean(&[0.0, 1.0, 500.0]),
        ];
        let [first, .., fourth, _] = means.map(|mean| mean.and_then(|mean| mean.ci95));
        let series = TimeSeries {
            interval: 1.0,
            means: means.to_vec(),
        };
        let band = band(&series, "band 0").unwrap();
        assert_eq!(
            band["x"],
            json!([
                0.0, 1.0, 1.0, 0.0, 0.0, 3.0, 4.0, 4.0, 5.0, 5.0, 4.0, 4.0, 3.0, 3.0
            ])
        );
        let y: Vec<Option<f64>> = serde_json::from_value(band["y"].clone()).unwrap();
        let ends = |interval: Option<Interval>| {
            let Interval { low, high } = interval.unwrap();
            [high, high, low, low].map(|end| Some(traces::brief(end)))
        };
        assert_eq!(y[..4], ends(first));
        assert_eq!((y[4], y[13]), (None, None), "between outlines");
        assert_eq!((y[5], y[12]), (ends(fourth)[0], ends(fourth)[2]));
        assert!(
            y[7] < means[4].unwrap().ci95.map(|interval| interval.high),
            "cut"
        );
        assert_eq!(y[9], Some(0.0), "not below zero");
    }
}
