//! Traces of published values: open symbols to the right of each level.

use analysis::compare::{Comparison, find};
use plan::Level;
use plan::metric::Metric;
use serde_json::{Value, json};

use super::panels::Panel;
use super::{Frame, marks, text};
use crate::figure;
use crate::rows::{Kind, kinds};
use crate::series::{labelled, place};

/// The offset of the symbols from their level, as a share of its room.
const RIGHT: f64 = 0.34;

/// Published values that belong together.
struct Set {
    /// Levels with their published values.
    points: Vec<(usize, f64)>,
    /// The common factors of all cells that share the values.
    factors: Vec<(String, Level)>,
    source: String,
    /// Whether a cell that shares them can be measured here.
    measured: bool,
}

/// The published values of the metric, one trace per set. Sets of cells that
/// cannot be measured here are hidden until selected in the legend.
pub(super) fn values(frame: &Frame<'_>, metric: &'static Metric, panel: &Panel) -> Vec<Value> {
    let sets = sets(frame, metric, panel).into_iter().enumerate();
    sets.map(|(number, set)| trace(frame, set, number, metric.unit))
        .collect()
}

/// The published values of cells that can be measured here, for the range of
/// the axis.
pub(super) fn figures(frame: &Frame<'_>, metric: &'static Metric) -> Vec<f64> {
    let rows = frame.comparisons.iter().filter(|row| row.metric == metric);
    let measured = rows.filter(|row| frame.plan.cells[row.cell].setting.is_ok());
    measured.filter_map(|row| row.published.value).collect()
}

/// The distinct sets of values of a panel, in the plan's order.
fn sets(frame: &Frame<'_>, metric: &'static Metric, panel: &Panel) -> Vec<Set> {
    let is_measured = |&cell: &usize| frame.plan.cells[cell].setting.is_ok();
    let mut sets: Vec<Set> = Vec::new();
    let of_panel = |kind: &Kind| {
        let mut shared = panel.factors.iter();
        shared.all(|factor| kind.factors.contains(factor))
    };
    for kind in kinds(frame.plan).into_iter().filter(of_panel) {
        let rows: Vec<&Comparison> = kind
            .cells
            .iter()
            .filter_map(|&cell| find(frame.comparisons, metric, cell))
            .collect();
        let point = |row: &&Comparison| {
            let level = place(frame.plan, &frame.levels, row.cell)?;
            Some((level, row.published.value?))
        };
        let mut points: Vec<(usize, f64)> = rows.iter().filter_map(point).collect();
        points.sort_by(|a, b| frame.scale.order(a.0).total_cmp(&frame.scale.order(b.0)));
        let mut sources = rows.iter().filter_map(|row| row.published.source.clone());
        let source = sources.next().unwrap_or_default();
        let measured = kind.cells.iter().any(is_measured);
        let shares = |set: &&mut Set| set.points == points && set.source == source;
        match sets.iter_mut().find(shares) {
            Some(set) => {
                set.factors.retain(|factor| kind.factors.contains(factor));
                set.measured |= measured;
            }
            None => sets.push(Set {
                points,
                factors: kind.factors,
                source,
                measured,
            }),
        }
    }
    sets.retain(|set| !set.points.is_empty());
    sets
}

fn trace(frame: &Frame<'_>, set: Set, number: usize, unit: &str) -> Value {
    let Set {
        points,
        factors,
        source,
        measured,
    } = set;
    let (x, y): (Vec<f64>, Vec<f64>) = points
        .into_iter()
        .map(|(level, value)| (frame.scale.position(level, RIGHT), value))
        .unzip();
    let values: Vec<Option<f64>> = y.iter().copied().map(Some).collect();
    let which = labelled(frame.plan, &factors);
    let texts: Vec<String> = figure::published(&values)
        .iter()
        .map(|value| text(&format!("published, {which}: {value} {unit} {source}")))
        .collect();
    let levels = factors.iter();
    let levels: Vec<String> = levels
        .map(|(name, level)| frame.plan.label(name, level))
        .collect();
    let title = format!("published {}", levels.join(" "));
    json!({
        "mode": frame.scale.mode(),
        "x": x,
        "y": y,
        "name": text(title.trim_end()),
        "meta": "published",
        "visible": if measured { json!(true) } else { json!("legendonly") },
        "marker": {"symbol": marks::published(number), "size": 10},
        "line": {"width": 1.0, "dash": "dot"},
        "hovertext": texts,
        "hoverinfo": "text",
    })
}
