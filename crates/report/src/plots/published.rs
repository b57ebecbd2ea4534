//! Traces of published values: open diamonds to the right of each level.

use analysis::compare::{Comparison, find};
use plan::Level;
use plan::metric::Metric;
use plotly::common::{DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode, Visible};
use plotly::{Scatter, Trace};

use super::traces::{number, rounded};
use super::{Frame, text};
use crate::figure;
use crate::rows::kinds;
use crate::series::place;

/// The offset of the diamonds from their level.
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

/// The published values of the metric, one trace per set.
pub(super) fn values(frame: &Frame<'_>, metric: &'static Metric) -> Vec<Box<dyn Trace>> {
    published(frame, metric, metric.unit, |row| row.published.value)
}

/// The published changes of the metric, one trace per set.
pub(super) fn changes(frame: &Frame<'_>, metric: &'static Metric) -> Vec<Box<dyn Trace>> {
    published(frame, metric, "%", |row| {
        row.published.claim.map(|claim| claim.percent)
    })
}

/// One trace per set of values. Sets of cells that cannot be measured here are
/// hidden until selected in the legend.
fn published(
    frame: &Frame<'_>,
    metric: &'static Metric,
    unit: &str,
    figure_of: impl Fn(&Comparison) -> Option<f64>,
) -> Vec<Box<dyn Trace>> {
    sets(frame, metric, figure_of)
        .into_iter()
        .map(|set| trace(set, unit))
        .collect()
}

/// The distinct sets of values, in the plan's order.
fn sets(
    frame: &Frame<'_>,
    metric: &'static Metric,
    figure_of: impl Fn(&Comparison) -> Option<f64>,
) -> Vec<Set> {
    let is_measured = |&cell: &usize| frame.plan.cells[cell].setting.is_ok();
    let mut sets: Vec<Set> = Vec::new();
    for kind in kinds(frame.plan) {
        let rows: Vec<&Comparison> = kind
            .cells
            .iter()
            .filter_map(|&cell| find(frame.comparisons, metric, cell))
            .collect();
        let point = |row: &&Comparison| {
            let level = place(frame.plan, &frame.levels, row.cell)?;
            Some((level, figure_of(row)?))
        };
        let points: Vec<(usize, f64)> = rows.iter().filter_map(point).collect();
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

fn trace(set: Set, unit: &str) -> Box<dyn Trace> {
    let Set {
        points,
        factors,
        source,
        measured,
    } = set;
    let (x, y): (Vec<f64>, Vec<f64>) = points
        .into_iter()
        .map(|(level, value)| (rounded(number(level) + RIGHT), value))
        .unzip();
    let values: Vec<Option<f64>> = y.iter().copied().map(Some).collect();
    let which = figure::words(&factors);
    let texts = figure::published(&values)
        .iter()
        .map(|value| text(&format!("published, {which}: {value} {unit} {source}")))
        .collect();
    let levels: Vec<String> = factors.iter().map(|(_, level)| level.to_string()).collect();
    let title = format!("published {}", levels.join(" "));
    Scatter::new(x, y)
        .mode(Mode::LinesMarkers)
        .name(text(title.trim_end()))
        .meta("published")
        .visible(if measured {
            Visible::True
        } else {
            Visible::LegendOnly
        })
        .marker(Marker::new().symbol(MarkerSymbol::DiamondOpen).size(10))
        .line(Line::new().width(1.0).dash(DashType::Dot))
        .hover_text_array(texts)
        .hover_info(HoverInfo::Text)
}
