//! The receiving end of a flow.

use hdrhistogram::Histogram;
use meter::{FlowRecorder, Summary};
use units::{Bytes, Rate, Span, Time};

use crate::Delays;
use crate::fragments::UDP_HEADER;
use crate::packet::{Content, Piece};
use crate::reassembly::Reassembly;

/// The record of single arrivals.
enum Record {
    /// Every arrival.
    Exact(FlowRecorder),
    /// A histogram of delays in nanoseconds, for flows too long to keep every arrival.
    Histogram(Histogram<u64>),
}

/// The arrivals of a flow.
pub(crate) struct Sink {
    reassembly: Reassembly,
    /// Whether links may duplicate packets, so that duplicates must be detected.
    repeats: bool,
    record: Record,
    /// Sum of the delays, in picoseconds.
    sum: u128,
    min: Span,
    max: Span,
    pub(crate) received: u64,
    pub(crate) copies: u64,
    pub(crate) bytes: Bytes,
    first_bytes: Bytes,
    pub(crate) first: Option<Time>,
    pub(crate) last: Option<Time>,
}

impl Sink {
    /// A sink without arrivals. `repeats`: links may duplicate packets; `exact`: every
    /// arrival is kept.
    pub(crate) fn new(repeats: bool, exact: bool) -> Self {
        Self {
            repeats,
            reassembly: Reassembly::default(),
            record: match exact {
                true => Record::Exact(FlowRecorder::new()),
                false => {
                    Record::Histogram(Histogram::new(3).expect("histograms have three digits"))
                }
            },
            sum: 0,
            min: Span::from_picos(u64::MAX),
            max: Span::ZERO,
            received: 0,
            copies: 0,
            bytes: Bytes::ZERO,
            first_bytes: Bytes::ZERO,
            first: None,
            last: None,
        }
    }

    /// Takes the content of a packet that was received and processed at `now`. Returns
    /// whether it completes a message.
    pub(crate) fn receive(&mut self, now: Time, content: &Content, piece: Piece) -> bool {
        let payload = Bytes::new((piece.whole - UDP_HEADER).into());
        let whole = piece.is_whole();
        let new = whole && !self.repeats
            || self
                .reassembly
                .accept(content.sequence, piece.offset, piece.length, piece.whole);
        if let Record::Exact(recorder) = &mut self.record
            && (new || whole)
        {
            recorder.record(content.sequence, content.sent, now, payload);
        }
        if new {
            self.take_down(now, content.sent, payload);
        } else {
            self.copies += u64::from(whole);
        }
        new || whole
    }

    /// Messages of which only some fragments arrived.
    pub(crate) fn unassembled(&self) -> u64 {
        self.reassembly.unassembled()
    }

    /// See [`FlowOutcome::goodput`](crate::FlowOutcome::goodput).
    pub(crate) fn goodput(&self) -> Option<Rate> {
        let span = self.last?.since(self.first?)?;
        let bits = u128::from((self.bytes - self.first_bytes).get()) * 8;
        let rate = (bits * 1_000_000_000_000).checked_div(span.as_picos().into())?;
        Rate::from_bits_per_second(u64::try_from(rate).ok()?)
    }

    /// See [`FlowOutcome::delays`](crate::FlowOutcome::delays) and
    /// [`FlowOutcome::summary`](crate::FlowOutcome::summary), for a flow that sent
    /// `sent` messages.
    pub(crate) fn delays_and_summary(self, sent: u64) -> (Option<Delays>, Option<Summary>) {
        let mean = self.sum as f64 / self.received as f64 / 1e12;
        let delays = |[p50, p95, p99]: [f64; 3]| Delays {
            mean,
            min: self.min.as_secs_f64(),
            max: self.max.as_secs_f64(),
            p50,
            p95,
            p99,
        };
        match self.record {
            Record::Exact(recorder) => {
                let summary = recorder.finish(sent);
                let quantiles = [summary.delay_p50, summary.delay_p95, summary.delay_p99];
                let there = (self.received > 0).then(|| quantiles.map(Option::unwrap_or_default));
                (there.map(delays), Some(summary))
            }
            Record::Histogram(histogram) => {
                let quantile = |quantile| {
                    let span = Span::from_nanos(histogram.value_at_quantile(quantile));
                    span.clamp(self.min, self.max).as_secs_f64()
                };
                let there = (self.received > 0).then(|| [0.50, 0.95, 0.99].map(quantile));
                (there.map(delays), None)
            }
        }
    }

    /// Takes a message that is complete and did not arrive in a packet of its own.
    pub(crate) fn take(&mut self, now: Time, sequence: u64, sent: Time, payload: Bytes) {
        if let Record::Exact(recorder) = &mut self.record {
            recorder.record(sequence, sent, now, payload);
        }
        self.take_down(now, sent, payload);
    }

    /// Records the first arrival of a message.
    fn take_down(&mut self, now: Time, sent: Time, payload: Bytes) {
        let delay = now.since(sent).unwrap_or_default();
        if let Record::Histogram(histogram) = &mut self.record {
            // Resizes as needed, to half a megabyte for 213 days.
            let recorded = histogram.record(delay.as_nanos());
            debug_assert!(recorded.is_ok(), "three digits of 213 days are few");
        }
        self.sum += u128::from(delay.as_picos());
        self.min = self.min.min(delay);
        self.max = self.max.max(delay);
        self.received += 1;
        self.bytes += payload;
        if self.first.is_none() {
            self.first = Some(now);
            self.first_bytes = payload;
        }
        self.last = Some(now);
    }
}
