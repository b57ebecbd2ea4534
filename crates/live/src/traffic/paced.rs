//! The departures of one flow, each at its instant of a grid that begins with
//! the flow: a late one delays none after it.

use std::sync::atomic::{AtomicBool, Ordering};

use units::{Bytes, Span, Time};

use super::delays::{Delays, Figures};
use super::options::sizes;
use super::{Flow, Meter};
use crate::clock;
use crate::error::Result;
use crate::interrupt;
use crate::pacing::Pacer;
use std::net::IpAddr;

/// How long a wait goes on without a look whether the flow is to end.
const LOOK: Span = Span::from_millis(50);

/// Messages that are counted as offered, beyond those sent, at most.
const UNSENT: u64 = 10_000_000;

/// One flow's departures.
pub(super) struct Departures<'a> {
    flow: Flow,
    begin: Time,
    end: Option<Time>,
    sizes: (Bytes, Bytes),
    stop: &'a AtomicBool,
    pacer: Pacer,
    lateness: Delays,
    /// The instant of the message before on the grid.
    before: Time,
    /// Messages whose instant came, and those of them that no protocol carries.
    offered: u64,
    refused: u64,
}

/// A message that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// Its octets.
    pub(super) size: usize,
    /// Its instant of the grid.
    due: Time,
}

impl<'a> Departures<'a> {
    /// The departures of a flow to `to`, counted from `start`.
    pub(super) fn new(flow: &Flow, to: IpAddr, start: Time, stop: &'a AtomicBool) -> Result<Self> {
        let begin = start + flow.delay;
        let spinning = flow.paced && flow.options.spin;
        Ok(Self {
            begin,
            before: begin,
            end: flow.length.map(|length| begin + length),
            sizes: sizes(flow.transport, to),
            flow: flow.clone(),
            stop,
            pacer: if spinning {
                Pacer::new()
            } else {
                Pacer::sleeping()
            }?,
            lateness: Delays::new()?,
            offered: 0,
            refused: 0,
        })
    }

    /// The next message; none once the flow is over. One that its protocol
    /// cannot carry is counted and left out.
    pub(super) fn next(&mut self) -> Option<Departure> {
        loop {
            if self.stopped() {
                return None;
            }
            let (at, size) = self.flow.schedule.next()?;
            let due = self.begin + Span::from_picos(at.as_picos());
            if self.end.is_some_and(|end| due >= end) {
                return None;
            }
            self.offered += 1;
            let (least, most) = self.sizes;
            if size < least || size > most {
                self.refused += 1;
                continue;
            }
            let size = usize::try_from(size.get()).unwrap_or(usize::MAX);
            return Some(Departure { size, due });
        }
    }

    /// Waits for the instant of a message, and says when it was; none if the
    /// flow is to end before. Lateness counts from here, where a message is
    /// about to be written.
    pub(super) fn wait(&mut self, departure: Departure) -> Option<Time> {
        let due = if self.flow.paced {
            departure.due
        } else {
            self.begin
        };
        let mut now = clock::monotonic();
        while due > now + LOOK {
            if self.stopped() {
                return None;
            }
            clock::sleep_until(now + Span::from_picos(LOOK.as_picos() / 2));
            now = clock::monotonic();
        }
        if self.flow.options.drifts && self.flow.paced {
            clock::sleep(due.since(self.before).unwrap_or_default());
            self.before = due;
            now = clock::monotonic();
        } else if due > now {
            now = self.pacer.wait_until(due);
        }
        if self.end.is_some_and(|end| now >= end) {
            // What is due by now and was not sent, a sender fell behind with.
            self.count_unsent();
            self.offered = self.offered.saturating_sub(u64::from(!self.flow.paced));
            return None;
        }
        if self.flow.paced {
            self.lateness
                .record(now.since(due).unwrap_or_default().as_nanos());
        }
        Some(now)
    }

    /// Whether somebody has asked the flow to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || interrupt::asked()
    }

    /// Whether each message waits for the one before it to be back.
    pub(super) fn one_at_a_time(&self) -> bool {
        !self.flow.paced && self.flow.meter == Meter::RoundTrip
    }

    /// Messages whose instant came, those of them that no protocol carries,
    /// and how late the others left.
    pub(super) fn figures(&self) -> (u64, u64, Option<Figures>) {
        (self.offered, self.refused, self.lateness.figures())
    }

    fn count_unsent(&mut self) {
        if self.flow.paced {
            let end = self.end.unwrap_or(self.begin);
            for _ in 0..UNSENT {
                match self.flow.schedule.next() {
                    Some((at, _)) if self.begin + Span::from_picos(at.as_picos()) < end => {
                        self.offered += 1;
                    }
                    _ => break,
                }
            }
        }
    }
}
