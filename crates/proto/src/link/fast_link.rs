//! A link that determines the fate of each packet on arrival.
//!
//! If a queue drops only arriving packets and sends in order, and the link is not
//! random, a packet's fate, transmission and delivery are known when it arrives. Such a
//! link needs no events in between. It gives the same results as [`Link`](super::Link),
//! computed earlier.

use std::collections::VecDeque;

use queue::{Admission, Backlog, Packet};
use units::{Bytes, Seed, Span, Time};

use super::rng::LinkRng;
use super::serializer::Serializer;
use super::{Counters, Entered, Fate, LinkObserver, Settings};

/// One direction of a link, with an observer. The caller may keep the packets itself,
/// because it learns when each will be delivered.
pub struct FastLink<P, W = ()> {
    /// Packets that the caller handed over until their delivery, in order.
    held: VecDeque<Held<P>>,
    /// The packets that waited at the last arrival, in order.
    waiting: VecDeque<Waiting>,
    /// Octets of the waiting packets.
    waiting_octets: u64,
    serializer: Serializer,
    /// The size of the latest packet that passed a drop-tail queue: packets of this size
    /// pass that queue whenever it is empty. `u64::MAX` if there is none.
    usual: u64,
    delay: Span,
    /// The largest frame, without tags, and the octets of wire that a frame takes
    /// besides its own.
    largest_frame: Bytes,
    around: Bytes,
    admission: Admission,
    counts: Counts,
    observer: W,
}

/// Counters updated on arrival; the other counters follow from them.
#[derive(Default)]
struct Counts {
    arrived: u64,
    too_big: u64,
    dropped: [u64; 4],
    marked: u64,
    /// Octets of accepted frames.
    octets: u64,
}

/// The fate of a packet, known on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet will be delivered at this instant.
    Passes(Time),
    /// The queue dropped it.
    Dropped,
    /// The packet is larger than the link carries.
    TooBig,
}

/// A packet between its arrival and its delivery.
struct Held<P> {
    arrives: Time,
    packet: P,
}

/// The transmission of a packet that begins later than it arrived.
struct Waiting {
    begins: Time,
    size: u64,
}

impl<P: Packet, W: LinkObserver<P>> FastLink<P, W> {
    /// An idle link. `observer` sees the transmissions of packets, on arrival, and
    /// nothing else. `None` if the settings require a [`Link`](super::Link): fates that
    /// are decided later, or invalid settings.
    pub fn new(settings: &Settings, seed: Seed, observer: W) -> Option<Self> {
        settings.check().ok()?;
        if settings.cut_through || LinkRng::new(settings, seed).is_some() {
            return None;
        }
        Some(Self {
            held: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_octets: 0,
            serializer: Serializer::new(settings.rate),
            usual: u64::MAX,
            delay: settings.delay,
            largest_frame: settings.largest_frame(),
            around: settings.wire_size(Bytes::ZERO),
            admission: Admission::new(&settings.queue, settings.rate, seed.derive("queue"))?,
            counts: Counts::default(),
            observer,
        })
    }

    /// Decides the fate of a packet that arrives at `now`, no earlier than the previous
    /// one. The packet stays with the caller.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, packet: &mut P) -> Entry {
        self.counts.arrived += 1;
        let size = packet.view().size;
        if size.get() == self.usual
            && let Some(ends) = self.serializer.occupy_again(now)
        {
            return self.pass(now, now, ends, packet);
        }
        self.receive_any(now, packet)
    }

    /// The same for packets of any size, and for busy links.
    fn receive_any(&mut self, now: Time, packet: &mut P) -> Entry {
        let size = packet.view().size;
        if size > self.largest_frame + packet.tags() {
            self.counts.too_big += 1;
            return Entry::TooBig;
        }
        let backlog = self.backlog_at(now);
        match self.admission.admit(now, backlog, packet) {
            Ok(marked) => self.counts.marked += u64::from(marked),
            Err(reason) => {
                self.counts.dropped[reason as usize] += 1;
                return Entry::Dropped;
            }
        }
        let begins = self.serializer.free_at().max(now);
        if begins > now {
            let size = size.get();
            self.waiting_octets += size;
            self.waiting.push_back(Waiting { begins, size });
        }
        let ends = self.serializer.occupy(begins, size + self.around);
        self.usual = match self.admission.is_stateless() && size <= self.largest_frame {
            true => size.get(),
            false => u64::MAX,
        };
        self.pass(now, begins, ends, packet)
    }

    /// Counts a packet that arrived at `now` and passes.
    #[inline(always)]
    fn pass(&mut self, now: Time, begins: Time, ends: Time, packet: &P) -> Entry {
        self.counts.octets += packet.view().size.get();
        let entered = Entered {
            at: now,
            number: self.counts.arrived,
        };
        self.observer
            .sent(packet, entered, begins, ends, Fate::Delivered);
        Entry::Passes(ends + self.delay)
    }

    /// Keeps a packet that passes until it `arrives`, as [`FastLink::receive`] answered.
    /// Returns whether it is the next one to be delivered.
    #[inline]
    pub fn hold(&mut self, arrives: Time, packet: P) -> bool {
        let first = self.held.is_empty();
        self.held.push_back(Held { arrives, packet });
        first
    }

    /// The next held packet that is delivered by `now`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<P> {
        if self.next_timeout()? > now {
            return None;
        }
        let Held { packet, .. } = self.held.pop_front()?;
        if self.held.is_empty() {
            // Starts again at the front of the ring, whose memory is in the cache.
            self.held.clear();
        }
        Some(packet)
    }

    /// The instant of the next delivery of a held packet.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.held.front().map(|next| next.arrives)
    }

    /// Whether every packet is delivered later than it arrives.
    pub fn takes_time(&self) -> bool {
        self.delay > Span::ZERO || self.serializer.takes_time()
    }

    /// When the wire has finished all accepted packets.
    pub const fn free_at(&self) -> Time {
        self.serializer.free_at()
    }

    /// The counters so far; packets in flight count as delivered.
    pub fn counters(&self) -> Counters {
        let Counts {
            arrived,
            too_big,
            dropped,
            marked,
            octets,
        } = self.counts;
        let all_dropped: u64 = dropped.iter().sum();
        let mut fates = [0; Fate::ALL.len()];
        fates[Fate::TooBig as usize] = too_big;
        fates[Fate::Dropped as usize] = all_dropped;
        fates[Fate::Delivered as usize] = arrived - too_big - all_dropped;
        Counters {
            arrived,
            fates,
            octets,
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

    /// The backlog at `now`, without a packet whose transmission begins then.
    #[inline]
    fn backlog_at(&mut self, now: Time) -> Backlog {
        let free_at = self.serializer.free_at();
        if free_at <= now {
            if !self.waiting.is_empty() {
                self.waiting.clear();
                self.waiting_octets = 0;
            }
            self.admission.rest(free_at);
            return Backlog::default();
        }
        while let Some(next) = self.waiting.front()
            && next.begins <= now
        {
            self.waiting_octets -= next.size;
            self.waiting.pop_front();
        }
        Backlog {
            packets: u32::try_from(self.waiting.len()).unwrap_or(u32::MAX),
            bytes: Bytes::new(self.waiting_octets),
        }
    }
}

#[cfg(test)]
mod tests;
