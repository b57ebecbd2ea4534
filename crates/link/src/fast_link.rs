//! A link that determines the outcome of each packet on arrival.
//!
//! If a queue drops only arriving packets and sends in order, and the link is not
//! random, a packet's outcome, transmission and delivery are known when it arrives. Such a
//! link needs no events in between. It gives the same results as [`Link`](super::Link),
//! computed earlier.

use std::collections::VecDeque;

use queue::{Admission, Backlog, Packet};
use units::{Bytes, Seed, Span, Time};

use super::rng::LinkRng;
use super::serializer::Serializer;
use super::{Counters, Entered, LinkObserver, PacketOutcome, Settings};

/// One direction of a link, with an observer. The caller may keep the packets itself,
/// because it learns when each will be delivered.
///
/// A packet that passes an idle link changes only the first fields; those that
/// it does not need are elsewhere, so that the former are side by side in memory.
pub struct FastLink<P, W = ()> {
    serializer: Serializer,
    /// Frames smaller than this pass the queue whenever the link is idle.
    passing: u64,
    /// Bytes of wire that a frame takes besides its own.
    around: Bytes,
    delay: Span,
    arrived: u64,
    /// Bytes of accepted frames.
    bytes: u64,
    /// Whether there are held packets.
    is_holding: bool,
    observer: W,
    rest: Box<QueueingState<P>>,
}

/// The part of a link that packets need where they wait, or may be dropped.
struct QueueingState<P> {
    /// Packets that the caller handed over until their delivery, in order.
    held: VecDeque<InFlight<P>>,
    /// The packets that waited at the last arrival, in order.
    waiting: VecDeque<Waiting>,
    /// Bytes of the waiting packets.
    waiting_bytes: u64,
    /// The largest frame, without tags.
    largest_frame: Bytes,
    admission: Admission,
    /// The packets that had arrived when the queue was asked or told last.
    told: u64,
    counts: Counts,
}

/// Counters of packets that do not simply pass.
#[derive(Default)]
struct Counts {
    too_big: u64,
    dropped: [u64; 4],
    marked: u64,
}

/// The outcome of a packet, known on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet will be delivered at this time.
    Passes(Time),
    /// The queue dropped it.
    Dropped,
    /// The packet is larger than the link carries.
    TooBig,
}

/// A packet between its arrival and its delivery.
struct InFlight<P> {
    arrives: Time,
    packet: P,
}

/// The transmission of a packet that begins later than it arrived.
struct Waiting {
    begins: Time,
    size: u64,
}

impl<P, W> FastLink<P, W> {
    /// An idle link. `observer` sees the transmissions of packets, on arrival, and
    /// nothing else. `None` if the settings require a [`Link`](super::Link): outcomes that
    /// are decided later, or invalid settings.
    pub fn new(settings: &Settings, seed: Seed, observer: W) -> Option<Self> {
        settings.check().ok()?;
        if settings.cut_through || LinkRng::new(settings, seed).is_some() {
            return None;
        }
        let rest = QueueingState {
            held: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            largest_frame: settings.largest_frame(),
            admission: Admission::new(&settings.queue, settings.rate, seed.derive("queue"))?,
            told: 0,
            counts: Counts::default(),
        };
        Some(Self {
            serializer: Serializer::new(settings.rate),
            passing: rest.passing(),
            around: settings.wire_size(Bytes::ZERO),
            delay: settings.delay,
            arrived: 0,
            bytes: 0,
            is_holding: false,
            observer,
            rest: Box::new(rest),
        })
    }

    /// Decides the outcome of a packet that arrives at `now`, no earlier than the previous
    /// one. The packet stays with the caller; anything with its size and its mark stands
    /// for it.
    #[inline(always)]
    pub fn receive<Q: Packet>(&mut self, now: Time, packet: &mut Q) -> Entry
    where
        W: LinkObserver<Q>,
    {
        self.arrived += 1;
        let size = packet.view().size;
        if size.get() < self.passing && now >= self.serializer.free_at() {
            let ends = self.serializer.occupy(now, size + self.around);
            return self.pass(now, now, ends, packet);
        }
        self.receive_any(now, packet)
    }

    /// The same for any packet and any link.
    #[inline(never)]
    fn receive_any<Q: Packet>(&mut self, now: Time, packet: &mut Q) -> Entry
    where
        W: LinkObserver<Q>,
    {
        let size = packet.view().size;
        let free_at = self.serializer.free_at();
        let rest = &mut *self.rest;
        let passed = self.arrived - 1 - rest.told;
        if passed > 0 {
            rest.admission.passed(passed);
        }
        rest.told = self.arrived;
        if size > rest.largest_frame + packet.tags() {
            rest.counts.too_big += 1;
            return Entry::TooBig;
        }
        let backlog = rest.backlog_at(now, free_at);
        match rest.admission.admit(now, backlog, packet) {
            Ok(marked) => rest.counts.marked += u64::from(marked),
            Err(reason) => {
                rest.counts.dropped[reason as usize] += 1;
                return Entry::Dropped;
            }
        }
        let begins = free_at.max(now);
        if begins > now {
            let size = size.get();
            rest.waiting_bytes += size;
            rest.waiting.push_back(Waiting { begins, size });
        }
        self.passing = rest.passing();
        let ends = self.serializer.occupy(begins, size + self.around);
        self.pass(now, begins, ends, packet)
    }

    /// Counts a packet that arrived at `now` and passes.
    #[inline(always)]
    fn pass<Q: Packet>(&mut self, now: Time, begins: Time, ends: Time, packet: &Q) -> Entry
    where
        W: LinkObserver<Q>,
    {
        self.bytes += packet.view().size.get();
        let entered = Entered {
            at: now,
            number: self.arrived,
        };
        self.observer
            .sent(packet, entered, begins, ends, PacketOutcome::Delivered);
        Entry::Passes(ends + self.delay)
    }

    /// Keeps a packet that passes until it `arrives`, as [`FastLink::receive`] answered.
    /// Returns whether it is the next one to be delivered.
    #[inline]
    pub fn hold(&mut self, arrives: Time, packet: P) -> bool {
        let first = !self.is_holding;
        self.is_holding = true;
        self.rest.held.push_back(InFlight { arrives, packet });
        first
    }

    /// Whether packets are held.
    #[inline]
    pub const fn is_holding(&self) -> bool {
        self.is_holding
    }

    /// The next held packet that is delivered by `now`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<P> {
        if self.next_timeout()? > now {
            return None;
        }
        let held = &mut self.rest.held;
        let InFlight { packet, .. } = held.pop_front()?;
        if held.is_empty() {
            // Starts again at the front of the ring, whose memory is in the cache.
            held.clear();
            self.is_holding = false;
        }
        Some(packet)
    }

    /// The time of the next delivery of a held packet.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.rest.held.front().map(|next| next.arrives)
    }

    /// Whether every packet is delivered later than it arrives.
    pub fn takes_time(&self) -> bool {
        self.delay > Span::ZERO || self.serializer.takes_time()
    }

    /// When the wire has finished all accepted packets.
    pub const fn free_at(&self) -> Time {
        self.serializer.free_at()
    }

    /// The number of packets so far that are or will be delivered.
    pub fn passed(&self) -> u64 {
        let Counts {
            too_big, dropped, ..
        } = &self.rest.counts;
        self.arrived - too_big - dropped.iter().sum::<u64>()
    }

    /// When the latest packet so far is delivered; `None` if there was none.
    pub fn last_delivery(&self) -> Option<Time> {
        (self.passed() > 0).then(|| self.serializer.free_at() + self.delay)
    }

    /// The counters so far; packets in flight count as delivered.
    pub fn counters(&self) -> Counters {
        let Counts {
            too_big,
            dropped,
            marked,
        } = self.rest.counts;
        let mut outcomes = [0; PacketOutcome::ALL.len()];
        outcomes[PacketOutcome::TooBig as usize] = too_big;
        outcomes[PacketOutcome::Dropped as usize] = dropped.iter().sum();
        outcomes[PacketOutcome::Delivered as usize] = self.passed();
        Counters {
            arrived: self.arrived,
            outcomes,
            bytes: self.bytes,
            answered: 0,
            dropped,
            marked,
            // A queue that drops packets out of bundles never has a fast link.
            inner_dropped: 0,
        }
    }

    /// The observer of the link.
    pub const fn observer(&mut self) -> &mut W {
        &mut self.observer
    }
}

impl<P> QueueingState<P> {
    /// Frames smaller than this pass the queue whenever the link is idle.
    #[inline(always)]
    fn passing(&self) -> u64 {
        let largest = self.admission.largest_if_idle();
        largest.map_or(0, |largest| {
            largest.min(self.largest_frame).get().saturating_add(1)
        })
    }

    /// The backlog at `now`, without a packet whose transmission begins then; the wire
    /// is free at `free_at`.
    #[inline(always)]
    fn backlog_at(&mut self, now: Time, free_at: Time) -> Backlog {
        if free_at <= now {
            if !self.waiting.is_empty() {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            self.admission.rest(free_at);
            return Backlog::default();
        }
        while let Some(next) = self.waiting.front()
            && next.begins <= now
        {
            self.waiting_bytes -= next.size;
            self.waiting.pop_front();
        }
        Backlog {
            packets: u32::try_from(self.waiting.len()).unwrap_or(u32::MAX),
            bytes: Bytes::new(self.waiting_bytes),
        }
    }
}

#[cfg(test)]
mod tests;
