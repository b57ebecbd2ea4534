//! The statistics of a flow, each with the definition it follows.

use super::float;

/// The statistics of one flow. A value that is undefined, such as the mean delay of nothing,
/// is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSummary {
    /// Packets that arrived, copies included.
    pub received: u64,
    /// Octets of payload that arrived, copies not counted.
    pub octets: u64,
    /// From the first arrival to the last, in seconds.
    pub seconds: f64,
    /// Bits a second from the first arrival to the last: the octets of all
    /// packets but the first, because its own time is before.
    pub goodput: Option<f64>,
    /// Packets of which an instant is missing.
    pub unstamped: u64,
    /// Which numbers came.
    pub order: OrderSummary,
    /// How long they took.
    pub delay: DelaySummary,
}

/// Loss, copies and order. `distinct + lost == expected`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderSummary {
    /// Packets that were sent.
    pub expected: u64,
    /// Of these, those that arrived.
    pub distinct: u64,
    /// Of these, those of which no copy arrived [RFC7680 s2.4].
    pub lost: u64,
    /// Runs of lost packets, each as long as can be.
    pub loss_bursts: u64,
    /// The longest of them, in packets.
    pub longest_loss_burst: u64,
    /// Copies beyond the first.
    pub duplicates: u64,
    /// Packets with a number that was never sent. They hide no loss.
    pub unexpected: u64,
    /// Packets [`super::WINDOW`] below the highest, which may be copies. They
    /// count as reordered, and the bursts have them as lost.
    pub stale: u64,
    /// Packets numbered below one that arrived earlier [RFC4737 s3.3].
    pub reordered: u64,
    /// The sum of the extents of reordering: how many packets before a
    /// reordered one the first with a larger number arrived [RFC4737 s4.2].
    pub extents: u128,
    /// The largest extent.
    pub largest_extent: u64,
    /// At `n - 1` the packets that are n-reordered: the n packets right before
    /// all have larger numbers [RFC4737 s5.3]. TCP takes the third as loss.
    pub n_reordered: [u64; super::DEGREES],
}

/// One-way delay, or the round trip where that is measured, and its variation.
/// All in seconds; copies do not count unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelaySummary {
    /// Packets whose delay is known and not negative.
    pub count: u64,
    /// Packets whose delay is negative, which proves that clocks disagree.
    /// They count for variation only.
    pub negative: u64,
    /// Mean [RFC7679 s3.4].
    pub mean: Option<f64>,
    /// Smallest [RFC7679 s5.3].
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Root of the mean square deviation from the mean, over these packets:
    /// divided by their number.
    pub standard_deviation: Option<f64>,
    /// Median, to three digits [RFC7679 s5.2].
    pub p50: Option<f64>,
    /// 95th percentile, to three digits [RFC7679 s5.1].
    pub p95: Option<f64>,
    /// 99th percentile, to three digits.
    pub p99: Option<f64>,
    /// 99.9th percentile, to three digits.
    pub p999: Option<f64>,
    /// Packet delay variation: the 99th percentile less the smallest delay
    /// [RFC5481 s4.2].
    pub pdv_p99: Option<f64>,
    /// 99.9th percentile less the smallest delay [RFC5481 s4.2].
    pub pdv_p999: Option<f64>,
    /// Pairs of neighbours in sequence that both arrived, not more than
    /// [`super::NEIGHBOURS`] numbers apart in time.
    pub ipdv_count: u64,
    /// Mean of |D(i) - D(i-1)| over these pairs: the selection function that
    /// makes it IPDV [RFC3393 s2].
    pub ipdv_mean: Option<f64>,
    /// Its median, to three digits.
    pub ipdv_p50: Option<f64>,
    /// Its 95th percentile, to three digits.
    pub ipdv_p95: Option<f64>,
    /// Its 99th percentile, to three digits.
    pub ipdv_p99: Option<f64>,
    /// Its largest.
    pub ipdv_max: Option<f64>,
    /// RTP's jitter after the last packet, in order of arrival, copies
    /// included [RFC3550 s6.4.1]; none for several flows together.
    pub jitter_rfc3550: Option<f64>,
}

impl OrderSummary {
    /// Adds what another flow came to.
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

    /// Reordered packets of those that arrived [RFC4737 s4.1].
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
