//! A link that knows at once what becomes of a packet.
//!
//! If a queue drops only arriving packets and sends in order, and the link is not
//! random, everything about a packet is known when it arrives: whether
//! it gets in, when it has the wire, when it comes out. Such a link needs no
//! visit in between. It does what [`Link`](super::Link) does, computed earlier.

use std::collections::VecDeque;

use queue::{Admission, Backlog, Packet};
use units::{Bytes, Seed, Span, Time};

use super::rng::LinkRng;
use super::serializer::Serializer;
use super::{Counters, Fate, LinkObserver, Settings};

/// One direction of a link, and who looks on.
pub struct FastLink<P, W = ()> {
    /// Packets from arrival to the far end, in order.
    passing: VecDeque<Passing<P>>,
    /// How many of them, from the front, have or had the wire, as far as was
    /// looked; the others wait.
    begun: usize,
    /// Octets of those that wait.
    waiting: Bytes,
    serializer: Serializer,
    delay: Span,
    /// The largest frame, without tags, and what a frame takes from the wire
    /// besides its own octets.
    largest_frame: Bytes,
    around: Bytes,
    admission: Admission,
    counts: Counts,
    observer: W,
}

/// What is counted of packets as they come; the rest follows from it.
#[derive(Default)]
struct Counts {
    arrived: u64,
    too_big: u64,
    dropped: [u64; 4],
    marked: u64,
    /// Octets of frames that get in.
    octets: u64,
}

/// What becomes of a packet on arrival.
#[derive(Debug)]
pub enum Entry<P> {
    /// It will come out.
    Passes {
        /// Whether it does so before all others.
        first: bool,
    },
    /// The queue dropped it.
    Dropped(P),
    /// It is larger than the link carries.
    TooBig(P),
}

/// A packet in the queue, on the wire or in flight.
struct Passing<P> {
    begins: Time,
    arrives: Time,
    packet: P,
}

impl<P: Packet, W: LinkObserver<P>> FastLink<P, W> {
    /// An idle link. `observer` hears of packets that have the wire, as soon as
    /// they come, and of nothing else. `None` where it takes a
    /// [`Link`](super::Link): settings with which fates are settled later, and
    /// such with which there is none.
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

    /// Takes a packet that came at `now`, which is no earlier than the last.
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
        self.observer
            .sent(&packet, now, begins, ends, Fate::Delivered);
        let first = self.passing.is_empty();
        self.passing.push_back(Passing {
            begins,
            arrives: ends + self.delay,
            packet,
        });
        Entry::Passes { first }
    }

    /// The next packet that has come out by `now`.
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
            // Begins anew at the front, where memory is in the cache.
            self.passing.clear();
        }
        Some(packet)
    }

    /// When the next packet comes out.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.passing.front().map(|next| next.arrives)
    }

    /// When the wire is free of all that got in.
    pub const fn free_at(&self) -> Time {
        self.serializer.free_at()
    }

    /// What happened so far, and will happen to what is in flight.
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
            // No queue that drops packets out of bundles has a fast link.
            inner_dropped: 0,
        }
    }

    /// Who looks on.
    pub const fn observer(&mut self) -> &mut W {
        &mut self.observer
    }

    /// What waits at `now`; one that begins then does not.
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
