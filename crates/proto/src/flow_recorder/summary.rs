//! The figures of a transfer, each with the definition it follows.

use units::Bytes;

/// What a transfer came to. Times are in seconds; what is undefined, such as
/// the mean delay of nothing, is `None`.
///
/// `received + lost - duplicates - unexpected == expected`, always.
///
/// A message that arrived before it was sent proves that two clocks disagree.
/// It is counted as received, and for delay and jitter it is as though it had
/// never arrived.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Summary {
    /// Messages that arrived, copies included.
    pub received: u64,
    /// Messages that were sent.
    pub expected: u64,
    /// Messages of which no copy arrived [RFC7680 s2.4].
    pub lost: u64,
    /// `lost / expected` [RFC7680 s4.1].
    pub loss_fraction: Option<f64>,
    /// Copies beyond the first; only the first counts below, unless it says
    /// otherwise [RFC7679 s3.5].
    pub duplicates: u64,
    /// Messages with a number that was never sent. They hide no loss.
    pub unexpected: u64,
    /// Messages numbered below one that arrived earlier [RFC4737 s3.3].
    pub reordered: u64,
    /// Arrivals, copies included, before their sending.
    pub negative_delays: u64,
    /// Octets that arrived, copies included.
    pub bytes: Bytes,
    /// Mean one-way delay [RFC7679 s3.4].
    pub delay_mean: Option<f64>,
    /// Smallest one-way delay [RFC7679 s5.3].
    pub delay_min: Option<f64>,
    /// Largest one-way delay.
    pub delay_max: Option<f64>,
    /// Root of the mean square deviation from the mean delay, over these
    /// messages, not an estimate for others: divided by their number, not by
    /// one less.
    pub delay_standard_deviation: Option<f64>,
    /// Median one-way delay, to three digits [RFC7679 s5.2].
    pub delay_p50: Option<f64>,
    /// 95th percentile of one-way delay, to three digits [RFC7679 s5.1].
    pub delay_p95: Option<f64>,
    /// 99th percentile of one-way delay, to three digits [RFC7679 s5.1].
    pub delay_p99: Option<f64>,
    /// Mean of |delay - mean delay| [Praptodiyono2019 s3.2].
    pub jitter_mean_deviation: Option<f64>,
    /// Mean of |D(i) - D(i-1)| in order of arrival, copies included, whatever
    /// the sequence numbers [D-ITG].
    pub jitter_ditg: Option<f64>,
    /// RTP's jitter after the last message, in order of arrival, copies
    /// included [RFC3550 s6.4.1].
    pub jitter_rfc3550: Option<f64>,
    /// 95th percentile of |D(i) - D(i-1)|, to three digits, over messages with
    /// consecutive numbers that both arrived: the selection function that
    /// makes it IPDV [RFC3393 s2].
    pub ipdv_p95: Option<f64>,
}
