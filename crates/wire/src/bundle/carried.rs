//! Views of a carried bundle: a packet or frame with a bundle inside.

mod drop_inner;

use units::Span;

use super::encapsulation::Encapsulation;
use super::gaps::Gaps;
use super::offsets::{Offsets, Outer};
use super::{ENTRY_LEN, Entry, HEADER_LEN, Header, Part};
use crate::bytes::array;
use crate::frame::{flow_of, service_of};
use crate::protocol::checksum::Sum;
use crate::protocol::ethernet::ether_type;
use crate::protocol::{udp, vlan};
use crate::{Error, Field};
pub use drop_inner::InnerDropped;

/// A view of a packet or frame with a bundle inside, with the offsets of its parts.
/// Packets dropped here stay in the buffer; [`Carried::parts`] leaves them out.
#[derive(Clone, Debug)]
pub struct Carried<T> {
    bytes: T,
    offsets: Offsets,
    header: Header,
    gaps: Gaps,
    live: u16,
}

/// A remaining packet of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner<'a> {
    /// Index among the packets that were packed, from 0.
    pub index: u16,
    /// The share of its packet that it is.
    pub part: Part,
    /// Waiting time of the packet when the bundle left.
    pub waited: Span,
    /// Bytes of the packet; those of all but a [`Part::Rest`] begin with its IP header.
    pub bytes: &'a [u8],
}

impl Inner<'_> {
    /// A hash of the packet's flow, as [`crate::frame::flow`] computes it.
    pub fn flow(&self) -> u64 {
        flow_of(self.bytes)
    }

    /// The service byte, if this is an IP packet.
    pub fn service(&self) -> Option<u8> {
        service_of(self.bytes)
    }
}

impl<T: AsRef<[u8]>> Carried<T> {
    /// Reads the bundle in the IP packet at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the packet is not whole; [`Error::Malformed`] if it is a
    /// fragment, carries something else, or contradicts itself.
    /// [`Carried::checksum_holds`] checks the checksum of UDP.
    pub fn parse(bytes: T) -> Result<Self, Error> {
        let offsets = Offsets::of_packet(bytes.as_ref(), 0)?;
        Self::at(bytes, offsets)
    }

    /// Reads the bundle behind the labels at the start of `bytes`. The bytes do not
    /// show whether a label stands for bundles.
    ///
    /// # Errors
    /// As [`Carried::parse`].
    pub fn parse_labelled(bytes: T) -> Result<Self, Error> {
        let offsets = Offsets::of_labels(bytes.as_ref(), 0)?;
        Self::at(bytes, offsets)
    }

    /// Reads the bundle in an Ethernet frame with at most two VLAN tags.
    ///
    /// # Errors
    /// As [`Carried::parse`].
    pub fn parse_frame(bytes: T) -> Result<Self, Error> {
        let frame = bytes.as_ref();
        let (kind, inside) = vlan::inside(frame, 2)?;
        let offsets = match kind {
            ether_type::MPLS => Offsets::of_labels(frame, inside)?,
            ether_type::IPV4 | ether_type::IPV6 => {
                let offsets = Offsets::of_packet(frame, inside)?;
                if offsets.outer.ether_type() != kind {
                    return Err(Error::Malformed(Field::Version));
                }
                offsets
            }
            _ => return Err(Error::Malformed(Field::Protocol)),
        };
        Self::at(bytes, offsets)
    }

    fn at(bytes: T, mut offsets: Offsets) -> Result<Self, Error> {
        let all = &bytes.as_ref()[..offsets.end];
        let bundle = &all[offsets.bundle..];
        let header = Header::parse(bundle)?;
        let table = header.table_len();
        let entries = bundle.get(HEADER_LEN..table).ok_or(Error::Truncated {
            need: offsets.bundle + table,
            have: all.len(),
        })?;
        let (mut live, mut total) = (0, 0);
        for entry in entries.as_chunks().0 {
            let entry = Entry::read(*entry);
            live += u16::from(entry.length > 0);
            total += usize::from(entry.length);
        }
        let need = offsets.bundle + table + total;
        if need > offsets.end {
            return Err(Error::Truncated {
                need,
                have: offsets.end,
            });
        }
        if offsets.outer == Outer::Label {
            offsets.end = need;
        } else if need < offsets.end {
            return Err(Error::Malformed(Field::Length));
        }
        Ok(Self {
            offsets,
            header,
            gaps: Gaps::default(),
            live,
            bytes,
        })
    }

    /// The header of the bundle, which inner drops do not change.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// The encapsulation of the bundle.
    ///
    /// # Errors
    /// None, unless the bytes changed since they were parsed.
    pub fn encapsulation(&self) -> Result<Encapsulation, Error> {
        self.offsets.encapsulation(self.bytes.as_ref())
    }

    /// The number of remaining packets.
    pub const fn live(&self) -> u16 {
        self.live
    }

    /// Bytes of the remaining packets.
    pub fn live_bytes(&self) -> usize {
        self.offsets.end - self.body() - self.gaps.total()
    }

    /// Bytes of the packet or frame that are sent, without padding.
    pub const fn sent_len(&self) -> usize {
        self.offsets.end - self.gaps.total()
    }

    /// The header's entry for packet `index`.
    pub fn entry(&self, index: u16) -> Option<Entry> {
        (index < self.header.count)
            .then(|| array(self.bytes.as_ref(), self.entry_at(index)).ok())
            .flatten()
            .map(Entry::read)
    }

    /// The remaining packets, in order.
    pub fn packets(&self) -> impl Iterator<Item = Inner<'_>> {
        let bytes = self.bytes.as_ref();
        let mut at = self.body();
        (0..self.header.count).filter_map(move |index| {
            let entry = self.entry(index)?;
            if entry.length == 0 {
                return None;
            }
            let begin = self.gaps.skip(at);
            at = begin + usize::from(entry.length);
            Some(Inner {
                index,
                part: self.header.part(index),
                waited: self.header.unit.span(entry.waited),
                bytes: bytes.get(begin..at)?,
            })
        })
    }

    /// The bytes to send, in pieces: all but those of packets dropped here.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.bytes.as_ref();
        let begins = [0].into_iter().chain(self.gaps.iter().map(|gap| gap.end));
        let ends = self.gaps.iter().map(|gap| gap.start);
        let ends = ends.chain([self.offsets.end]);
        let parts = begins.zip(ends).filter(|(begin, end)| begin < end);
        parts.filter_map(|(begin, end)| bytes.get(begin..end))
    }

    /// Whether the checksum of UDP is right, or not required.
    pub fn checksum_holds(&self) -> bool {
        let bytes = self.bytes.as_ref();
        let Some(udp) = self.offsets.udp else {
            return true;
        };
        let checksum = self.udp_checksum(udp);
        let sum = self
            .offsets
            .udp_sum(bytes, udp)
            .plus(Sum::of(&bytes[self.offsets.bundle..self.body()]))
            .plus(self.sum_until(self.offsets.end))
            .plus(Sum::word(checksum));
        checksum == 0 || matches!(sum.checksum(), 0 | u16::MAX)
    }

    /// The underlying buffer, including bytes that are not sent.
    pub const fn inside(&self) -> &T {
        &self.bytes
    }

    /// The offset of the first packet.
    fn body(&self) -> usize {
        self.offsets.bundle + self.header.table_len()
    }

    fn entry_at(&self, index: u16) -> usize {
        self.offsets.bundle + HEADER_LEN + ENTRY_LEN * usize::from(index)
    }

    fn udp_checksum(&self, udp: usize) -> u16 {
        let header = udp::Header::of(&self.bytes.as_ref()[udp..]);
        header.checksum().unwrap_or(0)
    }

    /// The sum of the remaining packets in front of `end`.
    fn sum_until(&self, end: usize) -> Sum {
        let bytes = self.bytes.as_ref();
        let (mut sum, mut at, mut before) = (Sum::of(&[]), self.body(), 0);
        let gaps = self.gaps.iter().map(|gap| (gap.start, gap.end));
        for (begin, next) in gaps.chain([(end, end)]) {
            let part = &bytes[at..begin.min(end).max(at)];
            sum = sum.plus(Sum::of(part).moved(before));
            before += part.len();
            at = next.min(end);
        }
        sum
    }
}
