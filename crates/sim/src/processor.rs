//! The part of a host that processes packets, one after the other.

use std::collections::VecDeque;

use units::{Bytes, Time};

use crate::Work;
use crate::packet::Packet;

/// A serial processor with a queue of packets.
pub(crate) struct Processor {
    work: Work,
    /// The most bytes of frames in the buffer.
    buffer: Option<u64>,
    free_at: Time,
    /// Packets in order, each with the time of its completion.
    waiting: VecDeque<(Time, Packet)>,
    /// Bytes of their frames.
    bytes: u64,
}

impl Processor {
    /// An idle processor; `None` if processing takes no time.
    pub(crate) fn new(work: Work, buffer: Option<Bytes>) -> Option<Box<Self>> {
        let processor = Self {
            work,
            buffer: buffer.map(Bytes::get),
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
            bytes: 0,
        };
        (!work.is_free()).then(|| Box::new(processor))
    }

    /// Adds a packet at `now`; packets finished by then must have been removed. Returns
    /// the packet if there is no room.
    pub(crate) fn push(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let bytes = self.bytes + u64::from(packet.header.frame);
        if self.buffer.is_some_and(|most| bytes > most) {
            return Some(packet);
        }
        self.bytes = bytes;
        let work = self.work.on(Bytes::new(packet.header.size.into()));
        self.free_at = self.free_at.max(now) + work;
        self.waiting.push_back((self.free_at, packet));
        None
    }

    /// The next packet finished by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.waiting.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.header.frame);
        Some(packet)
    }

    /// The time at which the next packet is finished.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        Some(self.waiting.front()?.0)
    }
}
