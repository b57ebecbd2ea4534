//! Extension headers of IPv6 [RFC8200 s4].

use crate::Error;
use crate::bytes::{put, split_mut, u8_at, u16_at, u32_at};
use crate::protocol::ip::number;

/// Offsets in every extension header [RFC8200 s4.3], and in that of fragments
/// [RFC8200 s4.5].
mod field {
    pub(super) const NEXT_HEADER: usize = 0;
    /// Reserved in headers of fixed length.
    pub(super) const LENGTH: usize = 1;
    /// The offset in the upper 13 bits, in units of eight bytes.
    pub(super) const FRAGMENT_OFFSET: usize = 2;
    pub(super) const IDENTIFICATION: usize = 4;
}

/// The mask of a fragment's offset; the masked value is in bytes. The lowest bit
/// outside of it states that more fragments follow.
const OFFSET_MASK: u16 = 0xfff8;
const MORE_FRAGMENTS: u16 = 0x0001;

/// Bytes of next header and length, the start of most headers.
pub(crate) const START: usize = 2;
/// Unit of length fields, in bytes; they do not count the first unit.
const UNIT: usize = 8;
/// Bytes of a Fragment header.
pub(crate) const FRAGMENT_LEN: usize = 8;

/// An extension header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// The protocol number of the next header.
    pub(crate) next_header: u8,
    /// Bytes of the header, from its length field.
    pub(crate) length: usize,
    /// Whether the packet is a fragment other than the first.
    pub(crate) later_fragment: bool,
}

impl Extension {
    /// Reads the extension header with this protocol number at the start of `bytes`,
    /// of which only the fixed fields must be present; `None` if the number is not that
    /// of an extension header.
    pub(crate) fn parse(number: u8, bytes: &[u8]) -> Result<Option<Self>, Error> {
        let (length, later_fragment) = match number {
            number::HOP_BY_HOP | number::ROUTING | number::DESTINATION_OPTIONS => {
                (next_and_length(bytes)?.1, false)
            }
            // Words of four bytes, without the first two [RFC4302 s2.2].
            number::AUTHENTICATION => ((length(bytes)? + 2) * 4, false),
            number::FRAGMENT => {
                let offset = u16_at(bytes, field::FRAGMENT_OFFSET)? & OFFSET_MASK;
                (FRAGMENT_LEN, offset != 0)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            next_header: u8_at(bytes, field::NEXT_HEADER)?,
            length,
            later_fragment,
        }))
    }
}

/// The protocol number behind a header of options or routes, and the bytes of the
/// header, whose length field counts units of eight.
pub(crate) fn next_and_length(bytes: &[u8]) -> Result<(u8, usize), Error> {
    let length = (length(bytes)? + 1) * UNIT;
    Ok((u8_at(bytes, field::NEXT_HEADER)?, length))
}

fn length(bytes: &[u8]) -> Result<usize, Error> {
    u8_at(bytes, field::LENGTH).map(usize::from)
}

/// The fields of a Fragment header [RFC8200 s4.5].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// The protocol number of the payload of the whole packet.
    pub(crate) next_header: u8,
    /// Bytes of the payload in front of this fragment.
    pub(crate) offset: u16,
    /// Whether another fragment follows.
    pub(crate) more_fragments: bool,
    /// The number that the fragments of one packet share.
    pub(crate) identification: u32,
}

impl Fragment {
    /// Reads the header at the start of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let place = u16_at(bytes, field::FRAGMENT_OFFSET)?;
        Ok(Self {
            next_header: u8_at(bytes, field::NEXT_HEADER)?,
            offset: place & OFFSET_MASK,
            more_fragments: place & MORE_FRAGMENTS != 0,
            identification: u32_at(bytes, field::IDENTIFICATION)?,
        })
    }

    /// Writes the header. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<FRAGMENT_LEN>(bytes)?;
        let more = if self.more_fragments {
            MORE_FRAGMENTS
        } else {
            0
        };
        let offset = self.offset & OFFSET_MASK | more;
        header[field::NEXT_HEADER] = self.next_header;
        header[field::LENGTH] = 0;
        put(header, field::FRAGMENT_OFFSET, offset.to_be_bytes());
        let identification = self.identification.to_be_bytes();
        put(header, field::IDENTIFICATION, identification);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_as_each_header_has_it() {
        for (number, bytes) in [(0, 24), (43, 24), (60, 24), (51, 16), (44, 8)] {
            let found = Extension {
                next_header: 17,
                length: bytes,
                later_fragment: false,
            };
            assert_eq!(Extension::parse(number, &[17, 2, 0, 1]), Ok(Some(found)));
            let start = if number == 44 { 4 } else { 2 };
            let cut = Extension::parse(number, &[17, 2, 0][..start - 1]);
            let (need, have) = (start, start - 1);
            assert_eq!(cut, Err(Error::Truncated { need, have }));
        }
        for number in [6, 17, 58, 59] {
            assert_eq!(Extension::parse(number, &[]), Ok(None));
        }
    }

    #[test]
    fn the_header_of_a_fragment_is_laid_out_as_in_the_figure() {
        let first = Fragment {
            next_header: 17,
            offset: 0,
            more_fragments: true,
            identification: 0x0102_0304,
        };
        let mut bytes = [0xee; FRAGMENT_LEN];
        assert_eq!(first.emit(&mut bytes), Ok(&mut [][..]));
        assert_eq!(bytes, [17, 0, 0, 1, 1, 2, 3, 4]);
        assert_eq!(Fragment::parse(&bytes), Ok(first));
        let later = |bytes: &[u8]| Extension::parse(44, bytes).unwrap().unwrap().later_fragment;
        assert!(!later(&bytes));
        let second = Fragment {
            offset: 1_232,
            more_fragments: false,
            ..first
        };
        second.emit(&mut bytes).unwrap();
        // 154 units, three bits to the left.
        assert_eq!(bytes[2..4], [0x04, 0xd0]);
        assert!(later(&bytes));
    }
}
