//! The measurements of a trial before they are written to the journal.

pub(crate) mod flows;
pub(crate) mod over_time;
mod probe;

use std::collections::BTreeMap;

use plan::{DisturbedPass, Flag};

pub(crate) use probe::{PeerAnswer, PeerLimit, PeerVerdict};

/// The measurements of a trial.
#[derive(Default)]
pub struct Measurements {
    /// Values by metric.
    pub metrics: BTreeMap<String, f64>,
    /// Evidence that supports the metrics.
    pub evidence: BTreeMap<String, serde_json::Value>,
    /// Flags that put the metrics in doubt.
    pub flags: Vec<Flag>,
    /// The passes that other work on the machine disturbed.
    pub disturbed: Vec<DisturbedPass>,
}

impl Measurements {
    /// Adds evidence that supports the metrics.
    pub(crate) fn note(&mut self, name: &str, value: serde_json::Value) {
        self.evidence.insert(name.to_owned(), value);
    }

    /// Adds the value of a metric, if there is one.
    pub(crate) fn put(&mut self, metric: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.metrics.insert(metric.to_owned(), value);
        }
    }
}
