//! Bundles toward a peer that leave together: the kernel gets those of one size as one piece,
//! and cuts it as late as it can.

use std::net::SocketAddr;

use os::sys::datagrams::{MOST_SEGMENTS, Outgoing};

/// The most bytes in one piece: what a packet of IPv6 or IPv4 with its headers has room for.
const MOST_BYTES: usize = 65_535 - 40 - 8;

/// Datagrams that wait to be sent through one socket.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// The number of the socket, the destination and the service byte.
    way: Option<(usize, SocketAddr, u8)>,
    /// Bytes of each datagram but the last.
    size: usize,
    bytes: Vec<u8>,
    /// The number of the peer and of packets inside, of each datagram.
    loads: Vec<(usize, u64)>,
}

impl Burst {
    /// Adds a datagram of `packets` packets for `peer`. Returns whether it could: all have
    /// the same way and size, but the last one may be shorter.
    pub(super) fn push(
        &mut self,
        way: (usize, SocketAddr, u8),
        bytes: &[u8],
        load: (usize, u64),
    ) -> bool {
        if self.loads.is_empty() {
            self.way = Some(way);
            self.size = bytes.len();
        } else {
            let is_whole = self.bytes.len() == self.size * self.loads.len();
            let fits = self.bytes.len() + bytes.len() <= MOST_BYTES;
            let joins = self.way == Some(way)
                && is_whole
                && fits
                && (1..=self.size).contains(&bytes.len())
                && self.loads.len() < MOST_SEGMENTS;
            if !joins {
                return false;
            }
        }
        self.bytes.extend_from_slice(bytes);
        self.loads.push(load);
        true
    }

    /// The number of the socket, and all datagrams in one piece; `None` without datagrams.
    pub(super) fn whole(&self) -> Option<(usize, Outgoing<'_>)> {
        let (number, to, service) = self.way?;
        let each = match self.loads.len() {
            0 => return None,
            1 => None,
            _ => u16::try_from(self.size).ok(),
        };
        let outgoing = Outgoing {
            to,
            service,
            bytes: &self.bytes,
            each,
        };
        Some((number, outgoing))
    }

    /// The datagrams one by one, each with the number of its peer and of packets inside.
    pub(super) fn datagrams(&self) -> impl Iterator<Item = ((usize, u64), Outgoing<'_>)> {
        let each = self.bytes.chunks(self.size.max(1)).zip(&self.loads);
        each.filter_map(|(bytes, load)| {
            let (_, to, service) = self.way?;
            let outgoing = Outgoing {
                to,
                service,
                bytes,
                each: None,
            };
            Some((*load, outgoing))
        })
    }

    /// The number of the peer and of packets inside, of each datagram.
    pub(super) fn loads(&self) -> impl Iterator<Item = (usize, u64)> {
        self.loads.iter().copied()
    }

    /// Removes all datagrams.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.loads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(socket: usize, host: u8, service: u8) -> (usize, SocketAddr, u8) {
        (socket, ([192, 0, 2, host], 50_253).into(), service)
    }

    #[test]
    fn datagrams_of_one_size_and_way_leave_together_and_the_last_may_be_shorter() {
        let mut burst = Burst::default();
        assert!(burst.whole().is_none());
        let sizes = [1_000, 1_000, 1_000, 400];
        for (packets, size) in (1..).zip(sizes) {
            assert!(burst.push(way(0, 1, 2), &vec![7; size], (3, packets)));
        }
        // Nothing follows a shorter one.
        assert!(!burst.push(way(0, 1, 2), &[7; 400], (3, 9)));
        let (number, whole) = burst.whole().unwrap();
        assert_eq!((number, whole.service, whole.each), (0, 2, Some(1_000)));
        assert_eq!(whole.bytes.len(), 3_400);
        let parts: Vec<_> = burst.datagrams().collect();
        assert_eq!(parts.len(), 4);
        for (part, (packets, size)) in parts.iter().zip((1..).zip(sizes)) {
            let (load, outgoing) = part;
            assert_eq!((*load, outgoing.bytes.len()), ((3, packets), size));
            assert_eq!((outgoing.to, outgoing.each), (whole.to, None));
        }
        burst.clear();
        assert!(burst.whole().is_none());
        assert_eq!(burst.datagrams().count(), 0);
    }

    #[test]
    fn datagrams_of_other_ways_or_that_are_larger_leave_by_themselves() {
        let first = |bytes: &[u8]| {
            let mut burst = Burst::default();
            assert!(burst.push(way(0, 1, 2), bytes, (0, 1)));
            burst
        };
        let small = [7; 100];
        for other in [way(1, 1, 2), way(0, 2, 2), way(0, 1, 3)] {
            assert!(!first(&small).push(other, &small, (0, 1)));
        }
        assert!(!first(&small).push(way(0, 1, 2), &[7; 101], (0, 1)));
        assert!(!first(&small).push(way(0, 1, 2), &[], (0, 1)));
        assert!(first(&small).whole().unwrap().1.each.is_none());
        // The kernel takes no more at once.
        for (size, most) in [(100, MOST_SEGMENTS), (9_000, 7)] {
            let bytes = vec![7; size];
            let mut burst = first(&bytes);
            let more = (1..).take_while(|_| burst.push(way(0, 1, 2), &bytes, (0, 1)));
            assert_eq!(more.count() + 1, most);
        }
    }
}
