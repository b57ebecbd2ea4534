//! Plots of latency breakdowns: stacked stages of round trips over the message
//! size.

use analysis::Findings;
use analysis::latency_breakdown::Group;
use document::{Drawing, Figure, Plot};
use meter::latency_breakdown::{PARTS, Part};
use plan::Level;
use plan::metric::OF_LATENCY_BREAKDOWN;
use serde_json::json;

use super::{axis, layout, small_title, traces, with};
use crate::series::labelled;

/// The number of stages in one direction; those of the reverse direction
/// follow the echo.
const OF_A_WAY: usize = 8;

/// Factors, and the groups of cells that share them.
type Common<'a> = (Vec<(String, Level)>, Vec<&'a Group>);

/// One figure for the groups of cells that differ only in the compared factor,
/// side by side and with the same axes.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let compared = &found.plan.compare.factor;
    let mut figures: Vec<Common<'_>> = Vec::new();
    for group in &found.latency_breakdown {
        let mut common = group.factors.0.clone();
        common.retain(|(name, _)| name != compared);
        match figures.iter_mut().find(|(other, _)| *other == common) {
            Some((_, groups)) => groups.push(group),
            None => figures.push((common, vec![group])),
        }
    }
    let mut first = 0;
    let drawn = figures.into_iter().filter_map(|(common, groups)| {
        let number = first;
        first += groups.len();
        figure(found, &common, &groups, number)
    });
    drawn.collect()
}

fn figure(
    found: &Findings<'_>,
    common: &[(String, Level)],
    groups: &[&Group],
    first: usize,
) -> Option<Figure> {
    let whole = |group: &&Group| {
        let cells = group.cells.iter().map(|(_, cell)| {
            let means = OF_LATENCY_BREAKDOWN.iter().take(PARTS);
            let means = means.filter_map(|metric| found.find(metric, *cell)?.mean);
            means.map(|mean| mean.mean.max(0.0)).sum::<f64>()
        });
        cells.fold(0.0, f64::max)
    };
    let longest = groups.iter().map(whole).fold(0.0, f64::max);
    let title = match labelled(found.plan, common) {
        name if name.is_empty() => "Parts of a round trip".to_owned(),
        name => format!("Parts of a round trip, {name}"),
    };
    let plots = groups.iter().enumerate().filter_map(|(number, group)| {
        let own = group.factors.0.iter();
        let own = own.filter(|factor| !common.contains(factor));
        let own = labelled(found.plan, &own.cloned().collect::<Vec<_>>());
        let id = format!("latency-breakdown-{}", first + number);
        let plot = area(group, found, longest, &own)?;
        Some(Drawing {
            id,
            label: format!("{title}, {own}: stacked stages by message size"),
            is_change: false,
            plot,
        })
    });
    let plots: Vec<Drawing> = plots.collect();
    (!plots.is_empty()).then(|| Figure {
        title,
        note: "means in us over the bytes of a message; the way back is paler".into(),
        plots,
    })
}

fn area(group: &Group, found: &Findings<'_>, longest: f64, own: &str) -> Option<Plot> {
    let mut data = Vec::new();
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
        data.push(json!({
            "mode": "lines",
            "x": x,
            "y": y,
            "name": metric.title,
            "meta": meta,
            "stackgroup": "parts",
            "line": {"width": 0.5},
            "hoverinfo": "all",
        }));
    }
    let size = axis("message (bytes)", json!({"type": "log"}));
    let range = [0.0, traces::brief(longest * 1.05)];
    let time = axis("round trip (us)", json!({"range": range}));
    let attributes = json!({"hovermode": "x unified", "title": small_title(own)});
    let layout = with(layout(size, time, 460), attributes);
    Some(Plot { data, layout })
}
