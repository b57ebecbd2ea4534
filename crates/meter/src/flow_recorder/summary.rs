//! The statistics of a transfer, each with its definition.

use units::Bytes;

use crate::streaming_recorder::SHARES;

/// The statistics of a transfer. Times are in seconds; undefined values, such as the
/// mean delay without arrivals, are `None`.
///
/// The equation `received + lost - duplicates - unexpected == expected` always holds.
///
/// A message that arrived before it was sent proves that the clocks differ. It counts
/// as received, but delay and jitter ignore it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Summary {
    /// Messages that arrived, duplicates included.
    pub received: u64,
    /// Messages sent.
    pub expected: u64,
    /// Messages that never arrived [RFC7680 s2.4].
    pub lost: u64,
    /// `lost / expected` [RFC7680 s4.1].
    pub loss_fraction: Option<f64>,
    /// Arrivals beyond the first; only the first counts in the fields below, unless
    /// noted otherwise [RFC7679 s3.5].
    pub duplicates: u64,
    /// Messages with a number that was never sent. They do not offset losses.
    pub unexpected: u64,
    /// Messages numbered below one that arrived earlier [RFC4737 s3.3].
    pub reordered: u64,
    /// Messages, duplicates included, that arrived before they were sent.
    pub negative_delays: u64,
    /// Bytes that arrived, duplicates included.
    pub bytes: Bytes,
    /// Mean one-way delay [RFC7679 s3.4].
    pub delay_mean: Option<f64>,
    /// Smallest one-way delay [RFC7679 s5.3].
    pub delay_min: Option<f64>,
    /// Largest one-way delay.
    pub delay_max: Option<f64>,
    /// Root mean square deviation from the mean delay. It describes these messages and
    /// estimates no population, so the divisor is their number, not one less.
    pub delay_standard_deviation: Option<f64>,
    /// Median one-way delay, to three digits [RFC7679 s5.2].
    pub delay_p50: Option<f64>,
    /// 95th percentile of one-way delay, to three digits [RFC7679 s5.1].
    pub delay_p95: Option<f64>,
    /// 99th percentile of one-way delay, to three digits [RFC7679 s5.1].
    pub delay_p99: Option<f64>,
    /// The quantiles [`SHARES`](crate::streaming_recorder::SHARES) of one-way delay, to
    /// three digits [RFC7679 s5.1].
    #[cfg_attr(feature = "serde", serde(default))]
    pub delay_quantiles: Option<[f64; SHARES.len()]>,
    /// Mean of |delay - mean delay| [Praptodiyono2019 s3.2].
    pub jitter_mean_deviation: Option<f64>,
    /// Mean of |D(i) - D(i-1)| in the order of arrival, duplicates included, regardless
    /// of sequence numbers [D-ITG].
    pub jitter_ditg: Option<f64>,
    /// RTP's jitter after the last message, in the order of arrival, duplicates
    /// included [RFC3550 s6.4.1].
    pub jitter_rfc3550: Option<f64>,
    /// 95th percentile of |D(i) - D(i-1)|, to three digits. Its selection function
    /// takes messages with consecutive numbers that both arrived [RFC3393 s2].
    pub ipdv_p95: Option<f64>,
}
