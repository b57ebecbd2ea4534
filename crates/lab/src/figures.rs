//! What a trial measured, before it is put into the journal.

pub(crate) mod flows;

use std::collections::BTreeMap;

use plan::Flag;

/// What a trial puts into the journal.
#[derive(Default)]
pub struct Figures {
    /// Figures by metric.
    pub metrics: BTreeMap<String, f64>,
    /// What supports them.
    pub evidence: BTreeMap<String, serde_json::Value>,
    /// What is wrong with them.
    pub flags: Vec<Flag>,
}

impl Figures {
    /// Puts down something that supports the figures.
    pub(crate) fn note(&mut self, name: &str, value: serde_json::Value) {
        self.evidence.insert(name.to_owned(), value);
    }

    /// Puts down a figure, if there is one.
    pub(crate) fn put(&mut self, metric: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.metrics.insert(metric.to_owned(), value);
        }
    }
}
