//! The record of one trial in the journal.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::compact::{OptionalVec, TrialName};
use crate::evidence::{Fact, Number};
use crate::{Evidence, Factors, Flag, Metrics};

/// The bound of the absolute value of a metric, in any unit: no trial comes
/// near it, and statistics of figures below it are finite.
pub const LARGEST_FIGURE: f64 = 1e18;

/// A finished trial: one line of the journal, see docs/reference/formats.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The name of the trial within the plan: cell number and repeat,
    /// `c03-r07`.
    pub id: TrialName,
    /// The factors of its cell.
    #[serde(serialize_with = "of_cell", deserialize_with = "shared")]
    pub factors: Arc<Factors>,
    /// The repeat, from 1.
    pub repeat: u32,
    /// Which attempt at this repeat it is, from 1. A trial that other work
    /// disturbed is run again at the end of the run.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The start time, RFC 3339 in UTC with milliseconds; simulated trials have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Box<str>>,
    /// The duration including set-up, in seconds; of a simulated trial, the
    /// simulated time.
    pub seconds: f64,
    /// The reason of a failure. A failed trial has no metrics and is never
    /// averaged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Box<str>>,
    /// The flags of a finished trial. A flagged trial is kept and averaged, and
    /// the quality check lists the flag. See [`crate::Flag`] for the names.
    #[serde(default, skip_serializing_if = "none")]
    pub flags: OptionalVec<String>,
    /// The passes of the trial that other work on the machine disturbed.
    #[serde(default, skip_serializing_if = "none")]
    pub disturbed: OptionalVec<DisturbedPass>,
    /// Values by metric name, in the units of [`crate::metric`].
    pub metrics: Metrics,
    /// Evidence for the values: counters, read-backs and limits, as numbers or
    /// text by name; see [`crate::evidence`] for the names.
    pub evidence: Evidence,
}

/// A pass of a trial that other work on the machine disturbed. The machine alone
/// decides this, not the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisturbedPass {
    /// The name of the pass; `trial` is the whole trial.
    pub pass: String,
    /// The disturbance, in one line.
    pub reason: String,
    /// The metrics and the evidence that the pass supplies, by name. Empty for
    /// `trial`: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The attempt whose values replace those of this pass. Journals have none:
    /// [`crate::attempts::combined`] sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<u32>,
}

impl DisturbedPass {
    /// The name of the pass that is the whole trial.
    pub const WHOLE: &'static str = "trial";

    /// A disturbance of the whole trial.
    pub fn of_trial(reason: impl Into<String>) -> Self {
        Self {
            pass: Self::WHOLE.to_owned(),
            reason: reason.into(),
            values: Vec::new(),
            replaced_by: None,
        }
    }
}

fn of_cell<S: Serializer>(factors: &Arc<Factors>, serializer: S) -> Result<S::Ok, S::Error> {
    factors.as_ref().serialize(serializer)
}

fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Factors>, D::Error> {
    Factors::deserialize(deserializer).map(Arc::new)
}

fn none<T: 'static>(list: &OptionalVec<T>) -> bool {
    list.is_empty()
}

pub(crate) const fn first() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

impl Trial {
    /// The value of `fact` in the evidence as a number, if it is known.
    pub fn number<T: Number>(&self, fact: Fact<T>) -> Option<f64> {
        self.evidence.number(fact)
    }

    /// Whether other work disturbed a pass of the trial, and no other attempt
    /// replaces it. Journals of older versions have only the flag.
    pub fn is_disturbed(&self) -> bool {
        let left = |pass: &DisturbedPass| pass.replaced_by.is_none();
        match self.disturbed.is_empty() {
            true => self
                .flags
                .iter()
                .any(|flag| flag == Flag::Disturbed.as_str()),
            false => self.disturbed.iter().any(left),
        }
    }

    /// Whether the value of `metric` comes from a disturbed pass.
    pub fn is_disturbed_in(&self, metric: &str) -> bool {
        let covers = |pass: &DisturbedPass| {
            pass.replaced_by.is_none()
                && (pass.values.is_empty() || pass.values.iter().any(|name| name == metric))
        };
        match self.disturbed.is_empty() {
            true => self.is_disturbed(),
            false => self.disturbed.iter().any(covers),
        }
    }
}
