//! Traces of measured values.
//!
//! The axis numbers levels from 0. The series are placed side by side around
//! each level.

use analysis::certificate::above_limit;
use analysis::compare::find;
use analysis::statistics::Interval;
use plan::metric::Metric;
use plan::{Flag, Trial};
use plotly::common::{DashType, ErrorData, ErrorType, HoverInfo, Line, Marker, MarkerSymbol, Mode};
use plotly::{Scatter, Trace};

use super::{Frame, text};
use crate::figure;
use crate::series::place;

/// The symbols of the series, which distinguish them without colour.
const SYMBOLS: [MarkerSymbol; 6] = [
    MarkerSymbol::Circle,
    MarkerSymbol::Square,
    MarkerSymbol::TriangleUp,
    MarkerSymbol::Star,
    MarkerSymbol::TriangleDown,
    MarkerSymbol::Hexagon,
];

/// The width that the series of a level share, in levels.
const ROOM: f64 = 0.56;

/// The maximum width of one series.
const WIDEST: f64 = 0.22;

/// The offset of the series to the left of their level; published values are to
/// the right.
const LEFT: f64 = 0.08;

/// The share of a series' width over which its trials are spread.
const SPREAD: f64 = 0.7;

/// Multiples of the golden ratio fill an interval evenly, whatever their
/// number.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// The state of a trial that its symbol shows.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Sound,
    /// It has a flag that is a note.
    Noted,
    /// It has a flag that fails the certificate.
    Faulty,
}

/// The maximum number of sound trials to draw per cell: a page with a hundred
/// thousand would be too large for a browser.
const MOST_DRAWN: usize = 500;

/// The trials of a series as small symbols: the first sound ones of each cell,
/// and all with notes or faults.
pub(super) fn trials(
    frame: &Frame<'_>,
    metric: &'static Metric,
    series: usize,
) -> Vec<Box<dyn Trace>> {
    let marks = [
        (Mark::Sound, symbol(series), 6, 0.5),
        (Mark::Noted, MarkerSymbol::CrossOpen, 7, 0.8),
        (Mark::Faulty, MarkerSymbol::X, 8, 0.9),
    ];
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    for (mark, symbol, size, opacity) in marks {
        let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (level, cell) in cells(frame, series) {
            let resolution = find(frame.comparisons, metric, cell).and_then(|row| row.resolution);
            let mut drawn = 0;
            for trial in trials_of(frame, cell) {
                let Some(&value) = trial.metrics.get(metric.name) else {
                    continue;
                };
                let room = drawn < MOST_DRAWN || mark != Mark::Sound;
                if trial.failure.is_none() && mark_of(trial) == mark && room {
                    drawn += 1;
                    x.push(rounded(
                        centre(frame, series, level) + shift(frame, trial.repeat),
                    ));
                    y.push(brief(value));
                    texts.push(about(trial, &figure::single(value, resolution), metric));
                }
            }
        }
        if !x.is_empty() {
            let trace = Scatter::new(x, y)
                .mode(Mode::Markers)
                .name(match mark {
                    Mark::Sound => "trial",
                    Mark::Noted => "trial with a note",
                    Mark::Faulty => "trial with a fault",
                })
                .legend_group(group(series))
                .show_legend(false)
                .meta(group(series))
                .marker(Marker::new().symbol(symbol).size(size).opacity(opacity))
                .hover_text_array(texts)
                .hover_info(HoverInfo::Text);
            traces.push(trace);
        }
    }
    traces
}

/// The means of a series with their intervals.
pub(super) fn means(
    frame: &Frame<'_>,
    metric: &'static Metric,
    series: usize,
) -> Option<Box<dyn Trace>> {
    let (mut x, mut y, mut bars, mut texts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (level, cell) in cells(frame, series) {
        let row = find(frame.comparisons, metric, cell)?;
        if let Some(mean) = row.mean {
            x.push(rounded(centre(frame, series, level)));
            y.push(mean.mean);
            bars.push(mean.ci95.map_or(0.0, Interval::half));
            texts.push(text(&format!(
                "{}: {} {}, mean of {} trials",
                row.factors,
                figure::mean(row),
                metric.unit,
                mean.n
            )));
        }
    }
    let bars = ErrorData::new(ErrorType::Data).array(bars);
    measured(frame, series, x, y, texts).map(|trace| -> Box<dyn Trace> { trace.error_y(bars) })
}

/// The changes of a series with their intervals.
pub(super) fn changes(
    frame: &Frame<'_>,
    metric: &'static Metric,
    series: usize,
) -> Option<Box<dyn Trace>> {
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for (level, cell) in cells(frame, series) {
        let row = find(frame.comparisons, metric, cell)?;
        let Some(change) = row.change else {
            continue;
        };
        if let Some(percent) = change.percent {
            let Interval { low, high } = change.ci95.unwrap_or(Interval {
                low: percent,
                high: percent,
            });
            x.push(rounded(centre(frame, series, level)));
            y.push(percent);
            above.push(high - percent);
            below.push(percent - low);
            texts.push(text(&format!("{}: {} %", row.factors, figure::change(row))));
        }
    }
    let bars = ErrorData::new(ErrorType::Data)
        .symmetric(false)
        .array(above)
        .array_minus(below);
    measured(frame, series, x, y, texts).map(|trace| -> Box<dyn Trace> { trace.error_y(bars) })
}

/// The maximum goodput of each cell's path, as stated by trials.
pub(super) fn limit(frame: &Frame<'_>) -> Option<Box<dyn Trace>> {
    let half = room(frame) / 2.0;
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for series in 0..frame.series.len() {
        for (level, cell) in cells(frame, series) {
            let limits = trials_of(frame, cell).filter_map(|trial| trial.number("limit_mbit"));
            let Some(limit) = limits.reduce(f64::max) else {
                continue;
            };
            let middle = centre(frame, series, level);
            x.extend([
                Some(rounded(middle - half)),
                Some(rounded(middle + half)),
                None,
            ]);
            y.extend([Some(limit), Some(limit), None]);
            let words = text(&format!(
                "{}: the link carries {limit:.1} Mbit/s at most",
                frame.plan.cells[cell].factors
            ));
            texts.extend([words.clone(), words, String::new()]);
        }
    }
    (!x.is_empty()).then(|| -> Box<dyn Trace> {
        Scatter::new(x, y)
            .mode(Mode::Lines)
            .name("link limit")
            .meta("limit")
            .line(Line::new().width(2.0).dash(DashType::Dash))
            .hover_text_array(texts)
            .hover_info(HoverInfo::Text)
    })
}

/// The number of failed trials at this level.
pub(super) fn failed(frame: &Frame<'_>, level: usize) -> usize {
    let of_level = |cell: &usize| place(frame.plan, &frame.levels, *cell) == Some(level);
    let cells = (0..frame.plan.cells.len()).filter(of_level);
    cells
        .flat_map(|cell| trials_of(frame, cell))
        .filter(|trial| trial.failure.is_some())
        .count()
}

/// A position along the axis.
pub(super) fn number(position: usize) -> f64 {
    u32::try_from(position).map_or(f64::INFINITY, f64::from)
}

/// Large symbols of a series, if there are any.
fn measured(
    frame: &Frame<'_>,
    series: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    texts: Vec<String>,
) -> Option<Box<Scatter<f64, f64>>> {
    let title = match frame.series[series].name.as_str() {
        "" => "measured".into(),
        name => text(name),
    };
    (!x.is_empty()).then(|| {
        Scatter::new(x, y)
            .mode(Mode::LinesMarkers)
            .name(title)
            .legend_group(group(series))
            .meta(group(series))
            .marker(Marker::new().symbol(symbol(series)).size(11))
            .line(Line::new().width(1.5))
            .hover_text_array(texts)
            .hover_info(HoverInfo::Text)
    })
}

/// The cells of a series with their levels.
fn cells<'a>(frame: &'a Frame<'_>, series: usize) -> impl Iterator<Item = (usize, usize)> + 'a {
    let cells = frame.series[series].cells.iter();
    cells.filter_map(|&cell| Some((place(frame.plan, &frame.levels, cell)?, cell)))
}

pub(super) fn trials_of<'a>(
    frame: &Frame<'a>,
    cell: usize,
) -> impl Iterator<Item = &'a Trial> + use<'a> {
    let factors = &frame.plan.cells[cell].factors;
    let trials: &'a [Trial] = frame.trials;
    trials.iter().filter(move |trial| trial.factors == *factors)
}

fn mark_of(trial: &Trial) -> Mark {
    // A flag unknown to this program fails the certificate.
    let fails = |flag: &String| flag.parse::<Flag>().map_or(true, Flag::fails);
    if trial.flags.iter().any(fails) || above_limit(trial).is_some() {
        Mark::Faulty
    } else if trial.flags.is_empty() {
        Mark::Sound
    } else {
        Mark::Noted
    }
}

/// The tooltip of a trial.
fn about(trial: &Trial, value: &str, metric: &Metric) -> String {
    let flags = match trial.flags.is_empty() {
        true => String::new(),
        false => format!("; {}", trial.flags.join(", ")),
    };
    text(&format!(
        "{}, repeat {}: {value} {}{flags}",
        trial.id, trial.repeat, metric.unit
    ))
}

fn room(frame: &Frame<'_>) -> f64 {
    (ROOM / number(frame.series.len().max(1))).min(WIDEST)
}

/// The position of a series at a level.
fn centre(frame: &Frame<'_>, series: usize, level: usize) -> f64 {
    let middle = (number(frame.series.len()) - 1.0) / 2.0;
    number(level) - LEFT + (number(series) - middle) * room(frame)
}

/// The offset of a trial within its series, the same in every plot.
fn shift(frame: &Frame<'_>, repeat: u32) -> f64 {
    ((f64::from(repeat) * GOLDEN).fract() - 0.5) * SPREAD * room(frame)
}

/// Rounds positions to a thousandth of a level, to keep the page small.
pub(super) fn rounded(position: f64) -> f64 {
    (position * 1000.0).round() / 1000.0
}

/// Rounds a value to the precision of a plot, to keep the page small.
pub(super) fn brief(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn group(series: usize) -> String {
    format!("series {series}")
}

fn symbol(series: usize) -> MarkerSymbol {
    SYMBOLS[series % SYMBOLS.len()].clone()
}
