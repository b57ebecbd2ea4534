//! IPv6 [RFC8200].

pub(crate) mod extension;
pub(crate) mod option;

use core::net::Ipv6Addr;
use core::ops::Range;

use super::ip;
use super::ip::HOP_LIMIT;
use crate::bytes::{array, array_mut, demand, put, split_mut, u8_at, u16_at, u32_at};
use crate::{Error, Field};

/// The header [RFC8200 s3].
pub(crate) mod field {
    /// The version, the traffic class and the upper bits of the flow label.
    pub(super) const VERSION: usize = 0;
    /// The lower bits of the flow label.
    pub(super) const FLOW_LABEL: usize = 2;
    pub(crate) const PAYLOAD_LENGTH: usize = 4;
    pub(crate) const NEXT_HEADER: usize = 6;
    pub(super) const HOP_LIMIT: usize = 7;
    pub(super) const SOURCE: usize = 8;
    pub(super) const DESTINATION: usize = 24;
}

/// The mask of the traffic class in the first two bytes, and its shift.
const CLASS_MASK: u16 = 0x0ff0;
const CLASS_SHIFT: u32 = 4;
/// The mask of the flow label in the first four bytes.
const FLOW_LABEL_MASK: u32 = 0x000f_ffff;
/// The version, in the first two bytes.
const VERSION_6: u16 = 0x6000;

/// Bytes of the header without extensions.
pub(crate) const HEADER_LEN: usize = 40;
/// Range of source and destination.
pub(super) const ENDS: Range<usize> = field::SOURCE..HEADER_LEN;

/// A view of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<T>(T);

impl<T> Header<T> {
    pub(crate) const fn of(bytes: T) -> Self {
        Self(bytes)
    }
}

impl<T: AsRef<[u8]>> Header<T> {
    /// The traffic class.
    pub(crate) fn traffic_class(&self) -> Result<u8, Error> {
        let [first, second] = array(self.0.as_ref(), field::VERSION)?;
        Ok(first << CLASS_SHIFT | second >> CLASS_SHIFT)
    }

    /// Bytes behind the header; zero: none, or the Jumbo Payload option states their
    /// number.
    pub(crate) fn payload_length(&self) -> Result<u16, Error> {
        u16_at(self.0.as_ref(), field::PAYLOAD_LENGTH)
    }

    /// The protocol number of the next header.
    pub(crate) fn next_header(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::NEXT_HEADER)
    }

    /// The flow label [RFC6437].
    pub(crate) fn flow_label(&self) -> Result<u32, Error> {
        Ok(u32_at(self.0.as_ref(), field::VERSION)? & FLOW_LABEL_MASK)
    }

    /// The hop limit.
    pub(crate) fn hop_limit(&self) -> Result<u8, Error> {
        u8_at(self.0.as_ref(), field::HOP_LIMIT)
    }

    /// Source and destination.
    pub(crate) fn addresses(&self) -> Result<[Ipv6Addr; 2], Error> {
        let bytes = self.0.as_ref();
        let ends: [[u8; 16]; 2] = [
            array(bytes, field::SOURCE)?,
            array(bytes, field::DESTINATION)?,
        ];
        Ok(ends.map(Ipv6Addr::from_octets))
    }
}

impl<T: AsMut<[u8]>> Header<T> {
    /// Changes the traffic class.
    pub(crate) fn set_traffic_class(&mut self, class: u8) -> Result<(), Error> {
        self.change(field::VERSION, |word| {
            word & !CLASS_MASK | u16::from(class) << CLASS_SHIFT
        })
    }

    /// Changes the flow label; bits above its 20 are ignored.
    pub(crate) fn set_flow_label(&mut self, label: u32) -> Result<(), Error> {
        let word = array_mut(self.0.as_mut(), field::VERSION)?;
        let rest = u32::from_be_bytes(*word) & !FLOW_LABEL_MASK;
        *word = (rest | label & FLOW_LABEL_MASK).to_be_bytes();
        Ok(())
    }

    /// Changes the hop limit.
    pub(crate) fn set_hop_limit(&mut self, hops: u8) -> Result<(), Error> {
        let [place] = array_mut(self.0.as_mut(), field::HOP_LIMIT)?;
        *place = hops;
        Ok(())
    }

    /// Changes the source.
    pub(crate) fn set_source(&mut self, source: Ipv6Addr) -> Result<(), Error> {
        *array_mut(self.0.as_mut(), field::SOURCE)? = source.octets();
        Ok(())
    }

    /// Changes the payload length.
    pub(crate) fn set_payload_length(&mut self, length: u16) -> Result<(), Error> {
        self.change(field::PAYLOAD_LENGTH, |_| length)
    }

    /// Lowers the payload length by `by` bytes.
    pub(crate) fn shorten(&mut self, by: u16) -> Result<(), Error> {
        self.change(field::PAYLOAD_LENGTH, |length| length.saturating_sub(by))
    }

    /// Changes the 16-bit number at `at`.
    fn change(&mut self, at: usize, change: impl FnOnce(u16) -> u16) -> Result<(), Error> {
        let number = array_mut(self.0.as_mut(), at)?;
        *number = change(u16::from_be_bytes(*number)).to_be_bytes();
        Ok(())
    }
}

/// The fields of a header. The flow label is written as zero and the hop limit as
/// [`HOP_LIMIT`]; neither is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    /// The service byte (DSCP and ECN).
    pub(crate) traffic_class: u8,
    /// Bytes behind the header.
    pub(crate) payload_length: u16,
    /// The protocol number of the next header.
    pub(crate) next_header: u8,
    /// Source and destination.
    pub(crate) addresses: [Ipv6Addr; 2],
}

impl Fields {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for another version.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, HEADER_LEN)?;
        if ip::version(bytes)? != 6 {
            return Err(Error::Malformed(Field::Version));
        }
        let header = Header::of(bytes);
        Ok(Self {
            traffic_class: header.traffic_class()?,
            payload_length: header.payload_length()?,
            next_header: header.next_header()?,
            addresses: header.addresses()?,
        })
    }

    /// Writes the header. Returns the bytes behind it.
    pub(crate) fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (header, rest) = split_mut::<HEADER_LEN>(bytes)?;
        let [source, destination] = self.addresses.map(|address| address.octets());
        let version = VERSION_6 | u16::from(self.traffic_class) << CLASS_SHIFT;
        put(header, field::VERSION, version.to_be_bytes());
        put(header, field::FLOW_LABEL, [0; 2]);
        let payload_length = self.payload_length.to_be_bytes();
        put(header, field::PAYLOAD_LENGTH, payload_length);
        header[field::NEXT_HEADER] = self.next_header;
        header[field::HOP_LIMIT] = HOP_LIMIT;
        put(header, field::SOURCE, source);
        put(header, field::DESTINATION, destination);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields = Fields {
        traffic_class: 0xb8,
        payload_length: 1_460,
        next_header: 17,
        addresses: [
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
        ],
    };

    #[test]
    fn a_header_is_laid_out_as_in_the_figure() {
        let mut bytes = [0xee; HEADER_LEN + 1];
        assert_eq!(FIELDS.emit(&mut bytes), Ok(&mut [0xee][..]));
        assert_eq!(bytes[..8], [0x6b, 0x80, 0, 0, 0x05, 0xb4, 17, 64]);
        assert_eq!(bytes[8..12], [0x20, 0x01, 0x0d, 0xb8]);
        assert_eq!((bytes[23], bytes[39]), (1, 2));
        assert_eq!(Fields::parse(&bytes), Ok(FIELDS));
        bytes[0] = 0x4b;
        let other = Err(Error::Malformed(Field::Version));
        assert_eq!(Fields::parse(&bytes), other);
        let cut = Err(Error::Truncated { need: 40, have: 39 });
        assert_eq!(Fields::parse(&bytes[..39]), cut);
    }

    #[test]
    fn a_change_in_place_leaves_version_and_flow_label() {
        let mut bytes = [0x6b, 0x8f, 0xab, 0xcd, 0x05, 0xb4, 17];
        let mut header = Header::of(&mut bytes);
        header.set_traffic_class(0x2e).unwrap();
        header.shorten(60).unwrap();
        assert_eq!(bytes, [0x62, 0xef, 0xab, 0xcd, 0x05, 0x78, 17]);
        let header = Header::of(bytes);
        assert_eq!(header.traffic_class(), Ok(0x2e));
        assert_eq!(header.payload_length(), Ok(1_400));
        assert_eq!(header.next_header(), Ok(17));
        assert!(header.addresses().is_err());
    }
}
