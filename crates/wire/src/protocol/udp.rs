//! UDP [RFC768].

use super::checksum::Checksum;
use crate::Error;
use crate::bytes::{array_mut, demand, put, split_mut, u16_at};

/// The header [RFC768].
pub(crate) mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(crate) const LENGTH: usize = 4;
    pub(crate) const CHECKSUM: usize = 6;
}

/// Bytes of the header.
pub(crate) const HEADER_LEN: usize = 8;

/// A view of a datagram.
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

    /// Bytes of the datagram, the header included.
    pub(crate) fn length(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::LENGTH)
    }

    /// The checksum; zero: none.
    pub(crate) fn checksum(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::CHECKSUM)
    }

    /// The sum of the fields in front of the checksum.
    pub(crate) fn sum(&self) -> Result<Checksum, Error> {
        let summed = demand(self.0.as_ref(), field::CHECKSUM)?;
        Ok(Checksum::default().add(summed))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    /// Writes the checksum. Zero is written as all ones, because zero means no
    /// checksum.
    pub(crate) fn set_checksum(&mut self, checksum: u16) -> Result<(), Error> {
        let written = if checksum == 0 { u16::MAX } else { checksum };
        *array_mut(self.0.as_mut(), field::CHECKSUM)? = written.to_be_bytes();
        Ok(())
    }

    /// Writes zero in place of the checksum, for the sum over the datagram.
    pub(crate) fn clear_checksum(&mut self) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::CHECKSUM)? = [0; 2];
        Ok(())
    }

    /// Changes the length; the checksum is unchanged.
    pub(crate) fn set_length(&mut self, length: u16) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::LENGTH)? = length.to_be_bytes();
        Ok(())
    }

    /// Lowers the length by `by` bytes; the checksum is unchanged.
    pub(crate) fn shorten(&mut self, by: u16) -> Result<(), Error> {
        let length = self.length()?.saturating_sub(by);
        *array_mut(self.0.as_mut(), field::LENGTH)? = length.to_be_bytes();
        Ok(())
    }
}

/// The fields of a header, without the checksum, which is written afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Source and destination port.
    pub(crate) ports: [u16; 2],
    /// Bytes of the datagram, the header included.
    pub(crate) length: u16,
}

impl Fields {
    /// Reads the header at the start of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let header = Header::of(demand(bytes, HEADER_LEN)?);
        Ok(Self {
            ports: [header.source_port()?, header.destination_port()?],
            length: header.length()?,
        })
    }

    /// Writes the header without a checksum. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        let [source, destination] = self.ports;
        put(header, field::SOURCE_PORT, source.to_be_bytes());
        put(header, field::DESTINATION_PORT, destination.to_be_bytes());
        put(header, field::LENGTH, self.length.to_be_bytes());
        put(header, field::CHECKSUM, [0; 2]);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_laid_out_as_in_the_figure() {
        let fields = Fields {
            ports: [50_000, 7_770],
            length: 1_460,
        };
        let mut bytes = [0xee; HEADER_LEN + 1];
        assert_eq!(fields.emit(&mut bytes), Ok(&mut [0xee][..]));
        assert_eq!(bytes, [0xc3, 0x50, 0x1e, 0x5a, 0x05, 0xb4, 0, 0, 0xee]);
        assert_eq!(Fields::parse(&bytes), Ok(fields));
        let mut header = Header::of(&mut bytes);
        assert_eq!(header.checksum(), Ok(0));
        header.set_checksum(0).unwrap();
        header.shorten(1_452).unwrap();
        assert_eq!((header.length(), header.checksum()), (Ok(8), Ok(0xffff)));
        // Without the checksum [RFC1071 s1].
        let sum = 0xc350 + 0x1e5a + 8;
        assert_eq!(header.sum().unwrap().finish(), !sum);
    }

    #[test]
    fn as_much_of_a_header_is_read_as_there_is() {
        let header = Header::of([0xc3, 0x50, 0x1e, 0x5a, 0x05]);
        assert_eq!(header.source_port(), Ok(50_000));
        assert_eq!(header.destination_port(), Ok(7_770));
        let truncated = Error::Truncated { need: 6, have: 5 };
        assert_eq!(header.length(), Err(truncated));
        assert_eq!(header.sum().map(Checksum::finish), Err(truncated));
    }
}
