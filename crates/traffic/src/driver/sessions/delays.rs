//! Distributions of delays, round trips and timing error.

use meter::streaming_recorder::Delays;
use serde::Serialize;
use units::Span;
use units::with_unit::seconds;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DelayDistribution {
    /// Number of values.
    pub count: u64,
    /// Minimum.
    #[serde(rename = "min", serialize_with = "seconds::serialize")]
    pub least: Span,
    #[serde(serialize_with = "seconds::serialize")]
    pub mean: Span,
    /// Median, to three digits.
    #[serde(rename = "p50", serialize_with = "seconds::serialize")]
    pub median: Span,
    /// 95th percentile, to three digits.
    #[serde(serialize_with = "seconds::serialize")]
    pub p95: Span,
    /// 99th percentile, to three digits.
    #[serde(serialize_with = "seconds::serialize")]
    pub p99: Span,
    /// Maximum.
    #[serde(rename = "max", serialize_with = "seconds::serialize")]
    pub most: Span,
}

impl DelayDistribution {
    /// `None` without values.
    pub(super) fn of(delays: &Delays) -> Option<Self> {
        let quantile = |share| delays.quantile_in_nanos(share).map(Span::from_nanos);
        Some(Self {
            count: delays.count(),
            least: Span::from_nanos(delays.min_in_nanos()?),
            mean: Span::from_nanos(delays.mean_in_nanos()?),
            median: quantile(0.5)?,
            p95: quantile(0.95)?,
            p99: quantile(0.99)?,
            most: Span::from_nanos(delays.max_in_nanos()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_extremes_are_exact_and_quantiles_within_them() {
        let mut delays = Delays::default();
        assert_eq!(DelayDistribution::of(&delays), None);
        (1..=1_000).for_each(|micros| delays.record(micros * 1_000 + 1));
        let distribution = DelayDistribution::of(&delays).unwrap();
        assert_eq!(distribution.count, 1_000);
        assert_eq!(distribution.least, Span::from_nanos(1_001));
        assert_eq!(distribution.mean, Span::from_nanos(500_501));
        assert_eq!(distribution.most, Span::from_nanos(1_000_001));
        let ordered = [
            distribution.least,
            distribution.median,
            distribution.p95,
            distribution.p99,
            distribution.most,
        ];
        assert!(ordered.is_sorted(), "{distribution:?}");
        assert!(distribution.p99.as_nanos().abs_diff(990_000) < 1_000);
    }
}
