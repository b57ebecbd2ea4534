//! Bundles: packets that travel across a domain in one large frame, as JumboGen
//! gathers them [Salyers2007], and that may lose some of them on the way
//! [Mulahuwaish s3].
//!
//! The sources give the size of the header, six octets and four for each
//! packet, and what it says, but no places; these are ours. All numbers are
//! big-endian:
//!
//! | offset | octets | field    | meaning                                                 |
//! |-------:|-------:|----------|---------------------------------------------------------|
//! |      0 |      2 | count    | packets that were put in, from 1                        |
//! |      2 |      2 | average  | their length on average, in whole octets, what is over cut off |
//! |      4 |      2 | control  | bits 15 to 13: the version, 1; bit 12: the unit of the times, 0: 1 us, 1: 10 us; bits 11 to 0: a number that grows by one with each bundle to the same egress |
//! |  6 + 4i |     2 | length   | octets of packet i; 0: it was dropped on the way        |
//! |  8 + 4i |     2 | waited   | for how long packet i had waited when the bundle left, in units, what is over cut off; 65535: that or longer |
//! | 6 + 4 count | | packets  | those that are left, one after the other                |
//!
//! A router that drops packets writes zeros for their lengths and sends fewer
//! octets; all else stays. The egress lets each of the others go as much later
//! than the one before as it had waited less, so that they keep their distance
//! [Mulahuwaish s2.B].
//!
//! The frame is carried in IPv4 or IPv6, or in UDP over either, or behind an
//! MPLS label ([`Carriage`]). Its first four bits are zero, as it has fewer than
//! 4096 packets, so that a router that guesses what is behind a label takes it
//! for no IP packet [RFC4928 s3].
//!
//! Whatever the octets, nothing here panics.

mod carriage;
mod carried;
#[cfg(test)]
mod fuzz;
mod gaps;
mod offsets;
mod packing;
#[cfg(test)]
mod tests;

use units::Span;

use crate::octets::{demand, demand_mut, u16_at};
use crate::{Error, Field};
pub use carriage::{Carriage, PORT, PROTOCOL};
pub use carried::{Carried, Inner, InnerDropped};
pub use packing::{Packing, Piece};

/// Octets in front of the entries.
pub const HEADER_LEN: usize = 6;
/// Octets of a packet's entry.
pub const ENTRY_LEN: usize = 4;
/// One more than the largest number of a bundle; then they begin anew.
pub const SEQUENCES: u16 = 1 << 12;
/// The most packets of a bundle: no IP packet has room for more than
/// 65535 octets, of which a packet takes five at least; this is what leaves the
/// first four bits zero.
pub const MOST_PACKETS: u16 = (1 << 12) - 1;

const VERSION: u16 = 1;

mod field {
    pub(super) const COUNT: usize = 0;
    pub(super) const AVERAGE: usize = 2;
    pub(super) const CONTROL: usize = 4;
}

mod control {
    pub(super) const VERSION_SHIFT: u16 = 13;
    pub(super) const TEN_MICROSECONDS: u16 = 1 << 12;
    pub(super) const SEQUENCE_MASK: u16 = super::SEQUENCES - 1;
}

/// What the times of a bundle count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 1 us: up to 65.535 ms.
    #[default]
    Microsecond,
    /// 10 us: up to 655.35 ms.
    TenMicroseconds,
}

impl Unit {
    /// So many units.
    pub const fn span(self, units: u16) -> Span {
        Span::from_micros(match self {
            Self::Microsecond => units as u64,
            Self::TenMicroseconds => units as u64 * 10,
        })
    }
}

/// The six octets in front of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Packets that were put in.
    pub count: u16,
    /// Their length on average, in octets.
    pub average: u16,
    /// What the times count.
    pub unit: Unit,
    /// Which bundle to its egress it is, modulo [`SEQUENCES`].
    pub sequence: u16,
}

impl Header {
    /// The header at the start of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`HEADER_LEN`] octets,
    /// [`Error::Malformed`] with another version, without packets, and with
    /// more than [`MOST_PACKETS`].
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let octets = demand(octets, HEADER_LEN)?;
        let control = u16_at(octets, field::CONTROL)?;
        if control >> control::VERSION_SHIFT != VERSION {
            return Err(Error::Malformed(Field::Version));
        }
        let count = u16_at(octets, field::COUNT)?;
        if !(1..=MOST_PACKETS).contains(&count) {
            return Err(Error::Malformed(Field::Count));
        }
        Ok(Self {
            count,
            average: u16_at(octets, field::AVERAGE)?,
            unit: match control & control::TEN_MICROSECONDS {
                0 => Unit::Microsecond,
                _ => Unit::TenMicroseconds,
            },
            sequence: control & control::SEQUENCE_MASK,
        })
    }

    /// Writes the header to the first [`HEADER_LEN`] of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer; [`Error::Malformed`] for what
    /// [`Header::parse`] refuses, and a sequence from [`SEQUENCES`] on.
    pub fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        if !(1..=MOST_PACKETS).contains(&self.count) {
            return Err(Error::Malformed(Field::Count));
        }
        if self.sequence >= SEQUENCES {
            return Err(Error::Malformed(Field::Sequence));
        }
        let octets = demand_mut(octets, HEADER_LEN)?;
        let unit = match self.unit {
            Unit::Microsecond => 0,
            Unit::TenMicroseconds => control::TEN_MICROSECONDS,
        };
        let control = VERSION << control::VERSION_SHIFT | unit | self.sequence;
        for (at, number) in [
            (field::COUNT, self.count),
            (field::AVERAGE, self.average),
            (field::CONTROL, control),
        ] {
            octets[at..at + 2].copy_from_slice(&number.to_be_bytes());
        }
        Ok(())
    }

    /// Octets of the header with its entries.
    pub(crate) fn table_len(&self) -> usize {
        HEADER_LEN + ENTRY_LEN * usize::from(self.count)
    }
}

/// What the header says of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its octets; none: it was dropped.
    pub length: u16,
    /// For how long it had waited when the bundle left, in units.
    pub waited: u16,
}

impl Entry {
    /// The entry in four octets.
    pub(crate) const fn read([a, b, c, d]: [u8; ENTRY_LEN]) -> Self {
        Self {
            length: u16::from_be_bytes([a, b]),
            waited: u16::from_be_bytes([c, d]),
        }
    }

    pub(crate) const fn octets(self) -> [u8; ENTRY_LEN] {
        let ([a, b], [c, d]) = (self.length.to_be_bytes(), self.waited.to_be_bytes());
        [a, b, c, d]
    }
}
