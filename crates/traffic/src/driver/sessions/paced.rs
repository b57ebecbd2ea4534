//! Departures of a flow at the times of a grid that begins with the flow: a late
//! departure does not delay later ones.

mod drifting;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use meter::streaming_recorder::Delays;
use units::{Bytes, Span, Time};

use super::counters::SentCounters;
use super::delays::DelayDistribution;
use super::options::sizes;
use super::{Flow, Meter};
use drifting::Drifting;
use os::deadline::Deadline;
use os::error::Result;
use os::pacing::Pacer;
use os::{clock, interrupt, kernel_clock};

/// The longest wait without a check whether the flow is to end.
const LOOK: Span = Span::from_millis(50);

/// The span before a time in which the clock is polled. At 10 000 departures per
/// second on virtual processors with other load, 99 of 100 left within 27 us with a
/// span of 60 us, within 19 us with 80 us, and within 0.2 us with 90 us (medians of
/// nine runs each, with real-time priority): a processor that sleeps only for a moment
/// is not descheduled. It costs 9 % of a processor at 1000 departures per second.
const SPIN: Span = Span::from_micros(90);

/// The messages of impossible sizes in a row after which a flow ends: its distribution has hardly
/// any others.
const HOPELESS: u64 = 1_000_000;

/// The most unsent messages that are counted as offered.
const UNSENT: u64 = 10_000_000;

/// The departures of one flow.
pub(super) struct Departures {
    flow: Flow,
    begin: Time,
    /// The end of the warm-up, and whether the latest message belongs to it.
    counted_from: Time,
    is_warmup: bool,
    end: Option<Time>,
    sizes: (Bytes, Bytes),
    stop: Arc<AtomicBool>,
    pace: Pace,
    timing_error: Delays,
    /// Messages that were due after the warm-up, and those of them that the protocol cannot
    /// carry.
    offered: u64,
    rejected: u64,
    rejected_in_a_row: u64,
    /// Bytes of the messages before the current one.
    carried: Bytes,
    counters: Arc<SentCounters>,
}

/// The method of waiting for times.
enum Pace {
    Grid(Pacer),
    Drifting(Drifting),
}

/// A message that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// Size in bytes.
    pub(super) size: usize,
    /// Instant on the grid.
    due: Time,
}

impl Departures {
    /// The departures of a flow to `to`, relative to `start`.
    pub(super) fn new(
        flow: &Flow,
        to: IpAddr,
        start: Time,
        stop: &Arc<AtomicBool>,
        counters: &Arc<SentCounters>,
    ) -> Result<Self> {
        let begin = start + flow.delay;
        let pace = if flow.options.drifts && flow.paced {
            Pace::Drifting(Drifting::new(begin))
        } else if flow.paced && flow.options.spin {
            Pace::Grid(Pacer::watching(SPIN)?)
        } else {
            Pace::Grid(Pacer::sleeping()?)
        };
        let (least, most) = sizes(flow.transport, flow.meter, to);
        Ok(Self {
            begin,
            counted_from: begin + flow.omit,
            is_warmup: flow.omit > Span::ZERO,
            end: flow.length.map(|length| begin + length),
            sizes: (
                least,
                flow.largest.map_or(most, |largest| largest.min(most)),
            ),
            carried: Bytes::ZERO,
            rejected_in_a_row: 0,
            flow: flow.clone(),
            stop: Arc::clone(stop),
            pace,
            timing_error: Delays::default(),
            offered: 0,
            rejected: 0,
            counters: Arc::clone(counters),
        })
    }

    /// Waits for the next message. Returns its size in bytes and the actual time; `None`
    /// at the end of the flow.
    pub(super) fn wait_for_next(&mut self) -> Option<(usize, Time)> {
        let departure = self.next()?;
        Some((departure.size, self.wait(departure)?))
    }

    /// The next message; `None` at the end of the flow. Messages that the protocol
    /// cannot carry are counted and skipped.
    pub(super) fn next(&mut self) -> Option<Departure> {
        let departure = self.draw();
        let due = departure.as_ref().filter(|_| self.flow.paced);
        self.counters.due(due.map(|departure| departure.due));
        departure
    }

    fn draw(&mut self) -> Option<Departure> {
        loop {
            if self.stopped() {
                return None;
            }
            let (at, size) = self.flow.schedule.next()?;
            let due = self.begin + Span::from_picos(at.as_picos());
            if self.end.is_some_and(|end| due >= end) {
                return None;
            }
            let (least, most) = self.sizes;
            if size < least || size > most {
                // It has no departure of its own, so it belongs to the one before.
                match self.is_warmup {
                    true => self.flow.schedule.uncount_last(),
                    false => (self.offered, self.rejected) = (self.offered + 1, self.rejected + 1),
                }
                self.rejected_in_a_row += 1;
                if self.rejected_in_a_row > HOPELESS {
                    return None;
                }
                continue;
            }
            self.rejected_in_a_row = 0;
            let size = usize::try_from(size.get()).unwrap_or(usize::MAX);
            return Some(Departure { size, due });
        }
    }

    /// Waits for the time of a message and returns the actual time; `None` if the
    /// flow ends before. Timing error is measured here, just before the message is written.
    pub(super) fn wait(&mut self, departure: Departure) -> Option<Time> {
        let due = if self.flow.paced {
            departure.due
        } else {
            self.begin
        };
        let due = self.limited(due, departure.size);
        let mut now = clock::monotonic();
        while due > now + LOOK {
            if self.stopped() {
                return None;
            }
            kernel_clock::sleep_until(now + Span::from_picos(LOOK.as_picos() / 2));
            now = clock::monotonic();
        }
        match &mut self.pace {
            Pace::Drifting(drifting) => now = drifting.wait(due),
            Pace::Grid(pacer) if due > now => now = pacer.wait_until(due),
            Pace::Grid(_) => {}
        }
        self.is_warmup = now < self.counted_from;
        if self.is_warmup {
            self.flow.schedule.uncount_last();
        } else {
            self.offered += 1;
        }
        if self.flow.paced && !self.is_warmup {
            self.timing_error
                .record(now.since(departure.due).unwrap_or_default().as_nanos());
        }
        if self.end.is_some_and(|end| now >= end) {
            // Messages due by now but not sent: the sender has fallen behind, by as much as
            // the first of them is late.
            self.count_unsent();
            self.counters.due(None);
            let uncounted = !self.flow.paced && !self.is_warmup;
            self.offered = self.offered.saturating_sub(u64::from(uncounted));
            return None;
        }
        Some(now)
    }

    /// The time of a message if the flow has a limit: not before the bytes ahead of it
    /// had passed at that rate.
    fn limited(&mut self, due: Time, size: usize) -> Time {
        let Some(limit) = self.flow.limit else {
            return due;
        };
        let least = self.begin + limit.serialise(self.carried);
        self.carried += Bytes::new(size as u64);
        due.max(least)
    }

    /// Whether the latest message belongs to the warm-up.
    pub(super) fn is_warmup(&self) -> bool {
        self.is_warmup
    }

    /// Whether the flow was asked to stop.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || interrupt::asked()
    }

    /// A deadline at `at` that also ends when the flow was asked to stop.
    pub(super) fn deadline(&self, at: Time) -> Deadline {
        Deadline::new(at, &self.stop)
    }

    /// Whether the flow has ended at `now`, or was asked to stop.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.stopped() || self.end.is_some_and(|end| now >= end)
    }

    /// Whether each message waits for the echo of the previous one.
    pub(super) fn one_at_a_time(&self) -> bool {
        !self.flow.paced && self.flow.meter == Meter::RoundTrip
    }

    /// Messages that were due after the warm-up, those of them that the protocol cannot carry, and the
    /// timing error of the others.
    pub(super) fn totals(&self) -> (u64, u64, Option<DelayDistribution>) {
        (
            self.offered,
            self.rejected,
            DelayDistribution::of(&self.timing_error),
        )
    }

    fn count_unsent(&mut self) {
        if self.flow.paced {
            let end = self.end.unwrap_or(self.begin);
            for _ in 0..UNSENT {
                match self.flow.schedule.next() {
                    Some((at, _)) if self.begin + Span::from_picos(at.as_picos()) < end => {
                        let due = self.begin + Span::from_picos(at.as_picos());
                        self.offered += u64::from(due >= self.counted_from);
                    }
                    _ => break,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::departures::{Distribution, Schedule};
    use std::net::Ipv4Addr;
    use units::Seed;
    use wire::control::{Name, Protocol};

    #[test]
    fn a_sender_that_was_suspended_past_its_end_is_late_by_that_time() {
        let distribution = |value| Distribution::Constant(value);
        let flow = Flow {
            name: Name::new("flow").unwrap(),
            transport: Some(Protocol::Udp),
            meter: Meter::OneWay,
            // A gap of a millisecond, in picoseconds.
            schedule: Schedule::new(
                Time::ZERO,
                distribution(1e9),
                distribution(100.0),
                Seed::new(1),
            ),
            paced: true,
            delay: Span::ZERO,
            omit: Span::ZERO,
            length: Some(Span::from_millis(30)),
            largest: None,
            payload: None,
            codec: None,
            options: super::super::options::Options::default(),
            limit: None,
            reverse: None,
        };
        let start = clock::monotonic();
        let suspended = Span::from_millis(50);
        clock::sleep(suspended);
        let to = Ipv4Addr::LOCALHOST.into();
        let (stop, counters) = (Arc::default(), Arc::default());
        let mut departures = Departures::new(&flow, to, start, &stop, &counters).unwrap();
        let departure = departures.next().unwrap();
        assert!(departures.wait(departure).is_none());
        let (offered, _, timing_error) = departures.totals();
        assert!(offered > 20, "{offered}");
        let late = timing_error.unwrap();
        // It was due a gap after the start.
        let least = Span::from_millis(49);
        assert!(late.count == 1 && late.most >= least, "{late:?}");
    }
}
