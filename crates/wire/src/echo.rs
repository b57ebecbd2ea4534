//! ICMP echoes, of IPv4 [RFC792] and of IPv6 [RFC4443 s4].

use units::IpVersion;

use crate::octets::{demand, demand_mut, u8_at, u16_at};
use crate::protocol::checksum::Checksum;
use crate::{Error, Field};

/// Octets of the header of an echo.
pub const HEADER_LEN: usize = 8;

mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const CODE: usize = 1;
    pub(super) const CHECKSUM: usize = 2;
    pub(super) const IDENTIFIER: usize = 4;
    pub(super) const SEQUENCE: usize = 6;
}

/// The header of an echo, behind that of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoHeader {
    /// Whether it answers one.
    pub reply: bool,
    /// Whose echoes these are.
    pub identifier: u16,
    /// The place among them.
    pub sequence: u16,
}

impl EchoHeader {
    /// The header at the start of `octets`. Whether its checksum is right, the
    /// kernel has seen.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Malformed`] where it is no echo.
    pub fn parse(octets: &[u8], version: IpVersion) -> Result<Self, Error> {
        let octets = demand(octets, HEADER_LEN)?;
        let [request, reply] = types(version);
        let kind = u8_at(octets, field::TYPE)?;
        if kind != request && kind != reply {
            return Err(Error::Malformed(Field::Type));
        }
        if u8_at(octets, field::CODE)? != 0 {
            return Err(Error::Malformed(Field::Code));
        }
        Ok(Self {
            reply: kind == reply,
            identifier: u16_at(octets, field::IDENTIFIER)?,
            sequence: u16_at(octets, field::SEQUENCE)?,
        })
    }

    /// Writes the header in front of what is in `octets` behind it, with the
    /// checksum over all of them. That of IPv6 covers addresses too, and is
    /// left to the kernel.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the header has no room.
    pub fn emit(&self, octets: &mut [u8], version: IpVersion) -> Result<(), Error> {
        let [request, reply] = types(version);
        let header = demand_mut(octets, HEADER_LEN)?;
        header[field::TYPE] = if self.reply { reply } else { request };
        header[field::CODE] = 0;
        header[field::CHECKSUM..field::IDENTIFIER].fill(0);
        header[field::IDENTIFIER..field::SEQUENCE].copy_from_slice(&self.identifier.to_be_bytes());
        header[field::SEQUENCE..].copy_from_slice(&self.sequence.to_be_bytes());
        if version == IpVersion::V4 {
            let checksum = Checksum::default().add(octets).finish();
            octets[field::CHECKSUM..field::IDENTIFIER].copy_from_slice(&checksum.to_be_bytes());
        }
        Ok(())
    }
}

/// A request and a reply.
const fn types(version: IpVersion) -> [u8; 2] {
    match version {
        IpVersion::V4 => [8, 0],
        IpVersion::V6 => [128, 129],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn the_figure_of_the_standard_is_what_travels() {
        let header = EchoHeader {
            reply: false,
            identifier: 0x0102,
            sequence: 0x0304,
        };
        let mut octets = [0xff; HEADER_LEN + 2];
        header.emit(&mut octets, IpVersion::V4).unwrap();
        assert_eq!(octets, [8, 0, 0xf3, 0xf9, 1, 2, 3, 4, 0xff, 0xff]);
        assert_eq!(Checksum::default().add(&octets).finish(), 0);
        header.emit(&mut octets, IpVersion::V6).unwrap();
        assert_eq!(octets[..4], [128, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn what_was_emitted_parses_back(reply: bool, identifier: u16, sequence: u16, six: bool, rest: Vec<u8>) {
            let version = if six { IpVersion::V6 } else { IpVersion::V4 };
            let header = EchoHeader { reply, identifier, sequence };
            let mut octets = [&[0; HEADER_LEN], &rest[..]].concat();
            header.emit(&mut octets, version).unwrap();
            prop_assert_eq!(EchoHeader::parse(&octets, version), Ok(header));
            prop_assert_eq!(&octets[HEADER_LEN..], &rest[..]);
        }

        #[test]
        fn no_octets_make_it_panic(octets: Vec<u8>, six: bool) {
            let version = if six { IpVersion::V6 } else { IpVersion::V4 };
            let _ = EchoHeader::parse(&octets, version);
        }
    }
}
