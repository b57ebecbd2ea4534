//! The resolutions of metrics.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::fact::Fact;
use crate::metric::Metric;

/// How the names of the evidence of [`resolution`] begin.
const RESOLUTION: &str = "resolution_";

/// The smallest difference of `metric` that the trial could tell, instead of the metric's own.
pub fn resolution(metric: &Metric) -> Fact<f64> {
    static MADE: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let name = format!("{RESOLUTION}{}", metric.name);
    // The set is consistent even after a panic: each entry is inserted in one step.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Fact::new(match made.get(name.as_str()) {
        Some(known) => known,
        None => {
            // A run has few metrics.
            let name: &'static str = name.leak();
            made.insert(name);
            name
        }
    })
}

/// The name of the metric whose [`resolution`] the evidence `name` is, if it is one.
pub fn metric_of_resolution(name: &str) -> Option<&str> {
    name.strip_prefix(RESOLUTION)
}
