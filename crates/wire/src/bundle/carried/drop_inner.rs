//! Inner drops: removing packets from a bundle in transit. This is Drop from Front with
//! a bundle as the queue [Mulahuwaish s3.2], on bytes in place.
//!
//! A drop sets the packet's length to zero. The new outer lengths and checksums follow
//! from the old ones, so only the bytes of dropped packets are read, and none is moved
//! [RFC1624]. Damage that the checksum showed before is still visible afterwards.

use units::IpVersion;

use super::super::offsets::Outer;
use super::{Carried, Part};
use crate::bytes::put;
use crate::frame::mark_packet;
use crate::protocol::checksum::Sum;
use crate::protocol::{ipv4, ipv6, udp};

/// The result of an inner drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InnerDropped {
    /// Dropped packets.
    pub packets: u16,
    /// Bytes of the dropped packets.
    pub bytes: usize,
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Carried<T> {
    /// Drops the first `packets` remaining packets, or all of them if there are fewer.
    /// Pieces of packets stay.
    pub fn drop_inner(&mut self, packets: u16) -> InnerDropped {
        let mut inner_dropped = InnerDropped::default();
        let mut body_sum = self.body_sum();
        // The bytes of a piece in front of them.
        let before = match self.header.part(0) {
            Part::Whole => 0,
            Part::First | Part::Rest { .. } => self.length(0),
        };
        for index in 0..self.header.count {
            if inner_dropped.packets == packets || self.live == 0 {
                break;
            }
            let length = self.length(index);
            if length > 0 && self.header.part(index) == Part::Whole {
                // No packet remains between.
                let at = self.gaps.skip(self.body() + before);
                body_sum = body_sum.map(|sum| self.without(sum, at, before, length));
                self.bury(index, at, length);
                inner_dropped.packets += 1;
                inner_dropped.bytes += length;
            }
        }
        self.shrink(inner_dropped.bytes, body_sum);
        inner_dropped
    }

    /// Drops packet `index`. Returns its bytes, or `None` if it was dropped before or is a
    /// piece of a packet.
    /// Over UDP, a packet with an odd number of bytes requires reading the packets in
    /// front of it too.
    pub fn discard(&mut self, index: u16) -> Option<usize> {
        let (at, before, length) = self.find(index)?;
        if self.header.part(index) != Part::Whole {
            return None;
        }
        let body_sum = self.body_sum();
        let body_sum = body_sum.map(|sum| self.without(sum, at, before, length));
        self.bury(index, at, length);
        self.shrink(length, body_sum);
        Some(length)
    }

    /// Sets the congestion mark of packet `index` if its transport is ECN-capable
    /// [RFC3168 s5]. Returns whether it is. A piece without an IP header has no mark.
    pub fn mark(&mut self, index: u16) -> bool {
        let Some((at, before, length)) = self.find(index) else {
            return false;
        };
        if matches!(self.header.part(index), Part::Rest { .. }) {
            return false;
        }
        // A mark changes bytes of the IPv4 header without options only.
        let changed = at..at + length.min(ipv4::HEADER_LEN);
        let old = Sum::of(&self.bytes.as_ref()[changed.clone()]).moved(before);
        let marked = mark_packet(&mut self.bytes.as_mut()[at..at + length]);
        let new = Sum::of(&self.bytes.as_ref()[changed]).moved(before);
        if let Some(udp) = self.offsets.udp.filter(|_| marked) {
            let checksum = self.udp_checksum(udp);
            if checksum != 0 {
                let sum = Sum::behind(checksum).minus(old).plus(new);
                self.set_udp_checksum(udp, sum);
            }
        }
        marked
    }

    /// Moves the remaining packets together, so that one buffer holds all bytes to
    /// send. Returns the number of bytes moved.
    pub fn compact(&mut self) -> usize {
        let bytes = self.bytes.as_mut();
        let gaps = self.gaps.iter();
        let ends = gaps.clone().skip(1).map(|gap| gap.start);
        let (mut to, mut moved) = (None, 0);
        for (gap, end) in gaps.zip(ends.chain([self.offsets.end])) {
            let target = to.unwrap_or(gap.start);
            bytes.copy_within(gap.end..end, target);
            moved += end - gap.end;
            to = Some(target + (end - gap.end));
        }
        self.offsets.end -= self.gaps.total();
        self.gaps.clear();
        moved
    }

    /// Writes the checksum of UDP anew, if there is UDP: for packets whose sender left
    /// the checksum to the interface.
    pub fn seal(&mut self) {
        if let Some(udp) = self.offsets.udp {
            let sum = self.head_sum(udp).plus(self.sum_until(self.offsets.end));
            self.set_udp_checksum(udp, sum);
        }
    }

    /// Where packet `index` is, if it remains: its offset, the bytes of packets sent
    /// in front of it, and its length.
    fn find(&self, index: u16) -> Option<(usize, usize, usize)> {
        let length = self.length(index);
        let (mut at, mut before) = (self.body(), 0);
        for earlier in 0..index {
            let bytes = usize::from(self.entry(earlier)?.length);
            if bytes > 0 {
                at = self.gaps.skip(at) + bytes;
                before += bytes;
            }
        }
        (length > 0).then(|| (self.gaps.skip(at), before, length))
    }

    /// Bytes of packet `index`; 0 if it was dropped or does not exist.
    fn length(&self, index: u16) -> usize {
        self.entry(index)
            .map_or(0, |entry| usize::from(entry.length))
    }

    /// The sum of the remaining packets, derived from the checksum over the whole;
    /// `None` without one.
    fn body_sum(&self) -> Option<Sum> {
        let udp = self.offsets.udp?;
        let checksum = self.udp_checksum(udp);
        (checksum != 0).then(|| Sum::behind(checksum).minus(self.head_sum(udp)))
    }

    /// The sum of the bytes that UDP's checksum covers, without packets and the
    /// checksum itself.
    fn head_sum(&self, udp: usize) -> Sum {
        let bytes = self.bytes.as_ref();
        let table = Sum::of(&bytes[self.offsets.bundle..self.body()]);
        self.offsets.udp_sum(bytes, udp).plus(table)
    }

    /// `sum` over the packets without the `length` bytes at `at`, which `before`
    /// bytes precede in the sent packet. The bytes behind move up.
    fn without(&self, sum: Sum, at: usize, before: usize, length: usize) -> Sum {
        let dead = Sum::of(&self.bytes.as_ref()[at..at + length]).moved(before);
        let left = sum.minus(dead);
        if length.is_multiple_of(2) {
            return left;
        }
        let front = match before {
            0 => Sum::of(&[]),
            _ => self.sum_until(at),
        };
        front.plus(left.minus(front).moved(length))
    }

    fn bury(&mut self, index: u16, at: usize, length: usize) {
        let entry = self.entry_at(index);
        put(self.bytes.as_mut(), entry, [0; 2]);
        self.gaps.add(at..at + length);
        self.live -= 1;
    }

    /// Lowers the outer lengths by `bytes`; `body_sum` is the sum of the remaining
    /// packets.
    fn shrink(&mut self, bytes: usize, body_sum: Option<Sum>) {
        let Ok(less) = u16::try_from(bytes) else {
            return;
        };
        let start = self.offsets.start;
        let all = self.bytes.as_mut();
        // Parsing has read these headers, so they exist.
        let _ = match self.offsets.outer {
            Outer::Ip(IpVersion::V4) => ipv4::Header::of(&mut all[start..]).shorten(less),
            Outer::Ip(IpVersion::V6) => ipv6::Header::of(&mut all[start..]).shorten(less),
            Outer::Label => Ok(()),
        };
        if let Some(udp) = self.offsets.udp {
            let _ = udp::Header::of(&mut all[udp..]).shorten(less);
            if let Some(body_sum) = body_sum {
                let sum = self.head_sum(udp).plus(body_sum);
                self.set_udp_checksum(udp, sum);
            }
        }
    }

    /// Writes the checksum of UDP, whose header parsing has read.
    fn set_udp_checksum(&mut self, udp: usize, sum: Sum) {
        let bytes = &mut self.bytes.as_mut()[udp..];
        let _ = udp::Header::of(bytes).set_checksum(sum.checksum());
    }
}
