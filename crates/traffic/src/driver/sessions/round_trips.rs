//! Echoes of a flow: each message counts once, copies separately.

use std::sync::Arc;

use meter::streaming_recorder::{Arrival, ArrivalClass, SHARES, StreamingFlowRecorder};
use meter::time_series::TimeSeries;
use units::{Bytes, Span, Time};
use wire::message::Message;

use super::counters::SentCounters;
use super::delays::DelayDistribution;

/// Records the echoes of one flow, with the definitions of `decode`.
#[derive(Debug)]
pub(super) struct RoundTripRecorder {
    arrivals: StreamingFlowRecorder,
    /// The echoes of the warm-up.
    warmup: StreamingFlowRecorder,
    /// Echoes without the kernel's timestamp although one was requested.
    pub(super) unstamped: u64,
    /// Echoes of no message that was sent.
    pub(super) unexpected: u64,
    counters: Arc<SentCounters>,
    over_time: TimeSeries,
}

impl RoundTripRecorder {
    /// A recorder without echoes.
    pub(super) fn new(counters: &Arc<SentCounters>) -> Self {
        Self {
            arrivals: StreamingFlowRecorder::new(None),
            warmup: StreamingFlowRecorder::new(None),
            unstamped: 0,
            unexpected: 0,
            counters: Arc::clone(counters),
            over_time: TimeSeries::default(),
        }
    }

    /// Records the echo of a message that was sent. `received` is the time of its
    /// arrival, in nanoseconds since the start of the session. Returns whether it is the
    /// first.
    pub(super) fn record(&mut self, echo: &Message, received: u64) -> bool {
        let nanos = received.saturating_sub(echo.sent.as_nanos());
        let arrivals = match echo.warmup {
            true => &mut self.warmup,
            false => &mut self.arrivals,
        };
        let class: ArrivalClass = arrivals.record(Arrival {
            sequence: echo.sequence,
            at: received,
            delay: Some(i64::try_from(nanos).unwrap_or(i64::MAX)),
            size: echo.length,
        });
        if class.counts() {
            let jitter = arrivals.delays().jitter_in_nanos().unwrap_or(0);
            if !echo.warmup {
                let at = Time::from_nanos(received);
                self.over_time.took(at, Span::from_nanos(nanos));
            }
            let size = Bytes::new(echo.length.into());
            let echoes = &self.counters.echoes;
            echoes.received(echo.sequence, size, Some(nanos));
            echoes.jitter(jitter);
        }
        class.counts()
    }

    /// Whether the echo of a message has arrived.
    pub(super) fn has(&self, sequence: u64) -> bool {
        self.arrivals.has(sequence) || self.warmup.has(sequence)
    }

    /// Messages whose echo arrived, those of the warm-up included.
    pub(super) fn returned(&self) -> u64 {
        self.arrivals.distinct() + self.warmup.distinct()
    }

    /// Messages whose echo arrived.
    pub(super) fn echoes(&self) -> u64 {
        self.arrivals.distinct()
    }

    /// Further echoes of those messages.
    pub(super) fn copies(&self) -> u64 {
        self.arrivals.summary(None).order.duplicates
    }

    /// The round-trip times, of the first echo of each message.
    pub(super) fn distribution(&self) -> Option<DelayDistribution> {
        DelayDistribution::of(self.arrivals.delays().delays())
    }

    /// The quantiles [`SHARES`] of the round-trip times, in seconds.
    pub(super) fn quantiles(&self) -> Option<[f64; SHARES.len()]> {
        self.arrivals.delays().delays().quantiles()
    }

    /// The round trips over time, by the arrivals of their echoes.
    pub(super) fn over_time(self) -> TimeSeries {
        self.over_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::message::Echo;

    #[test]
    fn copies_hide_no_loss_and_change_no_round_trip() {
        let mut recorder = RoundTripRecorder::new(&Arc::default());
        // Of ten messages, every third is lost, and the others return three times.
        for sequence in (0..10).filter(|sequence| sequence % 3 != 1) {
            for copy in 0..3 {
                let echo = Message {
                    echo: Echo::Reply,
                    warmup: false,
                    tag: 0,
                    length: 100,
                    sequence,
                    sent: Time::from_nanos(sequence * 1_000),
                };
                let first = recorder.record(&echo, sequence * 1_000 + 500 + copy * 900);
                assert_eq!(first, copy == 0);
            }
        }
        assert_eq!((recorder.echoes(), recorder.copies()), (7, 14));
        let round_trips = recorder.distribution().unwrap();
        assert_eq!((round_trips.count, round_trips.most.as_nanos()), (7, 500));
        assert_eq!(recorder.quantiles(), Some([500e-9; SHARES.len()]));
        let over_time = recorder.over_time();
        let [interval] = over_time.intervals() else {
            panic!("all within 10 ms");
        };
        assert_eq!((interval.times, interval.longest), (7, 500));
    }
}
