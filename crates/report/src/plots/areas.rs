//! Plots of latency breakdowns: stacked stages of round trips over the message
//! size.

use analysis::Findings;
use analysis::latency_breakdown::Group;
use plan::metric::OF_LATENCY_BREAKDOWN;
use plotly::common::{HoverInfo, Line, Mode};
use plotly::layout::{AxisType, HoverMode, RangeMode};
use plotly::{Plot, Scatter};
use proto::latency_breakdown::{PARTS, Part};

use super::{alone, axis, layout, traces};
use crate::document::Figure;
use crate::figure;

/// The number of stages in one direction; those of the backward direction
/// follow the echo.
const OF_A_WAY: usize = 8;

/// One plot for each group of cells that differ only in the message size.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let groups = found.latency_breakdown.iter().enumerate();
    groups
        .filter_map(|(number, group)| area(number, group, found))
        .collect()
}

fn area(number: usize, group: &Group, found: &Findings<'_>) -> Option<Figure> {
    let mut plot = Plot::new();
    for (place, metric) in OF_LATENCY_BREAKDOWN.iter().take(PARTS).enumerate() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (size, cell) in &group.cells {
            let mean = found.find(metric, *cell).and_then(|row| row.mean);
            if let Some(mean) = mean {
                x.push(*size);
                // Negative values, which clock differences can cause, cannot be
                // stacked.
                y.push(traces::brief(mean.mean.max(0.0)));
            }
        }
        if x.is_empty() {
            return None;
        }
        // The unexplained time belongs to neither direction.
        let meta = match place {
            _ if place == Part::Unexplained as usize => format!("part {OF_A_WAY}"),
            OF_A_WAY.. => format!("part {} back", place - OF_A_WAY),
            _ => format!("part {place}"),
        };
        let trace = Scatter::new(x, y)
            .mode(Mode::Lines)
            .name(metric.title)
            .meta(meta)
            .stack_group("parts")
            .line(Line::new().width(0.5))
            .hover_info(HoverInfo::All);
        plot.add_trace(trace);
    }
    let size = axis("message (octets)").type_(AxisType::Log);
    let time = axis("round trip (us)").range_mode(RangeMode::ToZero);
    plot.set_layout(layout(size, time, 460).hover_mode(HoverMode::XUnified));
    let of = match figure::words(&group.factors.0) {
        name if name.is_empty() => name,
        name => format!(", {name}"),
    };
    Some(alone(
        format!("Parts of a round trip{of}"),
        "means in us over the octets of a message; the way back is paler",
        format!("latency-breakdown-{number}"),
        plot,
    ))
}
