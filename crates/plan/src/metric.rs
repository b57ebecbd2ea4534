//! The catalogue of metrics: name, unit, definition and instrument resolution.

mod catalogue;
mod flow;
mod latency_breakdown;
mod order;
mod page;
mod window;

pub use catalogue::METRICS;
pub use flow::of_flow;
pub use latency_breakdown::{OF_LATENCY_BREAKDOWN, part_metric};
pub use order::{measured, position};
pub use page::documented;
pub use window::{LONGEST as LONGEST_WINDOW, of_window};

use crate::LARGEST_FIGURE;

/// A quantity that a trial measures.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// The name in journals, experiments and JSON.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: &'static str,
    /// The title in tables.
    pub title: &'static str,
    /// The definition, in one sentence.
    pub definition: &'static str,
    /// The direction of improvement.
    pub better: Better,
    /// The part of a report that shows the metric.
    pub shown: Shown,
    /// The smallest difference that the instrument can resolve, if known.
    pub resolution: Option<Resolution>,
    /// Whether the metric is also reported for each flow separately.
    pub of_flows: bool,
}

/// The direction of improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// The part of a report that shows a metric unless the experiment names the
/// metric. JSON and `trials.parquet` contain every metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In a table of its own and in the sentences of the answer.
    First,
    /// In the compact table of other metrics.
    Compact,
    /// Only in JSON, unless an experiment names the metric in
    /// `compare.metrics`.
    Json,
}

/// The smallest difference that the instrument can resolve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// A percentage of the value.
    Percent(f64),
    /// An absolute difference in the metric's unit.
    Absolute(f64),
    /// One tick of the machine's CPU accounting, divided by the metered octets.
    CpuTick,
}

/// Kernel stamps and monotonic stamps have nanoseconds but are taken by
/// software. Two stamps of one event agree within a microsecond, which is also
/// the unit of TCP_INFO [tcp(7)]. In milliseconds.
const STAMP: Resolution = Resolution::Absolute(0.001);

/// The metrics that may be below zero: differences of two clocks, of two meters or of two
/// shares.
const SIGNED: [&str; 8] = [
    "cpu_message",
    "delay",
    "delay_p99",
    "drop_bias",
    "energy",
    "first_delivery",
    "latency",
    "latency_ditg",
];

/// Whether the metric `name`, also that of a flow, is below zero in no trial. Those of latency
/// breakdowns and of windows are not among them.
pub fn is_never_negative(name: &str) -> bool {
    let base = name.split('/').next().unwrap_or(name);
    METRICS.iter().any(|metric| metric.name == base) && !SIGNED.contains(&base)
}

/// Whether a trial can have `value` of the metric `name`.
pub fn is_possible(name: &str, value: f64) -> bool {
    match value {
        0.0..=100.0 => true,
        0.0..=LARGEST_FIGURE => name != "loss" && !name.starts_with("loss/"),
        _ => (-LARGEST_FIGURE..0.0).contains(&value) && !is_never_negative(name),
    }
}

impl Metric {
    /// Whether reports show the metric first, unless the experiment names others.
    pub fn is_shown_first(&self) -> bool {
        self.shown == Shown::First
    }

    /// Whether the metric belongs to a single flow (`delay/NAME`).
    pub fn is_of_flow(&self) -> bool {
        flow::split(self.name).is_some()
    }

    /// Whether the metric belongs to a window of the trial (`mean_queue_NAME`).
    pub fn is_of_window(&self) -> bool {
        window::base(self.name).is_some()
    }

    const fn new(
        name: &'static str,
        unit: &'static str,
        title: &'static str,
        definition: &'static str,
        better: Better,
    ) -> Self {
        Self {
            name,
            unit,
            title,
            definition,
            better,
            shown: Shown::Compact,
            resolution: None,
            of_flows: false,
        }
    }

    /// Shows the metric first.
    const fn first(self) -> Self {
        Self {
            shown: Shown::First,
            ..self
        }
    }

    /// Shows the metric in JSON only.
    const fn in_json(self) -> Self {
        Self {
            shown: Shown::Json,
            ..self
        }
    }

    /// Sets the resolution of the instrument.
    const fn with_resolution(self, resolution: Resolution) -> Self {
        Self {
            resolution: Some(resolution),
            ..self
        }
    }

    /// Reports the metric for each flow separately, too.
    const fn of_flows(self) -> Self {
        Self {
            of_flows: true,
            ..self
        }
    }

    /// Looks up a metric by name: of the catalogue, of one flow (`delay/NAME`)
    /// or of one window (`mean_queue_NAME`).
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut of_catalogue = METRICS.iter().chain(&OF_LATENCY_BREAKDOWN);
        of_catalogue
            .find(|metric| metric.name == name)
            .or_else(|| flow::named(name))
            .or_else(|| window::named(name))
    }

    /// For a per-host CPU metric, the upper bound of its attribution interval:
    /// the process plus all softirq.
    pub fn attribution(&self) -> Option<&'static Self> {
        match self.name {
            "cpu_sender" => Self::named("cpu_sender_high"),
            "cpu_receiver" => Self::named("cpu_receiver_high"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
