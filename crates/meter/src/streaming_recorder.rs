//! Statistics of the packets of a flow in bounded memory: loss and its bursts,
//! duplicates, reordering, delay and its variation.
//!
//! [`crate::FlowRecorder`] keeps every arrival, because deviations from the mean need
//! them all. This recorder is for flows of any length and takes at most about 200 kB
//! per flow. The constants [`WINDOW`], [`NEIGHBOURS`] and [`RUNS`] document the
//! resulting limits.
//!
//! Sequence numbers start at 0 and count every packet that was sent.

mod delay;
mod order;
mod summary;

pub use delay::{DelayRecorder, Delays, NEIGHBOURS, SHARES};
pub use order::{ArrivalClass, DEGREES, OrderRecorder, RUNS, WINDOW};
pub use summary::{DelaySummary, FlowSummary, OrderSummary};

/// Records the arrivals of one flow in bounded memory.
#[derive(Clone, Debug)]
pub struct StreamingFlowRecorder {
    order: OrderRecorder,
    delays: DelayRecorder,
    unstamped: u64,
    bytes: u64,
    /// Bytes of the first packet, which the goodput excludes.
    first_bytes: u64,
    /// The first and the last arrival, in nanoseconds.
    span: Option<(u64, u64)>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Sequence number in the flow.
    pub sequence: u64,
    /// Instant of arrival, or of sending if only that is known, in nanoseconds.
    pub at: u64,
    /// Delay in nanoseconds, negative if the clocks differ; `None` if a time is
    /// missing.
    pub delay: Option<i64>,
    /// Bytes of payload.
    pub size: u32,
}

impl StreamingFlowRecorder {
    /// A recorder without arrivals. If the number of packets is known in advance,
    /// higher numbers are counted separately and do not offset losses.
    pub fn new(expected: Option<u64>) -> Self {
        Self {
            order: OrderRecorder::new(expected),
            delays: DelayRecorder::default(),
            unstamped: 0,
            bytes: 0,
            first_bytes: 0,
            span: None,
        }
    }

    /// Records an arrival. Must be called in the order of arrival.
    #[inline]
    pub fn record(&mut self, arrival: Arrival) -> ArrivalClass {
        let place = self.order.record(arrival.sequence);
        if place.counts() {
            self.bytes = self.bytes.saturating_add(arrival.size.into());
            match &mut self.span {
                None => {
                    self.first_bytes = arrival.size.into();
                    self.span = Some((arrival.at, arrival.at));
                }
                Some((first, last)) => {
                    *first = arrival.at.min(*first);
                    *last = arrival.at.max(*last);
                }
            }
        }
        match arrival.delay {
            Some(delay) => self.delays.record(arrival.sequence, delay, place),
            None => self.unstamped += 1,
        }
        place
    }

    /// The statistics, if the sender sent `expected` packets; if unknown, all up to the
    /// highest number that arrived.
    pub fn summary(&self, expected: Option<u64>) -> FlowSummary {
        let order = self.order.summary(expected);
        let seconds = self.span.map_or(0.0, |(first, last)| seconds(last - first));
        let timed = self.bytes - self.first_bytes;
        FlowSummary {
            received: order.distinct + order.duplicates,
            bytes: self.bytes,
            seconds,
            goodput: (seconds > 0.0).then(|| float(timed) * 8.0 / seconds),
            unstamped: self.unstamped,
            delay: self.delays.summary(),
            order,
        }
    }

    /// Distinct packets so far. Unlike the summary, this takes no time to compute.
    #[inline]
    pub fn distinct(&self) -> u64 {
        self.order.distinct()
    }

    /// The highest number that arrived, plus one: the number of the next packet unless it was
    /// lost or overtaken.
    #[inline]
    pub fn next_expected(&self) -> u64 {
        self.order.next_expected()
    }

    /// Whether the packet has arrived, as far as duplicates are recognised ([`WINDOW`]).
    pub fn has(&self, sequence: u64) -> bool {
        self.order.has(sequence)
    }

    /// The first and the last arrival, in nanoseconds.
    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    /// Bytes of the first arrival, which no rate counts.
    pub fn first_bytes(&self) -> u64 {
        self.first_bytes
    }

    /// The delays, for sums over flows.
    pub fn delays(&self) -> &DelayRecorder {
        &self.delays
    }
}

/// Converts nanoseconds to seconds.
fn seconds(nanos: u64) -> f64 {
    float(nanos) / 1e9
}

fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
