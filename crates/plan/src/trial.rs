//! What one trial leaves in the journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Factors;

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
    /// certificate says so. See [`crate::Flag`] for the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Figures by metric, in the units of [`crate::metric`].
    pub metrics: BTreeMap<String, f64>,
    /// What supports the figures: counters, read-backs, limits. Numbers and
    /// words by name; docs/formats.md lists them.
    pub evidence: BTreeMap<String, serde_json::Value>,
}

impl Trial {
    /// The number called `key` in its evidence.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.evidence.get(key)?.as_f64()
    }
}
