//! The record of one trial in the journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Factors;

/// A finished trial: one line of the journal, see docs/formats.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The name of the trial within the plan: cell number and repeat,
    /// `c03-r07`.
    pub id: String,
    /// The factors of its cell.
    pub factors: Factors,
    /// The repeat, from 1.
    pub repeat: u32,
    /// The start time, RFC 3339 in UTC with milliseconds; simulated trials have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The duration including set-up, in seconds; of a simulated trial, the
    /// simulated time.
    pub seconds: f64,
    /// The reason of a failure. A failed trial has no metrics and is never
    /// averaged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The flags of a finished trial. A flagged trial is kept and averaged, and
    /// the certificate lists the flag. See [`crate::Flag`] for the names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Values by metric name, in the units of [`crate::metric`].
    pub metrics: BTreeMap<String, f64>,
    /// Evidence for the values: counters, read-backs and limits, as numbers or
    /// text by name; docs/formats.md lists them.
    pub evidence: BTreeMap<String, serde_json::Value>,
}

impl Trial {
    /// The number called `key` in the evidence.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.evidence.get(key)?.as_f64()
    }
}
