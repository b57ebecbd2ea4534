//! Statistics of the timing error of departures.

use hdrhistogram::Histogram;
use units::{Span, Time};

use os::clock;
use os::error::{Error, Result};

/// Upper bound of the recorded timing error.
const LATEST_NANOS: u64 = 1_000_000_000;

/// Two histograms of nanoseconds, to three digits [HdrHistogram].
pub(super) struct TimingError {
    /// Departures since the last [`TimingError::take`].
    recent: Histogram<u64>,
    /// All departures before that.
    whole: Histogram<u64>,
}

impl TimingError {
    pub(super) fn new() -> Result<Self> {
        let empty = Histogram::new_with_bounds(1, LATEST_NANOS, 3)
            .map_err(|error| Error::new("recording timing error", error.to_string()))?;
        Ok(Self {
            recent: empty.clone(),
            whole: empty,
        })
    }

    /// Records the timing error of a batch whose sending began at `begun` and has just
    /// ended: the kernel sends one frame after the other, so their departures are
    /// interpolated.
    pub(super) fn record(&mut self, begun: Time, due: &[Time]) {
        let took = clock::monotonic().since(begun).unwrap_or_default();
        let each = took.as_picos() / due.len().max(1) as u64;
        for (place, &due) in (1..).zip(due) {
            let left = begun + Span::from_picos(each * place);
            let late = left.since(due).unwrap_or_default();
            let nanos = late.as_nanos().clamp(1, LATEST_NANOS);
            self.recent.saturating_record(nanos);
        }
    }

    /// The number of departures since the last call, and their timing error: median, 99th
    /// percentile and maximum.
    pub(super) fn take(&mut self) -> (u64, [Span; 3]) {
        let taken = (self.recent.len(), quantiles(&self.recent));
        // Both have the same bounds, so no value is out of range.
        let _ = self.whole.add(&self.recent);
        self.recent.reset();
        taken
    }

    /// The timing error of all departures until the last [`TimingError::take`], likewise.
    pub(super) fn whole(&self) -> [Span; 3] {
        quantiles(&self.whole)
    }
}

/// Median, 99th percentile and maximum.
fn quantiles(nanos: &Histogram<u64>) -> [Span; 3] {
    [0.5, 0.99, 1.0].map(|quantile| Span::from_nanos(nanos.value_at_quantile(quantile)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_as_late_as_its_frames_one_after_the_other() {
        let mut timing_error = TimingError::new().unwrap();
        let begun = clock::monotonic();
        let due = vec![begun; 100];
        timing_error.record(begun, &due);
        let (count, [median, _, latest]) = timing_error.take();
        assert_eq!(count, 100);
        assert!(median <= latest, "{median} {latest}");
        // Three digits may be rounded up.
        let passed = clock::monotonic().since(begun).unwrap().as_secs_f64();
        assert!(latest.as_secs_f64() <= passed * 1.001 + 1e-9, "{latest}");
        assert_eq!(timing_error.whole()[2], latest);
        assert_eq!(timing_error.take(), (0, [Span::ZERO; 3]));
    }
}
