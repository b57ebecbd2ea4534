//! Packets on their way to the far ends of links, in the order of their arrival.

use units::{IpVersion, Time};

use crate::packet::{Congestion, Header};

/// Packets in a few rows, each sorted.
///
/// Packets arrive a fixed time after they enter links of one kind. In a row of such
/// links a new packet therefore passes few others, and is inserted from the back. A
/// direction whose packet would pass more uses the next row from then on, so that each
/// kind finds a row. Simultaneous arrivals are ordered by direction.
pub(crate) struct Arrivals {
    rows: [Row; ROWS],
    /// The first time of each row.
    firsts: [Time; ROWS],
    /// The row of the first packet.
    row: usize,
    /// The time and the direction of the first packet.
    first: (Time, usize),
}

/// A sorted row of packets, in a ring.
struct Row {
    /// As many as a power of two; those beyond the first `length` are empty.
    slots: Box<[Arrival]>,
    /// The index of the first one.
    front: usize,
    length: usize,
}

/// A packet that will arrive at the far end of a direction.
#[derive(Clone, Copy)]
struct Arrival {
    at: Time,
    direction: u32,
    packet: Header,
}

/// One each for data, for acknowledgements before and behind the bottleneck, and for the
/// rest.
const ROWS: usize = 4;
/// The most packets that a new one passes.
const PASSED: usize = 16;
/// Later than all packets.
pub(crate) const NEVER: (Time, usize) = (Time::from_picos(u64::MAX), usize::MAX);

impl Arrivals {
    /// No packets.
    pub(crate) fn new() -> Self {
        Self {
            rows: std::array::from_fn(|_| Row::new()),
            firsts: [NEVER.0; ROWS],
            row: 0,
            first: NEVER,
        }
    }

    /// The time and the direction of the first packet; later than all others if
    /// there is none.
    #[inline]
    pub(crate) const fn first(&self) -> (Time, usize) {
        self.first
    }

    /// Puts a packet into `row`. It arrives later than those before it in its direction.
    /// Returns whether it is there now: it stays with the caller if it would pass too
    /// many others, and `row` is then another one.
    #[inline]
    pub(crate) fn put_in(
        &mut self,
        row: &mut u8,
        at: Time,
        direction: usize,
        packet: Header,
    ) -> bool {
        let number = usize::from(*row) % ROWS;
        let short = u32::try_from(direction).expect("checked with the scenario");
        let Some(place) = self.rows[number].insert(at, short, packet) else {
            *row = row.wrapping_add(1);
            return false;
        };
        if place == 0 {
            self.firsts[number] = at;
            if (at, direction) < self.first {
                self.row = number;
                self.first = (at, direction);
            }
        }
        true
    }

    /// Removes the first packet; there must be one.
    #[inline]
    pub(crate) fn take(&mut self) -> Header {
        let row = &mut self.rows[self.row];
        let packet = row.pop();
        self.firsts[self.row] = row.first().map_or(NEVER.0, |next| next.at);
        self.find_first();
        packet
    }

    /// Finds the first packet of all rows.
    #[inline]
    fn find_first(&mut self) {
        let (mut row, mut first, mut ties) = (0, self.firsts[0], false);
        for other in 1..ROWS {
            let at = self.firsts[other];
            ties |= at == first;
            if at < first {
                (row, first, ties) = (other, at, false);
            }
        }
        self.row = row;
        self.first = (first, self.direction());
        if ties && first < NEVER.0 {
            self.break_tie();
        }
    }

    /// The direction of the first packet.
    #[inline]
    fn direction(&self) -> usize {
        let first = self.rows[self.row].first();
        first.map_or(NEVER.1, |first| first.direction as usize)
    }

    /// Takes the lowest direction of those with the first time.
    #[cold]
    fn break_tie(&mut self) {
        for (row, at) in self.firsts.iter().enumerate() {
            if *at == self.first.0
                && let Some(first) = self.rows[row].first()
                && (first.direction as usize) < self.first.1
            {
                self.row = row;
                self.first.1 = first.direction as usize;
            }
        }
    }
}

impl Row {
    /// An empty row.
    fn new() -> Self {
        Self {
            slots: vec![Arrival::EMPTY; 2 * PASSED].into_boxed_slice(),
            front: 0,
            length: 0,
        }
    }

    #[inline]
    fn first(&self) -> Option<&Arrival> {
        (self.length > 0).then(|| &self.slots[self.front])
    }

    /// Inserts a packet, and returns its place in the row. It stays with the caller if
    /// it would pass too many others.
    #[inline]
    fn insert(&mut self, at: Time, direction: u32, packet: Header) -> Option<usize> {
        if self.length == self.slots.len() {
            self.grow();
        }
        let slots = &mut *self.slots;
        let mask = slots.len() - 1;
        let (front, length) = (self.front, self.length);
        if length > PASSED && slots[(front + length - PASSED) & mask].at > at {
            return None;
        }
        let mut place = front + length;
        while place > front {
            let before = slots[(place - 1) & mask];
            if before.place() <= (at, direction) {
                break;
            }
            slots[place & mask] = before;
            place -= 1;
        }
        self.length = length + 1;
        slots[place & mask] = Arrival {
            at,
            direction,
            packet,
        };
        Some(place - front)
    }

    /// Removes the first packet; there must be one.
    #[inline]
    fn pop(&mut self) -> Header {
        let mask = self.slots.len() - 1;
        let packet = self.slots[self.front].packet;
        self.length -= 1;
        // An empty row starts again at the front, whose memory is in the cache.
        self.front = match self.length {
            0 => 0,
            _ => (self.front + 1) & mask,
        };
        packet
    }

    /// Doubles the room.
    #[cold]
    fn grow(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.rotate_left(self.front);
        self.front = 0;
        slots.resize(2 * slots.len(), Arrival::EMPTY);
        self.slots = slots.into_boxed_slice();
    }
}

impl Arrival {
    /// Of no packet.
    const EMPTY: Self = Self {
        at: Time::ZERO,
        direction: 0,
        packet: Header {
            key: 0,
            flow: 0,
            to: 0,
            size: 0,
            frame: 0,
            content: 0,
            ip: IpVersion::V4,
            class: 0,
            precedence: 0,
            congestion: Congestion::Unable,
        },
    };

    #[inline]
    const fn place(&self) -> (Time, u32) {
        (self.at, self.direction)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn packet(content: u32) -> Header {
        Header {
            content,
            ..Arrival::EMPTY.packet
        }
    }

    proptest! {
        #[test]
        fn packets_leave_in_the_order_of_instant_and_direction(
            moves in prop::collection::vec((0usize..9, prop::option::of(1u64..40)), 1..600),
        ) {
            let mut arrivals = Arrivals::new();
            let mut plain = BTreeMap::new();
            let (mut rows, mut latest, mut now) = ([0; 9], [0; 9], 0);
            for ((direction, delay), number) in moves.into_iter().zip(0..) {
                if let Some(delay) = delay {
                    // Each direction has a delay of its own besides.
                    let at = now + delay + 7 * direction as u64;
                    latest[direction] = at.max(latest[direction] + 1);
                    let at = Time::from_picos(latest[direction]);
                    let row = &mut rows[direction];
                    if arrivals.put_in(row, at, direction, packet(number)) {
                        plain.insert((at, direction), number);
                    }
                } else if let Some((first, number)) = plain.pop_first() {
                    prop_assert_eq!(arrivals.first(), first);
                    now = first.0.as_picos();
                    prop_assert_eq!(arrivals.take().content, number);
                }
            }
            while let Some((first, number)) = plain.pop_first() {
                prop_assert_eq!(arrivals.first(), first);
                prop_assert_eq!(arrivals.take().content, number);
            }
            prop_assert_eq!(arrivals.first(), NEVER);
        }
    }
}
