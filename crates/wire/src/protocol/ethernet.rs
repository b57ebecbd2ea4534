//! Ethernet frames, without preamble and FCS [IEEE802.3 s3.1].

use units::IpVersion;

use crate::Error;
use crate::bytes::{array, array_mut, put, split_mut, u16_at};

/// The header [IEEE802.3 s3.1.1].
pub(super) mod field {
    pub(super) const DESTINATION: usize = 0;
    pub(super) const SOURCE: usize = 6;
    pub(in super::super) const TYPE: usize = 12;
}

/// Bytes of destination, source and type [IEEE802.3 s3.1.1].
pub const HEADER_LEN: usize = 14;
/// Bytes of destination and source; VLAN tags follow them [IEEE802.1Q].
pub const ADDRESSES_LEN: usize = field::TYPE;

/// The bit that marks a group address [IEEE802.3 s3.2.3].
const GROUP: u8 = 0x01;

/// EtherTypes [IEEE802.3 s3.2.6].
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6 [RFC2464 s3].
    pub const IPV6: u16 = 0x86dd;
    /// A stack of MPLS labels [RFC3032 s5].
    pub const MPLS: u16 = 0x8847;
}

/// The EtherType of this version of IP.
pub const fn ip_type(version: IpVersion) -> u16 {
    match version {
        IpVersion::V4 => ether_type::IPV4,
        IpVersion::V6 => ether_type::IPV6,
    }
}

/// Whether an address is a group address [IEEE802.3 s3.2.3].
pub(crate) const fn is_group([first, ..]: [u8; 6]) -> bool {
    first & GROUP != 0
}

/// A view of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<T>(T);

impl<T> Header<T> {
    pub(crate) const fn of(bytes: T) -> Self {
        Self(bytes)
    }
}

impl<T: AsRef<[u8]>> Header<T> {
    /// Destination and source.
    pub(crate) fn addresses(&self) -> Result<[[u8; 6]; 2], Error> {
        let bytes = self.0.as_ref();
        Ok([
            array(bytes, field::DESTINATION)?,
            array(bytes, field::SOURCE)?,
        ])
    }
}

impl<T: AsMut<[u8]>> Header<T> {
    /// Writes destination and source.
    pub(crate) fn set_addresses(
        &mut self,
        [destination, source]: [[u8; 6]; 2],
    ) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::DESTINATION)? = destination;
        *array_mut(self.0.as_mut(), field::SOURCE)? = source;
        Ok(())
    }
}

/// The fields of a header without tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Destination and source.
    pub addresses: [[u8; 6]; 2],
    /// One of [`ether_type`].
    pub kind: u16,
}

impl Fields {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`HEADER_LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            addresses: Header::of(bytes).addresses()?,
            kind: u16_at(bytes, field::TYPE)?,
        })
    }

    /// Writes the header. Returns the bytes behind it.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        let [destination, source] = self.addresses;
        put(header, field::DESTINATION, destination);
        put(header, field::SOURCE, source);
        put(header, field::TYPE, self.kind.to_be_bytes());
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
    const THERE: [u8; 6] = [0x02, 0, 0, 0, 0, 2];

    #[test]
    fn a_header_is_destination_source_and_type() {
        let mut bytes = [0xee; HEADER_LEN + 1];
        let fields = Fields {
            addresses: [THERE, HERE],
            kind: ip_type(IpVersion::V6),
        };
        assert_eq!(fields.emit(&mut bytes), Ok(&mut [0xee][..]));
        let expected = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0xee];
        assert_eq!(bytes, expected);
        assert_eq!(Header::of(&bytes).addresses(), Ok([THERE, HERE]));
        let mut header = Header::of(&mut bytes);
        header.set_addresses([HERE, THERE]).unwrap();
        assert_eq!(bytes[5..12], [1, 2, 0, 0, 0, 0, 2]);
        let short = fields.emit(&mut bytes[..13]);
        assert_eq!(short, Err(Error::Truncated { need: 14, have: 13 }));
    }

    #[test]
    fn the_lowest_bit_of_the_first_byte_says_that_an_address_is_of_many() {
        assert!(is_group([0xff; 6]) && is_group([0x33, 0x33, 0, 0, 0, 1]));
        assert!(!is_group(HERE));
    }
}
