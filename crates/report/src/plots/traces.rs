//! Traces of measured values.
//!
//! The series of a panel are placed side by side around each level.

use analysis::compare::find;
use analysis::quality_check::above_limit;
use analysis::statistics::Interval;
use plan::metric::Metric;
use plan::{Flag, Trial, evidence};
use serde_json::{Value, json};

use super::clip::Range;
use super::panels::{Line as Series, Panel};
use super::{Frame, bars, marks, text, wrapped};
use crate::figure;
use crate::series::place;

/// The width that the series of a level share, as a share of the room of a level.
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

/// The width of an entry of the legend, in characters.
const LEGEND_WIDTH: usize = 44;

/// The state of a trial that its symbol shows.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Sound,
    /// It has a flag that is a note.
    Noted,
    /// It has a flag that fails the quality check.
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
    panel: &Panel,
    slot: usize,
) -> Vec<Value> {
    let series = &panel.lines[slot];
    let marks = [
        (Mark::Sound, marks::symbol(series.mark), 6, 0.5),
        (Mark::Noted, "cross-open", 7, 0.8),
        (Mark::Faulty, "x", 8, 0.9),
    ];
    let mut drawn: [Vec<(usize, usize, &Trial)>; 3] = Default::default();
    for (level, cell) in cells(frame, series) {
        let mut sound = 0;
        for trial in trials_of(frame, cell).filter(|trial| trial.failure.is_none()) {
            let mark = mark_of(trial);
            if mark == Mark::Sound && sound == MOST_DRAWN
                || !trial.metrics.contains_key(metric.name)
            {
                continue;
            }
            sound += usize::from(mark == Mark::Sound);
            drawn[mark as usize].push((level, cell, trial));
        }
    }
    let mut traces = Vec::new();
    for ((mark, symbol, size, opacity), drawn) in marks.into_iter().zip(drawn) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        // The trials are the same for each metric, which packs well; their figures are not.
        let (mut names, mut figures) = (Vec::new(), Vec::new());
        for (level, cell, trial) in drawn {
            let resolution = find(frame.comparisons, metric, cell).and_then(|row| row.resolution);
            let value = trial.metrics[metric.name];
            let shift = centre(panel, slot) + shift(panel, trial.repeat);
            x.push(frame.scale.position(level, shift));
            y.push(brief(value));
            names.push(name(trial));
            figures.push(figure::single(value, resolution));
        }
        if !x.is_empty() {
            let name = match mark {
                Mark::Sound => "trial",
                Mark::Noted => "trial with a note",
                Mark::Faulty => "trial with a fault",
            };
            let hover = format!("%{{customdata}}: %{{text}} {}<extra></extra>", metric.unit);
            traces.push(json!({
                "mode": "markers",
                "x": x,
                "y": y,
                "name": name,
                "legendgroup": marks::role(series.mark),
                "showlegend": false,
                "meta": marks::role(series.mark),
                "marker": {"symbol": symbol, "size": size, "opacity": opacity},
                "customdata": names,
                "text": figures,
                "hovertemplate": hover,
            }));
        }
    }
    traces
}

/// The means of a series with their intervals, as far as the axis shows these,
/// and arrows where they go on.
pub(super) fn means(
    frame: &Frame<'_>,
    metric: &'static Metric,
    panel: &Panel,
    slot: usize,
    range: Option<Range>,
) -> Vec<Value> {
    let series = &panel.lines[slot];
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let mut cut: [Vec<(f64, f64, String)>; 2] = [Vec::new(), Vec::new()];
    for (level, cell) in cells(frame, series) {
        let Some(row) = find(frame.comparisons, metric, cell) else {
            continue;
        };
        let Some(mean) = row.mean else { continue };
        let at = frame.scale.position(level, centre(panel, slot));
        let about = text(&format!(
            "{}: {} {}, mean of {} trials",
            figure::cell(frame.plan, &row.factors),
            figure::mean(row),
            metric.unit,
            mean.n
        ));
        let interval = mean.ci95.unwrap_or(Interval {
            low: mean.mean,
            high: mean.mean,
        });
        let (mut low, mut high) = (interval.low, interval.high);
        if let Some(range) = range {
            let shown = range.clip(interval);
            (low, high) = (shown.low, shown.high);
            for (end, at_end) in [low, high].into_iter().enumerate() {
                if shown.is_cut[end] {
                    cut[end].push((at, brief(at_end), about.clone()));
                }
            }
        }
        x.push(at);
        y.push(mean.mean);
        above.push((high - mean.mean).max(0.0));
        below.push((mean.mean - low).max(0.0));
        texts.push(about);
    }
    if x.is_empty() {
        return Vec::new();
    }
    let name = match series.name.as_str() {
        "" => "measured".into(),
        name => wrapped(name, LEGEND_WIDTH),
    };
    // Joined by a line where levels are numbers.
    let mut traces = vec![json!({
        "mode": frame.scale.mode(),
        "x": x,
        "y": y,
        "error_y": bars(&above, &below),
        "name": name,
        "legendgroup": marks::role(series.mark),
        "meta": marks::role(series.mark),
        "marker": {"symbol": marks::symbol(series.mark), "size": 11},
        "line": {"width": 1.5},
        "hovertext": texts,
        "hoverinfo": "text",
    })];
    for (symbol, points) in ["triangle-down", "triangle-up"].into_iter().zip(cut) {
        if !points.is_empty() {
            traces.push(arrow(series, symbol, points));
        }
    }
    traces
}

/// Arrows at the edge of the axis, where intervals go on.
fn arrow(series: &Series, symbol: &str, points: Vec<(f64, f64, String)>) -> Value {
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (at, edge, about) in points {
        x.push(at);
        y.push(edge);
        texts.push(about);
    }
    json!({
        "mode": "markers",
        "x": x,
        "y": y,
        "name": "interval goes on",
        "legendgroup": marks::role(series.mark),
        "meta": marks::role(series.mark),
        "showlegend": false,
        "cliponaxis": false,
        "marker": {"symbol": symbol, "size": 9},
        "hovertext": texts,
        "hoverinfo": "text",
    })
}

/// The range of the axis over all panels: every drawn value, every mean, and the
/// intervals but those that would rule it.
pub(super) fn range(frame: &Frame<'_>, metric: &'static Metric, others: &[f64]) -> Option<Range> {
    let (mut values, mut intervals) = (others.to_vec(), Vec::new());
    let measured = frame.series.iter().flat_map(|series| &series.cells);
    for &cell in measured {
        let row = find(frame.comparisons, metric, cell);
        if let Some(mean) = row.and_then(|row| row.mean) {
            values.push(mean.mean);
            intervals.extend(mean.ci95);
        }
        let finished = trials_of(frame, cell).filter(|trial| trial.failure.is_none());
        values.extend(finished.filter_map(|trial| trial.metrics.get(metric.name)));
    }
    Range::of(&values, &intervals)
}

/// The maximum goodput of each cell's path, as stated by trials.
pub(super) fn limit(frame: &Frame<'_>, panel: &Panel) -> Option<Value> {
    let half = room(panel) / 2.0;
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (slot, series) in panel.lines.iter().enumerate() {
        for (level, cell) in cells(frame, series) {
            let limits =
                trials_of(frame, cell).filter_map(|trial| trial.number(evidence::LIMIT_MBIT));
            let Some(limit) = limits.reduce(f64::max) else {
                continue;
            };
            let middle = centre(panel, slot);
            let end = |shift| Some(frame.scale.position(level, middle + shift));
            x.extend([end(-half), end(half), None]);
            y.extend([Some(limit), Some(limit), None]);
            let words = text(&format!(
                "{}: the link sustains {limit:.1} Mbit/s at most",
                figure::cell(frame.plan, &frame.plan.cells[cell].factors)
            ));
            texts.extend([words.clone(), words, String::new()]);
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": "lines",
            "x": x,
            "y": y,
            "name": "link limit",
            "meta": "limit",
            "line": {"width": 2.0, "dash": "dash"},
            "hovertext": texts,
            "hoverinfo": "text",
        })
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

/// The cells of a series with their levels, in the order of the axis.
fn cells(frame: &Frame<'_>, series: &Series) -> Vec<(usize, usize)> {
    let cells = frame.series[series.series].cells.iter();
    let cells = cells.filter_map(|&cell| Some((place(frame.plan, &frame.levels, cell)?, cell)));
    let mut cells: Vec<(usize, usize)> = cells.collect();
    let order = |level: usize| frame.scale.order(level);
    cells.sort_by(|a, b| order(a.0).total_cmp(&order(b.0)));
    cells
}

pub(super) fn trials_of<'a>(frame: &'a Frame<'_>, cell: usize) -> impl Iterator<Item = &'a Trial> {
    frame.by_cell[cell].iter().copied()
}

fn mark_of(trial: &Trial) -> Mark {
    // A flag unknown to this program fails the quality check.
    let fails = |flag: &String| flag.parse::<Flag>().map_or(true, Flag::fails);
    if trial.flags.iter().any(fails) || above_limit(trial).is_some() {
        Mark::Faulty
    } else if trial.flags.is_empty() {
        Mark::Sound
    } else {
        Mark::Noted
    }
}

/// A trial in a tooltip.
fn name(trial: &Trial) -> String {
    let flags = match trial.flags.is_empty() {
        true => String::new(),
        false => format!(" ({})", trial.flags.join(", ")),
    };
    text(&format!("{}, repeat {}{flags}", trial.id, trial.repeat))
}

fn room(panel: &Panel) -> f64 {
    (ROOM / number(panel.lines.len().max(1))).min(WIDEST)
}

/// The distance of a series of a panel from its level, as a share of its room.
fn centre(panel: &Panel, slot: usize) -> f64 {
    let middle = (number(panel.lines.len()) - 1.0) / 2.0;
    (number(slot) - middle) * room(panel) - LEFT
}

/// The offset of a trial within its series, the same in every plot.
fn shift(panel: &Panel, repeat: u32) -> f64 {
    ((f64::from(repeat) * GOLDEN).fract() - 0.5) * SPREAD * room(panel)
}

/// Rounds positions to a thousandth of a level, to keep the page small.
pub(super) fn rounded(position: f64) -> f64 {
    (position * 1000.0).round() / 1000.0
}

/// Rounds a value to the precision of a plot, to keep the page small.
pub(super) fn brief(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
