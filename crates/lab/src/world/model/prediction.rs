//! The prediction of a cell by closed forms.

use std::collections::BTreeMap;

use serde_json::json;

use crate::measurements::Measurements;

/// The prediction of closed forms for a cell.
#[derive(Default)]
pub(super) struct Prediction {
    pub(super) measurements: Measurements,
    /// Metrics that other worlds measure of such traffic, and why there is no
    /// closed form of them here.
    absent: BTreeMap<&'static str, String>,
}

impl Prediction {
    pub(super) fn put(&mut self, metric: &str, value: f64) {
        self.measurements.put(metric, Some(value));
    }

    /// Leaves out `metrics`, for this reason.
    pub(super) fn leave_out(&mut self, metrics: &[&'static str], why: &str) {
        let absent = metrics.iter().map(|metric| (*metric, why.to_owned()));
        self.absent.extend(absent);
    }

    /// Names what bounds the figures, in the evidence.
    pub(super) fn bound_by(&mut self, what: &str) {
        self.measurements.note("bound", json!(what));
    }

    pub(super) fn into_measurements(mut self) -> Measurements {
        if !self.absent.is_empty() {
            self.measurements.note("not_predicted", json!(self.absent));
        }
        self.measurements
    }
}
