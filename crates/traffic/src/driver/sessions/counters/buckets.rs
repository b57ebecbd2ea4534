//! A histogram of nanoseconds that one thread fills and others read at any time.

use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use units::Span;
use units::with_unit::seconds;

/// Buckets per doubling: values are known to 1 part in 64.
const STEP_BITS: u32 = 6;
const STEPS: u64 = 1 << STEP_BITS;

/// Values of 2^42 ns, which is 73 minutes, and more share the last bucket.
const DOUBLINGS: u32 = 42;
const COUNT: usize = ((DOUBLINGS - STEP_BITS + 1) as usize) << STEP_BITS;

/// The buckets, each with the number of its values modulo 2^32.
#[derive(Debug)]
pub(in super::super) struct Buckets(Box<[AtomicU32]>);

/// A reader of the values since its last reading.
#[derive(Debug)]
pub(in super::super) struct Reading {
    before: Vec<u32>,
}

/// The values of an interval, each to 1 part in 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// Number of values.
    pub count: u64,
    #[serde(rename = "p50", serialize_with = "seconds::serialize")]
    pub median: Span,
    /// 95th percentile.
    #[serde(serialize_with = "seconds::serialize")]
    pub p95: Span,
    /// 99th percentile.
    #[serde(serialize_with = "seconds::serialize")]
    pub p99: Span,
    /// Maximum.
    #[serde(rename = "max", serialize_with = "seconds::serialize")]
    pub most: Span,
}

impl Default for Buckets {
    fn default() -> Self {
        Self((0..COUNT).map(|_| AtomicU32::new(0)).collect())
    }
}

impl Buckets {
    /// Counts a value; one thread at a time calls this.
    pub(in super::super) fn record(&self, nanos: u64) {
        let bucket = &self.0[place(nanos)];
        let count = bucket.load(Ordering::Relaxed).wrapping_add(1);
        bucket.store(count, Ordering::Relaxed);
    }
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            before: vec![0; COUNT],
        }
    }
}

impl Reading {
    /// The values since the last call, or since the start.
    pub(in super::super) fn next(&mut self, buckets: &Buckets) -> Quantiles {
        let counts: Vec<u32> = buckets
            .0
            .iter()
            .zip(&mut self.before)
            .map(|(bucket, before)| {
                let now = bucket.load(Ordering::Relaxed);
                now.wrapping_sub(std::mem::replace(before, now))
            })
            .collect();
        let count: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let at = |rank: u64| {
            let mut seen = 0;
            let reached = counts.iter().position(|count| {
                seen += u64::from(*count);
                seen >= rank.max(1)
            });
            reached.map_or(Span::ZERO, middle)
        };
        Quantiles {
            count,
            median: at(count.div_ceil(2)),
            p95: at((count * 95).div_ceil(100)),
            p99: at((count * 99).div_ceil(100)),
            most: at(count),
        }
    }
}

/// The bucket of a value.
fn place(nanos: u64) -> usize {
    let doubling = nanos.max(STEPS).ilog2() - STEP_BITS;
    let step = nanos >> doubling;
    let place = u64::from(doubling) * STEPS + step;
    usize::try_from(place).unwrap_or(COUNT).min(COUNT - 1)
}

/// The middle of a bucket.
fn middle(place: usize) -> Span {
    let place = place as u64;
    let doubling = (place / STEPS).saturating_sub(1);
    let least = (place - doubling * STEPS) << doubling;
    Span::from_nanos(least + (1 << doubling) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_bucket_holds_values_within_one_part_in_64(nanos in 0_u64..1 << 42) {
            let middle = middle(place(nanos)).as_nanos();
            proptest::prop_assert!(middle.abs_diff(nanos) * STEPS <= nanos);
        }
    }

    #[test]
    fn the_quantiles_are_those_of_the_values_since_the_last_reading() {
        let (buckets, mut reading) = (Buckets::default(), Reading::default());
        assert_eq!(reading.next(&buckets), Quantiles::default());
        for nanos in 1..=100 {
            buckets.record(nanos);
        }
        let read = reading.next(&buckets);
        let spans = [read.median, read.p95, read.p99, read.most];
        assert_eq!(read.count, 100);
        for (span, nanos) in spans.into_iter().zip([50_u64, 95, 99, 100]) {
            assert!(span.as_nanos().abs_diff(nanos) <= 1, "{nanos}: {span}");
        }
        buckets.record(u64::MAX);
        let read = reading.next(&buckets);
        assert_eq!(read.count, 1);
        assert!(read.most > Span::from_secs(4_000));
        assert_eq!(reading.next(&buckets).count, 0);
    }
}
