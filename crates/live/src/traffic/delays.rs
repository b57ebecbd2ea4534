//! Delays, round trips and lateness in bounded memory.

use hdrhistogram::Histogram;
use units::Span;

use crate::error::{Error, Result};

/// What is longer counts as this long: an hour.
const LONGEST_NANOS: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds to three digits [HdrHistogram], with the exact
/// mean and extremes beside it.
pub(super) struct Delays {
    nanos: Histogram<u64>,
    sum: u128,
    least: u64,
    most: u64,
}

/// What delays come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many there are.
    pub count: u64,
    /// The least.
    pub least: Span,
    /// Their mean.
    pub mean: Span,
    /// Half of them are no longer; to three digits.
    pub median: Span,
    /// 95 of 100 are no longer; to three digits.
    pub p95: Span,
    /// 99 of 100 are no longer; to three digits.
    pub p99: Span,
    /// The longest.
    pub most: Span,
}

impl Delays {
    pub(super) fn new() -> Result<Self> {
        let nanos = Histogram::new_with_bounds(1, LONGEST_NANOS, 3)
            .map_err(|error| Error::new("keeping delays", error.to_string()))?;
        Ok(Self {
            nanos,
            sum: 0,
            least: u64::MAX,
            most: 0,
        })
    }

    pub(super) fn record(&mut self, nanos: u64) {
        self.nanos.saturating_record(nanos.clamp(1, LONGEST_NANOS));
        self.sum += u128::from(nanos);
        self.least = self.least.min(nanos);
        self.most = self.most.max(nanos);
    }

    /// None where nothing was recorded.
    pub(super) fn figures(&self) -> Option<Figures> {
        let count = self.nanos.len();
        let mean = self.sum.checked_div(count.into())?;
        let quantile = |share| {
            let nanos = self.nanos.value_at_quantile(share);
            Span::from_nanos(nanos.clamp(self.least, self.most))
        };
        Some(Figures {
            count,
            least: Span::from_nanos(self.least),
            mean: Span::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)),
            median: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            most: Span::from_nanos(self.most),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_extremes_are_exact_and_quantiles_within_them() {
        let mut delays = Delays::new().unwrap();
        assert_eq!(delays.figures(), None);
        (1..=1_000).for_each(|micros| delays.record(micros * 1_000 + 1));
        let figures = delays.figures().unwrap();
        assert_eq!(figures.count, 1_000);
        assert_eq!(figures.least, Span::from_nanos(1_001));
        assert_eq!(figures.mean, Span::from_nanos(500_501));
        assert_eq!(figures.most, Span::from_nanos(1_000_001));
        let ordered = [
            figures.least,
            figures.median,
            figures.p95,
            figures.p99,
            figures.most,
        ];
        assert!(ordered.is_sorted(), "{figures:?}");
        assert!(figures.p99.as_nanos().abs_diff(990_000) < 1_000);
    }
}
