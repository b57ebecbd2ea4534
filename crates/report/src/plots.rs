//! Plots of metrics and other results, written as the JSON that the reference of Plotly
//! describes. A trace without a `type` is a scatter plot.
//!
//! The page's script chooses the colours, since it knows the colour scheme; the
//! `meta` of a trace states its role. The script also has the configuration, which is the
//! same for all plots.

pub(crate) mod areas;
pub(crate) mod changes;
mod clip;
pub(crate) mod delays;
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
use document::{Drawing, Figure, Plot};
use plan::{Plan, Trial};
use serde_json::{Value, json};

use self::panels::Panel;
use self::scale::Scale;
use crate::series::{Series, levels, series};

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

/// The object `base` with further attributes, which replace those of the same name.
fn with(mut base: Value, attributes: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, attributes) {
        base.extend(more);
    }
    base
}

/// An axis with a title and further attributes.
fn axis(title: &str, attributes: Value) -> Value {
    let axis = json!({"title": {"text": text(title)}, "automargin": true, "zeroline": false});
    with(axis, attributes)
}

/// The layout of a plot with a height in pixels.
fn layout(horizontal: Value, vertical: Value, height: usize) -> Value {
    json!({
        "xaxis": horizontal,
        "yaxis": vertical,
        "hovermode": "closest",
        "showlegend": true,
        "legend": {"orientation": "h"},
        "margin": margin(TOP),
        "height": height,
    })
}

/// The margin of a plot with a height above it in pixels.
fn margin(top: usize) -> Value {
    json!({"l": 56, "r": 12, "t": top, "b": 48})
}

/// The title of one of several plots of a figure.
fn small_title(words: &str) -> Value {
    json!({"text": text(words), "font": {"size": TITLE_SIZE}})
}

/// Error bars of different lengths in either direction.
fn bars(above: &[f64], below: &[f64]) -> Value {
    json!({"type": "data", "symmetric": false, "array": above, "arrayminus": below})
}

/// A figure with a single plot that is not about a metric.
fn alone(title: String, note: &str, id: String, plot: Plot) -> Figure {
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
