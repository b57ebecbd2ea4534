//! Changes as a forest plot: a row for each setting with the change, its
//! interval, and the published change as a diamond.
//!
//! A change is that of a level against the baseline, or of one run against
//! another.

use std::cmp::Reverse;

use analysis::compare::{Comparison, Difference, find};
use analysis::statistics::Interval;
use analysis::verdict::Claim;
use document::{Drawing, Figure, Plot};
use plan::metric::{Metric, MetricDirection};
use serde_json::{Value, json};

use super::clip::Range;
use super::{Frame, axis, bars, layout, text, traces, wrapped};
use crate::figure;
use crate::series::{level_label, place};

/// The maximum number of rows; the table has all.
const MOST_ROWS: usize = 48;

/// The length in characters from which a label stands above its row, not beside.
const LONG: usize = 14;

/// The width of a label above its row in characters, and the height of a line.
const LINE: usize = 46;
const LABEL_LINE: usize = 15;

/// The heights of a row in pixels, without and with a label above, and of all
/// else: axis, legend and margins.
const ROW: usize = 26;
const LABELLED_ROW: usize = 40;
const REST: usize = 130;

/// The measurement that changes are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// That of the baseline, in the same run.
    Baseline,
    /// That of the same setting in another run.
    OtherRun,
}

/// A setting in the plot.
struct Row<'a> {
    label: String,
    comparison: &'a Comparison,
    percent: f64,
    interval: Interval,
    /// The published change against the same reference.
    published: Option<&'a Claim>,
}

/// The figure of the changes between two runs, `frame` holding those of the second
/// against the first; `None` without measured changes in per cent.
pub(crate) fn between_runs(frame: &Frame<'_>, metric: &'static Metric) -> Option<Figure> {
    let (plot, left_out) = plot(frame, metric, Reference::OtherRun)?;
    let better = match metric.better {
        MetricDirection::Higher => "more",
        MetricDirection::Lower => "less",
    };
    Some(Figure {
        title: format!("{}, change from A to B", metric.title),
        note: format!(
            "{}; {better} is better{}",
            metric.definition,
            rest(left_out)
        ),
        plots: vec![Drawing {
            id: id(metric),
            label: format!(
                "{}: change of each setting from A to B, with its 95 % interval",
                metric.title
            ),
            is_change: true,
            plot,
        }],
    })
}

/// The id of the element of a metric's changes.
pub(super) fn id(metric: &Metric) -> String {
    format!("plot-{}-change", metric.name)
}

/// A note on the settings that a plot leaves out; empty if it has all.
pub(super) fn rest(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        left_out => format!("; {left_out} settings with smaller changes are in the table only"),
    }
}

/// A forest plot and the number of settings that it leaves out; `None` without
/// measured changes in per cent.
pub(super) fn plot(
    frame: &Frame<'_>,
    metric: &'static Metric,
    reference: Reference,
) -> Option<(Plot, usize)> {
    let mut rows = rows(frame, metric, reference);
    let left_out = choose(&mut rows);
    let range = range(&rows)?;
    let mut data = Vec::new();
    for (name, role, symbol, difference) in [
        (
            "difference found",
            "series 0",
            "circle",
            Some(Difference::Found),
        ),
        (
            "no difference found",
            "limit",
            "circle-open",
            Some(Difference::NotFound),
        ),
        (
            "too few trials to say",
            "limit",
            "x",
            Some(Difference::Unknown),
        ),
        ("change", "limit", "circle-open", None),
    ] {
        let of = rows.iter().enumerate();
        let of: Vec<(usize, &Row<'_>)> = of
            .filter(|(_, row)| row.comparison.difference == difference)
            .collect();
        if !of.is_empty() {
            data.push(measured(&of, range, name, role, symbol));
            data.extend(arrows(&of, range, role));
        }
    }
    data.extend(published(&rows));
    let title = match reference {
        Reference::Baseline => {
            let baseline = level_label(frame.plan, &frame.plan.compare.baseline.to_string());
            format!(
                "change against {} {baseline} (%)",
                frame.plan.compare.factor
            )
        }
        Reference::OtherRun => "change from A to B (%)".to_owned(),
    };
    let attributes =
        json!({"range": [range.low, range.high], "zeroline": true, "zerolinewidth": 2});
    let horizontal = axis(&title, attributes);
    let is_long = rows.iter().any(|row| row.label.chars().count() > LONG);
    let lines = |row: &Row<'_>| wrapped(&row.label, LINE).matches("<br>").count();
    let more = rows.iter().map(lines).max().unwrap_or(0) * LABEL_LINE;
    let row = if is_long { LABELLED_ROW + more } else { ROW };
    let height = rows.len() * row + REST;
    let mut layout = layout(horizontal, vertical(&rows, is_long), height);
    if is_long {
        layout["annotations"] = labels(&rows);
    }
    Some((Plot { data, layout }, left_out))
}

/// The measured changes in the order of the plan.
fn rows<'a>(frame: &'a Frame<'_>, metric: &'static Metric, reference: Reference) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for series in &frame.series {
        for &cell in &series.cells {
            let Some(comparison) = find(frame.comparisons, metric, cell) else {
                continue;
            };
            let Some((change, percent)) = comparison
                .change
                .and_then(|change| Some((change, change.percent?)))
            else {
                continue;
            };
            let level = place(frame.plan, &frame.levels, cell);
            let level = level.map_or("", |level| frame.levels[level].as_str());
            let level = level_label(frame.plan, level);
            let label = match series.name.as_str() {
                "" => level,
                name => format!("{name}: {level}"),
            };
            rows.push(Row {
                label,
                comparison,
                percent,
                interval: change.ci95.unwrap_or(Interval {
                    low: percent,
                    high: percent,
                }),
                published: match reference {
                    Reference::Baseline => comparison.published.claim.as_ref(),
                    Reference::OtherRun => None,
                },
            });
        }
    }
    rows
}

/// Keeps the rows with published changes and those with the largest ones, if
/// there are too many; returns how many are left out.
fn choose(rows: &mut Vec<Row<'_>>) -> usize {
    let all = rows.len();
    if all <= MOST_ROWS {
        return 0;
    }
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by(|&a, &b| {
        let by_size = rows[b].percent.abs().total_cmp(&rows[a].percent.abs());
        let published = |at: usize| Reverse(rows[at].published.is_some());
        published(a).cmp(&published(b)).then(by_size)
    });
    order.truncate(MOST_ROWS);
    let mut position = 0..;
    rows.retain(|_| position.next().is_some_and(|row| order.contains(&row)));
    all - rows.len()
}

/// The range of the axis: all changes, measured and published, and 0.
fn range(rows: &[Row<'_>]) -> Option<Range> {
    let claims = rows.iter().filter_map(|row| row.published);
    let values = rows.iter().map(|row| row.percent);
    let values = values.chain(claims.map(|claim| claim.percent));
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return None;
    }
    values.push(0.0);
    let intervals: Vec<Interval> = rows.iter().map(|row| row.interval).collect();
    Range::of(&values, &intervals)
}

/// The changes with their intervals, as far as the axis shows these.
fn measured(
    rows: &[(usize, &Row<'_>)],
    range: Range,
    name: &str,
    role: &str,
    symbol: &str,
) -> Value {
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for (_, row) in rows {
        let shown = range.clip(row.interval);
        above.push(traces::brief((shown.high - row.percent).max(0.0)));
        below.push(traces::brief((row.percent - shown.low).max(0.0)));
    }
    let x = rows.iter().map(|(_, row)| traces::brief(row.percent));
    let y = rows.iter().map(|(at, _)| traces::number(*at));
    json!({
        "mode": "markers",
        "x": x.collect::<Vec<f64>>(),
        "y": y.collect::<Vec<f64>>(),
        "error_x": bars(&above, &below),
        "name": name,
        "meta": role,
        "marker": {"symbol": symbol, "size": 10},
        "hovertext": rows.iter().map(|(_, row)| about(row)).collect::<Vec<String>>(),
        "hoverinfo": "text",
    })
}

/// Arrows where intervals go on beyond the axis.
fn arrows(rows: &[(usize, &Row<'_>)], range: Range, role: &str) -> Vec<Value> {
    let ends = [
        ("triangle-left", 0, range.low),
        ("triangle-right", 1, range.high),
    ];
    let arrow = |(symbol, end, at): (&str, usize, f64)| {
        let cut: Vec<_> = rows
            .iter()
            .filter(|(_, row)| range.clip(row.interval).is_cut[end])
            .collect();
        (!cut.is_empty()).then(|| {
            let y = cut.iter().map(|(row, _)| traces::number(*row));
            json!({
                "mode": "markers",
                "x": vec![traces::brief(at); cut.len()],
                "y": y.collect::<Vec<f64>>(),
                "name": "interval goes on",
                "meta": role,
                "showlegend": false,
                "cliponaxis": false,
                "marker": {"symbol": symbol, "size": 11},
                "hovertext": cut.iter().map(|(_, row)| about(row)).collect::<Vec<String>>(),
                "hoverinfo": "text",
            })
        })
    };
    ends.into_iter().filter_map(arrow).collect()
}

/// The published changes as diamonds.
fn published(rows: &[Row<'_>]) -> Option<Value> {
    let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (at, row) in rows.iter().enumerate() {
        if let Some(claim) = row.published {
            x.push(claim.percent);
            y.push(traces::number(at));
            texts.push(text(&format!(
                "{}: published {:+} % {}",
                row.label,
                claim.percent,
                row.comparison
                    .published
                    .source
                    .as_deref()
                    .unwrap_or_default()
            )));
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": "markers",
            "x": x,
            "y": y,
            "name": "published",
            "meta": "published",
            "marker": {"symbol": "diamond-open", "size": 14},
            "hovertext": texts,
            "hoverinfo": "text",
        })
    })
}

/// The hover text of a change: the whole interval, also where the axis cuts it.
fn about(row: &Row<'_>) -> String {
    let Interval { low, high } = row.interval;
    let cut = match row.interval.is_no_result() {
        true => format!(
            " ({} to {} %)",
            figure::four_digits(low),
            figure::four_digits(high)
        ),
        false => String::new(),
    };
    text(&format!(
        "{}: {}{cut}",
        row.label,
        figure::change_percent(row.comparison)
    ))
}

/// The axis of rows, the first at the top.
fn vertical(rows: &[Row<'_>], is_long: bool) -> Value {
    let positions: Vec<f64> = (0..rows.len()).map(traces::number).collect();
    let labels: Vec<String> = rows.iter().map(|row| text(&row.label)).collect();
    let above = if is_long { 0.9 } else { 0.6 };
    json!({
        "automargin": true,
        "zeroline": false,
        "tickvals": positions,
        "ticktext": labels,
        "showticklabels": !is_long,
        "range": [traces::number(rows.len()) - 0.4, -above],
    })
}

/// Labels above the rows, at the left edge.
fn labels(rows: &[Row<'_>]) -> Value {
    let label = |(at, row): (usize, &Row<'_>)| {
        json!({
            "text": wrapped(&row.label, LINE),
            "showarrow": false,
            "xref": "paper",
            "x": 0.0,
            "xanchor": "left",
            "yref": "y",
            "y": traces::number(at),
            "align": "left",
            "yanchor": "bottom",
            "yshift": 5.0,
        })
    };
    rows.iter().enumerate().map(label).collect()
}
