//! The plots: a metric's figures along the compared factor, and its changes.
//!
//! Colours are left to the page's script, which knows whether it is dark: a
//! trace says by its `meta` what it shows.

pub(crate) mod areas;
pub(crate) mod courses;
pub(crate) mod fronts;
mod published;
pub(crate) mod sizes;
mod traces;

use std::collections::BTreeMap;

use maud::{Markup, html};
use plotly::common::{Orientation, Title};
use plotly::configuration::{
    Configuration, ImageButtonFormats, ModeBarButtonName, ToImageButtonOptions,
};
use plotly::layout::{Axis, HoverMode, Legend, Margin, RangeMode};
use plotly::{Layout, Plot};

use super::series::{Series, levels, series};
use crate::rows::{other_metrics, study_metrics};
use analysis::compare::Comparison;
use plan::Plan;
use plan::Trial;
use plan::metric::{Better, Metric};

/// The plots of one metric.
pub(super) struct Figure {
    /// What they show.
    pub(super) metric: &'static Metric,
    /// Its figures, level by level.
    pub(super) values: Plot,
    /// Their changes against the baseline, if anything was compared.
    pub(super) changes: Option<Plot>,
}

impl Figure {
    /// Which figures are good ones.
    pub(super) fn better(&self) -> &'static str {
        match self.metric.better {
            Better::Higher => "more",
            Better::Lower => "less",
        }
    }

    /// The name of the element that shows the figures.
    pub(super) fn values_id(&self) -> String {
        format!("plot-{}", self.metric.name)
    }

    /// The name of the element that shows the changes.
    pub(super) fn changes_id(&self) -> String {
        format!("plot-{}-change", self.metric.name)
    }
}

/// A plot that is not of a metric.
#[derive(Clone)]
pub(crate) struct Plotted {
    /// What it shows, without mark-up.
    title: String,
    /// How that is meant.
    definition: &'static str,
    /// The name of the element that shows it.
    id: String,
    plot: Plot,
}

impl Plotted {
    /// Room for the plot, with what it shows.
    pub(crate) fn html(&self) -> Markup {
        html! {
            figure {
                figcaption { b { (self.title) } " " span.note { (self.definition) } }
                div.plots { div.plot #{(self.id)} role="img" aria-label=(self.title) {} }
            }
        }
    }
}

/// What all plots of a run share.
pub(super) struct Frame<'a> {
    plan: &'a Plan,
    trials: &'a [Trial],
    comparisons: &'a [Comparison],
    levels: Vec<String>,
    series: Vec<Series>,
}

impl<'a> Frame<'a> {
    /// The frame of a run's plots.
    pub(super) fn of(plan: &'a Plan, trials: &'a [Trial], comparisons: &'a [Comparison]) -> Self {
        Self {
            plan,
            trials,
            comparisons,
            levels: levels(plan),
            series: series(plan),
        }
    }
}

/// The plots of every metric that was measured, those of the study first.
pub(super) fn of_metrics(frame: &Frame<'_>) -> Vec<Figure> {
    let comparisons = frame.comparisons;
    let of_study = study_metrics(frame.plan, comparisons).into_iter();
    of_study
        .map(|(_, metric)| metric)
        .chain(other_metrics(frame.plan, comparisons))
        .filter(|metric| {
            let mut rows = comparisons.iter().filter(|row| row.metric == *metric);
            rows.any(|row| row.n > 0)
        })
        .map(|metric| Figure {
            metric,
            values: values(frame, metric),
            changes: changes(frame, metric),
        })
        .collect()
}

/// The plots by the name of their element, in JSON that may stand in a `script`
/// element: no tag begins or ends in it.
pub(super) fn json<'a>(figures: &[Figure], plotted: impl Iterator<Item = &'a Plotted>) -> String {
    let mut plots: BTreeMap<String, &Plot> = BTreeMap::new();
    for figure in figures {
        plots.insert(figure.values_id(), &figure.values);
        if let Some(changes) = &figure.changes {
            plots.insert(figure.changes_id(), changes);
        }
    }
    for other in plotted {
        plots.insert(other.id.clone(), &other.plot);
    }
    let json =
        serde_json::to_string(&plots).expect("a plot holds numbers, words and lists of them");
    // In JSON such characters stand in strings only, where the escape means the same.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// Every trial, every mean, what was published and what the link can carry.
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
    let axis = Axis::new()
        .title(Title::with_text(traces::text(&format!(
            "{} ({})",
            metric.title, metric.unit
        ))))
        // What costs is drawn from 0; of goodput only the upper end is of interest.
        .range_mode(match metric.better {
            Better::Lower => RangeMode::ToZero,
            Better::Higher => RangeMode::Normal,
        })
        .auto_margin(true)
        .zero_line(false);
    plot.set_layout(layout(frame, axis, true));
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
    let axis = Axis::new()
        .title(Title::with_text(traces::text(&title)))
        .range_mode(RangeMode::ToZero)
        .auto_margin(true)
        .zero_line(true)
        .zero_line_width(2);
    plot.set_layout(layout(frame, axis, false));
    plot.set_configuration(configuration(&format!("{}-change", metric.name)));
    Some(plot)
}

fn layout(frame: &Frame<'_>, vertical: Axis, legend: bool) -> Layout {
    let levels = frame.levels.iter().enumerate();
    let baseline = frame.plan.compare.baseline.to_string();
    let names = levels.clone().map(|(position, level)| {
        let mut name = traces::text(level);
        if *level == baseline {
            name += "<br>baseline";
        }
        match traces::failed(frame, position) {
            0 => name,
            failed => format!("{name}<br>{failed} failed"),
        }
    });
    let factor = &frame.plan.compare.factor;
    // An MTU counts octets of the IP packet.
    let unit = if factor == "mtu" { " (octets)" } else { "" };
    let horizontal = Axis::new()
        .title(Title::with_text(traces::text(&format!("{factor}{unit}"))))
        .tick_values(
            levels
                .map(|(position, _)| traces::number(position))
                .collect(),
        )
        .tick_text(names.collect())
        .range(vec![-0.5, traces::number(frame.levels.len()) - 0.5])
        .auto_margin(true)
        .show_grid(false)
        .zero_line(false);
    Layout::new()
        .x_axis(horizontal)
        .y_axis(vertical)
        .hover_mode(HoverMode::Closest)
        .show_legend(legend)
        .legend(Legend::new().orientation(Orientation::Horizontal))
        .margin(Margin::new().left(56).right(12).top(30).bottom(48))
        .height(if legend { 400 } else { 360 })
}

fn configuration(name: &str) -> Configuration {
    let image = ToImageButtonOptions::new()
        .format(ImageButtonFormats::Svg)
        .filename(name);
    Configuration::new()
        .display_logo(false)
        .responsive(true)
        .typeset_math(false)
        .show_send_to_cloud(false)
        .show_edit_in_chart_studio(false)
        .mode_bar_buttons_to_remove(vec![
            ModeBarButtonName::SendDataToCloud,
            ModeBarButtonName::Select2d,
            ModeBarButtonName::Lasso2d,
            ModeBarButtonName::AutoScale2d,
        ])
        .to_image_button_options(image)
}
