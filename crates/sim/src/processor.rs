//! The part of a host that works on packets, one after the other.

use std::collections::VecDeque;

use units::{Bytes, Time};

use crate::Work;
use crate::packet::Packet;

/// A serial processor and the packets that wait for it.
pub(crate) struct Processor {
    work: Work,
    /// Octets of frames that may be here at a time.
    buffer: Option<u64>,
    free_at: Time,
    /// In order, each with the instant at which it is done.
    waiting: VecDeque<(Time, Packet)>,
    /// Octets of their frames.
    octets: u64,
}

impl Processor {
    /// One that is idle; `None` where packets pass without taking any time.
    pub(crate) fn new(work: Work, buffer: Option<Bytes>) -> Option<Box<Self>> {
        let processor = Self {
            work,
            buffer: buffer.map(Bytes::get),
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
            octets: 0,
        };
        (!work.is_free()).then(|| Box::new(processor))
    }

    /// Takes a packet in at `now`. What is done by then must have been taken
    /// out. Returns the packet where there is no room.
    pub(crate) fn push(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let octets = self.octets + u64::from(packet.header.frame);
        if self.buffer.is_some_and(|most| octets > most) {
            return Some(packet);
        }
        self.octets = octets;
        let work = self.work.on(Bytes::new(packet.header.size.into()));
        self.free_at = self.free_at.max(now) + work;
        self.waiting.push_back((self.free_at, packet));
        None
    }

    /// A packet that is done by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.waiting.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.waiting.pop_front()?;
        self.octets -= u64::from(packet.header.frame);
        Some(packet)
    }

    /// When the next packet is done.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        Some(self.waiting.front()?.0)
    }
}
