//! Plots of a metric along the compared factor, and of its changes.

use plan::metric::{Better, Metric};
use plotly::layout::{Axis, RangeMode};
use plotly::{Layout, Plot};

use super::{Frame, axis, configuration, layout, published, text, traces};
use crate::document::{Drawing, Figure};

/// The plots of values and changes of a metric; `None` if it was not measured.
pub(crate) fn figure(frame: &Frame<'_>, metric: &'static Metric) -> Option<Figure> {
    let mut rows = frame.comparisons.iter().filter(|row| row.metric == metric);
    if !rows.any(|row| row.n > 0) {
        return None;
    }
    let better = match metric.better {
        Better::Higher => "more",
        Better::Lower => "less",
    };
    let label = format!("{} by {}", metric.title, frame.plan.compare.factor);
    let changes = changes(frame, metric).map(|plot| Drawing {
        id: format!("plot-{}-change", metric.name),
        label: format!("{label}, change against {}", frame.plan.compare.baseline),
        is_change: true,
        plot,
    });
    let values = Drawing {
        id: format!("plot-{}", metric.name),
        label,
        is_change: false,
        plot: values(frame, metric),
    };
    Some(Figure {
        title: metric.title.to_owned(),
        note: format!("{}; {better} is better", metric.definition),
        plots: std::iter::once(values).chain(changes).collect(),
    })
}

/// All trials, all means, the published values and the limit of the link.
fn values(frame: &Frame<'_>, metric: &'static Metric) -> Plot {
    let mut plot = Plot::new();
    if metric.name == "throughput" {
        plot.add_traces(traces::limit(frame).into_iter().collect());
    }
    for position in 0..frame.series.len() {
        plot.add_traces(traces::trials(frame, metric, position));
    }
    for position in 0..frame.series.len() {
        plot.add_traces(traces::means(frame, metric, position).into_iter().collect());
    }
    plot.add_traces(published::values(frame, metric));
    let axis = axis(&format!("{} ({})", metric.title, metric.unit))
        // Costs are drawn from 0; for goodput only the upper range is of
        // interest.
        .range_mode(match metric.better {
            Better::Lower => RangeMode::ToZero,
            Better::Higher => RangeMode::Normal,
        });
    plot.set_layout(by_level(frame, axis, true));
    plot.set_configuration(configuration(metric.name));
    plot
}

/// The changes in per cent, measured and published.
fn changes(frame: &Frame<'_>, metric: &'static Metric) -> Option<Plot> {
    let mut plot = Plot::new();
    let mut measured = Vec::new();
    for position in 0..frame.series.len() {
        measured.extend(traces::changes(frame, metric, position));
    }
    if measured.is_empty() {
        return None;
    }
    plot.add_traces(measured);
    plot.add_traces(published::changes(frame, metric));
    let title = format!("change against {} (%)", frame.plan.compare.baseline);
    let axis = axis(&title)
        .range_mode(RangeMode::ToZero)
        .zero_line(true)
        .zero_line_width(2);
    plot.set_layout(by_level(frame, axis, false));
    plot.set_configuration(configuration(&format!("{}-change", metric.name)));
    Some(plot)
}

fn by_level(frame: &Frame<'_>, vertical: Axis, legend: bool) -> Layout {
    let levels = frame.levels.iter().enumerate();
    let baseline = frame.plan.compare.baseline.to_string();
    let names = levels.clone().map(|(position, level)| {
        let mut name = text(level);
        if *level == baseline {
            name += "<br>baseline";
        }
        match traces::failed(frame, position) {
            0 => name,
            failed => format!("{name}<br>{failed} failed"),
        }
    });
    let factor = &frame.plan.compare.factor;
    // An MTU is a size of IP packets in octets.
    let unit = if factor == "mtu" { " (octets)" } else { "" };
    let horizontal = axis(&format!("{factor}{unit}"))
        .tick_values(
            levels
                .map(|(position, _)| traces::number(position))
                .collect(),
        )
        .tick_text(names.collect())
        .range(vec![-0.5, traces::number(frame.levels.len()) - 0.5])
        .show_grid(false);
    let height = if legend { 400 } else { 360 };
    layout(horizontal, vertical, height).show_legend(legend)
}
