//! The statistics of a flow, each with its definition.

use super::float;

/// The statistics of one flow. Undefined values, such as the mean delay without
/// arrivals, are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSummary {
    /// Packets that arrived, duplicates included.
    pub received: u64,
    /// Bytes of payload that arrived, without duplicates.
    pub bytes: u64,
    /// Time from the first to the last arrival, in seconds.
    pub seconds: f64,
    /// Bits per second from the first to the last arrival: the bytes of all packets
    /// but the first, whose transmission precedes the interval.
    pub goodput: Option<f64>,
    /// Packets with a missing timestamp.
    pub unstamped: u64,
    /// Loss, duplicates and reordering.
    pub order: OrderSummary,
    /// Delay and its variation.
    pub delay: DelaySummary,
}

/// Loss, duplicates and reordering. `distinct + lost == expected`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderSummary {
    /// Packets sent.
    pub expected: u64,
    /// Sent packets that arrived.
    pub distinct: u64,
    /// Sent packets that never arrived [RFC7680 s2.4].
    pub lost: u64,
    /// Maximal runs of lost packets.
    pub loss_bursts: u64,
    /// Length of the longest run, in packets.
    pub longest_loss_burst: u64,
    /// Arrivals beyond the first.
    pub duplicates: u64,
    /// Packets with a number that was never sent. They do not offset losses.
    pub unexpected: u64,
    /// Packets [`super::WINDOW`] or more below the highest number, which may be
    /// duplicates. They count as reordered, and stay in the loss bursts.
    pub stale: u64,
    /// Packets numbered below one that arrived earlier [RFC4737 s3.3].
    pub reordered: u64,
    /// Sum of the extents of reordering: the number of packets between a reordered one
    /// and the first earlier arrival with a larger number [RFC4737 s4.2].
    pub extents: u128,
    pub largest_extent: u64,
    /// Number of n-reordered packets, at index `n - 1`: the n packets right before all
    /// have larger numbers [RFC4737 s5.3]. TCP interprets 3-reordering as loss.
    pub n_reordered: [u64; super::DEGREES],
}

/// One-way delay or round-trip time, whichever is measured, and its variation. All
/// times are in seconds; duplicates do not count unless noted otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelaySummary {
    /// Packets with a known delay of zero or more.
    pub count: u64,
    /// Packets with a negative delay, which proves that the clocks differ. They count
    /// for the variation only.
    pub negative: u64,
    /// Mean delay [RFC7679 s3.4].
    pub mean: Option<f64>,
    /// Minimum delay [RFC7679 s5.3].
    pub min: Option<f64>,
    /// Maximum delay.
    pub max: Option<f64>,
    /// Root mean square deviation from the mean over these packets; the divisor is
    /// their number.
    pub standard_deviation: Option<f64>,
    /// Median delay, to three digits [RFC7679 s5.2].
    pub p50: Option<f64>,
    /// 95th percentile of the delay, to three digits [RFC7679 s5.1].
    pub p95: Option<f64>,
    /// 99th percentile of the delay, to three digits.
    pub p99: Option<f64>,
    /// 99.9th percentile of the delay, to three digits.
    pub p999: Option<f64>,
    /// Packet delay variation: the 99th percentile minus the minimum delay
    /// [RFC5481 s4.2].
    pub pdv_p99: Option<f64>,
    /// The 99.9th percentile minus the minimum delay [RFC5481 s4.2].
    pub pdv_p999: Option<f64>,
    /// Pairs of packets with consecutive numbers that both arrived, at most
    /// [`super::NEIGHBOURS`] numbers apart in time.
    pub ipdv_count: u64,
    /// Mean of |D(i) - D(i-1)| over these pairs, which are IPDV's selection function
    /// [RFC3393 s2].
    pub ipdv_mean: Option<f64>,
    /// Median of |D(i) - D(i-1)|, to three digits.
    pub ipdv_p50: Option<f64>,
    /// 95th percentile of |D(i) - D(i-1)|, to three digits.
    pub ipdv_p95: Option<f64>,
    /// 99th percentile of |D(i) - D(i-1)|, to three digits.
    pub ipdv_p99: Option<f64>,
    /// Maximum of |D(i) - D(i-1)|.
    pub ipdv_max: Option<f64>,
    /// RTP's jitter after the last packet, in the order of arrival, duplicates included
    /// [RFC3550 s6.4.1]; `None` for several flows together.
    pub jitter_rfc3550: Option<f64>,
}

impl OrderSummary {
    /// Adds the statistics of another flow.
    pub fn add(&mut self, other: &Self) {
        let sum = |one: &mut u64, other: u64| *one = one.saturating_add(other);
        sum(&mut self.expected, other.expected);
        sum(&mut self.distinct, other.distinct);
        sum(&mut self.lost, other.lost);
        sum(&mut self.loss_bursts, other.loss_bursts);
        self.longest_loss_burst = self.longest_loss_burst.max(other.longest_loss_burst);
        sum(&mut self.duplicates, other.duplicates);
        sum(&mut self.unexpected, other.unexpected);
        sum(&mut self.stale, other.stale);
        sum(&mut self.reordered, other.reordered);
        self.extents += other.extents;
        self.largest_extent = self.largest_extent.max(other.largest_extent);
        for (one, other) in self.n_reordered.iter_mut().zip(other.n_reordered) {
            sum(one, other);
        }
    }

    /// `lost / expected` [RFC7680 s4.1].
    pub fn loss(&self) -> Option<f64> {
        ratio(self.lost, self.expected)
    }

    /// Mean length of a loss burst, in packets.
    pub fn mean_loss_burst(&self) -> Option<f64> {
        ratio(self.lost, self.loss_bursts)
    }

    /// Share of reordered packets among those that arrived [RFC4737 s4.1].
    pub fn reordering(&self) -> Option<f64> {
        ratio(self.reordered, self.distinct)
    }

    /// Mean extent of reordering, in packets.
    pub fn mean_extent(&self) -> Option<f64> {
        let extents = self.extents as f64;
        (self.reordered > 0).then(|| extents / float(self.reordered))
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| float(part) / float(whole))
}
