//! The sender of the standards; sequence numbers count bytes, 0 is the SYN.

mod departures;
mod notice;
mod proportion;
mod repair;
mod window;

use std::collections::VecDeque;

use units::Time;

use super::congestion::{Hybrid, Law};
use super::rto::Estimator;
use super::segment::{Ack, Data, HEADER};
use super::sender::{Counts, State};
use super::{Range, Ranges, Recovery, Reduction, Settings, SlowStart};
use departures::Departures;
use proportion::Proportion;

/// Duplicate acknowledgements that indicate a loss [RFC5681 s3.2].
const DUPLICATES: u32 = 3;
/// The most segments that limited transmit sends [RFC3042].
const LIMITED: u32 = 2;

/// A sender.
#[derive(Clone, Debug)]
pub(crate) struct Standard {
    recovery: Recovery,
    payload: u32,
    header: u32,
    first_window: u32,
    write: Option<u64>,
    /// The receiver's window, in bytes.
    most: u64,
    first_room: Option<u64>,
    limited_transmit: bool,
    capable: bool,
    /// The number behind the last byte to send.
    end: u64,
    /// The first unacknowledged number, the next number to send, and the first number
    /// never sent.
    una: u64,
    next: u64,
    fresh: u64,
    /// The window and the threshold, in segments.
    window: f64,
    threshold: f64,
    law: Law,
    /// The early exit of slow start, and the departures of segments that it needs.
    hybrid: Option<Hybrid>,
    departures: Option<Departures>,
    duplicates: u32,
    /// The number whose acknowledgement ends the current recovery.
    recovering: Option<u64>,
    reduction: Reduction,
    lasting_reports: bool,
    /// The state of a proportional reduction of the window.
    proportion: Proportion,
    /// The number that must be acknowledged before duplicates indicate a loss again
    /// [RFC6582 s3.2].
    bar: u64,
    /// Whether a partial acknowledgement arrived in this recovery.
    partial: bool,
    /// The number that must be acknowledged before duplicates carry more information
    /// than the notification.
    notified: u64,
    sacked: Ranges,
    /// The end of the retransmissions in this recovery.
    resent: u64,
    /// The number that must be acknowledged before marks reduce the window again.
    marked: u64,
    /// Whether to announce a reduction of the window (CWR).
    tell: bool,
    estimator: Estimator,
    timer: Option<Time>,
    /// The segment being timed: its end and its departure. Retransmitted segments are
    /// never timed [RFC6298 s3].
    timed: Option<(u64, Time)>,
    outbox: VecDeque<Data>,
    counts: Counts,
}

impl Standard {
    /// A sender of `bytes` bytes.
    pub(crate) fn new(settings: &Settings, bytes: u64) -> Self {
        Self {
            recovery: settings.recovery,
            payload: settings.segment.max(1),
            header: HEADER + settings.options,
            first_window: settings.initial_window.max(1),
            write: settings.write.map(|write| u64::from(write.max(1))),
            most: u64::from(settings.window) * u64::from(settings.segment),
            first_room: settings.first_room.map(u64::from),
            limited_transmit: settings.limited_transmit,
            capable: settings.ecn,
            end: bytes.saturating_add(1),
            una: 0,
            next: 0,
            fresh: 0,
            window: 1.0,
            threshold: settings.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            law: Law::new(settings),
            hybrid: (settings.slow_start == SlowStart::Hybrid).then(Hybrid::default),
            departures: (settings.slow_start == SlowStart::Hybrid).then(Departures::default),
            duplicates: 0,
            recovering: None,
            reduction: settings.reduction,
            lasting_reports: settings.lasting_reports,
            proportion: Proportion::default(),
            bar: 0,
            notified: 0,
            partial: false,
            sacked: Ranges::default(),
            resent: 0,
            marked: 0,
            tell: false,
            estimator: Estimator::new(settings),
            timer: None,
            timed: None,
            outbox: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.send(now);
    }

    /// Sends no new data from now on.
    pub(crate) fn stop(&mut self) {
        self.end = self.fresh.max(1);
    }

    /// Adds `bytes` bytes to send. If the window allows, they leave at once in
    /// segments of their own, without waiting for more (no Nagle delay)
    /// [RFC9293 s3.7.4].
    pub(crate) fn supply(&mut self, now: Time, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
        if self.una > 0 {
            self.send(now);
        }
    }

    pub(crate) fn receive(&mut self, now: Time, ack: &Ack) {
        if ack.next > self.fresh {
            return;
        }
        let delivered = self.una + self.sacked.total();
        let news = self.report(ack);
        let delivered = self.una.max(ack.next) + self.sacked.total() - delivered;
        self.proportion.deliver(delivered);
        if ack.echo {
            self.answer_mark();
        }
        if ack.next > self.una {
            self.proportion.safe = true;
            self.advance(now, ack.next);
        } else if ack.next == self.una && self.fresh > self.una && news {
            self.duplicate(now);
        }
        self.send(now);
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        self.counts.timeouts += 1;
        // Not for data that were retransmitted already [RFC5681 s3.1].
        if self.una >= self.bar {
            let flight = self.flight();
            self.threshold = self.law.reduce(flight);
        }
        if self.una == 0 {
            // After the loss of a SYN the initial window is one segment [RFC5681 s3.1].
            self.first_window = 1;
        }
        self.window = 1.0;
        self.bar = self.fresh;
        self.recovering = None;
        self.duplicates = 0;
        if !self.lasting_reports {
            self.sacked.clear();
        }
        self.next = self.una;
        self.timed = None;
        self.estimator.back_off();
        self.timer = None;
        self.send(now);
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<Data> {
        let next = self.outbox.pop_front();
        if next.is_none() {
            // Starts again at the front of the ring, whose memory is in the cache.
            self.outbox.clear();
        }
        next
    }

    pub(crate) fn has_segments(&self) -> bool {
        !self.outbox.is_empty()
    }

    pub(crate) const fn next_timeout(&self) -> Option<Time> {
        self.timer
    }

    /// Limits segments to `payload` bytes, after a notification that larger ones do
    /// not fit: the window keeps its bytes, and outstanding data are retransmitted
    /// because their packets were larger [RFC1191 s6.4] [RFC8201 s5.4].
    pub(crate) fn shrink(&mut self, now: Time, payload: u32) {
        if payload == 0 || payload >= self.payload {
            return;
        }
        let grain = f64::from(self.payload) / f64::from(payload);
        self.payload = payload;
        self.window *= grain;
        self.threshold *= grain;
        self.sacked.clear();
        self.bar = self.fresh;
        self.next = self.una;
        self.timed = None;
        self.recovering = None;
        self.send(now);
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn state(&self) -> State {
        State {
            window: self.window,
            threshold: self.threshold.is_finite().then_some(self.threshold),
            round_trip: self.estimator.round_trip(),
            timeout: self.estimator.timeout(),
            flight: self.segments(self.fresh - self.una),
            acknowledged: self.una,
        }
    }

    /// Handles an acknowledgement of new data.
    fn advance(&mut self, now: Time, number: u64) {
        let acked = self.segments(number - self.una);
        let opens = self.una == 0;
        self.una = number;
        self.next = self.next.max(number);
        if let Some((end, sent)) = self.timed
            && number >= end
        {
            self.estimator.measure(sent, now);
            self.counts.measure(sent, now);
            self.timed = None;
        }
        self.time(now);
        let mut renew = true;
        match self.recovering {
            _ if opens => self.window = self.first_window.into(),
            None => {
                self.duplicates = 0;
                self.grow(now, acked);
            }
            Some(point) if number >= point || self.recovery == Recovery::Reno => {
                self.leave();
                if self.reduction == Reduction::Proportional {
                    // The acknowledgement that ends a recovery makes the window grow
                    // again [Linux].
                    self.grow(now, self.segments(self.proportion.now()));
                }
            }
            Some(_) => renew = self.acknowledge_part(now, acked),
        }
        if self.una == self.fresh {
            self.timer = None;
        } else if renew {
            self.timer = Some(now + self.estimator.timeout());
        }
    }

    /// Sends as much as the window allows.
    fn send(&mut self, now: Time) {
        if self.recovery == Recovery::Sack && self.recovering.is_some() {
            self.repair(now);
            return;
        }
        let early = match self.limited_transmit && self.recovering.is_none() {
            true => self.duplicates.min(LIMITED),
            false => 0,
        };
        let room = self.bytes(self.window + f64::from(early)).min(self.most());
        loop {
            if let Some(range) = self.sacked.containing(self.next) {
                self.next = range.to;
            }
            let range = self.cut(self.next);
            let inside = range.to - self.una <= room || self.una == self.fresh;
            // No data before the handshake is complete, even if they would fit.
            let opened = self.una > 0 || range.from == 0;
            if range.from == range.to || !inside || !opened {
                return;
            }
            self.next = range.to;
            self.output(now, range);
        }
    }

    /// The segment that begins at `from`: as long as possible, but not partly sent
    /// before.
    fn cut(&self, from: u64) -> Range {
        let limit = match from {
            0 => 1,
            from if from < self.fresh => self.fresh,
            _ => self.end,
        };
        let to = limit.min(from + u64::from(self.payload)).max(from);
        Range { from, to }
    }

    fn output(&mut self, now: Time, range: Range) {
        let length = u32::try_from(range.to - range.from).unwrap_or(u32::MAX);
        let payload = if range.from == 0 { 0 } else { length };
        let again = range.from < self.fresh;
        self.outbox.push_back(Data {
            sequence: range.from,
            length,
            payload,
            header: self.header,
            again,
            // Neither the SYN nor retransmissions are ECN-capable [RFC3168 s6.1.1]
            // [RFC3168 s6.1.5].
            capable: self.capable && !again && payload > 0,
            marked: false,
            reduced: self.tell && !again,
            push: self.write.is_some_and(|write| {
                // The SYN has the first number.
                let (from, to) = (range.from.saturating_sub(1), range.to - 1);
                payload > 0 && (from / write < to / write || range.to == self.end)
            }),
        });
        self.tell &= again;
        self.counts.count(payload, again);
        if again {
            self.timed = self.timed.filter(|(end, _)| *end <= range.from);
            if let Some(departures) = &mut self.departures {
                departures.forget(range);
            }
        } else {
            self.fresh = range.to;
            if let Some(departures) = &mut self.departures {
                departures.note(range.to, now);
            }
            self.timed.get_or_insert((range.to, now));
        }
        let timeout = self.estimator.timeout();
        self.timer.get_or_insert_with(|| now + timeout);
    }

    /// Outstanding segments, without those of limited transmit [RFC5681 s3.2].
    fn flight(&self) -> f64 {
        self.segments(self.fresh - self.una).min(self.window)
    }

    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.payload)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturates"
    )]
    fn bytes(&self, segments: f64) -> u64 {
        (segments * f64::from(self.payload)) as u64
    }
}
