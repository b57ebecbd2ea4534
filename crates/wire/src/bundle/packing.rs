//! Packing: building a bundle from packets.

use super::carriage::Carriage;
use super::{ENTRY_LEN, Entry, HEADER_LEN, Header, Unit};
use crate::octets::demand_mut;
use crate::{Error, Field};

/// A packet to put into a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Octets of the packet, from its IP header on.
    pub octets: &'a [u8],
    /// Waiting time, in units of [`Packing::unit`].
    pub waited: u16,
}

/// The properties of a bundle besides its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The header in front of the bundle.
    pub carriage: Carriage,
    /// Unit of the waiting times.
    pub unit: Unit,
    /// Sequence number of the bundle among those to its egress, modulo
    /// [`super::SEQUENCES`].
    pub sequence: u16,
}

impl Packing {
    /// Octets of a bundle of `count` packets with `octets` octets in total, its
    /// carriage included. Without packets, this is the overhead of a bundle.
    pub const fn packet_len(&self, count: usize, octets: usize) -> usize {
        self.carriage.header_len() + HEADER_LEN + ENTRY_LEN * count + octets
    }

    /// Writes the bundle of `packets` to the start of `octets`. Returns its length,
    /// which equals [`Packing::packet_len`].
    ///
    /// # Errors
    /// [`Error::Truncated`] without room; [`Error::Malformed`] without packets, with an
    /// empty packet, with more octets than IP can carry, and for a sequence number,
    /// label or class that is too large.
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

/// Mean octets of a packet, rounded down.
fn average(count: usize, octets: usize) -> Result<u16, Error> {
    let average = octets.checked_div(count);
    number(
        average.ok_or(Error::Malformed(Field::Count))?,
        Field::Length,
    )
}
