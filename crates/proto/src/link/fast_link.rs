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

/// One direction of a link, with an observer.
pub struct FastLink<P, W = ()> {
    /// Packets between arrival and delivery, in order.
    passing: VecDeque<Passing<P>>,
    /// The number of packets, from the front, known to have begun transmission; the
    /// others wait.
    begun: usize,
    /// Octets of the waiting packets.
    waiting: Bytes,
    serializer: Serializer,
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
#[derive(Debug)]
pub enum Entry<P> {
    /// The packet will be delivered.
    Passes {
        /// Whether it is the next packet to be delivered.
        first: bool,
    },
    /// The queue dropped it.
    Dropped(P),
    /// The packet is larger than the link carries.
    TooBig(P),
}

/// A packet in the queue, on the wire or in flight.
struct Passing<P> {
    begins: Time,
    arrives: Time,
    packet: P,
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
            passing: VecDeque::new(),
            begun: 0,
            waiting: Bytes::ZERO,
            serializer: Serializer::new(settings.rate),
            delay: settings.delay,
            largest_frame: settings.largest_frame(),
            around: settings.wire_size(Bytes::ZERO),
            admission: Admission::new(&settings.queue, settings.rate, seed.derive("queue"))?,
            counts: Counts::default(),
            observer,
        })
    }

    /// Takes a packet that arrived at `now`, no earlier than the previous one.
    #[inline]
    pub fn receive(&mut self, now: Time, mut packet: P) -> Entry<P> {
        self.counts.arrived += 1;
        let size = packet.view().size;
        if size > self.largest_frame + packet.tags() {
            self.counts.too_big += 1;
            return Entry::TooBig(packet);
        }
        let backlog = self.backlog_at(now);
        match self.admission.admit(now, backlog, &mut packet) {
            Ok(marked) => self.counts.marked += u64::from(marked),
            Err(reason) => {
                self.counts.dropped[reason as usize] += 1;
                return Entry::Dropped(packet);
            }
        }
        let begins = self.serializer.free_at().max(now);
        if begins == now {
            self.begun += 1;
        } else {
            self.waiting += size;
        }
        let ends = self.serializer.occupy(begins, size + self.around);
        self.counts.octets += size.get();
        let entered = Entered {
            at: now,
            number: self.counts.arrived,
        };
        self.observer
            .sent(&packet, entered, begins, ends, Fate::Delivered);
        let first = self.passing.is_empty();
        self.passing.push_back(Passing {
            begins,
            arrives: ends + self.delay,
            packet,
        });
        Entry::Passes { first }
    }

    /// The next packet delivered by `now`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<P> {
        if self.next_timeout()? > now {
            return None;
        }
        let Passing { packet, .. } = self.passing.pop_front()?;
        if self.begun > 0 {
            self.begun -= 1;
        } else {
            self.waiting = self.waiting - packet.view().size;
        }
        if self.passing.is_empty() {
            // Starts again at the front of the ring, whose memory is in the cache.
            self.passing.clear();
        }
        Some(packet)
    }

    /// The instant of the next delivery.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.passing.front().map(|next| next.arrives)
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
    fn backlog_at(&mut self, now: Time) -> Backlog {
        let free_at = self.serializer.free_at();
        if free_at <= now {
            self.begun = self.passing.len();
            self.waiting = Bytes::ZERO;
            self.admission.rest(free_at);
            return Backlog::default();
        }
        while let Some(next) = self.passing.get(self.begun)
            && next.begins <= now
        {
            self.begun += 1;
            self.waiting = self.waiting - next.packet.view().size;
        }
        let packets = self.passing.len() - self.begun;
        Backlog {
            packets: u32::try_from(packets).unwrap_or(u32::MAX),
            bytes: self.waiting,
        }
    }
}

#[cfg(test)]
mod tests;
