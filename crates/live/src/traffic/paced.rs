//! The departures of one flow, each at its instant of a grid that begins with
//! the flow: a late one delays none after it.

mod drifting;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use proto::streaming_recorder::Delays;
use units::{Bytes, Span, Time};

use super::delays::DelayDistribution;
use super::options::sizes;
use super::{Flow, Meter};
use crate::error::Result;
use crate::pacing::Pacer;
use crate::{clock, interrupt};
use drifting::Drifting;

/// How long a wait goes on without a look whether the flow is to end.
const LOOK: Span = Span::from_millis(50);

/// For how long the clock is watched before an instant. Of 10 000 departures a
/// second on virtual processors with other work, 99 of 100 left within 27 us
/// where this was 60 us, within 19 us at 80 us, and within 0.2 us at 90 us
/// (medians of nine runs each, with real-time priority): a processor that sleeps
/// for a moment only is not taken away. It costs 9 % of one at 1000 departures a second.
const SPIN: Span = Span::from_micros(90);

/// Messages that are counted as offered, beyond those sent, at most.
const UNSENT: u64 = 10_000_000;

/// One flow's departures.
pub(super) struct Departures<'a> {
    flow: Flow,
    begin: Time,
    end: Option<Time>,
    sizes: (Bytes, Bytes),
    stop: &'a AtomicBool,
    pace: Pace,
    lateness: Delays,
    /// Messages whose instant came, and those of them that no protocol carries.
    offered: u64,
    refused: u64,
}

/// How instants are waited for.
enum Pace {
    Grid(Pacer),
    Drifting(Drifting),
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
        let pace = if flow.options.drifts && flow.paced {
            Pace::Drifting(Drifting::new(begin))
        } else if flow.paced && flow.options.spin {
            Pace::Grid(Pacer::watching(SPIN)?)
        } else {
            Pace::Grid(Pacer::sleeping()?)
        };
        Ok(Self {
            begin,
            end: flow.length.map(|length| begin + length),
            sizes: sizes(flow.transport, to),
            flow: flow.clone(),
            stop,
            pace,
            lateness: Delays::default(),
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
        match &mut self.pace {
            Pace::Drifting(drifting) => now = drifting.wait(due),
            Pace::Grid(pacer) if due > now => now = pacer.wait_until(due),
            Pace::Grid(_) => {}
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

    /// Whether the flow's time is over at `now`, or somebody has asked it to end.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.stopped() || self.end.is_some_and(|end| now >= end)
    }

    /// Whether each message waits for the one before it to be back.
    pub(super) fn one_at_a_time(&self) -> bool {
        !self.flow.paced && self.flow.meter == Meter::RoundTrip
    }

    /// Messages whose instant came, those of them that no protocol carries,
    /// and how late the others left.
    pub(super) fn totals(&self) -> (u64, u64, Option<DelayDistribution>) {
        (
            self.offered,
            self.refused,
            DelayDistribution::of(&self.lateness),
        )
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
