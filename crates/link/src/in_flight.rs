//! Packets in flight: those that have left the wire and not arrived.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use units::Time;

/// Packets in flight, ordered by arrival and then by departure. Nearly all arrive in
/// the order of departure, so a ring suffices; only packets that are held back need
/// sorting.
pub(super) struct PacketsInFlight<P> {
    in_order: VecDeque<InFlightPacket<P>>,
    held_back: BinaryHeap<Reverse<InFlightPacket<P>>>,
    sequence: u64,
}

/// A packet in flight.
pub(super) struct InFlightPacket<P> {
    pub(super) at: Time,
    sequence: u64,
    pub(super) copies: u8,
    pub(super) packet: P,
}

impl<P> PacketsInFlight<P> {
    pub(super) const fn new() -> Self {
        Self {
            in_order: VecDeque::new(),
            held_back: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// Adds a packet that arrives at `at`. Unless it is held back, it arrives no
    /// earlier than the packets before it that are not.
    pub(super) fn push(&mut self, at: Time, packet: P, copies: u8, held_back: bool) {
        self.sequence += 1;
        let in_flight_packet = InFlightPacket {
            at,
            sequence: self.sequence,
            copies,
            packet,
        };
        if held_back {
            self.held_back.push(Reverse(in_flight_packet));
        } else {
            self.in_order.push_back(in_flight_packet);
        }
    }

    /// The time of the next arrival.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Time> {
        let ordinary = self.in_order.front().map(|next| next.at);
        let held_back = self.held_back.peek().map(|next| next.0.at);
        match (ordinary, held_back) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The next packet to arrive.
    pub(super) fn pop(&mut self) -> Option<InFlightPacket<P>> {
        let held_back = match (self.in_order.front(), self.held_back.peek()) {
            (Some(ordinary), Some(Reverse(held_back))) => held_back < ordinary,
            (ordinary, _) => ordinary.is_none(),
        };
        if held_back {
            self.held_back
                .pop()
                .map(|Reverse(in_flight_packet)| in_flight_packet)
        } else {
            let next = self.in_order.pop_front();
            if self.in_order.is_empty() {
                // Starts again at the front of the ring, whose memory is in the cache.
                self.in_order.clear();
            }
            next
        }
    }
}

impl<P> Ord for InFlightPacket<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl<P> PartialOrd for InFlightPacket<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for InFlightPacket<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for InFlightPacket<P> {}
