//! The flows of a cell over time, as flent draws them: goodput of each flow and of all,
//! round trips, delays and queues, in panels upon each other with one axis of time.

use analysis::Findings;
use analysis::details::{Details, Quantity, Resolution, TimeSeries};
use plan::Trial;
use plotly::common::{AxisSide, DashType, Font, Title, Visible};
use plotly::layout::{Axis, RangeMode};
use plotly::{Plot, Scatter, Trace};

use super::{band, line};
use crate::document::{Drawing, Figure};
use crate::plots::empty_plot;
use crate::plots::{
    TITLE_SIZE, TOP, axis, configuration, layout, margin, marks, redrawn, text, traces, wrapped,
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
    dash: DashType,
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
        let mut plot = plot(&finished(found, cell), found.details(cell), &name)?;
        let id = format!("flows-{cell}");
        plot.set_configuration(configuration(&id));
        Some(Drawing {
            id,
            label: format!("Flows over time, {name}"),
            is_change: false,
            plot,
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
    let has_flows = |trial: &&Trial| trial.evidence.contains_key("flow_series");
    let finished = trials.filter(|trial| trial.failure.is_none());
    finished.filter(has_flows).collect()
}

/// The plot of a cell; `None` without a line.
fn plot(trials: &[&Trial], details: &Details, title: &str) -> Option<Plot> {
    let panels: Vec<Panel> = panels(details);
    let mut plot = empty_plot();
    let mut named: Vec<String> = Vec::new();
    // Later traces lie upon earlier ones.
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let band = line.series(details).and_then(band);
            plot.add_traces(
                band.into_iter()
                    .map(|band| -> Box<dyn Trace> {
                        let band = band.meta(line.role_of_band()).y_axis(axis_name(number));
                        band.legend_group(line.name.clone())
                    })
                    .collect(),
            );
        }
    }
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let is_named = named.contains(&line.name);
            let trace = trace(line, number, details, &line.name, !is_named);
            named.push(line.name.clone());
            plot.add_traces(
                trace
                    .into_iter()
                    .map(|trace| -> Box<dyn Trace> { trace })
                    .collect(),
            );
        }
    }
    if trials.len() > 1 {
        for trial in trials.iter().take(SINGLE_TRIALS) {
            plot.add_traces(single(trial, &panels));
        }
    }
    let has_lines = !panels.is_empty();
    plot.set_layout(stacked(&panels, title));
    has_lines.then_some(plot)
}

/// The lines of one trial, hidden until its name is clicked.
fn single(trial: &Trial, panels: &[Panel]) -> Vec<Box<dyn Trace>> {
    let name = format!("trial {}", trial.id);
    let details = Details::of([trial]);
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    for (number, panel) in panels.iter().enumerate() {
        for line in &panel.lines {
            let Some(trace) = trace(line, number, &details, &name, traces.is_empty()) else {
                continue;
            };
            let thin = plotly::common::Line::new().width(1.0);
            let thin = thin
                .shape(plotly::common::LineShape::Hv)
                .dash(DashType::Dot);
            traces.push(trace.line(thin).visible(Visible::LegendOnly));
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
) -> Option<Box<Scatter<f64, Option<f64>>>> {
    let series = own.series(details)?;
    let shape = plotly::common::Line::new()
        .width(if own.mark.is_none() { 2.6 } else { 1.6 })
        .shape(plotly::common::LineShape::Hv)
        .dash(own.dash.clone());
    let name = if is_named { group } else { &own.name };
    Some(
        line(series, &text(name), own.mark.unwrap_or(0))
            .meta(own.role())
            .line(shape)
            .y_axis(axis_name(number))
            .legend_group(group)
            .show_legend(is_named),
    )
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
            dash: DashType::Solid,
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

fn stacked(panels: &[Panel], title: &str) -> plotly::Layout {
    let count = panels.len().max(1);
    let height = (1.0 - GAP * traces::number(count - 1)) / traces::number(count);
    let vertical = |number: usize, panel: &Panel| {
        let top = 1.0 - traces::number(number) * (height + GAP);
        // One margin for all panels: each axis would move the others' again and again.
        axis(panel.title)
            .auto_margin(false)
            .range_mode(RangeMode::ToZero)
            .side(AxisSide::Left)
            .domain(&[(top - height).max(0.0), top])
    };
    let time = axis("time (s)").range_mode(RangeMode::ToZero);
    let time = time.anchor(axis_name(count - 1));
    let mut all = panels.iter().enumerate();
    let mut next = || all.next().map(|(number, panel)| vertical(number, panel));
    let first = next().unwrap_or_else(Axis::new);
    let title = wrapped(title, TITLE_WIDTH);
    let more = TITLE_LINE * title.matches("<br>").count();
    let mut layout = layout(time, first, PANEL * count + BELOW + more)
        .margin(margin(TOP + more))
        .title(Title::with_text(title).font(Font::new().size(TITLE_SIZE)));
    if let Some(axis) = next() {
        layout = layout.y_axis2(axis);
    }
    if let Some(axis) = next() {
        layout = layout.y_axis3(axis);
    }
    if let Some(axis) = next() {
        layout = layout.y_axis4(axis);
    }
    layout
}
