//! ICMP echoes, of IPv4 [RFC792] and of IPv6 [RFC4443 s4].

use units::IpVersion;

use super::{Fields, set_checksum};
use crate::protocol::checksum::Checksum;
use crate::protocol::{icmpv4, icmpv6};
use crate::{Error, Field};

/// The header of an ICMP echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoHeader {
    /// Whether the message is a reply.
    pub reply: bool,
    /// Identifies the sender's series of echoes.
    pub identifier: u16,
    /// Sequence number in the series.
    pub sequence: u16,
}

impl EchoHeader {
    /// Reads the header at the start of `octets`. The kernel has verified the checksum.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] if the message is not an echo.
    pub fn parse(octets: &[u8], version: IpVersion) -> Result<Self, Error> {
        let Fields { kind, code, rest } = Fields::parse(octets)?;
        let [request, reply] = types(version);
        if kind != request && kind != reply {
            return Err(Error::Malformed(Field::Type));
        }
        if code != 0 {
            return Err(Error::Malformed(Field::Code));
        }
        let [a, b, c, d] = rest;
        Ok(Self {
            reply: kind == reply,
            identifier: u16::from_be_bytes([a, b]),
            sequence: u16::from_be_bytes([c, d]),
        })
    }

    /// Writes the header in front of the data in `octets`, with the checksum over both.
    /// The kernel computes the checksum of IPv6, which covers addresses, too.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the header has no room.
    pub fn emit(&self, octets: &mut [u8], version: IpVersion) -> Result<(), Error> {
        let [request, reply] = types(version);
        let [a, b] = self.identifier.to_be_bytes();
        let [c, d] = self.sequence.to_be_bytes();
        let header = Fields {
            kind: if self.reply { reply } else { request },
            code: 0,
            rest: [a, b, c, d],
        };
        header.emit(octets)?;
        match version {
            IpVersion::V4 => set_checksum(octets, Checksum::default().add(octets).finish()),
            IpVersion::V6 => Ok(()),
        }
    }
}

/// The types of request and reply.
const fn types(version: IpVersion) -> [u8; 2] {
    match version {
        IpVersion::V4 => icmpv4::ECHO,
        IpVersion::V6 => icmpv6::ECHO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::HEADER_LEN;
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
