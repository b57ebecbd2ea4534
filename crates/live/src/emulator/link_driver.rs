//! One direction of an emulated link: its link, and cross traffic that shares it.
//!
//! Packets of cross traffic are made here, at the instants of their schedule,
//! and end at the far end: they take room in the queue and time on the wire,
//! and cost the kernel nothing. However late the emulator wakes, they come to
//! the queue in their place between the frames that the kernel stamped.

use std::iter::Peekable;

use proto::link::{Arrival, BadSettings, Counters, Delivery, Event, Fate, Link, Reseed, Settings};
use proto::traffic::{Law, Schedule};
use queue::{Backlog, Packet};
use units::{Bytes, Framing, Seed, Span, Time};
use wire::too_big::TooBig;

use crate::frames::{Frame, Pool};

/// Cross traffic in one direction of one emulated link.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cross {
    /// The number of the link, from 0.
    pub link: usize,
    /// 0: from the link's first interface to the second; 1: back.
    pub direction: usize,
    /// Gaps between arrivals, in picoseconds.
    pub gaps: Law,
    /// Octets of frames, from the destination address to the FCS.
    pub sizes: Law,
}

/// What became of cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Crossed {
    /// Its packets by fate. They are counted among all packets of the direction too.
    pub counters: Counters,
    /// Octets of wire that it asked for, with preamble and gap.
    pub offered: Bytes,
    /// Octets of wire of those that were neither dropped nor lost.
    pub carried: Bytes,
    /// For how long there was any.
    pub lasted: Span,
}

impl Crossed {
    /// What happened since `earlier`.
    pub(super) fn since(self, earlier: &Self) -> Self {
        Self {
            counters: self.counters.since(&earlier.counters),
            offered: self.offered - earlier.offered,
            carried: self.carried - earlier.carried,
            lasted: self.lasted - earlier.lasted,
        }
    }
}

/// A link with what shares it.
pub(super) struct LinkDriver {
    link: Link<Frame>,
    /// Packets that came out.
    out: u64,
    /// The cross traffic that there is.
    cross: Option<Running>,
    crossed: Crossed,
    /// Packets of cross traffic that came out.
    crossed_out: u64,
    /// Whether the link keeps a record, without which nobody knows which
    /// packets it dropped.
    watched: bool,
    /// What became of packets, for whoever asked.
    kept: Option<Vec<Event>>,
}

/// Cross traffic that has not been stopped.
struct Running {
    schedule: Peekable<Schedule>,
    /// Until when its time is counted in [`Crossed::lasted`].
    counted: Time,
}

impl LinkDriver {
    pub(super) fn new(settings: Settings, seed: Seed) -> Result<Self, BadSettings> {
        Ok(Self {
            link: Link::new(settings, seed)?,
            out: 0,
            cross: None,
            crossed: Crossed::default(),
            crossed_out: 0,
            watched: false,
            kept: None,
        })
    }

    /// Begins all chance of the link anew.
    pub(super) fn reseed(&mut self, now: Time, seed: Seed) {
        self.link.reseed(now, seed);
    }

    /// The packets that wait, if they are recorded.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Arrival> {
        let kept = self.kept.iter();
        kept.flat_map(|_| self.link.waiting())
    }

    /// When chance began anew, as far as that was recorded.
    pub(super) fn reseeds(&self) -> &[Reseed] {
        self.link.reseeds()
    }

    /// Begins to keep what becomes of packets.
    pub(super) fn record(&mut self) {
        // What was watched before for cross traffic belongs to no record.
        self.settle();
        self.watched = true;
        self.link.record();
        self.kept = Some(Vec::new());
    }

    /// What became of packets since it was last asked.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        self.settle();
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Keeps nothing from here on.
    pub(super) fn end_record(&mut self) {
        self.settle();
        self.kept = None;
    }

    /// Begins cross traffic.
    pub(super) fn begin_cross(&mut self, now: Time, gaps: Law, sizes: Law, seed: Seed) {
        self.watch();
        self.cross = Some(Running {
            schedule: Schedule::new(now, gaps, sizes, seed).peekable(),
            counted: now,
        });
    }

    /// Ends it; what waits or is on its way goes on.
    pub(super) fn end_cross(&mut self, now: Time) {
        self.catch_up(now);
        self.cross = None;
    }

    /// Whether there is cross traffic.
    pub(super) const fn is_crossed(&self) -> bool {
        self.cross.is_some()
    }

    /// Takes a frame that came at `at`. Of one that is too big the sender is
    /// notified by the frame that is returned, where the link notifies senders.
    pub(super) fn receive(&mut self, at: Time, frame: Frame, pool: &Pool) -> Option<Frame> {
        self.catch_up(at);
        let frame = self.link.receive(at, frame)?;
        answer(&mut self.link, at, &frame, pool)
    }

    /// Takes the cross traffic that came by `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        let Some(running) = &mut self.cross else {
            return;
        };
        while let Some((at, size)) = running.schedule.next_if(|(at, _)| *at <= now) {
            let filler = Frame::filler(size);
            let size = filler.view().size;
            self.crossed.counters.arrived += 1;
            self.crossed.offered += size + Framing::PREAMBLE + Framing::GAP;
            // Nobody misses one that is too big.
            self.link.receive(at, filler);
        }
        self.crossed.lasted += now.since(running.counted).unwrap_or_default();
        running.counted = running.counted.max(now);
        self.settle();
    }

    /// The next frame that has come out by `now`; cross traffic ends here.
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

    /// When a frame may come out next. Nobody waits for cross traffic.
    pub(super) fn next_timeout(&mut self) -> Option<Time> {
        // What nobody asked for must not pile up either.
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

    /// What became of cross traffic until `now`.
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

    /// Sorts what the link wrote down.
    fn settle(&mut self) {
        if !self.watched {
            return;
        }
        for event in self.link.take_events() {
            if event.flow == Frame::FILLER {
                let counters = &mut self.crossed.counters;
                counters.fates[event.fate as usize] += 1;
                counters.marked += u64::from(event.marked);
                if let Some(reason) = event.reason {
                    counters.dropped[reason as usize] += 1;
                }
                let copies = match event.fate {
                    Fate::Delivered => 1,
                    Fate::Duplicated => 2,
                    Fate::Dropped | Fate::Lost | Fate::Damaged | Fate::TooBig => 0,
                };
                counters.octets += event.size * copies;
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

/// The notification for the sender of `frame`, which is too big for `link`, if
/// the link sends one.
fn answer(link: &mut Link<Frame>, at: Time, frame: &Frame, pool: &Pool) -> Option<Frame> {
    let mtu = u32::try_from(link.advertised_mtu()?.get()).ok()?;
    let answer = TooBig::to(frame.ethernet(), mtu)?;
    if !link.may_answer(at) {
        return None;
    }
    let mut octets = vec![0; answer.buffer_len()];
    answer.emit(&mut octets).ok()?;
    Some(pool.frame(&octets))
}

/// Packets that wait or are on their way.
fn inside(counters: &Counters, out: u64) -> u64 {
    let gone = [Fate::Dropped, Fate::Lost, Fate::Damaged, Fate::TooBig];
    let gone: u64 = gone.iter().map(|&fate| counters.of(fate)).sum();
    counters.arrived - gone - out
}

#[cfg(test)]
mod tests;
