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
    /// Reads the header at the start of `bytes`. The kernel has verified the checksum.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] if the message is not an echo.
    pub fn parse(bytes: &[u8], version: IpVersion) -> Result<Self, Error> {
        let Fields { kind, code, rest } = Fields::parse(bytes)?;
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

    /// Writes the header in front of the data in `bytes`, with the checksum over both.
    /// The kernel computes the checksum of IPv6, which covers addresses, too.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the header has no room.
    pub fn emit(&self, bytes: &mut [u8], version: IpVersion) -> Result<(), Error> {
        let [request, reply] = types(version);
        let [a, b] = self.identifier.to_be_bytes();
        let [c, d] = self.sequence.to_be_bytes();
        let header = Fields {
            kind: if self.reply { reply } else { request },
            code: 0,
            rest: [a, b, c, d],
        };
        header.emit(bytes)?;
        match version {
            IpVersion::V4 => set_checksum(bytes, Checksum::default().add(bytes).finish()),
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
        let mut bytes = [0xff; HEADER_LEN + 2];
        header.emit(&mut bytes, IpVersion::V4).unwrap();
        assert_eq!(bytes, [8, 0, 0xf3, 0xf9, 1, 2, 3, 4, 0xff, 0xff]);
        assert_eq!(Checksum::default().add(&bytes).finish(), 0);
        header.emit(&mut bytes, IpVersion::V6).unwrap();
        assert_eq!(bytes[..4], [128, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn what_was_emitted_parses_back(reply: bool, identifier: u16, sequence: u16, six: bool, rest: Vec<u8>) {
            let version = if six { IpVersion::V6 } else { IpVersion::V4 };
            let header = EchoHeader { reply, identifier, sequence };
            let mut bytes = [&[0; HEADER_LEN], &rest[..]].concat();
            header.emit(&mut bytes, version).unwrap();
            prop_assert_eq!(EchoHeader::parse(&bytes, version), Ok(header));
            prop_assert_eq!(&bytes[HEADER_LEN..], &rest[..]);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, six: bool) {
            let version = if six { IpVersion::V6 } else { IpVersion::V4 };
            let _ = EchoHeader::parse(&bytes, version);
        }
    }
}
