//! The prediction of a cell by closed forms.

use std::collections::BTreeMap;

use plan::evidence;
use plan::metric::Metric;

use crate::measurements::Measurements;

/// The prediction of closed forms for a cell.
#[derive(Default)]
pub(super) struct Prediction {
    pub(super) measurements: Measurements,
    /// Metrics that other backends measure of such traffic, and why there is no
    /// closed form of them here.
    absent: BTreeMap<String, String>,
}

impl Prediction {
    pub(super) fn put(&mut self, metric: &Metric, value: f64) {
        self.measurements.put(metric, Some(value));
    }

    /// Leaves out `metrics`, for this reason.
    pub(super) fn leave_out(&mut self, metrics: &[&Metric], why: &str) {
        let absent = metrics.iter();
        let absent = absent.map(|metric| (metric.name.to_owned(), why.to_owned()));
        self.absent.extend(absent);
    }

    /// Names what bounds the figures, in the evidence.
    pub(super) fn bound_by(&mut self, what: &str) {
        self.measurements.note(evidence::BOUND, what.to_owned());
    }

    pub(super) fn into_measurements(mut self) -> Measurements {
        if !self.absent.is_empty() {
            self.measurements.note(evidence::NOT_PREDICTED, self.absent);
        }
        self.measurements
    }
}
