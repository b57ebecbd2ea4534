//! Plots of message times by size: at each compared level, the steps, the
//! ratios of the levels, and the readings of coarse clocks.

mod close_up;

use analysis::Findings;
use analysis::sizes::{CLOCKS, Curve, median};
use analysis::statistics::{Interval, change};
use document::{Figure, Plot};
use plan::Factors;
use serde_json::{Value, json};

use super::{Frame, alone, axis, layout, marks, text, traces, with};
use crate::figure;

pub(super) use close_up::close_up;

/// The names of the clocks, in the order of [`CLOCKS`].
const NAMES: [&str; CLOCKS] = ["processor", "1 ms", "10 ms", "55 ms"];

/// The maximum number of points of a line, to keep the page small.
const MOST_POINTS: usize = 2_000;

/// The plots of each group of curves that differ in the compared factor.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let frame = &Frame::of(found.plan, found.trials, &found.comparisons);
    let factor = frame.plan.compare.factor.as_str();
    let mut groups: Vec<(Factors, Vec<&Curve<'_>>)> = Vec::new();
    for curve in &found.curves {
        let mut common = curve.factors.clone();
        common.0.retain(|(name, _)| name != factor);
        match groups.iter_mut().find(|(other, _)| *other == common) {
            Some((_, group)) => group.push(curve),
            None => groups.push((common, vec![curve])),
        }
    }
    let mut figures = Vec::new();
    for (number, (common, group)) in groups.iter().enumerate() {
        let name = figure::cell(frame.plan, common);
        let name = match name.as_str() {
            "" => String::new(),
            name => format!(", {name}"),
        };
        let mut add = |what: &str, title: String, note: &str, data: Vec<Value>, unit: &str| {
            let id = format!("sizes-{what}-{number}");
            figures.push(alone(title, note, id, plot(data, unit)));
        };
        add(
            "time",
            format!("Message time by size{name}"),
            "medians of the trials with a band from the least to the largest; triangles are steps of the means or of the shortest times",
            times(frame, group),
            "time (us)",
        );
        if let Some(data) = ratios(frame, group) {
            add(
                "ratio",
                format!("Ratio to {factor} {}{name}", frame.plan.compare.baseline),
                "of the mean times, with 95 % intervals",
                data,
                "ratio",
            );
        }
        for curve in group {
            let Some(data) = clocks(curve) else { continue };
            let level = level(frame, curve);
            add(
                &format!("clocks-{level}"),
                format!("Message time by other clocks{name}, {factor} {level}"),
                "the mean of all trials as a clock of processor time and clocks that move in steps would print it",
                data,
                "time (us)",
            );
        }
    }
    figures
}

fn level(frame: &Frame<'_>, curve: &Curve<'_>) -> String {
    let level = curve.factors.level(&frame.plan.compare.factor);
    level.map_or_else(String::new, ToString::to_string)
}

fn place(frame: &Frame<'_>, level: &str) -> usize {
    let mut levels = frame.levels.iter();
    levels.position(|other| other == level).unwrap_or(0)
}

fn times(frame: &Frame<'_>, group: &[&Curve<'_>]) -> Vec<Value> {
    let mut data = Vec::new();
    for curve in group {
        let level = level(frame, curve);
        let place = place(frame, &level);
        let step = curve.points.len().div_ceil(MOST_POINTS).max(1);
        let points = || curve.points.iter().step_by(step);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for point in points() {
            let Some(time) = median(&point.times) else {
                continue;
            };
            let size = f64::from(point.size);
            x.push(size);
            y.push(traces::brief(time));
            let times = || point.times.iter().copied();
            there.push((size, traces::brief(times().fold(time, f64::max))));
            back.push((size, traces::brief(times().fold(time, f64::min))));
        }
        let name = text(&level);
        let group = json!({"legendgroup": format!("level {place}")});
        data.push(with(band(there, back, place), group.clone()));
        data.push(with(line(x, y, &name, place, 1.4), group.clone()));
        let Some(shape) = &curve.shape else { continue };
        let steps = [shape.steps.as_slice(), shape.of_shortest.as_slice()].concat();
        let marks = steps.iter().filter_map(|step| {
            let point = curve
                .points
                .iter()
                .find(|point| f64::from(point.size) >= step.between[1])?;
            Some((step.between[1], median(&point.times)?))
        });
        let (x, y): (Vec<f64>, Vec<f64>) = marks.unzip();
        if !x.is_empty() {
            let steps = json!({
                "mode": "markers",
                "x": x,
                "y": y,
                "name": format!("{name}: steps"),
                "meta": marks::role(place),
                "marker": {"size": 9, "symbol": "triangle-up-open"},
            });
            data.push(with(steps, group));
        }
    }
    data
}

fn line(x: Vec<f64>, y: Vec<f64>, name: &str, place: usize, width: f64) -> Value {
    json!({
        "mode": "lines",
        "x": x,
        "y": y,
        "name": name,
        "meta": marks::role(place),
        "line": {"width": width, "dash": marks::dash(place)},
    })
}

/// The area between a line and another one over the same sizes.
fn band(there: Vec<(f64, f64)>, back: Vec<(f64, f64)>, place: usize) -> Value {
    let outline = there.into_iter().chain(back.into_iter().rev());
    let (x, y): (Vec<f64>, Vec<f64>) = outline.unzip();
    json!({
        "mode": "lines",
        "x": x,
        "y": y,
        "fill": "toself",
        "line": {"width": 0.0},
        "showlegend": false,
        "meta": marks::band(place),
        "hoverinfo": "skip",
    })
}

fn ratios(frame: &Frame<'_>, group: &[&Curve<'_>]) -> Option<Vec<Value>> {
    let baseline = frame.plan.compare.baseline.to_string();
    let base = group.iter().find(|curve| level(frame, curve) == baseline)?;
    let mut data = Vec::new();
    for curve in group {
        let name = level(frame, curve);
        if name == baseline {
            continue;
        }
        let place = place(frame, &name);
        let step = curve.points.len().div_ceil(MOST_POINTS).max(1);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for point in curve.points.iter().step_by(step) {
            let other = base
                .points
                .binary_search_by_key(&point.size, |other| other.size);
            let Some(other) = other.ok().and_then(|other| base.points[other].time()) else {
                continue;
            };
            let Some(change) = point.time().map(|time| change(&time, &other)) else {
                continue;
            };
            let Some(percent) = change.percent else {
                continue;
            };
            let of = |percent: f64| traces::brief(1.0 + percent / 100.0);
            x.push(f64::from(point.size));
            y.push(of(percent));
            if let Some(Interval { low, high }) = change.ci95 {
                there.push((f64::from(point.size), of(high)));
                back.push((f64::from(point.size), of(low)));
            }
        }
        if x.is_empty() {
            continue;
        }
        if !there.is_empty() {
            data.push(band(there, back, place));
        }
        data.push(line(x, y, &text(&name), place, 1.4));
    }
    (!data.is_empty()).then_some(data)
}

/// The curve by its own clock and by the others, if any.
fn clocks(curve: &Curve<'_>) -> Option<Vec<Value>> {
    let step = curve.points.len().div_ceil(MOST_POINTS).max(1);
    let points = || curve.points.iter().step_by(step);
    points()
        .any(|point| !point.clocks[0].is_empty())
        .then_some(())?;
    let mean = |values: &[f64]| analysis::statistics::mean(values).map(|mean| mean.mean);
    let trace = |name, place, of: &dyn Fn(&analysis::sizes::Point) -> Option<f64>| {
        let of_size = |point: &analysis::sizes::Point| {
            Some((f64::from(point.size), traces::brief(of(point)?)))
        };
        let (x, y) = points().filter_map(of_size).unzip();
        line(x, y, name, place, 1.2)
    };
    let mut data = vec![trace("fine", 0, &|point| mean(&point.times))];
    for (place, name) in NAMES.iter().enumerate() {
        data.push(trace(name, place + 1, &|point| mean(&point.clocks[place])));
    }
    Some(data)
}

fn plot(data: Vec<Value>, unit: &str) -> Plot {
    let size = axis("bytes of a message", json!({}));
    let time = axis(unit, json!({"rangemode": "tozero"}));
    Plot {
        data,
        layout: layout(size, time, 420),
    }
}
