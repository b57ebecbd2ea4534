//! TCP [RFC9293].

pub(crate) mod option;

use crate::bytes::{array_mut, put, split_mut, u8_at, u16_at, u32_at};
use crate::{Error, Field};

/// The header [RFC9293 s3.1].
mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const SEQUENCE: usize = 4;
    pub(super) const ACKNOWLEDGEMENT: usize = 8;
    /// The header length in words of four bytes, in the upper half.
    pub(super) const DATA_OFFSET: usize = 12;
    pub(super) const FLAGS: usize = 13;
    pub(super) const WINDOW: usize = 14;
    pub(super) const CHECKSUM: usize = 16;
    pub(super) const URGENT: usize = 18;
}

/// Bytes of the shortest and the longest header.
pub(crate) const HEADER_LEN: usize = 20;
pub(crate) const LONGEST_HEADER: usize = 60;
/// Offset of the checksum in the header.
pub(crate) const CHECKSUM: usize = field::CHECKSUM;
/// Bytes of a word, the unit of the header length.
const WORD: usize = 4;

/// Bits of the flags [RFC9293 s3.1].
pub mod flag {
    /// FIN: the sender has no more data.
    pub const FIN: u8 = 0x01;
    /// SYN: opens the connection.
    pub const SYN: u8 = 0x02;
    /// RST: ends or rejects the connection.
    pub const RST: u8 = 0x04;
    /// PSH: the receiver should deliver what it has.
    pub const PSH: u8 = 0x08;
    /// ACK: the acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
    /// ECE: the receiver saw a congestion mark.
    pub const ECE: u8 = 0x40;
    /// CWR: the sender reduced its window.
    pub const CWR: u8 = 0x80;
}

/// A view of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<T>(T);

impl<T> Header<T> {
    pub(crate) const fn of(bytes: T) -> Self {
        Self(bytes)
    }
}

impl<T: AsRef<[u8]>> Header<T> {
    pub(crate) fn source_port(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::SOURCE_PORT)
    }

    pub(crate) fn destination_port(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::DESTINATION_PORT)
    }

    /// Sequence number of the first byte.
    pub(crate) fn sequence(&self) -> Result<u32, Error> {
        u32_at(self.0.as_ref(), field::SEQUENCE)
    }

    /// Sequence number of the next byte expected.
    pub(crate) fn acknowledgement(&self) -> Result<u32, Error> {
        u32_at(self.0.as_ref(), field::ACKNOWLEDGEMENT)
    }

    /// Bits of [`flag`].
    pub(crate) fn flags(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::FLAGS)
    }

    /// The receive window.
    pub(crate) fn window(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::WINDOW)
    }

    /// The checksum.
    pub(crate) fn checksum(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::CHECKSUM)
    }

    /// The options.
    pub(crate) fn options(&self) -> Result<&[u8], Error> {
        let (bytes, end) = (self.0.as_ref(), self.header_len()?);
        let options = bytes.get(HEADER_LEN..end);
        options.ok_or(Error::Malformed(Field::HeaderLength))
    }

    /// Bytes of the header, options included, from its length field.
    pub(crate) fn header_len(&self) -> Result<usize, Error> {
        let words = u8_at(self.0.as_ref(), field::DATA_OFFSET)? >> 4;
        Ok(usize::from(words) * WORD)
    }
}

impl<T: AsMut<[u8]>> Header<T> {
    pub(crate) fn set_sequence(&mut self, sequence: u32) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::SEQUENCE)? = sequence.to_be_bytes();
        Ok(())
    }

    /// Sets the bits of [`flag`].
    pub(crate) fn set_flags(&mut self, flags: u8) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::FLAGS)? = [flags];
        Ok(())
    }

    pub(crate) fn set_checksum(&mut self, checksum: u16) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::CHECKSUM)? = checksum.to_be_bytes();
        Ok(())
    }
}

/// The fields of a header, without the checksum and the options, which are written
/// afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Source and destination port.
    pub(crate) ports: [u16; 2],
    /// Sequence number of the first byte.
    pub(crate) sequence: u32,
    /// Sequence number of the next byte expected.
    pub(crate) acknowledgement: u32,
    /// Words of four bytes of the header, options included, as [`data_offset`]
    /// computes them.
    pub(crate) data_offset: u8,
    /// Bits of [`flag`].
    pub(crate) flags: u8,
    /// Receive window: bytes that the other end may send.
    pub(crate) window: u16,
}

impl Fields {
    /// Writes the header without options and checksum. Returns the bytes behind it:
    /// the room for the options.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        let [source, destination] = self.ports;
        put(header, field::SOURCE_PORT, source.to_be_bytes());
        put(header, field::DESTINATION_PORT, destination.to_be_bytes());
        put(header, field::SEQUENCE, self.sequence.to_be_bytes());
        let acknowledgement = self.acknowledgement.to_be_bytes();
        put(header, field::ACKNOWLEDGEMENT, acknowledgement);
        header[field::DATA_OFFSET] = self.data_offset << 4;
        header[field::FLAGS] = self.flags;
        put(header, field::WINDOW, self.window.to_be_bytes());
        put(header, field::CHECKSUM, [0; 2]);
        put(header, field::URGENT, [0; 2]);
        Ok(rest)
    }
}

/// The number of four-byte words in a header of `header` bytes.
///
/// # Errors
/// [`Error::Malformed`] if no header has this length.
pub(crate) fn data_offset(header: u16) -> Result<u8, Error> {
    let bytes = usize::from(header);
    let words = u8::try_from(bytes / WORD).ok();
    words
        .filter(|_| (HEADER_LEN..=LONGEST_HEADER).contains(&bytes) && bytes.is_multiple_of(WORD))
        .ok_or(Error::Malformed(Field::HeaderLength))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_laid_out_as_in_the_figure() {
        let fields = Fields {
            ports: [50_000, 7_770],
            sequence: 0x0102_0304,
            acknowledgement: 0x1112_1314,
            data_offset: data_offset(24).unwrap(),
            flags: flag::ACK | flag::CWR,
            window: 0x2122,
        };
        let mut bytes = [0xee; 24];
        assert_eq!(fields.emit(&mut bytes), Ok(&mut [0xee; 4][..]));
        let mut header = Header::of(&mut bytes);
        header.set_checksum(0x3132).unwrap();
        assert_eq!(header.source_port(), Ok(50_000));
        assert_eq!(header.destination_port(), Ok(7_770));
        assert_eq!(header.header_len(), Ok(24));
        let expected = [
            0xc3, 0x50, 0x1e, 0x5a, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, // ports, numbers
            0x60, 0x90, 0x21, 0x22, 0x31, 0x32, 0, 0, // six words, flags, window, sum
            0xee, 0xee, 0xee, 0xee,
        ];
        assert_eq!(bytes, expected);
        let cut = Header::of(&bytes[..12]);
        assert_eq!(cut.destination_port(), Ok(7_770));
        assert!(cut.header_len().is_err());
    }
}
