//! The measurements of a trial before they are written to the journal.

pub(crate) mod flows;
pub(crate) mod over_time;
mod probe;
pub(crate) mod request_response;

use std::collections::BTreeMap;

use plan::evidence::{Fact, Notes};
use plan::metric::Metric;
use plan::{DisturbedPass, Flag};
use serde::Serialize;

/// The measurements of a trial.
#[derive(Default)]
pub struct Measurements {
    /// Values by metric.
    pub metrics: BTreeMap<&'static str, f64>,
    /// Evidence that supports the metrics.
    pub evidence: Notes,
    /// Flags that warn about the metrics.
    pub flags: Vec<Flag>,
    /// The passes that other work on the machine disturbed.
    pub disturbed: Vec<DisturbedPass>,
}

impl Measurements {
    /// Adds evidence that supports the metrics; `None`: it is unknown.
    pub(crate) fn note<T: Serialize>(&mut self, fact: Fact<T>, value: impl Into<Option<T>>) {
        self.evidence.note(fact, value);
    }

    /// Adds the value of a metric, if there is one.
    pub(crate) fn put(&mut self, metric: &Metric, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.metrics.insert(metric.name, value);
        }
    }

    /// The value of a metric, if there is one.
    pub(crate) fn value(&self, metric: &Metric) -> Option<f64> {
        self.metrics.get(metric.name).copied()
    }
}
