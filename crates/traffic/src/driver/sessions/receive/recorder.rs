//! Statistics of the arrivals of a flow, in bounded memory.

use std::sync::Arc;

use meter::streaming_recorder::{self, StreamingFlowRecorder};
use units::{Bytes, Time};
use wire::control::{Report, StampPrecision};
use wire::message::{Message, Short};

use crate::driver::sessions::Record;
use crate::driver::sessions::counters::ReceivedCounters;
use crate::driver::sessions::delays::DelayDistribution;
use crate::driver::sessions::records::{LogSink, OutOfOrder};
use crate::driver::timeline::Timeline;
use os::{clock, program_stamps};

/// Records the messages of one flow: statistics, and the packet log if there is one.
pub(super) struct ReceiveRecorder {
    report: Report,
    timeline: Timeline,
    log_sink: LogSink,
    /// The statistics that a decoder of the log also computes.
    arrivals: StreamingFlowRecorder,
    /// The messages of the warm-up, which the statistics leave out.
    warmup: StreamingFlowRecorder,
    counters: Arc<ReceivedCounters>,
}

/// What a message says of itself.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    sequence: u64,
    size: u32,
    warmup: bool,
    /// Instant of sending, unless the message is too short to state it.
    sent: Option<u64>,
}

impl Numbered {
    fn of(message: &Message) -> Self {
        Self {
            sequence: message.sequence,
            size: message.length,
            warmup: message.warmup,
            sent: Some(message.sent.as_nanos()),
        }
    }
}

/// The arrival of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Instant of the read.
    pub(super) read: Time,
    /// The kernel's timestamp, in nanoseconds since 1970.
    pub(super) stamp: Option<u64>,
}

impl ReceiveRecorder {
    pub(super) fn new(flow: u16, timeline: Timeline, log_sink: LogSink) -> Self {
        Self {
            report: Report {
                flow,
                // A stream drops nothing.
                overflowed: Some(0),
                ..Report::default()
            },
            timeline,
            log_sink,
            arrivals: StreamingFlowRecorder::new(None),
            warmup: StreamingFlowRecorder::new(None),
            counters: Arc::default(),
        }
    }

    /// The counters of the flow, to be read while it runs.
    pub(super) fn counters(&self) -> Arc<ReceivedCounters> {
        Arc::clone(&self.counters)
    }

    /// Messages that arrived, without duplicates, those of the warm-up included.
    pub(super) fn seen(&self) -> u64 {
        self.arrivals.distinct() + self.warmup.distinct()
    }

    /// Whether messages have arrived, and all of them belong to the warm-up.
    pub(super) fn is_warming_up(&self) -> bool {
        self.warmup.distinct() > 0 && self.arrivals.distinct() == 0
    }

    /// Records a message whose arrival is measured. Returns the time of its arrival, in
    /// nanoseconds since the start of the session.
    pub(super) fn record(&mut self, message: Message, arrival: Arrival) -> u64 {
        self.measure(arrival, |_| Numbered::of(&message))
    }

    /// As [`ReceiveRecorder::record`], of a message that is shorter than a header.
    pub(super) fn record_short(&mut self, message: Short, arrival: Arrival) -> u64 {
        let expected = [&self.arrivals, &self.warmup].map(StreamingFlowRecorder::next_expected);
        let sequence = message.sequence(expected[0].max(expected[1]));
        self.measure(arrival, |received| Numbered {
            sequence,
            size: message.length.into(),
            warmup: message.warmup,
            sent: message.sent(received),
        })
    }

    fn measure(&mut self, arrival: Arrival, message: impl FnOnce(u64) -> Numbered) -> u64 {
        let (received, stamped) = self.time_of(arrival);
        let message = message(received);
        self.log(message, arrival, (received, stamped));
        self.report.unstamped += u64::from(!stamped && !message.warmup);
        let delay = |sent: u64| received.wrapping_sub(sent).cast_signed();
        self.enter(message, received, message.sent.map(delay));
        received
    }

    /// Converts a time of this clock to nanoseconds since the start of the session.
    pub(super) fn nanos(&self, at: Time) -> u64 {
        self.timeline.nanos(at)
    }

    /// Notes in the log, if there is one, that segments of the flow arrived out of order.
    pub(super) fn out_of_order(&self, noted: impl FnOnce(u16) -> OutOfOrder) {
        self.log_sink.note(noted(self.report.flow));
    }

    /// Records a message that is only echoed; its arrival matters for the log only.
    pub(super) fn answered(&mut self, message: Message, arrival: Arrival) {
        let numbered = Numbered::of(&message);
        if self.logs() {
            let time = self.time_of(arrival);
            self.log(numbered, arrival, time);
        }
        self.enter(numbered, 0, None);
    }

    /// Whether there is a log, which needs the times of arrival.
    pub(super) fn logs(&self) -> bool {
        self.log_sink.wanted()
    }

    /// The time of an arrival, and whether the kernel timestamped it.
    fn time_of(&mut self, arrival: Arrival) -> (u64, bool) {
        let stamped = arrival
            .stamp
            .and_then(|stamp| self.timeline.nanos_of_stamp(stamp, arrival.read));
        let received = stamped.unwrap_or_else(|| self.timeline.nanos(arrival.read));
        (received, stamped.is_some())
    }

    /// Appends a message to the log, if there is one.
    fn log(&mut self, message: Numbered, arrival: Arrival, (received, stamped): (u64, bool)) {
        self.log_sink.keep(Record {
            flow: self.report.flow,
            size: message.size,
            sequence: message.sequence,
            sent: message.sent.unwrap_or(received),
            untimed: message.sent.is_none(),
            received: Some(received),
            stamped,
            read: Some(self.timeline.nanos(arrival.read)),
        });
    }

    /// Called while no data arrive: flushes waiting records to the log.
    pub(super) fn idle(&mut self) {
        let now = self.timeline.nanos(clock::monotonic());
        self.log_sink.flush_old(now);
    }

    /// Records a read that returned several datagrams merged by the kernel.
    pub(super) fn merged(&mut self) {
        self.report.merged += u64::from(!self.is_warming_up());
    }

    /// Sets the number of datagrams dropped for lack of room in the socket; `None` if nobody
    /// counts them.
    pub(super) fn overflowed(&mut self, datagrams: Option<u64>) {
        self.report.overflowed = datagrams;
    }

    /// The final statistics.
    pub(super) fn report(mut self) -> Report {
        self.log_sink.flush();
        let summary = self.arrivals.summary(None);
        let recorded = self.arrivals.delays();
        let delays = DelayDistribution::of(recorded.delays()).unwrap_or_default();
        Report {
            warmup: self.warmup.distinct(),
            messages: summary.order.distinct,
            bytes: summary.bytes,
            lasted: self.arrivals.span().map_or(0, |(first, last)| last - first),
            duplicates: summary.order.duplicates,
            reordered: summary.order.reordered,
            negative: summary.delay.negative,
            delayed: delays.count,
            least: delays.least.as_nanos(),
            mean: delays.mean.as_nanos(),
            median: delays.median.as_nanos(),
            p95: delays.p95.as_nanos(),
            p99: delays.p99.as_nanos(),
            most: delays.most.as_nanos(),
            jitter: recorded.jitter_in_nanos().unwrap_or(0),
            // Measured when the receiver began; one without loopback did not begin.
            stamps: program_stamps()
                .ok()
                .flatten()
                .map(|stamps| StampPrecision {
                    resolution: stamps.resolution.as_nanos(),
                    late: stamps.late.as_nanos(),
                }),
            ..self.report
        }
    }

    fn enter(&mut self, message: Numbered, at: u64, delay: Option<i64>) {
        let arrivals = match message.warmup {
            true => &mut self.warmup,
            false => &mut self.arrivals,
        };
        let class = arrivals.record(streaming_recorder::Arrival {
            sequence: message.sequence,
            at,
            delay,
            size: message.size,
        });
        if class.counts() {
            let delay = delay.and_then(|delay| u64::try_from(delay).ok());
            let size = Bytes::new(message.size.into());
            if message.warmup {
                self.counters.warmup();
            }
            self.counters.received(message.sequence, size, delay);
            let jitter = arrivals.delays().jitter_in_nanos();
            self.counters.jitter(jitter.unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn recorder() -> ReceiveRecorder {
        ReceiveRecorder::new(0, Timeline::new(0), LogSink::new(None))
    }

    fn message(sequence: u64) -> Message {
        Message {
            echo: wire::message::Echo::Unwanted,
            warmup: false,
            tag: 0,
            length: 100,
            sequence,
            sent: Time::ZERO,
        }
    }

    #[test]
    fn copies_are_told_from_messages_that_were_overtaken() {
        let mut recorder = recorder();
        for sequence in [0, 2, 1, 1, 5, 5, 3] {
            recorder.record(
                message(sequence),
                Arrival {
                    read: clock::monotonic(),
                    stamp: None,
                },
            );
        }
        let report = recorder.report();
        assert_eq!((report.messages, report.bytes), (5, 500));
        assert_eq!((report.duplicates, report.reordered), (2, 2));
        assert_eq!(report.unstamped, 7);
    }

    proptest::proptest! {
        #[test]
        fn no_numbers_make_it_panic(numbers: Vec<u64>) {
            let mut recorder = recorder();
            let arrival = Arrival {
                read: clock::monotonic(),
                stamp: None,
            };
            for number in &numbers {
                recorder.answered(message(*number), arrival);
            }
            let report = recorder.report();
            // The last number has no successor and is never sent.
            let sent: BTreeSet<u64> = numbers.into_iter().filter(|one| *one < u64::MAX).collect();
            proptest::prop_assert!(report.messages >= sent.len() as u64);
        }
    }
}
