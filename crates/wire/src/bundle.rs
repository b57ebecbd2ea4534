//! Bundles: packets that cross a domain in one large frame, aggregated as in JumboGen
//! [Salyers2007]. Routers may drop single packets out of a bundle [Mulahuwaish s3].
//!
//! The sources give the header's size (six bytes, and four for each packet) and its
//! content, but no offsets; the offsets are ours. All numbers are big-endian:
//!
//! | offset | bytes | field    | meaning                                                 |
//! |-------:|-------:|----------|---------------------------------------------------------|
//! |      0 |      2 | count    | packets in the bundle when it was packed, from 1         |
//! |      2 |      2 | average  | mean length of a packet in bytes, rounded down          |
//! |      4 |      2 | control  | bit 15: the bundle begins within a packet; bit 14: it ends within one; bit 13: the version, 1; bit 12: the unit of the times, 0: 1 us, 1: 10 us; bits 11 to 0: a sequence number that grows by one with each bundle to the same egress |
//! |  6 + 4i |     2 | length   | bytes of packet i; 0: a router dropped it              |
//! |  8 + 4i |     2 | waited   | waiting time of packet i when the bundle left, in units, rounded down; 65535: that or longer |
//! | 6 + 4 count | | packets  | the remaining packets, one after the other               |
//!
//! A packet that is larger than a bundle is cut [RFC9347 s2.2]: the last entry of a bundle
//! is its first piece, and entry 0 of the next bundle, by sequence number, goes on with it.
//! The length of entry 0 is the BlockOffset of that standard. A bundle that begins and ends
//! within the same packet has one entry. The packet's IP header states its length.
//!
//! A router that drops packets sets their lengths to zero and sends fewer bytes;
//! nothing else changes. It drops no pieces. The egress releases each remaining packet after the previous
//! one with a gap equal to the difference of their waiting times, which restores their
//! spacing [Mulahuwaish s2.B].
//!
//! IPv4, IPv6, UDP over either, or an MPLS label carries the frame ([`Encapsulation`]). A
//! bundle has fewer than 4096 packets, so its first four bits are zero. A router that
//! guesses the content behind a label therefore does not mistake it for an IP packet
//! [RFC4928 s3].
//!
//! No input makes this module panic.

mod arrival;
mod carried;
mod encapsulation;
#[cfg(test)]
mod fuzz;
mod gaps;
mod offsets;
mod packing;
mod path;
mod sealed;
#[cfg(test)]
mod tests;

/// The first words of a recording of what a gateway decided about bundles (docs/reference/formats.md).
pub const RECORDING: &str = "# jumbolab gateway recording ";

use units::Span;

use crate::bytes::{demand, demand_mut, u16_at};
use crate::{Error, Field};
pub use arrival::{Arrival, Body, addressed};
pub use carried::{Carried, Inner, InnerDropped};
pub use encapsulation::{Encapsulation, PORT, PROTOCOL};
pub use packing::{Packing, Piece, emit_body};
pub use path::{PATH_MESSAGE_LEN, PathMessage, PathProbe};
pub use sealed::{
    COOKIE_LEN, COOKIE_NONCE_LEN, CookieReply, Handshake, INITIATION_LEN, MAC_LEN, NOTHING,
    RESPONSE_LEN, SEALED_HEADER_LEN, Sealed, SealedHeader, TAG_LEN, is_sealed,
};

/// Bytes in front of the entries.
pub const HEADER_LEN: usize = 6;
/// Bytes of one packet's entry.
pub const ENTRY_LEN: usize = 4;
/// Number of distinct sequence numbers; they wrap to 0 after the last.
pub const SEQUENCES: u16 = 1 << 12;
/// The most packets of a bundle. An IP packet has room for 65535 bytes at most, and
/// each packet takes at least five of them; this limit also keeps the first four bits
/// zero.
pub const MOST_PACKETS: u16 = (1 << 12) - 1;

const VERSION: u16 = 1;

mod field {
    pub(super) const COUNT: usize = 0;
    pub(super) const AVERAGE: usize = 2;
    pub(super) const CONTROL: usize = 4;
}

mod control {
    pub(super) const BEGINS_WITHIN: u16 = 1 << 15;
    pub(super) const ENDS_WITHIN: u16 = 1 << 14;
    pub(super) const VERSION_SHIFT: u16 = 13;
    pub(super) const TEN_MICROSECONDS: u16 = 1 << 12;
    pub(super) const SEQUENCE_MASK: u16 = super::SEQUENCES - 1;
}

/// The waiting times of the packets in the bundle at the start of `bytes`, those that a
/// router dropped included; none if the bytes are no bundle.
pub fn waits(bytes: &[u8]) -> impl Iterator<Item = Span> {
    let header = Header::parse(bytes).ok();
    let table = header.and_then(|header| bytes.get(HEADER_LEN..header.table_len()));
    let unit = header.map_or_else(Unit::default, |header| header.unit);
    let entries = table.unwrap_or_default().as_chunks().0.iter();
    entries.map(move |entry| unit.span(Entry::read(*entry).waited))
}

/// The unit of the times in a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 1 us: up to 65.535 ms.
    #[default]
    Microsecond,
    /// 10 us: up to 655.35 ms.
    TenMicroseconds,
}

impl Unit {
    /// The time that `units` stand for.
    pub const fn span(self, units: u16) -> Span {
        Span::from_micros(match self {
            Self::Microsecond => units as u64,
            Self::TenMicroseconds => units as u64 * 10,
        })
    }
}

/// The share of a packet that an entry has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Its beginning; entry 0 of the next bundle goes on with it.
    First,
    /// What follows the last entry of the bundle before.
    Rest {
        /// Whether the packet ends with it.
        last: bool,
    },
}

/// The six bytes in front of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Packets in the bundle when it was packed.
    pub count: u16,
    /// Mean length of a packet, in bytes, rounded down.
    pub average: u16,
    /// Whether entry 0 goes on with the packet within which the bundle before ended.
    pub begins_within: bool,
    /// Whether the next bundle goes on with the packet of the last entry.
    pub ends_within: bool,
    /// Unit of the waiting times.
    pub unit: Unit,
    /// Sequence number of the bundle among those to its egress, modulo [`SEQUENCES`].
    pub sequence: u16,
}

impl Header {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`HEADER_LEN`] bytes; [`Error::Malformed`]
    /// with another version, no packets, or more than [`MOST_PACKETS`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, HEADER_LEN)?;
        let control = u16_at(bytes, field::CONTROL)?;
        if control >> control::VERSION_SHIFT & 1 != VERSION {
            return Err(Error::Malformed(Field::Version));
        }
        let count = u16_at(bytes, field::COUNT)?;
        if !(1..=MOST_PACKETS).contains(&count) {
            return Err(Error::Malformed(Field::Count));
        }
        Ok(Self {
            count,
            average: u16_at(bytes, field::AVERAGE)?,
            begins_within: control & control::BEGINS_WITHIN != 0,
            ends_within: control & control::ENDS_WITHIN != 0,
            unit: match control & control::TEN_MICROSECONDS {
                0 => Unit::Microsecond,
                _ => Unit::TenMicroseconds,
            },
            sequence: control & control::SEQUENCE_MASK,
        })
    }

    /// Writes the header to the first [`HEADER_LEN`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer; [`Error::Malformed`] for values that
    /// [`Header::parse`] rejects, and for a sequence number of [`SEQUENCES`] or more.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        if !(1..=MOST_PACKETS).contains(&self.count) {
            return Err(Error::Malformed(Field::Count));
        }
        if self.sequence >= SEQUENCES {
            return Err(Error::Malformed(Field::Sequence));
        }
        let bytes = demand_mut(bytes, HEADER_LEN)?;
        let unit = match self.unit {
            Unit::Microsecond => 0,
            Unit::TenMicroseconds => control::TEN_MICROSECONDS,
        };
        let within = match (self.begins_within, self.ends_within) {
            (false, false) => 0,
            (true, false) => control::BEGINS_WITHIN,
            (false, true) => control::ENDS_WITHIN,
            (true, true) => control::BEGINS_WITHIN | control::ENDS_WITHIN,
        };
        let control = within | VERSION << control::VERSION_SHIFT | unit | self.sequence;
        for (at, number) in [
            (field::COUNT, self.count),
            (field::AVERAGE, self.average),
            (field::CONTROL, control),
        ] {
            bytes[at..at + 2].copy_from_slice(&number.to_be_bytes());
        }
        Ok(())
    }

    /// The share of its packet that entry `index` has, unless a router dropped it.
    pub const fn part(&self, index: u16) -> Part {
        if index == 0 && self.begins_within {
            Part::Rest {
                last: self.count > 1 || !self.ends_within,
            }
        } else if index + 1 == self.count && self.ends_within {
            Part::First
        } else {
            Part::Whole
        }
    }

    /// Bytes of the header and all entries.
    pub(crate) fn table_len(&self) -> usize {
        HEADER_LEN + ENTRY_LEN * usize::from(self.count)
    }
}

/// The header's entry for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Bytes of the packet; 0 if a router dropped it.
    pub length: u16,
    /// Waiting time when the bundle left, in units of [`Header::unit`].
    pub waited: u16,
}

impl Entry {
    /// Decodes an entry.
    pub(crate) const fn read([a, b, c, d]: [u8; ENTRY_LEN]) -> Self {
        Self {
            length: u16::from_be_bytes([a, b]),
            waited: u16::from_be_bytes([c, d]),
        }
    }

    pub(crate) const fn bytes(self) -> [u8; ENTRY_LEN] {
        let ([a, b], [c, d]) = (self.length.to_be_bytes(), self.waited.to_be_bytes());
        [a, b, c, d]
    }
}
