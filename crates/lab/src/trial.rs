//! What one trial leaves in the journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::certificate::Flag;
use crate::plan::Factors;

/// One finished trial: a line of the journal, see docs/formats.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Stable name within the plan: the cell's number and the repeat, `c03-r07`.
    pub id: String,
    /// The cell it belongs to.
    pub factors: Factors,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
    /// When it began, RFC 3339 in UTC with milliseconds; a simulated trial has
    /// no such instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// How long it took, set-up included, in seconds; of a simulated trial, for
    /// how long its network ran.
    pub seconds: f64,
    /// Why it failed; a failed trial has no metrics and is never averaged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What is wrong with it though it finished. It is kept and averaged; the
    /// certificate says so. See [`crate::certificate`] for the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Figures by metric, in the units of [`crate::metric`].
    pub metrics: BTreeMap<String, f64>,
    /// What supports the figures: counters, read-backs, limits. Numbers and
    /// words by name; docs/formats.md lists them.
    pub evidence: BTreeMap<String, serde_json::Value>,
}

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
