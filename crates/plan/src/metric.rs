//! The catalogue of metrics: name, unit, definition and instrument resolution.

/// A constant for each metric, and the list of all of them.
macro_rules! metrics {
    ($(#[$doc:meta])* $list:ident: $($constant:ident = $metric:expr;)+) => {
        $(pub const $constant: Metric = $metric;)+

        $(#[$doc])*
        pub const $list: &[Metric] = &[$($constant),+];
    };
}

mod catalogue;
mod flow;
mod latency_breakdown;
mod order;
mod window;

pub use catalogue::*;
pub use flow::of_flow;
pub use latency_breakdown::{GOODPUT_ECHOED, OF_LATENCY_BREAKDOWN, UNEXPLAINED_SHARE, part_metric};
pub use order::{measured, position};
pub use window::*;

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
    pub better: MetricDirection,
    /// The part of a report that shows the metric.
    pub shown: Shown,
    /// The smallest difference that the instrument can resolve, if known.
    pub resolution: Option<Resolution>,
    /// Whether the metric is also reported for each flow separately.
    pub of_flows: bool,
    /// Whether the metric may be below zero: a difference of two clocks, of two meters or
    /// of two shares.
    pub signed: bool,
}

/// The direction of improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricDirection {
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
    /// One tick of the machine's CPU accounting, divided by the metered bytes.
    CpuTick,
}

/// Kernel stamps and monotonic stamps have nanoseconds but are taken by
/// software. Two stamps of one event agree within a microsecond, which is also
/// the unit of TCP_INFO [tcp(7)]. In milliseconds.
const STAMP: Resolution = Resolution::Absolute(0.001);

/// Whether the metric `name`, also that of a flow, is below zero in no trial. Those of latency
/// breakdowns and of windows are not among them.
pub fn is_never_negative(name: &str) -> bool {
    let base = flow::base(name);
    METRICS
        .iter()
        .any(|metric| metric.name == base && !metric.signed)
}

/// Whether a trial can have `value` of the metric `name`.
pub fn is_possible(name: &str, value: f64) -> bool {
    match value {
        0.0..=100.0 => true,
        0.0..=LARGEST_FIGURE => flow::base(name) != LOSS.name,
        _ => (-LARGEST_FIGURE..0.0).contains(&value) && !is_never_negative(name),
    }
}

impl Metric {
    /// Whether reports show the metric first, unless the experiment names others.
    pub fn is_shown_first(&self) -> bool {
        self.shown == Shown::First
    }

    /// The name without that of the flow, if the metric belongs to a single one.
    pub fn base(&self) -> &'static str {
        flow::base(self.name)
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
        better: MetricDirection,
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
            signed: false,
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

    /// Lets the metric be below zero.
    const fn signed(self) -> Self {
        Self {
            signed: true,
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
            name if name == CPU_SENDER.name => Some(&CPU_SENDER_HIGH),
            name if name == CPU_RECEIVER.name => Some(&CPU_RECEIVER_HIGH),
            _ => None,
        }
    }
}

const fn lower(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    definition: &'static str,
) -> Metric {
    Metric::new(name, unit, title, definition, MetricDirection::Lower)
}

const fn higher(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    definition: &'static str,
) -> Metric {
    Metric::new(name, unit, title, definition, MetricDirection::Higher)
}

#[cfg(test)]
mod tests;
