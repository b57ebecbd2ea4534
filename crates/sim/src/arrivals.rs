//! Packets on their way to the far ends of links, in the order of their arrival.

use std::collections::VecDeque;

use units::Time;

use crate::packet::Packet;

/// Packets in a few rows, each sorted.
///
/// Packets arrive a fixed time after they enter links of one kind. In a row of such
/// links a new packet therefore passes few others, and is inserted from the back. A
/// direction whose packet would pass more uses the next row from then on, so that each
/// kind finds a row. Simultaneous arrivals are ordered by direction.
pub(crate) struct Arrivals {
    rows: [VecDeque<Arrival>; ROWS],
    /// The first instant of each row.
    firsts: [Time; ROWS],
    /// The row of the first packet.
    row: usize,
    /// The instant and the direction of the first packet.
    first: (Time, usize),
}

/// A packet that will arrive at the far end of a direction.
struct Arrival {
    at: Time,
    direction: u32,
    packet: Packet,
}

/// One each for data, for acknowledgements before and behind the bottleneck, and for the
/// rest.
const ROWS: usize = 4;
/// The most packets that a new one passes.
const PASSED: usize = 16;
/// Later than all packets.
const NEVER: (Time, usize) = (Time::from_picos(u64::MAX), usize::MAX);

impl Arrivals {
    /// No packets.
    pub(crate) fn new() -> Self {
        Self {
            rows: Default::default(),
            firsts: [NEVER.0; ROWS],
            row: 0,
            first: NEVER,
        }
    }

    /// The instant and the direction of the first packet; later than all others if
    /// there is none.
    #[inline]
    pub(crate) const fn first(&self) -> (Time, usize) {
        self.first
    }

    /// Puts a packet into `row`. It arrives later than those before it in its direction.
    ///
    /// # Errors
    /// The packet, if it would pass too many others; `row` is then another one.
    #[inline]
    pub(crate) fn put_in(
        &mut self,
        row: &mut u8,
        at: Time,
        direction: usize,
        packet: Packet,
    ) -> Result<(), Packet> {
        let number = usize::from(*row) % ROWS;
        let packets = &mut self.rows[number];
        let mut place = packets.len();
        if place > PASSED && packets[place - PASSED].at > at {
            *row = row.wrapping_add(1);
            return Err(packet);
        }
        let short = u32::try_from(direction).expect("checked with the scenario");
        packets.push_back(Arrival {
            at,
            direction: short,
            packet,
        });
        while place > 0 && packets[place - 1].place() > (at, short) {
            packets.swap(place - 1, place);
            place -= 1;
        }
        if place == 0 {
            self.firsts[number] = at;
            if (at, direction) < self.first {
                self.row = number;
                self.first = (at, direction);
            }
        }
        Ok(())
    }

    /// Removes the first packet.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Packet> {
        let packets = &mut self.rows[self.row];
        let Arrival { packet, .. } = packets.pop_front()?;
        self.firsts[self.row] = packets.front().map_or(NEVER.0, |next| next.at);
        if packets.is_empty() {
            // Starts again at the front of the ring, whose memory is in the cache.
            packets.clear();
        }
        self.find_first();
        Some(packet)
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
        let front = self.rows[self.row].front();
        front.map_or(NEVER.1, |front| front.direction as usize)
    }

    /// Takes the lowest direction of those with the first instant.
    #[cold]
    fn break_tie(&mut self) {
        for (row, at) in self.firsts.iter().enumerate() {
            if *at == self.first.0
                && let Some(front) = self.rows[row].front()
                && (front.direction as usize) < self.first.1
            {
                self.row = row;
                self.first.1 = front.direction as usize;
            }
        }
    }
}

impl Arrival {
    #[inline]
    const fn place(&self) -> (Time, u32) {
        (self.at, self.direction)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use units::IpVersion;

    use super::*;
    use crate::packet::{Congestion, Header};

    fn packet(content: u32) -> Packet {
        Packet::bare(Header {
            key: 0,
            flow: 0,
            to: 0,
            size: 0,
            frame: 0,
            content,
            ip: IpVersion::V4,
            class: 0,
            precedence: 0,
            congestion: Congestion::Unable,
        })
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
                    if arrivals.put_in(row, at, direction, packet(number)).is_ok() {
                        plain.insert((at, direction), number);
                    }
                } else if let Some((first, number)) = plain.pop_first() {
                    prop_assert_eq!(arrivals.first(), first);
                    now = first.0.as_picos();
                    prop_assert_eq!(arrivals.take().map(|packet| packet.header.content), Some(number));
                }
            }
            while let Some((first, number)) = plain.pop_first() {
                prop_assert_eq!(arrivals.first(), first);
                prop_assert_eq!(arrivals.take().map(|packet| packet.header.content), Some(number));
            }
            prop_assert!(arrivals.take().is_none() && arrivals.first() == NEVER);
        }
    }
}
