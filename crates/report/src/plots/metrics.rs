//! Plots of a metric along the compared factor, and of its changes.

use document::{Drawing, Figure, Plot};
use plan::metric::{Metric, MetricDirection, THROUGHPUT};
use serde_json::{Value, json};

use super::changes::Reference;
use super::clip::Range;
use super::{Frame, axis, changes, layout, published, small_title, traces, with, wrapped};
use crate::series::{labelled, level_label};

/// The width of the label of a tick, in characters.
const TICK_WIDTH: usize = 14;

/// The heights of a small multiple and of an entry of its legend, in pixels.
const PANEL: usize = 270;
const LEGEND_LINE: usize = 22;

/// The plots of values and changes of a metric; `None` if it was not measured.
pub(crate) fn figure(frame: &Frame<'_>, metric: &'static Metric) -> Option<Figure> {
    let mut rows = frame.comparisons.iter().filter(|row| row.metric == metric);
    if !rows.any(|row| row.n > 0) {
        return None;
    }
    let better = match metric.better {
        MetricDirection::Higher => "more",
        MetricDirection::Lower => "less",
    };
    let label = format!("{} by {}", metric.title, frame.plan.compare.factor);
    let several = frame.panels.len() > 1;
    let range = range(frame, metric);
    let values = frame.panels.iter().enumerate().map(|(number, panel)| {
        let name = labelled(frame.plan, &panel.factors);
        Drawing {
            id: match number {
                0 => format!("plot-{}", metric.name),
                _ => format!("plot-{}-{number}", metric.name),
            },
            label: match several {
                true => format!("{label}, {name}"),
                false => label.clone(),
            },
            is_change: false,
            plot: values(frame, metric, number, range, &name),
        }
    });
    let mut plots: Vec<Drawing> = values.collect();
    let changes = changes::plot(frame, metric, Reference::Baseline);
    let (rows, left_out) = changes.map_or((None, 0), |(plot, left_out)| (Some(plot), left_out));
    plots.extend(rows.map(|plot| Drawing {
        id: changes::id(metric),
        label: format!(
            "{label}: change of each setting against {}, with its 95 % interval",
            frame.plan.compare.baseline
        ),
        is_change: true,
        plot,
    }));
    let chosen = changes::rest(left_out);
    Some(Figure {
        title: metric.title.to_owned(),
        note: format!("{}; {better} is better{chosen}", metric.definition),
        plots,
    })
}

/// The range of the axis of values.
fn range(frame: &Frame<'_>, metric: &'static Metric) -> Option<Range> {
    let range = traces::range(frame, metric, &published::figures(frame, metric))?;
    // Costs are drawn from 0; for goodput only the upper range is of interest.
    Some(match metric.better {
        MetricDirection::Lower => range.reaching_zero(),
        MetricDirection::Higher => range,
    })
}

/// All trials, all means, the published values and the limit of the link.
fn values(
    frame: &Frame<'_>,
    metric: &'static Metric,
    number: usize,
    range: Option<Range>,
    name: &str,
) -> Plot {
    let panel = &frame.panels[number];
    let mut data = Vec::new();
    if metric.name == THROUGHPUT.name {
        data.extend(traces::limit(frame, panel));
    }
    let slots = 0..panel.lines.len();
    for slot in slots.clone() {
        data.extend(traces::trials(frame, metric, panel, slot));
    }
    for slot in slots {
        data.extend(traces::means(frame, metric, panel, slot, range));
    }
    data.extend(published::values(frame, metric, panel));
    let several = frame.panels.len() > 1;
    // The caption says what small multiples are about.
    let title = match several {
        true => metric.unit.to_owned(),
        false => format!("{} ({})", metric.title, metric.unit),
    };
    let mode = match metric.better {
        MetricDirection::Lower => "tozero",
        MetricDirection::Higher => "normal",
    };
    let mut vertical = axis(&title, json!({"rangemode": mode}));
    // Small multiples can be compared if their axes are the same.
    if let Some(Range { low, high }) = range.filter(|_| several) {
        vertical["range"] = json!([low, high].map(traces::brief));
    }
    // Series look the same in all of them: one legend is enough.
    let (height, has_legend) = match (several, number) {
        (false, _) => (400, true),
        (true, 0) => (PANEL + LEGEND_LINE * (panel.lines.len() + 1), true),
        (true, _) => (PANEL, false),
    };
    let mut layout = layout(horizontal(frame), vertical, height);
    layout["showlegend"] = json!(has_legend);
    if several {
        layout["title"] = small_title(name);
    }
    Plot { data, layout }
}

/// The axis of the compared factor.
fn horizontal(frame: &Frame<'_>) -> Value {
    let baseline = frame.plan.compare.baseline.to_string();
    let of_baseline = frame.levels.iter().position(|level| *level == baseline);
    let ticks = frame.scale.ticks(of_baseline);
    let names = ticks.iter().map(|&position| {
        let label = level_label(frame.plan, &frame.levels[position]);
        let mut name = wrapped(&label, TICK_WIDTH);
        if of_baseline == Some(position) {
            name += "<br>baseline";
        }
        match traces::failed(frame, position) {
            0 => name,
            failed => format!("{name}<br>{failed} failed"),
        }
    });
    let factor = &frame.plan.compare.factor;
    // An MTU is a size of IP packets in bytes.
    let unit = if factor == "mtu" { " (bytes)" } else { "" };
    let levels = frame.scale.attributes(&ticks, names.collect());
    let attributes = with(levels, json!({"showgrid": false}));
    axis(&format!("{factor}{unit}"), attributes)
}
