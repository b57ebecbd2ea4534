//! Plots of a link's queue over time: means over the trials as lines, with
//! bands for their 95 % intervals.

mod data;
mod queue_and_average;

use analysis::Findings;
use analysis::statistics::{Interval, Mean};
use plotly::common::{Fill, HoverInfo, Line, LineShape, Mode};
use plotly::layout::{Axis, RangeMode};
use plotly::{Plot, Scatter, Trace};

use super::{Frame, alone, axis, layout, marks, text, traces};
use crate::document::Figure;
use crate::series::place;
use data::{TimeSeries, series};
pub(super) use queue_and_average::redrawn;

/// The plotted quantities, in the order of the page.
const QUANTITIES: [Quantity; 3] = [Quantity::Queue, Quantity::Average, Quantity::Drops];

/// A quantity that changes during a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Queue,
    Average,
    Drops,
}

impl Quantity {
    const fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Average => "average",
            Self::Drops => "drops",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Queue => "Queue",
            Self::Average => "Average queue of the discipline",
            Self::Drops => "Dropped",
        }
    }

    const fn axis(self) -> &'static str {
        match self {
            Self::Queue => "queue (packets)",
            Self::Average => "average (unit of the thresholds)",
            Self::Drops => "dropped (% of arrivals)",
        }
    }

    const fn definition(self) -> &'static str {
        match self {
            Self::Queue => "packets that waited, on average over each interval",
            Self::Average => {
                "queue average of the discipline, mean over the arrivals of each interval"
            }
            Self::Drops => "packets that the queue dropped, of those that came in each interval",
        }
    }
}

/// The plots of all links with a time series: one for each quantity and series
/// of cells.
pub(crate) fn figures(found: &Findings<'_>) -> Vec<Figure> {
    let frame = &Frame::of(found.plan, found.trials, &found.comparisons);
    let mut figures = Vec::new();
    for link in data::links(frame.trials) {
        for quantity in QUANTITIES {
            for (number, series) in frame.series.iter().enumerate() {
                let Some(plot) = plot(frame, &link, quantity, &series.cells) else {
                    continue;
                };
                let others = match series.name.as_str() {
                    "" => String::new(),
                    name => format!(", {name}"),
                };
                figures.push(alone(
                    format!("{} of {link}{others}", quantity.title()),
                    quantity.definition(),
                    format!("course-{link}-{}-{number}", quantity.word()),
                    finished(plot, quantity),
                ));
            }
        }
    }
    figures
}

/// The lines of some cells, if any of them has this quantity.
fn plot(frame: &Frame<'_>, link: &str, quantity: Quantity, cells: &[usize]) -> Option<Plot> {
    let mut bands: Vec<Box<dyn Trace>> = Vec::new();
    let mut lines: Vec<Box<dyn Trace>> = Vec::new();
    for &cell in cells {
        let trials = traces::trials_of(frame, cell).filter(|trial| trial.failure.is_none());
        let series = series(trials, link, quantity);
        let (Some(series), Some(level)) = (series, place(frame.plan, &frame.levels, cell)) else {
            continue;
        };
        let name = text(&frame.levels[level]);
        let group = format!("level {level}");
        bands.extend(band(&series).map(|trace| -> Box<dyn Trace> {
            trace.meta(marks::band(level)).legend_group(group.clone())
        }));
        lines.push(line(&series, &name, level).legend_group(group));
    }
    let mut plot = Plot::new();
    (!lines.is_empty()).then(|| {
        plot.add_traces(bands);
        plot.add_traces(lines);
        plot
    })
}

/// The means by interval, as steps.
fn line(series: &TimeSeries, name: &str, level: usize) -> Box<Scatter<f64, Option<f64>>> {
    let mean = |mean: &Option<Mean>| mean.map(|mean| traces::brief(mean.mean));
    let mut y: Vec<Option<f64>> = series.means.iter().map(mean).collect();
    y.push(y.last().copied().flatten());
    Scatter::new(series.instants(), y)
        .mode(Mode::Lines)
        .name(name)
        .meta(marks::role(level))
        .line(
            Line::new()
                .width(1.8)
                .shape(LineShape::Hv)
                .dash(marks::dash(level)),
        )
        .hover_info(HoverInfo::All)
}

/// Their confidence band: along the upper ends, and back along the lower ones.
fn band(series: &TimeSeries) -> Option<Box<Scatter<f64, f64>>> {
    let instants = series.instants();
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for (bounds, mean) in instants.windows(2).zip(&series.means) {
        let Some(Interval { low, high }) = mean.and_then(|mean| mean.ci95) else {
            continue;
        };
        for &at in bounds {
            there.push((at, traces::brief(high)));
            back.push((at, traces::brief(low)));
        }
    }
    let outline = there.into_iter().chain(back.into_iter().rev());
    let (x, y): (Vec<f64>, Vec<f64>) = outline.unzip();
    (!x.is_empty()).then(|| {
        Scatter::new(x, y)
            .mode(Mode::Lines)
            .fill(Fill::ToSelf)
            .line(Line::new().width(0.0))
            .show_legend(false)
            .hover_info(HoverInfo::Skip)
    })
}

fn finished(mut plot: Plot, quantity: Quantity) -> Plot {
    let [time, of_quantity] = ["time (s)", quantity.axis()].map(axis);
    let from_zero = |axis: Axis| axis.range_mode(RangeMode::ToZero);
    plot.set_layout(layout(from_zero(time), from_zero(of_quantity), 400));
    plot
}
