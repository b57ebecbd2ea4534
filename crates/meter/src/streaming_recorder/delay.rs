//! Statistics of the delays of a flow, updated on each arrival.

use hdrhistogram::Histogram;

use super::float;
use super::order::ArrivalClass;
use super::summary::DelaySummary;

/// The number of recent packets whose delays are kept for IPDV: neighbours that arrived
/// further apart do not form a pair.
pub const NEIGHBOURS: usize = 1024;

/// The shares of messages whose quantiles describe a distribution of delays.
pub const SHARES: [f64; 10] = [0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999];

/// The delays of one flow, or of several flows together.
#[derive(Clone, Debug, Default)]
pub struct DelayRecorder {
    delays: Delays,
    negative: u64,
    variations: Delays,
    /// Delay and number of the latest packets, by number modulo [`NEIGHBOURS`]. Empty
    /// before the first packet.
    recent: Vec<Option<(u64, i64)>>,
    /// Delay of the latest arrival, duplicates included.
    last: Option<i64>,
    /// RTP's jitter in nanoseconds, from the second arrival on.
    jitter: Option<f64>,
}

/// A histogram of nanoseconds, with exact values of those statistics that the histogram
/// rounds.
#[derive(Clone, Debug)]
pub struct Delays {
    /// Values to three digits [HdrHistogram].
    histogram: Histogram<u32>,
    count: u64,
    sum: u128,
    /// Sum of the squared distances from the first value, which limits rounding errors.
    squares: f64,
    first: u64,
    min: u64,
    max: u64,
}

impl DelayRecorder {
    /// Records the delay of an arrival, in nanoseconds.
    #[inline]
    pub(super) fn record(&mut self, sequence: u64, delay: i64, class: ArrivalClass) {
        // [RFC3550 s6.4.1], in the order of arrival.
        if let Some(last) = self.last.replace(delay) {
            let difference = float(delay.abs_diff(last));
            let jitter = self.jitter.unwrap_or(0.0);
            self.jitter = Some(jitter + (difference - jitter) / 16.0);
        }
        if !class.counts() {
            return;
        }
        match u64::try_from(delay) {
            Ok(delay) => self.delays.record(delay),
            Err(_) => self.negative += 1,
        }
        if self.recent.is_empty() {
            self.recent = vec![None; NEIGHBOURS];
        }
        let before = sequence.checked_sub(1);
        let after = (class == ArrivalClass::Late).then_some(sequence + 1);
        for neighbour in before.into_iter().chain(after) {
            if let Some((number, other)) = self.recent[slot(neighbour)]
                && number == neighbour
            {
                self.variations.record(delay.abs_diff(other));
            }
        }
        self.recent[slot(sequence)] = Some((sequence, delay));
    }

    /// Adds the delays of another flow. RTP's jitter is removed, because it is defined
    /// for a single flow.
    pub fn add(&mut self, other: &Self) {
        self.delays.add(&other.delays);
        self.variations.add(&other.variations);
        self.negative += other.negative;
        (self.last, self.jitter) = (None, None);
    }

    /// The delays that are not negative.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// RTP's jitter after the last packet, in whole nanoseconds.
    pub fn jitter_in_nanos(&self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of absolute values, which saturates"
        )]
        self.jitter.map(|nanos| nanos as u64)
    }

    /// The summary of the delays so far.
    pub fn summary(&self) -> DelaySummary {
        let Self {
            delays, variations, ..
        } = self;
        let above_smallest = |quantile| Some(delays.quantile(quantile)? - delays.min()?);
        DelaySummary {
            count: delays.count,
            negative: self.negative,
            mean: delays.mean(),
            min: delays.min(),
            max: delays.max(),
            standard_deviation: delays.standard_deviation(),
            p50: delays.quantile(0.5),
            p95: delays.quantile(0.95),
            p99: delays.quantile(0.99),
            p999: delays.quantile(0.999),
            pdv_p99: above_smallest(0.99),
            pdv_p999: above_smallest(0.999),
            ipdv_count: variations.count,
            ipdv_mean: variations.mean(),
            ipdv_p50: variations.quantile(0.5),
            ipdv_p95: variations.quantile(0.95),
            ipdv_p99: variations.quantile(0.99),
            ipdv_max: variations.max(),
            jitter_rfc3550: self.jitter.map(|nanos| nanos / 1e9),
        }
    }
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            histogram: Histogram::new(3).expect("three is a number of digits that histograms have"),
            count: 0,
            sum: 0,
            squares: 0.0,
            first: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl Delays {
    /// Records a value in nanoseconds.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        if self.count == 0 {
            self.first = nanos;
        }
        // Resizes as needed, unlike `saturating_record`.
        let recorded = self.histogram.record(nanos);
        recorded.expect("all delays there are, to three digits, take 220 kB");
        self.count += 1;
        self.sum += u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        let distance = float(nanos.abs_diff(self.first));
        self.squares += distance * distance;
    }

    /// Adds the values of another instance.
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let added = self.histogram.add(&other.histogram);
        added.expect("a histogram that grows takes what another holds");
        // Moves the squares to another origin: those about the mean, plus the mean's
        // distance.
        let about_mean = other.squares_about_mean();
        let far = other.mean_nanos() - float(self.first);
        self.squares += about_mean + float(other.count) * far * far;
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean in seconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mean_nanos() / 1e9)
    }

    /// Mean in whole nanoseconds.
    pub fn mean_in_nanos(&self) -> Option<u64> {
        let mean = self.sum.checked_div(self.count.into())?;
        u64::try_from(mean).ok()
    }

    /// Minimum in nanoseconds.
    pub fn min_in_nanos(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Maximum in nanoseconds.
    pub fn max_in_nanos(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Minimum in seconds.
    pub fn min(&self) -> Option<f64> {
        self.min_in_nanos().map(super::seconds)
    }

    /// Maximum in seconds.
    pub fn max(&self) -> Option<f64> {
        self.max_in_nanos().map(super::seconds)
    }

    /// Root mean square deviation from the mean, in seconds.
    pub fn standard_deviation(&self) -> Option<f64> {
        let variance = self.squares_about_mean() / float(self.count);
        (self.count > 0).then(|| variance.sqrt() / 1e9)
    }

    /// A quantile in seconds, to three digits, clamped to the measured range.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        self.quantile_in_nanos(quantile).map(super::seconds)
    }

    /// The quantiles [`SHARES`] in seconds, likewise.
    pub fn quantiles(&self) -> Option<[f64; SHARES.len()]> {
        (self.count > 0).then(|| SHARES.map(|share| self.quantile(share).unwrap_or_default()))
    }

    /// A quantile in nanoseconds, likewise.
    pub fn quantile_in_nanos(&self, quantile: f64) -> Option<u64> {
        (self.count > 0).then(|| {
            let nanos = self.histogram.value_at_quantile(quantile);
            nanos.clamp(self.min, self.max)
        })
    }

    fn mean_nanos(&self) -> f64 {
        self.sum as f64 / float(self.count)
    }

    fn squares_about_mean(&self) -> f64 {
        let far = self.mean_nanos() - float(self.first);
        (self.squares - float(self.count) * far * far).max(0.0)
    }
}

/// The index of a number in the ring.
fn slot(sequence: u64) -> usize {
    usize::try_from(sequence % NEIGHBOURS as u64).expect("a ring is in memory")
}
