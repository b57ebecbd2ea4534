//! What arrived of a flow, in memory that does not grow with it.

use wire::control::Report;
use wire::message::Message;

use super::Timeline;
use crate::error::Result;
use crate::traffic::delays::Delays;
use crate::traffic::{Keeping, Record};
use units::Time;

/// So many of the latest numbers are remembered: a copy of an older message
/// counts as another message that is late.
const WINDOW: u64 = 1 << 16;

/// The books of one flow.
pub(super) struct Books {
    report: Report,
    timeline: Timeline,
    keeping: Keeping,
    /// Which of the latest numbers arrived: a ring of bits.
    known: Vec<u64>,
    /// One more than the highest number.
    next: u64,
    delays: Delays,
    jitter: f64,
    previous: Option<i64>,
    first: Option<u64>,
}

/// When a message arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When it was read.
    pub(super) read: Time,
    /// The kernel's stamp, in nanoseconds since 1970.
    pub(super) stamp: Option<u64>,
}

impl Books {
    pub(super) fn new(flow: u16, timeline: Timeline, keeping: Keeping) -> Result<Self> {
        Ok(Self {
            report: Report {
                flow,
                ..Report::default()
            },
            timeline,
            keeping,
            known: vec![0; usize::try_from(WINDOW / 64).unwrap_or(1)],
            next: 0,
            delays: Delays::new()?,
            jitter: 0.0,
            previous: None,
            first: None,
        })
    }

    /// Messages that arrived, copies not counted.
    pub(super) fn seen(&self) -> u64 {
        self.report.messages
    }

    /// Takes down a message whose arrival is of interest.
    pub(super) fn record(&mut self, message: Message, arrival: Arrival) {
        let stamped = arrival
            .stamp
            .and_then(|stamp| self.timeline.nanos_of_stamp(stamp, arrival.read));
        let received = stamped.unwrap_or_else(|| self.timeline.nanos(arrival.read));
        self.report.unstamped += u64::from(stamped.is_none());
        let sent = message.sent.as_nanos();
        self.keeping.keep(Record {
            flow: self.report.flow,
            size: message.length,
            sequence: message.sequence,
            sent,
            received: Some(received),
            stamped: stamped.is_some(),
            read: Some(self.timeline.nanos(arrival.read)),
        });
        let first = *self.first.get_or_insert(received);
        let lasted = received.saturating_sub(first);
        self.report.lasted = self.report.lasted.max(lasted);
        if self.count(message) {
            self.delay(sent, received);
        }
    }

    /// Takes down a message that is only to be answered; whether it is no copy.
    pub(super) fn count(&mut self, message: Message) -> bool {
        let new = self.is_new(message.sequence);
        if new {
            self.report.messages += 1;
            self.report.octets += u64::from(message.length);
        } else {
            self.report.duplicates += 1;
        }
        new
    }

    /// What the kernel says of a datagram beside its stamp.
    pub(super) fn note(&mut self, overflowed: Option<u32>, merged: bool) {
        if let Some(overflowed) = overflowed {
            self.report.overflowed = self.report.overflowed.max(overflowed.into());
        }
        self.report.merged += u64::from(merged);
    }

    /// What all comes to.
    pub(super) fn report(mut self) -> Report {
        self.keeping.flush();
        if let Some(figures) = self.delays.figures() {
            self.report.delayed = figures.count;
            self.report.least = figures.least.as_nanos();
            self.report.mean = figures.mean.as_nanos();
            self.report.median = figures.median.as_nanos();
            self.report.p95 = figures.p95.as_nanos();
            self.report.p99 = figures.p99.as_nanos();
            self.report.most = figures.most.as_nanos();
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of absolute values, which saturates"
        )]
        let jitter = self.jitter as u64;
        self.report.jitter = jitter;
        self.report
    }

    /// One-way delay and interarrival jitter [RFC3550 s6.4.1].
    fn delay(&mut self, sent: u64, received: u64) {
        let delay = received.wrapping_sub(sent).cast_signed();
        match u64::try_from(delay) {
            Ok(nanos) => self.delays.record(nanos),
            Err(_) => self.report.negative += 1,
        }
        if let Some(previous) = self.previous.replace(delay) {
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            let difference = delay.abs_diff(previous) as f64;
            self.jitter += (difference - self.jitter) / 16.0;
        }
    }

    /// Whether no message with this number came before; takes down too that it
    /// was overtaken by one with a higher number [RFC4737 s3.3].
    fn is_new(&mut self, sequence: u64) -> bool {
        let place = |sequence: u64| {
            let at = sequence % WINDOW;
            (usize::try_from(at / 64).unwrap_or(0), 1_u64 << (at % 64))
        };
        let (word, bit) = place(sequence);
        if sequence >= self.next {
            if sequence - self.next >= WINDOW {
                self.known.fill(0);
            } else {
                for skipped in self.next..sequence {
                    let (word, bit) = place(skipped);
                    self.known[word] &= !bit;
                }
            }
            self.known[word] |= bit;
            self.next = sequence.saturating_add(1);
            return true;
        }
        let remembered = self.next - sequence <= WINDOW;
        if remembered && self.known[word] & bit != 0 {
            return false;
        }
        if remembered {
            self.known[word] |= bit;
        }
        self.report.reordered += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use proto::offset::Offset;
    use std::collections::BTreeSet;

    fn books() -> Books {
        let clocks = super::super::Clocks {
            epoch: 0,
            offset: Offset::NONE,
        };
        Books::new(0, Timeline::new(clocks), Keeping::new(None)).unwrap()
    }

    fn message(sequence: u64) -> Message {
        Message {
            echo: wire::message::Echo::Unwanted,
            preroll: false,
            length: 100,
            sequence,
            sent: Time::ZERO,
        }
    }

    #[test]
    fn copies_are_told_from_messages_that_were_overtaken() {
        let mut books = books();
        for sequence in [0, 2, 1, 1, 5, 5, 3] {
            books.record(
                message(sequence),
                Arrival {
                    read: clock::monotonic(),
                    stamp: None,
                },
            );
        }
        let report = books.report();
        assert_eq!((report.messages, report.octets), (5, 500));
        assert_eq!((report.duplicates, report.reordered), (2, 2));
        assert_eq!(report.unstamped, 7);
    }

    proptest::proptest! {
        #[test]
        fn within_the_window_every_number_counts_once(numbers in proptest::collection::vec(0_u64..50_000, 0..300)) {
            let mut books = books();
            let mut known = BTreeSet::new();
            for number in numbers {
                proptest::prop_assert_eq!(books.count(message(number)), known.insert(number));
            }
        }

        #[test]
        fn no_numbers_make_it_panic(numbers: Vec<u64>) {
            let mut books = books();
            for number in numbers {
                books.count(message(number));
            }
            let _ = books.report();
        }
    }
}
