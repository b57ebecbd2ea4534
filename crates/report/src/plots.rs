//! Plots of metrics and other results.
//!
//! The page's script chooses the colours, since it knows the colour scheme; the
//! `meta` of a trace states its role.

pub(crate) mod areas;
pub(crate) mod changes;
mod clip;
pub(crate) mod delays;
pub(crate) mod fronts;
mod marks;
pub(crate) mod metrics;
mod panels;
mod published;
pub(crate) mod redrawn;
pub(crate) mod replayed;
mod scale;
pub(crate) mod sizes;
pub(crate) mod time_series;
mod traces;

use analysis::compare::{Comparison, by_cell};
use plan::{Plan, Trial};
use plotly::common::{Font, Orientation, Title};
use plotly::configuration::{
    Configuration, ImageButtonFormats, ModeBarButtonName, ToImageButtonOptions,
};
use plotly::layout::{Axis, HoverMode, Legend, Margin};
use plotly::{Layout, Plot};

use self::panels::Panel;
use self::scale::Scale;
use crate::document::{Drawing, Figure};
use crate::series::{Series, levels, series};

/// A plot without traces. Plotly gives each plot a copy of its scripts, seven megabytes
/// that a page has once; the addresses that replace them are not used.
pub(crate) fn empty_plot() -> Plot {
    let mut plot = Plot::new();
    plot.use_cdn_js();
    plot
}

/// The height above a plot in pixels, with room for a title of one line.
const TOP: usize = 30;

/// The size of the font of a title in pixels.
const TITLE_SIZE: usize = 13;

/// The data shared by all plots of a run.
pub(crate) struct Frame<'a> {
    plan: &'a Plan,
    /// The trials of each cell.
    by_cell: Vec<Vec<&'a Trial>>,
    comparisons: &'a [Comparison],
    levels: Vec<String>,
    /// The positions of the levels.
    scale: Scale,
    series: Vec<Series>,
    /// The series by plot.
    panels: Vec<Panel>,
}

impl<'a> Frame<'a> {
    /// The frame of a run's plots.
    pub(crate) fn of(plan: &'a Plan, trials: &'a [Trial], comparisons: &'a [Comparison]) -> Self {
        let (levels, series) = (levels(plan), series(plan));
        Self {
            plan,
            by_cell: by_cell(plan, trials),
            comparisons,
            scale: Scale::of(&levels),
            levels,
            panels: panels::panels(plan, &series),
            series,
        }
    }
}

/// Escapes text for Plotly, which interprets some tags and entities.
fn text(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escaped text in lines of about `width` characters, broken between words.
fn wrapped(words: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| text(line)).collect();
    lines.join("<br>")
}

/// An axis with a title.
fn axis(title: &str) -> Axis {
    Axis::new()
        .title(Title::with_text(text(title)))
        .auto_margin(true)
        .zero_line(false)
}

/// The layout of a plot with a height in pixels.
fn layout(horizontal: Axis, vertical: Axis, height: usize) -> Layout {
    Layout::new()
        .x_axis(horizontal)
        .y_axis(vertical)
        .hover_mode(HoverMode::Closest)
        .show_legend(true)
        .legend(Legend::new().orientation(Orientation::Horizontal))
        .margin(margin(TOP))
        .height(height)
}

/// The margin of a plot with a height above it in pixels.
fn margin(top: usize) -> Margin {
    Margin::new().left(56).right(12).top(top).bottom(48)
}

/// The title of one of several plots of a figure.
fn small_title(words: &str) -> Title {
    Title::with_text(text(words)).font(Font::new().size(TITLE_SIZE))
}

/// A figure with a single plot that is not about a metric.
fn alone(title: String, note: &str, id: String, mut plot: Plot) -> Figure {
    plot.set_configuration(configuration(&id));
    Figure {
        note: note.to_owned(),
        plots: vec![Drawing {
            id,
            label: title.clone(),
            is_change: false,
            plot,
        }],
        title,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_broken_between_words_and_short_ones_are_not() {
        let broken = wrapped("MRED, drop from the oldest frame", 14);
        assert_eq!(broken, "MRED, drop<br>from the<br>oldest frame");
        assert_eq!(wrapped("RED & others", 14), "RED &amp; others");
        assert_eq!(wrapped("unbreakably-long", 5), "unbreakably-long");
    }
}
