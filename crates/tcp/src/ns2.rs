//! The sender of ns-2.35's one-way agents Tahoe, Reno, Newreno and Sack1, modelled
//! after their source and their runs [Ns2].
//!
//! Sequence numbers count segments, 0 is the SYN, and the window is a fractional number
//! of segments. Deviations from the standards are intentional.

mod reno;
mod sack;
mod scoreboard;
mod tahoe;

use units::Time;

use super::rto::Ticks;
use super::segment::{Ack, Data, HEADER};
use super::sender::{Counts, State};
use super::{Range, Recovery, Settings};
use scoreboard::Scoreboard;

/// Duplicate acknowledgements that indicate a loss.
const DUPLICATES: u32 = 3;

/// The reason of the last reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduced {
    Never,
    Duplicates,
    TimedOut,
    /// Duplicate acknowledgements; recovery has ended.
    Left,
}

/// A sending agent.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    recovery: Recovery,
    payload: u32,
    header: u32,
    initial_window: f64,
    /// The receiver's window, in segments.
    most: i64,
    limited_transmit: bool,
    /// Segments available to send, the SYN included.
    ready: i64,
    cwnd: f64,
    ssthresh: f64,
    /// The next number to send, the highest sent, the highest acknowledged, and the
    /// latter as of the start of recovery.
    next: i64,
    sent: i64,
    highest: i64,
    last: i64,
    recover: i64,
    duplicates: u32,
    /// Segments by which duplicate acknowledgements have inflated the window.
    swollen: i64,
    /// Whether a partial acknowledgement arrived in this recovery.
    partial: bool,
    reduced: Reduced,
    ticks: Ticks,
    timer: Option<Time>,
    /// The segment being timed: whether there is one, its number, and its departure.
    timing: bool,
    timed: (i64, Time),
    // Used by SACK only.
    recovering: bool,
    timed_out: bool,
    pipe: i64,
    scoreboard: Scoreboard,
    /// Segments to send, each with whether it was sent before, and how many of them have
    /// been handed over.
    outbox: Vec<(i64, bool)>,
    polled: usize,
    counts: Counts,
}

impl Agent {
    /// An agent that sends `segments` segments after its SYN, once it is started.
    pub(crate) fn new(settings: &Settings, segments: u64) -> Self {
        let threshold = settings.initial_ssthresh.unwrap_or(settings.window);
        Self {
            recovery: settings.recovery,
            payload: settings.segment,
            header: HEADER + settings.options,
            initial_window: settings.initial_window.into(),
            most: settings.window.into(),
            limited_transmit: settings.limited_transmit,
            ready: i64::try_from(segments).map_or(i64::MAX / 2, |all| all.min(i64::MAX / 2) + 1),
            cwnd: 1.0,
            ssthresh: threshold.into(),
            next: 0,
            sent: -1,
            highest: -1,
            last: -1,
            recover: 0,
            duplicates: 0,
            swollen: 0,
            partial: false,
            reduced: Reduced::Never,
            ticks: Ticks::new(settings),
            timer: None,
            timing: false,
            timed: (-1, Time::ZERO),
            recovering: false,
            timed_out: false,
            pipe: -1,
            scoreboard: Scoreboard::new(),
            outbox: Vec::new(),
            polled: 0,
            counts: Counts::default(),
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.send_much(now, None);
    }

    /// Sends no new data from now on. The last segment sent is no longer available for
    /// retransmission either, because ns-2 takes the highest number sent for the number
    /// of segments [Ns2].
    pub(crate) fn stop(&mut self) {
        self.ready = self.sent.max(0);
    }

    /// Adds `segments` segments to send.
    pub(crate) fn supply(&mut self, now: Time, segments: u64) {
        let segments = i64::try_from(segments).unwrap_or(i64::MAX / 4);
        self.ready = self.ready.saturating_add(segments).min(i64::MAX / 2);
        if self.highest >= 0 {
            self.send_much(now, None);
        }
    }

    pub(crate) fn receive(&mut self, now: Time, ack: &Ack) {
        let number = signed(ack.next) - 1;
        match self.recovery {
            Recovery::Tahoe => self.receive_tahoe(now, number),
            Recovery::Reno => self.receive_reno(now, number),
            Recovery::NewReno => self.receive_newreno(now, number),
            Recovery::Sack => self.receive_sack(now, number, ack),
        }
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        self.timer = None;
        if self.highest + 1 >= self.ready {
            return;
        }
        self.swollen = 0;
        if self.recovery != Recovery::Tahoe {
            self.duplicates = 0;
        }
        if self.recovery == Recovery::Sack {
            self.recovering = false;
            self.timed_out = true;
            self.last = self.last.max(self.highest);
            self.scoreboard.clear();
        }
        self.cwnd = self.cwnd.max(1.0);
        self.recover = self.sent;
        if self.highest == -1 {
            self.initial_window = 1.0;
        }
        let outstanding = self.highest != self.sent;
        if outstanding {
            self.counts.timeouts += 1;
            self.ssthresh = (self.window_with_fraction() / 2.0).floor();
            self.ticks.back_off();
        }
        self.cwnd = 1.0;
        self.ssthresh = self.ssthresh.max(2.0);
        self.set_timer(now);
        self.next = self.highest + 1;
        self.timing = false;
        self.reduced = Reduced::TimedOut;
        self.send_much(now, None);
    }

    #[inline]
    pub(crate) fn poll_transmit(&mut self) -> Option<Data> {
        if !self.has_segments() {
            return None;
        }
        let &(number, again) = self.outbox.get(self.polled)?;
        self.polled += 1;
        Some(Data {
            sequence: unsigned(number),
            length: 1,
            payload: if number == 0 { 0 } else { self.payload },
            header: self.header,
            again,
            capable: false,
            marked: false,
            reduced: false,
            push: false,
        })
    }

    /// Whether there is another segment; if not, the outbox starts again.
    #[inline]
    pub(crate) fn has_segments(&mut self) -> bool {
        if self.polled < self.outbox.len() {
            return true;
        }
        self.outbox.clear();
        self.polled = 0;
        false
    }

    #[inline]
    pub(crate) const fn next_timeout(&self) -> Option<Time> {
        self.timer
    }

    /// Makes segments smaller, to fit packets with room for `payload` bytes. ns-2 has
    /// no such function; numbers still count segments.
    pub(crate) fn shrink(&mut self, payload: u32) {
        self.payload = self.payload.min(payload);
    }

    /// Retransmits a segment after a notification of its loss. ns-2 has no such
    /// function; the window is reduced as for duplicate acknowledgements.
    pub(crate) fn notified(&mut self, now: Time, lost: Range, reduce: bool) {
        let number = signed(lost.from);
        if number <= self.highest || number > self.sent {
            return;
        }
        if reduce && number > self.recover {
            self.ssthresh = (self.window_with_fraction() / 2.0).floor().max(2.0);
            self.cwnd = self.ssthresh;
        }
        // Duplicate acknowledgements are ignored until this is acknowledged.
        self.recover = self.sent;
        self.output(now, number);
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn state(&self) -> State {
        State {
            window: self.cwnd,
            threshold: Some(self.ssthresh),
            round_trip: self.ticks.round_trip(),
            timeout: self.ticks.timeout(),
            flight: float(self.sent - self.highest),
            acknowledged: unsigned(self.highest + 1),
        }
    }

    /// Sends segment `number`.
    fn output(&mut self, now: Time, number: i64) {
        let again = number <= self.sent;
        // Duplicates of an acknowledgement of all segments request one that does not
        // exist.
        if !again && number >= self.ready {
            return;
        }
        let payload = if number == 0 { 0 } else { self.payload };
        self.outbox.push((number, again));
        self.counts.count(payload, again);
        let nothing_outstanding = self.highest == self.sent;
        if !again {
            self.sent = number;
            if !self.timing {
                self.timing = true;
                if number > self.timed.0 {
                    self.timed = (number, now);
                }
            }
        }
        if self.timer.is_none() || nothing_outstanding {
            self.set_timer(now);
        }
    }

    fn send_much(&mut self, now: Time, burst: Option<u32>) {
        if self.recovery == Recovery::Sack {
            self.send_with_pipe(now);
            return;
        }
        let mut packets = 0;
        while self.next <= self.highest + self.window() && self.next < self.ready {
            self.output(now, self.next);
            self.next += 1;
            packets += 1;
            if burst == Some(packets) {
                break;
            }
        }
    }

    /// Limited transmit: a new segment for an early duplicate acknowledgement
    /// [RFC3042].
    fn send_one(&mut self, now: Time) {
        let allowed = float(self.highest) + self.cwnd + f64::from(self.duplicates);
        if self.next <= self.highest + self.most
            && self.next < self.ready
            && float(self.next) <= allowed
        {
            self.output(now, self.next);
            self.next += 1;
        }
    }

    /// Handles an acknowledgement of new data.
    fn advance(&mut self, now: Time, number: i64) {
        self.duplicates = 0;
        self.last = number;
        self.highest = number;
        self.next = self.next.max(number + 1);
        if self.timing && number >= self.timed.0 {
            self.ticks.forgive();
            self.timing = false;
            self.ticks.measure(self.timed.1, now);
            self.counts.measure(self.timed.1, now);
        }
        self.renew_timer(now, number);
    }

    /// The same outside of recovery: the window grows.
    fn advance_and_open(&mut self, now: Time, number: i64) {
        self.advance(now, number);
        self.cwnd += match self.cwnd < self.ssthresh {
            true => 1.0,
            false => 1.0 / self.cwnd,
        };
        if self.last == 0 {
            self.cwnd = self.initial_window;
        }
    }

    fn renew_timer(&mut self, now: Time, number: i64) {
        self.timer = None;
        // The timer of ns-2 always restarts, because its senders never run out of data.
        if number + 1 < self.ready {
            self.set_timer(now);
        }
    }

    fn set_timer(&mut self, now: Time) {
        self.timer = Some(now + self.ticks.timeout());
    }

    /// Halves the window and retransmits the first missing segment.
    fn retransmit_first(&mut self, now: Time) {
        self.cwnd = self.halve_threshold(now);
        self.output(now, self.last + 1);
    }

    /// Takes duplicate acknowledgements for a loss. Returns half of the window,
    /// fraction included.
    fn halve_threshold(&mut self, now: Time) -> f64 {
        self.recover = self.sent;
        self.reduced = Reduced::Duplicates;
        self.counts.recoveries += 1;
        let half = self.window_with_fraction() / 2.0;
        self.ssthresh = half.floor().max(2.0);
        self.set_timer(now);
        self.timing = false;
        half
    }

    /// Whether duplicate acknowledgements may indicate another loss: all segments sent
    /// before the last loss are acknowledged, or none is yet.
    const fn may_retransmit(&self) -> bool {
        self.highest > self.recover || self.highest == 0
    }

    fn window(&self) -> i64 {
        whole(self.cwnd).saturating_add(self.swollen).min(self.most)
    }

    fn window_with_fraction(&self) -> f64 {
        (self.cwnd + float(self.swollen)).min(float(self.most))
    }
}

const fn float(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
const fn whole(number: f64) -> i64 {
    number as i64
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests;
