//! Figures of studies that reports redraw.

use crate::{Factors, Level};

/// A figure of a study, redrawn with this run's data beside what is printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFigure {
    /// Its title, such as `Figure 2 of [Praptodiyono2019]: RTT`.
    pub title: String,
    /// The quantities on its axes.
    pub shows: Shows,
    /// The cells that it shows: each listed factor has one of the listed levels.
    pub cells: Vec<(String, Vec<Level>)>,
    /// Printed points that no `[[published]]` has.
    pub points: Vec<PrintedPoint>,
}

/// The quantities on the axes of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Shows {
    /// Means of metrics, by report name, over the levels of a factor. Without a
    /// factor: the metrics side by side.
    Metrics {
        /// The metrics, all of one unit.
        metrics: Vec<String>,
        /// The factor along the axis.
        x: Option<String>,
    },
    /// The queue of a link and its average over time.
    OverTime {
        /// The link's name.
        link: String,
        /// A time to mark, in seconds, and what happens then.
        event: Option<(f64, String)>,
    },
    /// Times of messages by size, between two sizes in bytes.
    Sizes {
        /// The smallest size.
        from: u32,
        /// The largest size.
        to: u32,
    },
}

/// A point as printed in a study.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedPoint {
    /// The name of the line that it is a point of.
    pub name: String,
    /// Its place along the axis.
    pub x: f64,
    /// Its value, in the unit of the figure.
    pub y: f64,
}

impl ReportFigure {
    /// Whether the figure shows a cell with these factors.
    pub fn includes(&self, factors: &Factors) -> bool {
        self.cells.iter().all(|(name, levels)| {
            let level = factors.level(name);
            level.is_none_or(|level| levels.iter().any(|listed| listed.is_same(level)))
        })
    }
}
