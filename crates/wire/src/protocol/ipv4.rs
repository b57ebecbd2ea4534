//! IPv4 [RFC791].

use core::net::Ipv4Addr;
use core::ops::Range;

use super::checksum::{Checksum, changed};
use super::ip::HOP_LIMIT;
use crate::bytes::{array, array_mut, demand, demand_mut, put, split_mut, u8_at, u16_at};
use crate::{Error, Field};

/// The header [RFC791 s3.1].
mod field {
    /// The version in the upper half; the header length in words of four bytes in the
    /// lower half.
    pub(super) const VERSION: usize = 0;
    /// [RFC2474 s3] [RFC3168 s5].
    pub(super) const SERVICE: usize = 1;
    pub(super) const TOTAL_LENGTH: usize = 2;
    pub(super) const IDENTIFICATION: usize = 4;
    /// Flags and, in the lower 13 bits, the offset in units of eight bytes.
    pub(super) const FRAGMENT: usize = 6;
    pub(super) const TIME_TO_LIVE: usize = 8;
    pub(super) const PROTOCOL: usize = 9;
    pub(super) const CHECKSUM: usize = 10;
    pub(super) const SOURCE: usize = 12;
    pub(super) const DESTINATION: usize = 16;
}

/// Flags beside the fragment offset, and the mask of the offset.
mod fragment {
    pub(super) const DONT_FRAGMENT: u16 = 0x4000;
    pub(super) const MORE_FRAGMENTS: u16 = 0x2000;
    pub(super) const OFFSET: u16 = 0x1fff;
}

/// Bytes of a header without options.
pub(crate) const HEADER_LEN: usize = 20;
/// Bytes of the longest header, with options.
pub const LONGEST_HEADER: usize = 60;
/// Range of source and destination.
pub(super) const ENDS: Range<usize> = field::SOURCE..HEADER_LEN;
/// Bytes of a word, the unit of the header length.
const WORD: usize = 4;
/// Version 4 and a header of five words.
const PLAIN: u8 = 0x45;

/// A view of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Header<T>(T);

impl<T> Header<T> {
    /// A view of the packet at the start of `bytes`.
    pub const fn of(bytes: T) -> Self {
        Self(bytes)
    }
}

impl<T: AsRef<[u8]>> Header<T> {
    /// Bytes of the header, options included, from its length field.
    ///
    /// # Errors
    /// [`Error::Truncated`] without bytes; [`Error::Malformed`] for less than
    /// [`HEADER_LEN`].
    pub fn header_len(&self) -> Result<usize, Error> {
        let words = u8_at(self.0.as_ref(), field::VERSION)? & 0xf;
        let length = usize::from(words) * WORD;
        let found = Some(length).filter(|length| *length >= HEADER_LEN);
        found.ok_or(Error::Malformed(Field::HeaderLength))
    }

    /// The service byte.
    pub(crate) fn service(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::SERVICE)
    }

    /// Bytes of the packet.
    pub(crate) fn total_length(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::TOTAL_LENGTH)
    }

    /// Whether routers must not fragment the packet.
    pub(crate) fn dont_fragment(&self) -> Result<bool, Error> {
        Ok(self.fragment()? & fragment::DONT_FRAGMENT != 0)
    }

    /// Whether the packet is a fragment.
    pub(crate) fn is_fragment(&self) -> Result<bool, Error> {
        Ok(self.fragment()? & (fragment::MORE_FRAGMENTS | fragment::OFFSET) != 0)
    }

    /// Whether the packet is a fragment other than the first.
    pub(crate) fn is_later_fragment(&self) -> Result<bool, Error> {
        Ok(self.fragment()? & fragment::OFFSET != 0)
    }

    /// Bytes of the packet's payload in front of this fragment.
    pub(crate) fn fragment_offset(&self) -> Result<u16, Error> {
        Ok((self.fragment()? & fragment::OFFSET) * 8)
    }

    /// Whether another fragment follows.
    pub(crate) fn more_fragments(&self) -> Result<bool, Error> {
        Ok(self.fragment()? & fragment::MORE_FRAGMENTS != 0)
    }

    /// Identification, which all fragments of one packet share.
    pub(crate) fn identification(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::IDENTIFICATION)
    }

    /// The time to live.
    pub(crate) fn hop_limit(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::TIME_TO_LIVE)
    }

    fn fragment(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::FRAGMENT)
    }

    /// The protocol number of the payload.
    pub(crate) fn protocol(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::PROTOCOL)
    }

    /// Source and destination.
    pub(crate) fn addresses(&self) -> Result<[Ipv4Addr; 2], Error> {
        let bytes = self.0.as_ref();
        let ends: [[u8; 4]; 2] = [
            array(bytes, field::SOURCE)?,
            array(bytes, field::DESTINATION)?,
        ];
        Ok(ends.map(Ipv4Addr::from_octets))
    }

    /// Whether the checksum of the header, options included, is right.
    pub(crate) fn checksum_holds(&self) -> Result<bool, Error> {
        let header = demand(self.0.as_ref(), self.header_len()?)?;
        Ok(Checksum::default().add(header).finish() == 0)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    /// Writes the checksum of the header, options included.
    pub(crate) fn set_checksum(&mut self) -> Result<(), Error> {
        let length = self.header_len()?;
        let header = demand_mut(self.0.as_mut(), length)?;
        put(header, field::CHECKSUM, [0; 2]);
        let sum = Checksum::default().add(header).finish();
        put(header, field::CHECKSUM, sum.to_be_bytes());
        Ok(())
    }
}

impl<T: AsMut<[u8]>> Header<T> {
    /// Changes the service byte, and updates the checksum.
    pub(crate) fn set_service(&mut self, service: u8) -> Result<(), Error> {
        self.change(field::VERSION, |word| word & 0xff00 | u16::from(service))
    }

    /// Changes the time to live, and updates the checksum.
    pub(crate) fn set_hop_limit(&mut self, hops: u8) -> Result<(), Error> {
        self.change(field::TIME_TO_LIVE, |word| {
            word & 0x00ff | u16::from(hops) << 8
        })
    }

    /// Lets routers fragment the packet, and updates the checksum.
    pub(crate) fn clear_dont_fragment(&mut self) -> Result<(), Error> {
        self.change(field::FRAGMENT, |word| word & !fragment::DONT_FRAGMENT)
    }

    /// Changes the source, and updates the checksum.
    pub(crate) fn set_source(&mut self, source: Ipv4Addr) -> Result<(), Error> {
        let [a, b, c, d] = source.octets();
        self.change(field::SOURCE, |_| u16::from_be_bytes([a, b]))?;
        self.change(field::SOURCE + 2, |_| u16::from_be_bytes([c, d]))
    }

    /// Changes the total length and the identification; the checksum is unchanged.
    pub(crate) fn set_packet(&mut self, length: u16, identification: u16) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::TOTAL_LENGTH)? = length.to_be_bytes();
        *array_mut(self.0.as_mut(), field::IDENTIFICATION)? = identification.to_be_bytes();
        Ok(())
    }

    /// Lowers the total length by `by` bytes, and updates the checksum.
    pub(crate) fn shorten(&mut self, by: u16) -> Result<(), Error> {
        self.change(field::TOTAL_LENGTH, |length| length.saturating_sub(by))
    }

    /// Changes the 16-bit number at `at`, and updates the checksum.
    fn change(&mut self, at: usize, change: impl FnOnce(u16) -> u16) -> Result<(), Error> {
        let bytes = self.0.as_mut();
        let (before, checksum) = (u16_at(bytes, at)?, u16_at(bytes, field::CHECKSUM)?);
        let after = change(before);
        *array_mut(bytes, at)? = after.to_be_bytes();
        *array_mut(bytes, field::CHECKSUM)? = changed(checksum, before, after).to_be_bytes();
        Ok(())
    }
}

/// The fields of a header without options. The time to live is [`HOP_LIMIT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The service byte.
    pub(crate) service: u8,
    /// Bytes of the packet.
    pub(crate) total_length: u16,
    /// Identification, which all fragments of one packet share.
    pub(crate) identification: u16,
    /// Whether routers must not fragment it.
    pub(crate) dont_fragment: bool,
    /// Whether another fragment follows.
    pub(crate) more_fragments: bool,
    /// Bytes of the packet's payload in front of this fragment.
    pub(crate) offset: u16,
    /// The protocol number of the payload.
    pub(crate) protocol: u8,
    /// Source and destination.
    pub(crate) addresses: [Ipv4Addr; 2],
}

impl Fields {
    /// Writes the header with its checksum. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        let flag = |set, bit| if set { bit } else { 0 };
        let fragment = flag(self.dont_fragment, fragment::DONT_FRAGMENT)
            | flag(self.more_fragments, fragment::MORE_FRAGMENTS)
            | (self.offset / 8);
        let [source, destination] = self.addresses.map(|address| address.octets());
        header[field::VERSION] = PLAIN;
        header[field::SERVICE] = self.service;
        put(header, field::TOTAL_LENGTH, self.total_length.to_be_bytes());
        let identification = self.identification.to_be_bytes();
        put(header, field::IDENTIFICATION, identification);
        put(header, field::FRAGMENT, fragment.to_be_bytes());
        header[field::TIME_TO_LIVE] = HOP_LIMIT;
        header[field::PROTOCOL] = self.protocol;
        put(header, field::CHECKSUM, [0; 2]);
        put(header, field::SOURCE, source);
        put(header, field::DESTINATION, destination);
        let sum = Checksum::default().add(header).finish();
        put(header, field::CHECKSUM, sum.to_be_bytes());
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields = Fields {
        service: 0xb8,
        total_length: 1_500,
        identification: 0x0102,
        dont_fragment: true,
        more_fragments: false,
        offset: 0,
        protocol: 17,
        addresses: [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)],
    };

    fn emitted(fields: Fields) -> [u8; HEADER_LEN] {
        let mut bytes = [0xee; HEADER_LEN];
        assert_eq!(fields.emit(&mut bytes), Ok(&mut [][..]));
        bytes
    }

    #[test]
    fn a_header_is_laid_out_as_in_the_figure() {
        let bytes = emitted(FIELDS);
        let expected = [
            0x45, 0xb8, 0x05, 0xdc, 1, 2, 0x40, 0, 64, 17, // from version to protocol
        ];
        assert_eq!(bytes[..10], expected);
        assert_eq!(bytes[12..], [198, 18, 0, 1, 198, 18, 0, 2]);
        let header = Header::of(bytes);
        assert_eq!(header.header_len(), Ok(20));
        assert_eq!(header.service(), Ok(0xb8));
        assert_eq!(header.total_length(), Ok(1_500));
        assert_eq!(header.protocol(), Ok(17));
        assert_eq!(header.addresses(), Ok(FIELDS.addresses));
        assert_eq!(header.checksum_holds(), Ok(true));
        assert_eq!(header.dont_fragment(), Ok(true));
        assert_eq!(header.is_fragment(), Ok(false));
    }

    #[test]
    fn a_fragment_says_where_it_belongs() {
        let first = Fields {
            dont_fragment: false,
            more_fragments: true,
            ..FIELDS
        };
        let bytes = emitted(first);
        assert_eq!(bytes[6..8], [0x20, 0]);
        let header = Header::of(bytes);
        assert_eq!(header.is_fragment(), Ok(true));
        assert_eq!(header.is_later_fragment(), Ok(false));
        assert_eq!(header.dont_fragment(), Ok(false));
        // 1480 bytes are 185 units of eight.
        let bytes = emitted(Fields {
            offset: 1_480,
            ..first
        });
        assert_eq!(bytes[6..8], [0x20, 185]);
        assert_eq!(Header::of(bytes).is_later_fragment(), Ok(true));
    }

    #[test]
    fn a_change_in_place_is_what_would_have_been_written() {
        let mut bytes = emitted(FIELDS);
        let mut header = Header::of(&mut bytes);
        header.set_service(0xbb).unwrap();
        header.shorten(400).unwrap();
        let expected = Fields {
            service: 0xbb,
            total_length: 1_100,
            ..FIELDS
        };
        assert_eq!(bytes, emitted(expected));
    }

    #[test]
    fn a_header_cut_short_or_too_short_is_said_to_be() {
        let mut bytes = emitted(FIELDS);
        let cut = Header::of(&bytes[..10]);
        assert_eq!((cut.protocol(), cut.service()), (Ok(17), Ok(0xb8)));
        assert!(cut.addresses().is_err() && cut.checksum_holds().is_err());
        let before = bytes;
        let changed = Header::of(&mut bytes[..11]).set_service(0);
        assert_eq!(changed, Err(Error::Truncated { need: 12, have: 11 }));
        assert_eq!(bytes, before);
        bytes[0] = 0x44;
        let short = Err(Error::Malformed(Field::HeaderLength));
        assert_eq!(Header::of(bytes).header_len(), short);
    }
}
