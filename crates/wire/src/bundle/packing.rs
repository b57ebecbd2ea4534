//! Packing: building a bundle from packets.

use super::encapsulation::Encapsulation;
use super::{ENTRY_LEN, Entry, HEADER_LEN, Header, Unit};
use crate::bytes::demand_mut;
use crate::{Error, Field};

/// A packet to put into a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Bytes of the packet, from its IP header on.
    pub bytes: &'a [u8],
    /// Waiting time, in units of [`Packing::unit`].
    pub waited: u16,
}

/// The properties of a bundle besides its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The header in front of the bundle.
    pub encapsulation: Encapsulation,
    /// As [`Header::begins_within`].
    pub begins_within: bool,
    /// As [`Header::ends_within`].
    pub ends_within: bool,
    /// Unit of the waiting times.
    pub unit: Unit,
    /// Sequence number of the bundle among those to its egress, modulo
    /// [`super::SEQUENCES`].
    pub sequence: u16,
}

impl Packing {
    /// Bytes of a bundle of `count` packets with `bytes` bytes in total, its
    /// encapsulation included. Without packets, this is the overhead of a bundle.
    pub const fn packet_len(&self, count: usize, bytes: usize) -> usize {
        self.encapsulation.header_len() + HEADER_LEN + ENTRY_LEN * count + bytes
    }

    /// Writes the bundle of `packets` to the start of `bytes`. Returns its length,
    /// which equals [`Packing::packet_len`].
    ///
    /// # Errors
    /// [`Error::Truncated`] without room; [`Error::Malformed`] without packets, with an
    /// empty packet, with more bytes than IP can carry, and for a sequence number,
    /// label or class that is too large.
    pub fn emit(&self, packets: &[Piece<'_>], bytes: &mut [u8]) -> Result<usize, Error> {
        let total: usize = packets.iter().map(|packet| packet.bytes.len()).sum();
        let length = self.packet_len(packets.len(), total);
        let bytes = demand_mut(bytes, length)?;
        if packets.iter().any(|packet| packet.bytes.is_empty()) {
            return Err(Error::Malformed(Field::Length));
        }
        let header = Header {
            count: number(packets.len(), Field::Count)?,
            average: average(packets.len(), total)?,
            begins_within: self.begins_within,
            ends_within: self.ends_within,
            unit: self.unit,
            sequence: self.sequence,
        };
        let offsets = self.encapsulation.emit(bytes)?;
        emit_body(
            header,
            packets.iter().copied(),
            &mut bytes[offsets.bundle..],
        )?;
        offsets.seal(bytes)?;
        Ok(length)
    }
}

/// Writes a bundle without its encapsulation to the start of `bytes`, and returns its
/// length. A piece without bytes is a packet that a queue dropped out of the bundle.
///
/// # Errors
/// [`Error::Truncated`] without room for all of it; [`Error::Malformed`] if there are not
/// as many pieces as `header` says, and where [`Header::emit`] says so.
pub fn emit_body<'a>(
    header: Header,
    pieces: impl Iterator<Item = Piece<'a>>,
    bytes: &mut [u8],
) -> Result<usize, Error> {
    header.emit(bytes)?;
    let have = bytes.len();
    let (table, mut room) = bytes
        .split_at_mut_checked(header.table_len())
        .ok_or_else(|| Error::Truncated {
            need: header.table_len(),
            have,
        })?;
    let (mut entries, mut length) = (table[HEADER_LEN..].chunks_exact_mut(ENTRY_LEN), 0);
    for Piece { bytes, waited } in pieces {
        let entry = entries.next().ok_or(Error::Malformed(Field::Count))?;
        let size = number(bytes.len(), Field::Length)?;
        let written = Entry {
            length: size,
            waited,
        };
        entry.copy_from_slice(&written.bytes());
        let (there, rest) =
            room.split_at_mut_checked(bytes.len())
                .ok_or_else(|| Error::Truncated {
                    need: header.table_len() + length + bytes.len(),
                    have,
                })?;
        there.copy_from_slice(bytes);
        room = rest;
        length += bytes.len();
    }
    if entries.next().is_some() {
        return Err(Error::Malformed(Field::Count));
    }
    Ok(header.table_len() + length)
}

fn number(number: usize, field: Field) -> Result<u16, Error> {
    u16::try_from(number).map_err(|_| Error::Malformed(field))
}

/// Mean bytes of a packet, rounded down.
fn average(count: usize, bytes: usize) -> Result<u16, Error> {
    let average = bytes.checked_div(count);
    number(
        average.ok_or(Error::Malformed(Field::Count))?,
        Field::Length,
    )
}
