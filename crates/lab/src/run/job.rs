//! A trial to run.

use plan::{Factors, Setting, Trial};

use crate::measurements::Measurements;

/// The name and the content of a trial.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    /// The name of the trial.
    pub(crate) id: String,
    /// Its factors.
    pub(crate) factors: Factors,
    /// Which repeat it is.
    pub(crate) repeat: u32,
    /// Which attempt at it, from 1.
    pub(crate) attempt: u32,
    pub(crate) setting: &'a Setting,
}

impl Job<'_> {
    /// The trial that came of it, without its times.
    pub(super) fn trial(self, measurements: Measurements, failure: Option<String>) -> Trial {
        Trial {
            id: self.id.into(),
            factors: self.factors.into(),
            repeat: self.repeat,
            attempt: self.attempt,
            start: None,
            seconds: 0.0,
            failure: failure.map(String::into_boxed_str),
            disturbed: measurements.disturbed.into(),
            flags: measurements
                .flags
                .iter()
                .map(|flag| flag.as_str().to_owned())
                .collect(),
            metrics: measurements.metrics.into_iter().collect(),
            evidence: measurements.evidence.into(),
        }
    }
}
