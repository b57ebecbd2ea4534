//! From packets to a bundle.

use super::carriage::Carriage;
use super::{ENTRY_LEN, Entry, HEADER_LEN, Header, Unit};
use crate::octets::demand_mut;
use crate::{Error, Field};

/// A packet that goes into a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its octets, from its IP header on.
    pub octets: &'a [u8],
    /// For how long it has waited, in units.
    pub waited: u16,
}

/// What a bundle has besides its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// What carries it.
    pub carriage: Carriage,
    /// What the times count.
    pub unit: Unit,
    /// Which bundle to its egress it is, modulo [`super::SEQUENCES`].
    pub sequence: u16,
}

impl Packing {
    /// Octets of a bundle of `count` packets with `octets` octets, its carriage
    /// included. Without packets, that is what a bundle costs.
    pub const fn packet_len(&self, count: usize, octets: usize) -> usize {
        self.carriage.header_len() + HEADER_LEN + ENTRY_LEN * count + octets
    }

    /// Writes the bundle of `packets` to the start of `octets`. Returns how
    /// many it took: those that [`Packing::packet_len`] says.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room; [`Error::Malformed`] without packets,
    /// with one that has no octets, with more than IP can carry, and for a
    /// sequence, label or class that is too large.
    pub fn emit(&self, packets: &[Piece<'_>], octets: &mut [u8]) -> Result<usize, Error> {
        let total: usize = packets.iter().map(|packet| packet.octets.len()).sum();
        let length = self.packet_len(packets.len(), total);
        let octets = demand_mut(octets, length)?;
        let offsets = self.carriage.emit(octets)?;
        let bundle = offsets.bundle;
        let header = Header {
            count: number(packets.len(), Field::Count)?,
            average: average(packets.len(), total)?,
            unit: self.unit,
            sequence: self.sequence,
        };
        header.emit(&mut octets[bundle..])?;
        let (table, mut room) =
            octets[bundle + HEADER_LEN..].split_at_mut(ENTRY_LEN * packets.len());
        for (entry, packet) in table.chunks_exact_mut(ENTRY_LEN).zip(packets) {
            if packet.octets.is_empty() {
                return Err(Error::Malformed(Field::Length));
            }
            let length = number(packet.octets.len(), Field::Length)?;
            let waited = packet.waited;
            entry.copy_from_slice(&Entry { length, waited }.octets());
            let (there, rest) = room.split_at_mut(packet.octets.len());
            there.copy_from_slice(packet.octets);
            room = rest;
        }
        offsets.seal(octets)?;
        Ok(length)
    }
}

fn number(number: usize, field: Field) -> Result<u16, Error> {
    u16::try_from(number).map_err(|_| Error::Malformed(field))
}

/// Octets of a packet on average, what is over cut off.
fn average(count: usize, octets: usize) -> Result<u16, Error> {
    let average = octets.checked_div(count);
    number(
        average.ok_or(Error::Malformed(Field::Count))?,
        Field::Length,
    )
}
