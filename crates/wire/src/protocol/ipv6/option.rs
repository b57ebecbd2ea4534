//! Options of Hop-by-Hop and Destination Options headers [RFC8200 s4.2], and the
//! Jumbo Payload option [RFC2675 s2].

use super::extension;
use crate::Error;
use crate::bytes::{demand, put, split_mut, u8_at};

/// Offsets in every option but [`PAD1`].
pub(crate) mod field {
    pub(super) const KIND: usize = 0;
    pub(super) const LENGTH: usize = 1;
    pub(crate) const DATA: usize = 2;
}

/// The padding option of one byte.
const PAD1: u8 = 0;
/// Type of the Jumbo Payload option, and bytes of its data.
pub(crate) const JUMBO_PAYLOAD: u8 = 0xc2;
pub(crate) const JUMBO_PAYLOAD_LEN: u8 = 4;
/// Bytes of a Hop-by-Hop Options header with the Jumbo Payload option alone.
pub(crate) const JUMBO_HEADER_LEN: usize = 8;

/// The action of a node on an option that it does not know [RFC8200 s4.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Skip the option.
    Skip,
    /// Discard the packet.
    Discard,
    /// Discard the packet and send a Parameter Problem; one of the two type codes makes
    /// an exception for multicast.
    Tell,
}

/// The action that the two highest bits of an option's type request.
pub(crate) const fn unknown(kind: u8) -> Unknown {
    match kind >> 6 {
        0b00 => Unknown::Skip,
        0b01 => Unknown::Discard,
        _ => Unknown::Tell,
    }
}

/// A view of an option: type, length and value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tlv<'a>(&'a [u8]);

impl<'a> Tlv<'a> {
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn kind(&self) -> Result<u8, Error> {
        u8_at(self.0, field::KIND)
    }

    /// Bytes of the data, from the length field.
    pub(crate) fn length(&self) -> Result<u8, Error> {
        match self.kind()? {
            PAD1 => Ok(0),
            _ => u8_at(self.0, field::LENGTH),
        }
    }

    /// All bytes of the option.
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Error> {
        let front = match self.kind()? {
            PAD1 => 1,
            _ => field::DATA,
        };
        demand(self.0, front + usize::from(self.length()?))
    }

    /// The data of the option.
    pub(crate) fn data(&self) -> Result<&'a [u8], Error> {
        Ok(self.bytes()?.get(field::DATA..).unwrap_or_default())
    }
}

/// The fields of a Hop-by-Hop Options header with the Jumbo Payload option alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JumboPayload {
    /// The protocol number of the next header.
    pub(crate) next_header: u8,
    /// Bytes behind the IPv6 header.
    pub(crate) length: u32,
}

impl JumboPayload {
    /// Writes the header. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<JUMBO_HEADER_LEN>(bytes)?;
        let (start, option) = header.split_at_mut(extension::START);
        // One unit of eight bytes.
        start.copy_from_slice(&[self.next_header, 0]);
        option[field::KIND] = JUMBO_PAYLOAD;
        option[field::LENGTH] = JUMBO_PAYLOAD_LEN;
        put(option, field::DATA, self.length.to_be_bytes());
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jumbo_payload_option_is_laid_out_as_in_the_figure() {
        let header = JumboPayload {
            next_header: 17,
            length: 190_016,
        };
        let mut bytes = [0xee; JUMBO_HEADER_LEN];
        assert_eq!(header.emit(&mut bytes), Ok(&mut [][..]));
        assert_eq!(bytes, [17, 0, 0xc2, 4, 0, 2, 0xe6, 0x40]);
        let option = Tlv::of(&bytes[2..]);
        assert_eq!((option.kind(), option.length()), (Ok(0xc2), Ok(4)));
        assert_eq!(option.data(), Ok(&[0, 2, 0xe6, 0x40][..]));
        assert_eq!(option.bytes().map(<[u8]>::len), Ok(6));
    }

    #[test]
    fn padding_of_one_byte_has_no_length_and_what_is_cut_short_no_data() {
        let padding = Tlv::of(&[0, 0xc2, 4]);
        assert_eq!(
            (padding.bytes(), padding.data()),
            (Ok(&[0][..]), Ok(&[][..]))
        );
        let cut = Tlv::of(&[1, 2, 0]);
        assert_eq!(cut.data(), Err(Error::Truncated { need: 4, have: 3 }));
        assert!(Tlv::of(&[]).kind().is_err());
    }

    #[test]
    fn the_highest_bits_say_what_becomes_of_a_packet() {
        let asked = [0x1e, 0x5e, 0x9e, 0xc2].map(unknown);
        let expected = [
            Unknown::Skip,
            Unknown::Discard,
            Unknown::Tell,
            Unknown::Tell,
        ];
        assert_eq!(asked, expected);
    }
}
