//! What happens to a packet between two ends, without I/O: [`Link`] is one direction of a
//! link, a queue, a serializer and a propagation delay. Before and behind it stand
//! [`middlebox`]es and the [`edge`] of a domain that aggregates packets; [`pmtu`] finds
//! the size that all of them deliver.
//!
//! The state machine does no I/O. A driver hands it packets with the times of their
//! arrival, and collects them at the far end. Late calls change no time of delivery,
//! because every time follows from arrivals, sizes and the rate.
//!
//! [`pmtu`] is of use to other programs, too: any transport over datagrams can discover its
//! path MTU with it. Its example `path_mtu_over_udp` drives it by a UDP socket.

mod answers;
mod direction;
pub mod edge;
mod fast_link;
mod in_flight;
pub mod middlebox;
mod observer;
mod packet_outcome;
pub mod pmtu;
mod protocol;
mod record;
mod rng;
mod serializer;
mod settings;
pub mod timers;
mod waiting;
pub mod written;

use queue::{AverageQueue, Backlog, Discipline, Drops, Limit, Packet, Reason};
use units::{Bytes, Framing, Seed, Span, Time};

pub use answers::Answers;
pub use direction::Direction;
pub use fast_link::{Entry, FastLink};
use in_flight::{InFlightPacket, PacketsInFlight};
pub use observer::{Entered, LinkObserver, QueueState};
pub use packet_outcome::{Counters, PacketOutcome};
pub use protocol::Protocol;
use record::Record;
pub use record::{Arrival, Event, Header, Reseed};
use rng::{Chance, LinkRng};
use serializer::Serializer;
pub use settings::{BadSettings, JitterDistribution, Settings, TooBig};
use waiting::Waiting;

/// A packet at the far end.
#[derive(Debug)]
pub struct Delivery<P> {
    /// Arrival of the last bit; with cut-through, of the header.
    pub at: Time,
    pub packet: P,
    /// Number of arrivals: 1, or 2 for a duplicate.
    pub copies: u8,
}

/// One direction of a link, with an optional observer.
pub struct Link<P, W = ()> {
    settings: Box<Settings>,
    /// Settings that every packet needs: the largest frame, without tags, and the
    /// bytes of wire that a frame takes besides its own.
    largest_frame: Bytes,
    around: Bytes,
    delay: Span,
    cut_through: bool,
    /// The limit for packets that need not wait, if the queue does not have to see
    /// them.
    open: Option<Limit>,
    queue: Box<dyn Discipline<Waiting<P>>>,
    /// The time from which the queue has a packet; the queue is asked only after a
    /// possible change.
    ready: Option<Time>,
    /// Whether the queue knows that the link is idle.
    rested: bool,
    drops: Drops<Waiting<P>>,
    serializer: Serializer,
    /// Random streams; `None` if nothing is random.
    rng: Option<Box<LinkRng>>,
    answers: Answers,
    /// Packets that have left the wire and are in flight.
    in_flight: PacketsInFlight<P>,
    /// The latest arrival so far; times never decrease.
    now: Time,
    /// The latest delivery of a packet that was not held back.
    last_out: Time,
    counters: Counters,
    /// The seed of all random streams.
    seed: Seed,
    /// The record of events, if one is kept.
    record: Option<Box<Record>>,
    observer: W,
}

impl<P: Packet + 'static> Link<P> {
    /// An idle link.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(settings: Settings, seed: Seed) -> Result<Self, BadSettings> {
        Self::observed(settings, seed, ())
    }
}

impl<P: Packet + 'static, W: LinkObserver<P>> Link<P, W> {
    /// An idle link with an observer.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn observed(settings: Settings, seed: Seed, observer: W) -> Result<Self, BadSettings> {
        settings.check()?;
        let queue = settings.queue.build(settings.rate, seed.derive("queue"))?;
        Ok(Self {
            open: queue.open(),
            queue,
            ready: None,
            rested: false,
            drops: Drops::new(),
            serializer: Serializer::new(settings.rate),
            rng: LinkRng::new(&settings, seed),
            answers: Answers::default(),
            in_flight: PacketsInFlight::new(),
            now: Time::ZERO,
            last_out: Time::ZERO,
            counters: Counters::default(),
            seed,
            record: None,
            observer,
            largest_frame: settings.largest_frame(),
            around: settings.wire_size(Bytes::ZERO),
            delay: settings.delay,
            cut_through: settings.cut_through,
            settings: Box::new(settings),
        })
    }

    /// Restarts all random streams at `now`, as in a new link with `seed`; a queue
    /// without packets is replaced by a new one. Packets in the queue and in flight
    /// stay.
    pub fn reseed(&mut self, now: Time, seed: Seed) {
        self.note_service(now);
        self.serve(now);
        self.rng = LinkRng::new(&self.settings, seed);
        self.seed = seed;
        if self.ready.is_none() {
            let (rate, rng) = (self.settings.rate, seed.derive("queue"));
            // The same settings built a queue before.
            if let Ok(queue) = self.settings.queue.build(rate, rng) {
                self.queue = queue;
                self.ask();
            }
        }
        if let Some(record) = &mut self.record {
            let after = self.counters.arrived;
            record.reseeds.push(Reseed {
                after,
                at: now,
                seed,
            });
        }
    }

    /// The observer of the link.
    pub const fn observer(&mut self) -> &mut W {
        &mut self.observer
    }

    /// Takes a packet that arrived at the queue at `now`; a time before the
    /// previous one counts as the previous one. Returns the packet if it is too big for
    /// the link.
    pub fn receive(&mut self, now: Time, packet: P) -> Option<P> {
        self.counters.arrived += 1;
        // Waiting packets are sent first, at their own times.
        self.serve(now);
        self.now = self.now.max(now);
        let entered = Entered {
            at: self.now,
            number: self.counters.arrived,
        };
        self.observer.arrived(&packet, entered, || QueueState {
            backlog: self.queue.backlog(),
            average: self.queue.average(),
        });
        let view = packet.view();
        let waiting = Waiting {
            packet,
            arrival: self.now,
            marked: false,
            number: self.counters.arrived,
        };
        if let Some(record) = &mut self.record {
            record.arrive(waiting.arrival());
        }
        // Tags have to be looked for in the frame.
        if view.size > self.largest_frame && view.size > self.largest_frame + waiting.tags() {
            self.seal(&waiting, self.now, PacketOutcome::TooBig, None);
            self.observer
                .dropped(&waiting.packet, entered, self.now, None);
            return Some(waiting.packet);
        }
        if let Some(limit) = self.open
            && self.ready.is_none()
            && self.serializer.free_at() <= self.now
            && limit.admits(Backlog::default(), view)
        {
            self.transmit(self.now, waiting);
            return None;
        }
        self.queue.enqueue(self.now, waiting, &mut self.drops);
        self.ask();
        self.count_drops(self.now);
        self.serve(self.now);
        None
    }

    /// The MTU to advertise to senders of oversized packets, if they are notified.
    pub fn advertised_mtu(&self) -> Option<Bytes> {
        match self.settings.too_big {
            TooBig::Drop => None,
            TooBig::Answer => self.settings.largest_packet,
        }
    }

    /// Whether one more sender may be notified at `now`; a permission counts as used.
    /// The rate of answers is limited as in a router.
    pub fn may_answer(&mut self, now: Time) -> bool {
        let granted = self.settings.too_big == TooBig::Answer && self.answers.take(now);
        self.counters.answered += u64::from(granted);
        granted
    }

    /// The next packet delivered by `now`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Delivery<P>> {
        self.note_service(now);
        self.serve(now);
        if self.in_flight.next_at()? > now {
            return None;
        }
        let InFlightPacket {
            at, copies, packet, ..
        } = self.in_flight.pop()?;
        Some(Delivery { at, packet, copies })
    }

    /// The time of the next delivery if no packet arrives before.
    pub fn next_timeout(&self) -> Option<Time> {
        let out = self.in_flight.next_at();
        // A waiting packet is delivered no earlier than after its propagation delay.
        // Computing its transmission only then makes nothing late.
        let serve = self.ready.map(|ready| {
            let start = ready.max(self.serializer.free_at()).max(self.now);
            start + self.delay
        });
        match (out, serve) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The counters so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The packets and bytes that wait in the queue.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// The average queue; `None` for disciplines without one.
    pub fn average(&self) -> Option<AverageQueue> {
        self.queue.average()
    }

    /// When the wire has finished the transmissions begun by `now`. Waiting packets,
    /// see [`Link::backlog`], are sent first.
    pub fn free_at(&mut self, now: Time) -> Time {
        self.note_service(now);
        self.serve(now);
        self.serializer.free_at()
    }

    /// Starts all transmissions that can begin by `now`. A packet that waited begins
    /// when the previous one has left, however late this is called.
    #[inline]
    fn serve(&mut self, now: Time) {
        // The common case: nothing to do.
        if self.ready.is_some() || !self.rested && self.serializer.free_at() <= now {
            self.serve_queue(now);
        }
    }

    fn serve_queue(&mut self, now: Time) {
        while let Some(ready) = self.ready {
            let start = self.serializer.free_at().max(self.now).max(ready);
            if start > now {
                return;
            }
            let next = self.queue.dequeue(start, &mut self.drops);
            self.ask();
            self.count_drops(start);
            let Some(waiting) = next else { continue };
            self.transmit(start, waiting);
        }
        if !self.rested && self.serializer.free_at() <= now {
            self.queue.rest(self.serializer.free_at());
            self.rested = true;
        }
    }

    /// Updates the state that a change of the queue may affect.
    fn ask(&mut self) {
        self.ready = self.queue.ready_at();
        self.rested = false;
    }

    fn transmit(&mut self, start: Time, waiting: Waiting<P>) {
        let size = waiting.view().size;
        let left = self.serializer.occupy(start, size + self.around);
        let rng = self.rng.as_mut();
        let Chance {
            lost,
            damaged,
            jitter,
            held,
            twice,
        } = rng.map_or_else(Chance::default, |rng| rng.draw(size));
        let outcome = match (lost, damaged, twice) {
            (true, _, _) => PacketOutcome::Lost,
            (_, true, _) => PacketOutcome::Damaged,
            (_, _, true) => PacketOutcome::Duplicated,
            _ => PacketOutcome::Delivered,
        };
        self.seal(&waiting, start, outcome, None);
        self.observer
            .sent(&waiting.packet, waiting.entered(), start, left, outcome);
        if lost || damaged {
            return;
        }
        let there = if self.cut_through {
            let header = Framing::PREAMBLE + Framing::MAC_HEADER;
            let span = self.settings.rate.map(|rate| rate.serialise(header));
            left.min(start + span.unwrap_or_default())
        } else {
            left
        };
        let mut at = there + self.delay + jitter;
        if held {
            at += self.settings.hold;
        } else {
            at = at.max(self.last_out);
            self.last_out = at;
        }
        self.in_flight
            .push(at, waiting.packet, 1 + u8::from(twice), held);
    }

    #[inline]
    fn count_drops(&mut self, now: Time) {
        if !self.drops.is_empty() {
            self.seal_drops(now);
        }
    }

    fn seal_drops(&mut self, now: Time) {
        let mut drops = std::mem::take(&mut self.drops);
        for (waiting, reason) in drops.drain_inner() {
            self.counters.inner_dropped += 1;
            let entered = waiting.entered();
            self.observer
                .inner_dropped(&waiting.packet, entered, now, reason);
        }
        for (waiting, reason) in drops.drain() {
            self.seal(&waiting, now, PacketOutcome::Dropped, Some(reason));
            self.observer
                .dropped(&waiting.packet, waiting.entered(), now, Some(reason));
        }
        self.drops = drops;
    }

    fn seal(
        &mut self,
        waiting: &Waiting<P>,
        at: Time,
        outcome: PacketOutcome,
        reason: Option<Reason>,
    ) {
        self.counters.outcomes[outcome as usize] += 1;
        match reason {
            Some(reason) => self.counters.dropped[reason as usize] += 1,
            None => self.counters.marked += u64::from(waiting.marked),
        }
        self.counters.bytes += match outcome {
            PacketOutcome::Delivered => waiting.view().size.get(),
            PacketOutcome::Duplicated => 2 * waiting.view().size.get(),
            PacketOutcome::Dropped
            | PacketOutcome::Lost
            | PacketOutcome::Damaged
            | PacketOutcome::TooBig => 0,
        };
        if let Some(record) = &mut self.record {
            record.seal(waiting.arrival(), at, outcome, reason, waiting.marked);
        }
    }
}

#[cfg(test)]
mod tests;
