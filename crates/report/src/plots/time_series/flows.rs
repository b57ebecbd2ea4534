//! The flows of a cell over time, as flent draws them: goodput of each flow and of all,
//! round trips, delays and queues, in panels upon each other with one axis of time.

use analysis::Findings;
use analysis::details::{Details, Quantity, Resolution, TimeSeries};
use document::{Drawing, Figure, Plot};
use plan::{Trial, evidence};
use serde_json::{Value, json};

use super::{band, line};
use crate::plots::{
    TITLE_SIZE, TOP, axis, layout, margin, marks, redrawn, text, traces, with, wrapped,
};
use crate::series::labelled;

/// The number of single trials that can be shown in a plot.
const SINGLE_TRIALS: usize = 2;

/// The heights of a panel, and of axis and legend below all of them, in pixels.
const PANEL: usize = 150;
const BELOW: usize = 130;

/// The width of a plot in characters of its title, and the height of a line of it.
const TITLE_WIDTH: usize = 50;
const TITLE_LINE: usize = 17;

/// The space between two panels, as a share of the height of all.
const GAP: f64 = 0.05;

/// The explanation of the plots.
const NOTE: &str = "payload that arrived in each interval, of all flows in both directions; round trips as TCP or echoes measure them; one-way delays of messages; packets that waited; a click on the name of a trial shows it alone";

/// A line of a panel.
struct Line {
    name: String,
    /// The position among the series; `None`: the sum of all, or the only one.
    mark: Option<usize>,
    dash: &'static str,
    source: Source,
}

/// The source of a line.
enum Source {
    Total,
    Of(String, Quantity),
}

/// Lines that share an axis.
struct Panel {
    title: &'static str,
    lines: Vec<Line>,
}

impl Line {
    fn series<'a>(&self, details: &'a Details) -> Option<&'a TimeSeries> {
        match &self.source {
            Source::Total => details.total(Resolution::Panel),
            Source::Of(name, quantity) => details.series(*quantity, name, Resolution::Panel),
        }
    }

    /// The role of its traces, which has its colour.
    fn role(&self) -> String {
        self.mark.map_or_else(|| "whole".to_owned(), marks::role)
    }

    fn role_of_band(&self) -> String {
        self.mark.map_or_else(|| "whole".to_owned(), marks::band)
    }
}

/// A figure with a plot for each cell that has flows over time.
pub(crate) fn figure(found: &Findings<'_>) -> Option<Figure> {
    let plan = found.plan;
    let measured = |cell: &usize| !finished(found, *cell).is_empty();
    let cells: Vec<usize> = (0..plan.cells.len()).filter(measured).collect();
    let drawings = cells.iter().filter_map(|&cell| {
        let name = labelled(plan, &redrawn::own(plan, &cells, cell, None));
        Some(Drawing {
            id: format!("flows-{cell}"),
            label: format!("Flows over time, {name}"),
            is_change: false,
            plot: plot(&finished(found, cell), found.details(cell), &name)?,
        })
    });
    let plots: Vec<Drawing> = drawings.collect();
    (!plots.is_empty()).then(|| Figure {
        title: "Flows over time".to_owned(),
        note: NOTE.to_owned(),
        plots,
    })
}

fn finished<'a>(found: &Findings<'a>, cell: usize) -> Vec<&'a Trial> {
    let trials = found.by_cell[cell].iter().copied();
    let has_flows = |trial: &&Trial| trial.evidence.contains(evidence::FLOW_SERIES);
    let finished = trials.filter(|trial| trial.failure.is_none());
    finished.filter(has_flows).collect()
}

/// The plot of a cell; `None` without a line.
fn plot(trials: &[&Trial], details: &Details, title: &str) -> Option<Plot> {
    let panels: Vec<Panel> = panels(details);
    let mut data = Vec::new();
    let mut named: Vec<String> = Vec::new();
    // Later traces lie upon earlier ones.
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let series = line.series(details);
            let band = series.and_then(|series| band(series, &line.role_of_band()));
            let place = json!({"yaxis": axis_name(number), "legendgroup": line.name});
            data.extend(band.map(|band| with(band, place)));
        }
    }
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let is_named = named.contains(&line.name);
            data.extend(trace(line, number, details, &line.name, !is_named));
            named.push(line.name.clone());
        }
    }
    if trials.len() > 1 {
        for trial in trials.iter().take(SINGLE_TRIALS) {
            data.extend(single(trial, &panels));
        }
    }
    let layout = stacked(&panels, title);
    (!panels.is_empty()).then_some(Plot { data, layout })
}

/// The lines of one trial, hidden until its name is clicked.
fn single(trial: &Trial, panels: &[Panel]) -> Vec<Value> {
    let name = format!("trial {}", trial.id);
    let details = Details::of([trial]);
    let mut traces = Vec::new();
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let Some(trace) = trace(line, number, &details, &name, traces.is_empty()) else {
                continue;
            };
            let thin = json!({"width": 1.0, "shape": "hv", "dash": "dot"});
            traces.push(with(trace, json!({"line": thin, "visible": "legendonly"})));
        }
    }
    traces
}

/// A line of `details` in the panel `number`, in the group `group` of the legend, with
/// or without a name there.
fn trace(
    own: &Line,
    number: usize,
    details: &Details,
    group: &str,
    is_named: bool,
) -> Option<Value> {
    let series = own.series(details)?;
    let width = if own.mark.is_none() { 2.6 } else { 1.6 };
    let name = if is_named { group } else { &own.name };
    let attributes = json!({
        "meta": own.role(),
        "line": {"width": width, "shape": "hv", "dash": own.dash},
        "yaxis": axis_name(number),
        "legendgroup": group,
        "showlegend": is_named,
    });
    let line = line(series, &text(name), own.mark.unwrap_or(0));
    Some(with(line, attributes))
}

/// The panels with lines, from top to bottom.
fn panels(details: &Details) -> Vec<Panel> {
    let lines = |quantity| {
        let flows = details.names(Quantity::Goodput).enumerate();
        let lines = flows.map(|(mark, flow)| Line {
            name: flow.to_owned(),
            mark: Some(mark),
            dash: marks::dash(mark),
            source: Source::Of(flow.to_owned(), quantity),
        });
        let has = |line: &Line| line.series(details).is_some();
        lines.filter(has).collect::<Vec<Line>>()
    };
    let mut goodput = lines(Quantity::Goodput);
    if goodput.len() > 1 {
        // Below the others, which it may run along.
        let total = Line {
            name: "all flows".to_owned(),
            mark: None,
            dash: "solid",
            source: Source::Total,
        };
        goodput.insert(0, total);
    }
    let queues = (0..)
        .zip(details.names(Quantity::Queue))
        .map(|(number, link)| Line {
            name: format!("queue of {link}"),
            mark: None,
            // One after another, as those of series of one colour.
            dash: marks::dash(number * marks::MOST_SERIES),
            source: Source::Of(link.to_owned(), Quantity::Queue),
        });
    let panels = [
        ("goodput (Mbit/s)", goodput),
        ("round trip (ms)", lines(Quantity::RoundTrip)),
        ("delay (ms)", lines(Quantity::Delay)),
        ("queue (packets)", queues.collect()),
    ];
    let panels = panels.into_iter().filter(|(_, lines)| !lines.is_empty());
    let panels = panels.map(|(title, lines)| Panel { title, lines });
    panels.collect()
}

/// The name of the vertical axis of a panel.
fn axis_name(panel: usize) -> String {
    match panel {
        0 => "y".to_owned(),
        other => format!("y{}", other + 1),
    }
}

fn stacked(panels: &[Panel], title: &str) -> Value {
    let count = panels.len().max(1);
    let height = (1.0 - GAP * traces::number(count - 1)) / traces::number(count);
    let vertical = |number: usize, panel: &Panel| {
        let top = 1.0 - traces::number(number) * (height + GAP);
        let attributes = json!({
            // One margin for all panels: each axis would move the others' again and again.
            "automargin": false,
            "rangemode": "tozero",
            "side": "left",
            "domain": [(top - height).max(0.0), top],
        });
        axis(panel.title, attributes)
    };
    let anchor = axis_name(count - 1);
    let time = axis("time (s)", json!({"rangemode": "tozero", "anchor": anchor}));
    let title = wrapped(title, TITLE_WIDTH);
    let more = TITLE_LINE * title.matches("<br>").count();
    let mut layout = layout(time, json!({}), PANEL * count + BELOW + more);
    layout["margin"] = margin(TOP + more);
    layout["title"] = json!({"text": title, "font": {"size": TITLE_SIZE}});
    for (number, panel) in panels.iter().enumerate() {
        let name = axis_name(number).replace('y', "yaxis");
        layout[name] = vertical(number, panel);
    }
    layout
}
