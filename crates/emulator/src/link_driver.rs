//! The driver of one direction of an emulated link, with the cross traffic that shares
//! it.
//!
//! Packets of cross traffic are generated here, at the times of their schedule, and
//! end at the far end: they take room in the queue and time on the wire, but cost the
//! kernel nothing. Even if the emulator wakes up late, they enter the queue in the
//! right order among the frames that the kernel timestamped.

use std::iter::Peekable;

use link::{
    Arrival, BadSettings, Counters, Delivery, Event, Link, PacketOutcome, Reseed, Settings,
};
use meter::departures::{Distribution, Schedule};
use queue::{Backlog, Packet};
use units::{Bytes, Framing, Seed, Span, Time};
use wire::too_big::TooBig;

use super::observation::{Observation, Observer};
use os::frames::{Frame, Pool};

/// Cross traffic in one direction of one emulated link.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cross {
    /// The number of the link, from 0.
    pub link: usize,
    /// 0: from the link's first interface to the second; 1: back.
    pub direction: usize,
    /// Gaps between arrivals, in picoseconds.
    pub gaps: Distribution,
    /// Bytes of frames, from the destination address to the FCS.
    pub sizes: Distribution,
}

/// The counters of cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Crossed {
    /// Its packets by outcome. The counters of the direction include them.
    pub counters: Counters,
    /// Bytes of wire offered, preamble and gap included.
    pub offered: Bytes,
    /// Bytes of wire of the packets that were neither dropped nor lost.
    pub carried: Bytes,
    /// Duration of the cross traffic.
    pub lasted: Span,
}

impl Crossed {
    /// The change since `earlier`.
    pub(super) fn since(self, earlier: &Self) -> Self {
        Self {
            counters: self.counters.since(&earlier.counters),
            offered: self.offered - earlier.offered,
            carried: self.carried - earlier.carried,
            lasted: self.lasted - earlier.lasted,
        }
    }
}

/// A link with its cross traffic.
pub(super) struct LinkDriver {
    link: Link<Frame, Observer>,
    /// Whether frames take the time of their framing.
    framed: bool,
    /// The time up to which all arrivals have been read.
    known: Time,
    /// Number of packets delivered.
    out: u64,
    /// The cross traffic, if any.
    cross: Option<Running>,
    crossed: Crossed,
    /// Number of packets of cross traffic delivered.
    crossed_out: u64,
    /// Whether the link keeps a record, which is needed to know the packets that it
    /// dropped.
    watched: bool,
    /// The events of real frames, if recorded.
    kept: Option<Vec<Event>>,
}

/// Cross traffic that has not been stopped.
struct Running {
    schedule: Peekable<Schedule>,
    /// The time up to which [`Crossed::lasted`] counts its time.
    counted: Time,
}

impl LinkDriver {
    pub(super) fn new(settings: Settings, seed: Seed) -> Result<Self, BadSettings> {
        Ok(Self {
            framed: settings.ethernet,
            link: Link::observed(settings, seed, Observer::default())?,
            known: Time::ZERO,
            out: 0,
            cross: None,
            crossed: Crossed::default(),
            crossed_out: 0,
            watched: false,
            kept: None,
        })
    }

    /// Restarts the random streams of the link.
    pub(super) fn reseed(&mut self, now: Time, seed: Seed) {
        self.link.reseed(now, seed);
    }

    /// The packets that wait, if they are recorded.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Arrival> {
        let kept = self.kept.iter();
        kept.flat_map(|_| self.link.waiting())
    }

    /// The recorded restarts of the random streams.
    pub(super) fn reseeds(&self) -> &[Reseed] {
        self.link.reseeds()
    }

    /// Starts a record of packets.
    pub(super) fn record(&mut self) {
        // Earlier events, recorded for cross traffic, are not part of it.
        self.settle();
        self.watched = true;
        self.link.record();
        self.kept = Some(Vec::new());
    }

    /// The events since the last call.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        self.settle();
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Ends the record.
    pub(super) fn end_record(&mut self) {
        self.settle();
        self.kept = None;
    }

    /// Keeps observations of packets from now on, with their headers if `heads`.
    pub(super) fn observe(&mut self, heads: bool) {
        self.link.observer().begin(heads);
    }

    /// The observations so far; no more are kept.
    pub(super) fn observations(&mut self) -> Vec<Observation> {
        self.link.observer().end()
    }

    /// Starts cross traffic.
    pub(super) fn begin_cross(
        &mut self,
        now: Time,
        gaps: Distribution,
        sizes: Distribution,
        seed: Seed,
    ) {
        self.watch();
        self.cross = Some(Running {
            schedule: Schedule::new(now, gaps, sizes, seed).peekable(),
            counted: now,
        });
    }

    /// Stops cross traffic; its packets in the queue and in flight stay.
    pub(super) fn end_cross(&mut self, now: Time) {
        self.catch_up(now);
        self.cross = None;
    }

    /// Whether there is cross traffic.
    pub(super) const fn is_crossed(&self) -> bool {
        self.cross.is_some()
    }

    /// Takes a frame that arrived at `at`. Returns the notification for its sender if
    /// the frame is too big and the link notifies senders.
    pub(super) fn receive(&mut self, at: Time, frame: Frame, pool: &Pool) -> Option<Frame> {
        self.catch_up(at);
        let frame = match self.framed {
            true => frame,
            false => frame.without_framing(),
        };
        let frame = self.link.receive(at, frame)?;
        answer(&mut self.link, at, &frame, pool)
    }

    /// Generates the cross traffic that arrived by `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        let Some(running) = &mut self.cross else {
            return;
        };
        while let Some((at, size)) = running.schedule.next_if(|(at, _)| *at <= now) {
            let filler = Frame::filler(size);
            let size = filler.view().size;
            self.crossed.counters.arrived += 1;
            self.crossed.offered += size + Framing::PREAMBLE + Framing::GAP;
            // Oversized packets of cross traffic are ignored.
            self.link.receive(at, filler);
        }
        self.crossed.lasted += now.since(running.counted).unwrap_or_default();
        running.counted = running.counted.max(now);
        self.settle();
    }

    /// Notes that all arrivals until `instant` have been read.
    pub(super) fn read_until(&mut self, instant: Time) {
        self.known = self.known.max(instant);
    }

    /// The time up to which all arrivals have been read.
    pub(super) const fn known(&self) -> Time {
        self.known
    }

    /// The next frame delivered by `now`; cross traffic is removed here.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Delivery<Frame>> {
        loop {
            let delivery = self.link.poll_transmit(now)?;
            self.out += 1;
            if !delivery.packet.is_filler() {
                return Some(delivery);
            }
            self.crossed_out += 1;
        }
    }

    /// The time of the next delivery of a frame; cross traffic does not count.
    pub(super) fn next_timeout(&mut self) -> Option<Time> {
        // Unclaimed events must not accumulate.
        self.settle();
        if self.crossed.counters.arrived > 0 {
            let fillers = inside(&self.crossed.counters, self.crossed_out);
            if inside(&self.link.counters(), self.out) == fillers {
                return None;
            }
        }
        self.link.next_timeout()
    }

    pub(super) const fn counters(&self) -> Counters {
        self.link.counters()
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// The counters of cross traffic until `now`.
    pub(super) fn crossed(&mut self, now: Time) -> Crossed {
        self.catch_up(now);
        self.settle();
        self.crossed
    }

    fn watch(&mut self) {
        if !self.watched {
            self.watched = true;
            self.link.record();
        }
    }

    /// Assigns the link's events to frames and cross traffic.
    fn settle(&mut self) {
        if !self.watched {
            return;
        }
        for event in self.link.take_events() {
            if event.flow == Frame::FILLER {
                let counters = &mut self.crossed.counters;
                counters.outcomes[event.outcome as usize] += 1;
                counters.marked += u64::from(event.marked);
                if let Some(reason) = event.reason {
                    counters.dropped[reason as usize] += 1;
                }
                let copies = match event.outcome {
                    PacketOutcome::Delivered => 1,
                    PacketOutcome::Duplicated => 2,
                    PacketOutcome::Dropped
                    | PacketOutcome::Lost
                    | PacketOutcome::Damaged
                    | PacketOutcome::TooBig => 0,
                };
                counters.bytes += event.size * copies;
                if copies > 0 {
                    let size = Bytes::new(event.size);
                    self.crossed.carried += size + Framing::PREAMBLE + Framing::GAP;
                }
            }
            if let Some(kept) = &mut self.kept {
                kept.push(event);
            }
        }
    }
}

/// The notification for the sender of `frame`, which is too big for `link`, if the link
/// sends notifications.
fn answer(link: &mut Link<Frame, Observer>, at: Time, frame: &Frame, pool: &Pool) -> Option<Frame> {
    let mtu = u32::try_from(link.advertised_mtu()?.get()).ok()?;
    let answer = TooBig::to(frame.ethernet(), mtu)?;
    if !link.may_answer(at) {
        return None;
    }
    let mut bytes = vec![0; answer.buffer_len()];
    answer.emit(&mut bytes).ok()?;
    Some(pool.frame(&bytes))
}

/// Packets in the queue or in flight.
fn inside(counters: &Counters, out: u64) -> u64 {
    let gone = [
        PacketOutcome::Dropped,
        PacketOutcome::Lost,
        PacketOutcome::Damaged,
        PacketOutcome::TooBig,
    ];
    let gone: u64 = gone.iter().map(|&outcome| counters.of(outcome)).sum();
    counters.arrived - gone - out
}

#[cfg(test)]
mod tests;
