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
        if packets.iter().any(|packet| packet.octets.is_empty()) {
            return Err(Error::Malformed(Field::Length));
        }
        let header = Header {
            count: number(packets.len(), Field::Count)?,
            average: average(packets.len(), total)?,
            unit: self.unit,
            sequence: self.sequence,
        };
        let offsets = self.carriage.emit(octets)?;
        emit_body(
            header,
            packets.iter().copied(),
            &mut octets[offsets.bundle..],
        )?;
        offsets.seal(octets)?;
        Ok(length)
    }
}

/// Writes a bundle without its carriage to the start of `octets`, and returns its
/// length. A piece without octets is a packet that a queue dropped out of the bundle.
///
/// # Errors
/// [`Error::Truncated`] without room for all of it; [`Error::Malformed`] if there are not
/// as many pieces as `header` says, and where [`Header::emit`] says so.
pub fn emit_body<'a>(
    header: Header,
    pieces: impl Iterator<Item = Piece<'a>>,
    octets: &mut [u8],
) -> Result<usize, Error> {
    header.emit(octets)?;
    let have = octets.len();
    let (table, mut room) = octets
        .split_at_mut_checked(header.table_len())
        .ok_or_else(|| Error::Truncated {
            need: header.table_len(),
            have,
        })?;
    let (mut entries, mut length) = (table[HEADER_LEN..].chunks_exact_mut(ENTRY_LEN), 0);
    for Piece { octets, waited } in pieces {
        let entry = entries.next().ok_or(Error::Malformed(Field::Count))?;
        let size = number(octets.len(), Field::Length)?;
        let written = Entry {
            length: size,
            waited,
        };
        entry.copy_from_slice(&written.octets());
        let (there, rest) =
            room.split_at_mut_checked(octets.len())
                .ok_or_else(|| Error::Truncated {
                    need: header.table_len() + length + octets.len(),
                    have,
                })?;
        there.copy_from_slice(octets);
        room = rest;
        length += octets.len();
    }
    if entries.next().is_some() {
        return Err(Error::Malformed(Field::Count));
    }
    Ok(header.table_len() + length)
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
