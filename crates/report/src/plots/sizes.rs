//! Plots of message times by size: at each compared level, the steps, the
//! ratios of the levels, and the readings of coarse clocks.

mod close_up;

use analysis::Findings;
use analysis::sizes::{CLOCKS, Curve, median};
use analysis::statistics::{Interval, change};
use plan::Factors;
use plotly::common::{Fill, HoverInfo, Line, Marker, MarkerSymbol, Mode};
use plotly::layout::RangeMode;
use plotly::{Plot, Scatter};

use super::{Frame, alone, axis, layout, marks, text, traces};
use crate::document::Figure;
use crate::figure;
use crate::plots::empty_plot;

pub(super) use close_up::close_up;

/// The names of the clocks, in the order of [`CLOCKS`].
const NAMES: [&str; 4] = ["processor", "1 ms", "10 ms", "55 ms"];

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
        let mut add = |what: &str, title: String, note: &str, plot: Plot, unit: &str| {
            let id = format!("sizes-{what}-{number}");
            figures.push(alone(title, note, id, finished(plot, unit)));
        };
        add(
            "time",
            format!("Message time by size{name}"),
            "medians of the trials with a band from the least to the largest; triangles are steps of the means or of the shortest times",
            times(frame, group),
            "time (us)",
        );
        if let Some(plot) = ratios(frame, group) {
            add(
                "ratio",
                format!("Ratio to {factor} {}{name}", frame.plan.compare.baseline),
                "of the mean times, with 95 % intervals",
                plot,
                "ratio",
            );
        }
        for curve in group {
            let Some(plot) = clocks(curve) else { continue };
            let level = level(frame, curve);
            add(
                &format!("clocks-{level}"),
                format!("Message time by other clocks{name}, {factor} {level}"),
                "the mean of all trials as a clock of processor time and clocks that move in steps would print it",
                plot,
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

fn times(frame: &Frame<'_>, group: &[&Curve<'_>]) -> Plot {
    let mut plot = empty_plot();
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
        let group = format!("level {place}");
        plot.add_trace(band(there, back, place).legend_group(group.clone()));
        plot.add_trace(
            Scatter::new(x.clone(), y.clone())
                .mode(Mode::Lines)
                .name(&name)
                .meta(marks::role(place))
                .legend_group(group.clone())
                .line(Line::new().width(1.4).dash(marks::dash(place))),
        );
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
            plot.add_trace(
                Scatter::new(x, y)
                    .mode(Mode::Markers)
                    .name(format!("{name}: steps"))
                    .meta(marks::role(place))
                    .legend_group(group)
                    .marker(Marker::new().size(9).symbol(MarkerSymbol::TriangleUpOpen)),
            );
        }
    }
    plot
}

/// The area between a line and another one over the same sizes.
fn band(there: Vec<(f64, f64)>, back: Vec<(f64, f64)>, place: usize) -> Box<Scatter<f64, f64>> {
    let outline = there.into_iter().chain(back.into_iter().rev());
    let (x, y): (Vec<f64>, Vec<f64>) = outline.unzip();
    Scatter::new(x, y)
        .mode(Mode::Lines)
        .fill(Fill::ToSelf)
        .line(Line::new().width(0.0))
        .show_legend(false)
        .meta(marks::band(place))
        .hover_info(HoverInfo::Skip)
}

fn ratios(frame: &Frame<'_>, group: &[&Curve<'_>]) -> Option<Plot> {
    let baseline = frame.plan.compare.baseline.to_string();
    let base = group.iter().find(|curve| level(frame, curve) == baseline)?;
    let mut plot = empty_plot();
    let mut any = false;
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
        any = true;
        if !there.is_empty() {
            plot.add_trace(band(there, back, place));
        }
        plot.add_trace(
            Scatter::new(x, y)
                .mode(Mode::Lines)
                .name(text(&name))
                .meta(marks::role(place))
                .line(Line::new().width(1.4).dash(marks::dash(place))),
        );
    }
    any.then_some(plot)
}

/// The curve by its own clock and by the others, if any.
fn clocks(curve: &Curve<'_>) -> Option<Plot> {
    let step = curve.points.len().div_ceil(MOST_POINTS).max(1);
    let points = || curve.points.iter().step_by(step);
    points()
        .any(|point| !point.clocks[0].is_empty())
        .then_some(())?;
    let mut plot = empty_plot();
    let mut add = |name: &str, place: usize, line: Vec<(f64, f64)>| {
        let (x, y): (Vec<f64>, Vec<f64>) = line.into_iter().unzip();
        plot.add_trace(
            Scatter::new(x, y)
                .mode(Mode::Lines)
                .name(name)
                .meta(marks::role(place))
                .line(Line::new().width(1.2).dash(marks::dash(place))),
        );
    };
    let mean = |values: &[f64]| analysis::statistics::mean(values).map(|mean| mean.mean);
    let line = |of: &dyn Fn(&analysis::sizes::Point) -> Option<f64>| -> Vec<(f64, f64)> {
        points()
            .filter_map(|point| Some((f64::from(point.size), traces::brief(of(point)?))))
            .collect()
    };
    add("fine", 0, line(&|point| mean(&point.times)));
    for (place, name) in NAMES.iter().enumerate().take(CLOCKS.len()) {
        add(name, place + 1, line(&|point| mean(&point.clocks[place])));
    }
    Some(plot)
}

fn finished(mut plot: Plot, unit: &str) -> Plot {
    let vertical = axis(unit).range_mode(RangeMode::ToZero);
    plot.set_layout(layout(axis("octets of a message"), vertical, 420));
    plot
}
