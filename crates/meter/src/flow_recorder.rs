//! Statistics of the messages of one flow: delay, jitter, loss, reordering.
//!
//! Sequence numbers start at 0 and count every message that was sent. All arrivals are
//! kept, 24 bytes each, because deviations from the mean delay are known only after
//! the last message.

use hdrhistogram::Histogram;
use units::{Bytes, Span, Time};

use crate::streaming_recorder::SHARES;

mod summary;

pub use summary::Summary;

/// Records the arrivals of a transfer.
#[derive(Clone, Debug, Default)]
pub struct FlowRecorder {
    /// In order of arrival.
    arrivals: Vec<Arrival>,
    bytes: Bytes,
}

/// A message that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    sequence: u64,
    sent: Time,
    received: Time,
}

impl Arrival {
    /// `None` if it arrived before it was sent, by clocks that differ.
    fn delay(&self) -> Option<Span> {
        self.received.since(self.sent)
    }
}

impl FlowRecorder {
    /// A recorder without arrivals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the arrival of message `sequence`, of `size` bytes, sent at `sent`, at
    /// `received`. Must be called in the order of arrival.
    pub fn record(&mut self, sequence: u64, sent: Time, received: Time, size: Bytes) {
        self.arrivals.push(Arrival {
            sequence,
            sent,
            received,
        });
        self.bytes += size;
    }

    /// Replaces the times of all arrivals, once the offset of two clocks is known.
    pub fn correct(&mut self, corrected: impl Fn(Time) -> Time) {
        for arrival in &mut self.arrivals {
            arrival.received = corrected(arrival.received);
        }
    }

    /// The statistics of the transfer, if the sender sent `expected` messages.
    pub fn finish(&self, expected: u64) -> Summary {
        let firsts = self.first_copies();
        let distinct = count(firsts.len());
        let sent = firsts.partition_point(|at| self.arrivals[*at].sequence < expected);
        let lost = expected - count(sent);

        // Each message once: in the order of arrival, then by sequence number.
        let mut in_order = firsts.clone();
        in_order.sort_unstable();
        let delays: Vec<Span> = in_order
            .iter()
            .filter_map(|at| self.arrivals[*at].delay())
            .collect();
        let every: Vec<Span> = self.arrivals.iter().filter_map(Arrival::delay).collect();
        let ipdv = self.ipdv(&firsts);

        let mean = mean(&delays);
        let average_deviation = |measure: fn(f64) -> f64| {
            let mean = mean?;
            let deviations = delays
                .iter()
                .map(|delay| measure(delay.as_secs_f64() - mean));
            Some(deviations.sum::<f64>() / float(count(delays.len())))
        };
        let delay_quantiles = quantiles(&delays, SHARES);
        let [_, _, _, _, delay_p50, _, _, delay_p95, delay_p99, _] = match delay_quantiles {
            Some(quantiles) => quantiles.map(Some),
            None => [None; SHARES.len()],
        };
        let ipdv_p95 = quantiles(&ipdv, [0.95]).map(|[p95]| p95);
        Summary {
            received: count(self.arrivals.len()),
            expected,
            lost,
            loss_fraction: (expected != 0).then(|| float(lost) / float(expected)),
            duplicates: count(self.arrivals.len()) - distinct,
            unexpected: distinct - count(sent),
            reordered: self.reordered(&in_order),
            negative_delays: count(self.arrivals.len() - every.len()),
            bytes: self.bytes,
            delay_mean: mean,
            delay_min: delays.iter().min().map(|delay| delay.as_secs_f64()),
            delay_max: delays.iter().max().map(|delay| delay.as_secs_f64()),
            delay_standard_deviation: average_deviation(|one| one * one).map(f64::sqrt),
            delay_p50,
            delay_p95,
            delay_p99,
            delay_quantiles,
            jitter_mean_deviation: average_deviation(f64::abs),
            jitter_ditg: self::mean(&differences(&every)),
            jitter_rfc3550: jitter_rfc3550(&every),
            ipdv_p95,
        }
    }

    /// The indices in `arrivals` of the first arrival of each message, by sequence
    /// number.
    fn first_copies(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.arrivals.len()).collect();
        // The sort is stable: of equal numbers the first arrival stays first.
        places.sort_by_key(|at| self.arrivals[*at].sequence);
        places.dedup_by_key(|at| self.arrivals[*at].sequence);
        places
    }

    /// Messages whose number is smaller than the next expected one [RFC4737 s3.3].
    fn reordered(&self, firsts_in_order: &[usize]) -> u64 {
        let mut next_expected = 0;
        let mut reordered = 0;
        for at in firsts_in_order {
            let sequence = self.arrivals[*at].sequence;
            if sequence >= next_expected {
                next_expected = sequence.saturating_add(1);
            } else {
                reordered += 1;
            }
        }
        reordered
    }

    /// Differences of delay between messages with consecutive numbers that both arrived
    /// [RFC3393 s2].
    fn ipdv(&self, firsts_by_sequence: &[usize]) -> Vec<Span> {
        firsts_by_sequence
            .windows(2)
            .map(|pair| (self.arrivals[pair[0]], self.arrivals[pair[1]]))
            .filter(|(one, next)| next.sequence - one.sequence == 1)
            .filter_map(|(one, next)| Some(difference(one.delay()?, next.delay()?)))
            .collect()
    }
}

fn difference(one: Span, other: Span) -> Span {
    one.max(other) - one.min(other)
}

/// Absolute differences between consecutive delays.
fn differences(delays: &[Span]) -> Vec<Span> {
    let pairs = delays.windows(2);
    pairs.map(|pair| difference(pair[0], pair[1])).collect()
}

/// RTP's estimator of jitter, in seconds: it moves by a sixteenth toward each
/// difference of consecutive delays [RFC3550 s6.4.1].
fn jitter_rfc3550(delays: &[Span]) -> Option<f64> {
    let differences = differences(delays);
    (!differences.is_empty()).then(|| {
        differences.iter().fold(0.0, |jitter, difference| {
            jitter + (difference.as_secs_f64() - jitter) / 16.0
        })
    })
}

/// The mean in seconds, from an exact sum.
fn mean(spans: &[Span]) -> Option<f64> {
    let picos: u128 = spans.iter().map(|span| u128::from(span.as_picos())).sum();
    let seconds = picos as f64 / 1e12;
    (!spans.is_empty()).then(|| seconds / float(count(spans.len())))
}

/// Quantiles in seconds, of whole nanoseconds to three digits [HdrHistogram], clamped
/// to the range of the measured values.
fn quantiles<const N: usize>(spans: &[Span], wanted: [f64; N]) -> Option<[f64; N]> {
    let (min, max) = (spans.iter().min()?, spans.iter().max()?);
    let mut histogram =
        Histogram::<u64>::new(3).expect("three is a number of digits that histograms have");
    for span in spans {
        // Resizes as needed, unlike `saturating_record`.
        let recorded = histogram.record(span.as_nanos());
        recorded.expect("213 days of nanoseconds to three digits are half a megabyte");
    }
    let at = |quantile| Span::from_nanos(histogram.value_at_quantile(quantile));
    Some(wanted.map(|quantile| at(quantile).clamp(*min, *max).as_secs_f64()))
}

/// A count of items in memory as a `u64`.
fn count(things: usize) -> u64 {
    u64::try_from(things).expect("memory holds fewer than 2^64 things")
}

fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
