//! Packets dropped out of a bundle on its way: Drop from Front with a bundle as
//! the queue [Mulahuwaish s3.2], on octets in place.
//!
//! A packet dies by a zero for its length. The lengths and checksums around it
//! follow from what they were, so that of the octets only those of the dead are
//! read, and none is moved [RFC1624]. An error that a checksum would have shown
//! before, it shows after.

use units::IpVersion;

use super::super::offsets::Outer;
use super::Carried;
use crate::frame::mark_packet;
use crate::octets::put;
use crate::protocol::checksum::Sum;
use crate::protocol::{ipv4, ipv6, udp};

/// What died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InnerDropped {
    /// Packets.
    pub packets: u16,
    /// Their octets.
    pub octets: usize,
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Carried<T> {
    /// The first `packets` that are left die, or all of them if there are fewer.
    pub fn drop_inner(&mut self, packets: u16) -> InnerDropped {
        let mut inner_dropped = InnerDropped::default();
        let mut body_sum = self.body_sum();
        for index in 0..self.header.count {
            if inner_dropped.packets == packets || self.live == 0 {
                break;
            }
            let length = self
                .entry(index)
                .map_or(0, |entry| usize::from(entry.length));
            if length > 0 {
                // Nothing is left in front of it.
                let at = self.gaps.skip(self.body());
                body_sum = body_sum.map(|sum| self.without(sum, at, 0, length));
                self.bury(index, at, length);
                inner_dropped.packets += 1;
                inner_dropped.octets += length;
            }
        }
        self.shrink(inner_dropped.octets, body_sum);
        inner_dropped
    }

    /// Packet `index` dies. Returns its octets; `None` where there is no such
    /// packet any more. Over UDP an odd number of octets costs reading what is
    /// in front of them too.
    pub fn discard(&mut self, index: u16) -> Option<usize> {
        let (at, before, length) = self.find(index)?;
        let body_sum = self.body_sum();
        let body_sum = body_sum.map(|sum| self.without(sum, at, before, length));
        self.bury(index, at, length);
        self.shrink(length, body_sum);
        Some(length)
    }

    /// Marks packet `index` as having met congestion, if its ends understand
    /// that [RFC3168 s5]. Returns whether they do.
    pub fn mark(&mut self, index: u16) -> bool {
        let Some((at, before, length)) = self.find(index) else {
            return false;
        };
        // An IPv4 header without options: what a mark changes is within.
        let changed = at..at + length.min(ipv4::HEADER_LEN);
        let old = Sum::of(&self.octets.as_ref()[changed.clone()]).moved(before);
        let marked = mark_packet(&mut self.octets.as_mut()[at..at + length]);
        let new = Sum::of(&self.octets.as_ref()[changed]).moved(before);
        if let Some(udp) = self.offsets.udp.filter(|_| marked) {
            let checksum = self.udp_checksum(udp);
            if checksum != 0 {
                let sum = Sum::behind(checksum).minus(old).plus(new);
                self.set_udp_checksum(udp, sum);
            }
        }
        marked
    }

    /// Moves what is left together, so that it can be sent in one piece. Returns
    /// how many octets were moved.
    pub fn compact(&mut self) -> usize {
        let octets = self.octets.as_mut();
        let gaps = self.gaps.iter();
        let ends = gaps.clone().skip(1).map(|gap| gap.start);
        let (mut to, mut moved) = (None, 0);
        for (gap, end) in gaps.zip(ends.chain([self.offsets.end])) {
            let target = to.unwrap_or(gap.start);
            octets.copy_within(gap.end..end, target);
            moved += end - gap.end;
            to = Some(target + (end - gap.end));
        }
        self.offsets.end -= self.gaps.total();
        self.gaps.clear();
        moved
    }

    /// Writes the checksum of UDP anew, if there is UDP: of a packet whose
    /// sender left it to an interface.
    pub fn seal(&mut self) {
        if let Some(udp) = self.offsets.udp {
            let sum = self.head_sum(udp).plus(self.sum_until(self.offsets.end));
            self.set_udp_checksum(udp, sum);
        }
    }

    /// Where packet `index` is, if it is left: its place, how many octets of
    /// packets are sent in front of it, and its own.
    fn find(&self, index: u16) -> Option<(usize, usize, usize)> {
        let length = usize::from(self.entry(index)?.length);
        let (mut at, mut before) = (self.body(), 0);
        for earlier in 0..index {
            let octets = usize::from(self.entry(earlier)?.length);
            if octets > 0 {
                at = self.gaps.skip(at) + octets;
                before += octets;
            }
        }
        (length > 0).then(|| (self.gaps.skip(at), before, length))
    }

    /// The sum of the packets that are left, by the checksum over all; `None`
    /// without one.
    fn body_sum(&self) -> Option<Sum> {
        let udp = self.offsets.udp?;
        let checksum = self.udp_checksum(udp);
        (checksum != 0).then(|| Sum::behind(checksum).minus(self.head_sum(udp)))
    }

    /// The sum of what UDP's checksum covers besides packets and itself.
    fn head_sum(&self, udp: usize) -> Sum {
        let octets = self.octets.as_ref();
        let table = Sum::of(&octets[self.offsets.bundle..self.body()]);
        self.offsets.udp_sum(octets, udp).plus(table)
    }

    /// What `sum` over packets is without the `length` octets at `at`, with
    /// `before` octets sent in front of them. What follows moves up.
    fn without(&self, sum: Sum, at: usize, before: usize, length: usize) -> Sum {
        let dead = Sum::of(&self.octets.as_ref()[at..at + length]).moved(before);
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
        put(self.octets.as_mut(), entry, [0; 2]);
        self.gaps.add(at..at + length);
        self.live -= 1;
    }

    /// Lowers the outer lengths by `octets`; `body_sum` is of what is left.
    fn shrink(&mut self, octets: usize, body_sum: Option<Sum>) {
        let Ok(less) = u16::try_from(octets) else {
            return;
        };
        let start = self.offsets.start;
        let all = self.octets.as_mut();
        // Parsing has read these headers, so each of them is there.
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
        let octets = &mut self.octets.as_mut()[udp..];
        let _ = udp::Header::of(octets).set_checksum(sum.checksum());
    }
}
