//! Figures of studies, redrawn: means of this run beside the printed points.

use analysis::Findings;
use analysis::compare::{Comparison, find};
use analysis::statistics::Interval;
use document::{Figure, Plot};
use plan::metric::{Metric, MetricDirection};
use plan::{Factors, Level, Plan, ReportFigure, Shows};
use serde_json::{Value, json};

use super::clip::Range;
use super::scale::Scale;
use super::{alone, axis, bars, layout, marks, sizes, text, time_series, traces};
use crate::figure;
use crate::series::labelled;

/// The ratio of the largest to the smallest value from which an axis is
/// logarithmic.
const WIDE: f64 = 50.0;

/// The distance of two series at a category, as a share of its room.
const APART: f64 = 0.12;

/// The explanation of figures of metrics.
const METRICS: &str = "filled symbols and lines: this run, means with 95 % intervals; open symbols and dotted lines: as printed";

/// A point of a figure.
struct Point<'a> {
    place: usize,
    row: &'a Comparison,
}

/// The points of the cells that differ in the axis only.
struct Series<'a> {
    name: String,
    points: Vec<Point<'a>>,
}

/// The redrawn figures of a run, those without data left out.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let figures = found.plan.report.figures.iter().enumerate();
    figures
        .filter_map(|(number, figure)| {
            let id = format!("figure-{number}");
            match &figure.shows {
                Shows::Metrics { metrics, x } => by_level(found, figure, metrics, x.as_deref(), id),
                Shows::OverTime { link, event } => {
                    time_series::redrawn(found, figure, link, event.as_ref(), &id)
                }
                Shows::Sizes { from, to } => sizes::close_up(found, figure, [*from, *to], id),
            }
        })
        .collect()
}

fn by_level(
    found: &Findings<'_>,
    figure: &ReportFigure,
    metrics: &[String],
    x: Option<&str>,
    id: String,
) -> Option<Figure> {
    let plan = found.plan;
    let metrics: Vec<&'static Metric> = metrics
        .iter()
        .filter_map(|name| Metric::named(name))
        .collect();
    let first = *metrics.first()?;
    let cells = included(plan, figure);
    let levels: Vec<String> = match x {
        Some(x) => levels(plan, &cells, x),
        None => metrics
            .iter()
            .map(|metric| metric.title.to_owned())
            .collect(),
    };
    let all = series(found, &cells, &metrics, x, &levels);
    let rows = || {
        all.iter()
            .flat_map(|series| &series.points)
            .map(|point| point.row)
    };
    if !rows().any(|row| row.mean.is_some()) {
        return None;
    }
    let scale = Scale::of(&levels);
    let (mut values, mut intervals) = (Vec::new(), Vec::new());
    for row in rows() {
        values.extend(row.mean.map(|mean| mean.mean));
        values.extend(row.published.value);
        intervals.extend(row.mean.and_then(|mean| mean.ci95));
    }
    let range = Range::of(&values, &intervals)?;
    let mut data = Vec::new();
    let shown = all.iter().filter(|series| !series.points.is_empty());
    for (mark, series) in shown.enumerate() {
        // Beside each other where they would lie upon each other.
        let shift = match scale.has_lines() {
            true => 0.0,
            false => (traces::number(mark) - (traces::number(all.len()) - 1.0) / 2.0) * APART,
        };
        let place = |level| scale.position(level, shift);
        data.extend(ours(series, mark, &scale, &place, range));
        data.extend(printed(series, mark, &scale, &place));
    }
    let attributes = match is_wide(&values) {
        true => json!({"type": "log"}),
        false if first.better == MetricDirection::Lower => json!({"rangemode": "tozero"}),
        false => json!({}),
    };
    let title = format!("{} ({})", axis_title(&metrics), first.unit);
    let vertical = axis(&title, attributes);
    let layout = layout(horizontal(plan, x, &levels, &scale), vertical, 420);
    let plot = Plot { data, layout };
    Some(alone(figure.title.clone(), METRICS, id, plot))
}

/// The positions of the cells of a figure.
pub(super) fn included(plan: &Plan, figure: &ReportFigure) -> Vec<usize> {
    let cells = plan.cells.iter().enumerate();
    let cells = cells.filter(|(_, cell)| figure.includes(&cell.factors));
    cells.map(|(position, _)| position).collect()
}

/// The factors of a cell that vary among `cells`, without `x`.
pub(super) fn own(
    plan: &Plan,
    cells: &[usize],
    cell: usize,
    x: Option<&str>,
) -> Vec<(String, Level)> {
    let Factors(factors) = &plan.cells[cell].factors;
    let varies = |(name, level): &&(String, Level)| {
        let has = |&other: &usize| plan.cells[other].factors.level(name) == Some(level);
        Some(name.as_str()) != x && !cells.iter().all(has)
    };
    factors.iter().filter(varies).cloned().collect()
}

fn levels(plan: &Plan, cells: &[usize], x: &str) -> Vec<String> {
    let mut levels = Vec::new();
    for &cell in cells {
        let level = plan.cells[cell].factors.level(x);
        let level = level.map_or_else(String::new, Level::to_string);
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

fn series<'a>(
    found: &'a Findings<'_>,
    cells: &[usize],
    metrics: &[&'static Metric],
    x: Option<&str>,
    levels: &[String],
) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = Vec::new();
    for &cell in cells {
        let name = labelled(found.plan, &own(found.plan, cells, cell, x));
        let level = x.and_then(|x| found.plan.cells[cell].factors.level(x));
        let level = level.map_or_else(String::new, Level::to_string);
        let place = levels.iter().position(|other| *other == level);
        for (number, metric) in metrics.iter().enumerate() {
            let place = if x.is_some() { place } else { Some(number) };
            let row = find(&found.comparisons, metric, cell);
            let (Some(place), Some(row)) = (place, row) else {
                continue;
            };
            if row.mean.is_none() && row.published.value.is_none() {
                continue;
            }
            let point = Point { place, row };
            match all.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name: name.clone(),
                    points: vec![point],
                }),
            }
        }
    }
    all
}

/// The means of a series with their intervals.
fn ours(
    series: &Series<'_>,
    mark: usize,
    scale: &Scale,
    position: &dyn Fn(usize) -> f64,
    range: Range,
) -> Option<Value> {
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for Point { place, row } in in_order(series, scale) {
        let Some(mean) = row.mean else { continue };
        let interval = mean.ci95.unwrap_or(Interval {
            low: mean.mean,
            high: mean.mean,
        });
        let shown = range.clip(interval);
        x.push(position(*place));
        y.push(traces::brief(mean.mean));
        above.push(traces::brief((shown.high - mean.mean).max(0.0)));
        below.push(traces::brief((mean.mean - shown.low).max(0.0)));
        texts.push(text(&format!(
            "{}: {} {}, mean of {} trials",
            row.factors,
            figure::mean(row),
            row.metric.unit,
            mean.n
        )));
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": scale.mode(),
            "x": x,
            "y": y,
            "error_y": bars(&above, &below),
            "name": text(&named("this run", &series.name)),
            "meta": marks::role(mark),
            "marker": {"symbol": marks::symbol(mark), "size": 10},
            "line": {"width": 1.8},
            "hovertext": texts,
            "hoverinfo": "text",
        })
    })
}

/// The printed points of a series.
fn printed(
    series: &Series<'_>,
    mark: usize,
    scale: &Scale,
    position: &dyn Fn(usize) -> f64,
) -> Option<Value> {
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for Point { place, row } in in_order(series, scale) {
        let Some(value) = row.published.value else {
            continue;
        };
        x.push(position(*place));
        y.push(value);
        texts.push(text(&format!(
            "{}: printed {value} {} {}",
            row.factors,
            row.metric.unit,
            row.published.source.as_deref().unwrap_or_default()
        )));
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": scale.mode(),
            "x": x,
            "y": y,
            "name": text(&named("printed", &series.name)),
            "meta": marks::role(mark),
            "marker": {"symbol": marks::open(mark), "size": 10},
            "line": {"width": 1.2, "dash": "dot"},
            "hovertext": texts,
            "hoverinfo": "text",
        })
    })
}

fn in_order<'a>(series: &'a Series<'a>, scale: &Scale) -> Vec<&'a Point<'a>> {
    let mut points: Vec<&Point<'_>> = series.points.iter().collect();
    points.sort_by(|a, b| scale.order(a.place).total_cmp(&scale.order(b.place)));
    points
}

fn named(what: &str, series: &str) -> String {
    match series {
        "" => what.to_owned(),
        series => format!("{what}: {series}"),
    }
}

/// The title of an axis of several metrics: the words that begin all of them.
fn axis_title(metrics: &[&'static Metric]) -> String {
    let words = |metric: &&'static Metric| metric.title.split(", ").next().unwrap_or(metric.title);
    let first = metrics.first().map_or("", words);
    match metrics.iter().all(|metric| words(metric) == first) {
        true if metrics.len() > 1 => first.to_owned(),
        _ => metrics.first().map_or("", |metric| metric.title).to_owned(),
    }
}

fn is_wide(values: &[f64]) -> bool {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    least > 0.0 && most / least > WIDE
}

fn horizontal(plan: &Plan, x: Option<&str>, levels: &[String], scale: &Scale) -> Value {
    let ticks = scale.ticks(None);
    let name = |level: &String| match x {
        Some(x) => plan.label(x, &Level::Text(level.clone())),
        None => level.clone(),
    };
    let title = match x {
        // Sizes of packets and messages are in bytes.
        Some(x @ ("mtu" | "size" | "message")) => format!("{x} (bytes)"),
        Some(x) => x.to_owned(),
        None => String::new(),
    };
    let labels = ticks.iter().map(|&tick| text(&name(&levels[tick])));
    axis(&title, scale.attributes(&ticks, labels.collect()))
}
