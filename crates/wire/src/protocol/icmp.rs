//! The common parts of ICMP for IPv4 [RFC792] and for IPv6 [RFC4443].

mod echo;

use crate::Error;
use crate::bytes::{array, array_mut, demand, put, split_mut, u8_at};
pub use echo::EchoHeader;

/// A message [RFC792] [RFC4443 s2.1].
pub(super) mod field {
    pub(in super::super) const TYPE: usize = 0;
    pub(in super::super) const CODE: usize = 1;
    pub(super) const CHECKSUM: usize = 2;
    /// The last four bytes; their meaning depends on the type.
    pub(super) const REST: usize = 4;
}

/// Bytes of the header of a message.
pub const HEADER_LEN: usize = 8;

/// The fields of the header of a message, without the checksum, which is written
/// afterwards and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The type of the message.
    pub kind: u8,
    /// The code, whose meaning depends on the type.
    pub code: u8,
    /// The last four bytes, whose meaning depends on the type.
    pub rest: [u8; 4],
}

impl Fields {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`HEADER_LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, HEADER_LEN)?;
        Ok(Self {
            kind: u8_at(bytes, field::TYPE)?,
            code: u8_at(bytes, field::CODE)?,
            rest: array(bytes, field::REST)?,
        })
    }

    /// Writes the header without a checksum. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        header[field::TYPE] = self.kind;
        header[field::CODE] = self.code;
        put(header, field::CHECKSUM, [0; 2]);
        put(header, field::REST, self.rest);
        Ok(rest)
    }
}

/// Writes the checksum of a message.
pub(crate) fn set_checksum(message: &mut [u8], checksum: u16) -> Result<(), Error> {
    *array_mut(message, field::CHECKSUM)? = checksum.to_be_bytes();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_laid_out_as_in_the_figure() {
        let fields = Fields {
            kind: 3,
            code: 4,
            rest: [5, 6, 7, 8],
        };
        let mut bytes = [0xee; HEADER_LEN + 1];
        assert_eq!(fields.emit(&mut bytes), Ok(&mut [0xee][..]));
        set_checksum(&mut bytes, 0x0102).unwrap();
        assert_eq!(bytes, [3, 4, 1, 2, 5, 6, 7, 8, 0xee]);
        assert_eq!(Fields::parse(&bytes), Ok(fields));
        let cut = Err(Error::Truncated { need: 8, have: 7 });
        assert_eq!(Fields::parse(&bytes[..7]), cut);
    }
}
