//! Neighbour Solicitations and Advertisements with an Ethernet address [RFC4861 s4.3]
//! [RFC4861 s4.4].

use core::net::Ipv6Addr;

use super::kind::{NEIGHBOUR_ADVERTISEMENT, NEIGHBOUR_SOLICITATION};
use crate::octets::{array, put, split_mut, u8_at};
use crate::protocol::icmp;
use crate::{Error, Field};

/// Offsets in both messages [RFC4861 s4.3] [RFC4861 s4.4].
mod field {
    pub(super) const TARGET: usize = 8;
    pub(super) const OPTIONS: usize = 24;
}

/// Offsets in the option of a link-layer address [RFC4861 s4.6.1].
mod option {
    pub(super) const TYPE: usize = 0;
    pub(super) const LENGTH: usize = 1;
    pub(super) const ADDRESS: usize = 2;
}

/// Types of the option: the address of the source, or of the target [RFC4861 s4.6.1].
const OF_SOURCE: u8 = 1;
const OF_TARGET: u8 = 2;
/// Octets of the option on Ethernet, which is the unit of lengths [RFC2464 s6].
const UNIT: usize = 8;

/// Flags of an advertisement: from a router, an answer, and to replace what was known
/// [RFC4861 s4.4].
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

/// Octets of a message with its option.
pub(crate) const LEN: usize = field::OPTIONS + UNIT;

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Solicitation,
    /// By a router; `solicited`: it answers a solicitation of one node.
    Advertisement {
        solicited: bool,
    },
}

/// The fields of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) operation: Operation,
    pub(crate) target: Ipv6Addr,
    /// The Ethernet address of the source of a solicitation, or of the target of an
    /// advertisement.
    pub(crate) link: Option<[u8; 6]>,
}

impl Fields {
    /// Reads a message, whose end is that of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for another message, or one that nodes
    /// discard [RFC4861 s7.1].
    pub(crate) fn parse(octets: &[u8]) -> Result<Self, Error> {
        let header = icmp::Fields::parse(octets)?;
        if header.code != 0 {
            return Err(Error::Malformed(Field::Code));
        }
        let [flags, ..] = header.rest;
        let (operation, kind) = match header.kind {
            NEIGHBOUR_SOLICITATION => (Operation::Solicitation, OF_SOURCE),
            NEIGHBOUR_ADVERTISEMENT => {
                let solicited = flags & SOLICITED != 0;
                (Operation::Advertisement { solicited }, OF_TARGET)
            }
            _ => return Err(Error::Malformed(Field::Type)),
        };
        let target: [u8; 16] = array(octets, field::TARGET)?;
        let mut link = None;
        let mut options = octets.get(field::OPTIONS..).unwrap_or_default();
        while !options.is_empty() {
            let length = UNIT * usize::from(u8_at(options, option::LENGTH)?);
            if length == 0 || length > options.len() {
                return Err(Error::Malformed(Field::OptionLength));
            }
            if u8_at(options, option::TYPE)? == kind && length == UNIT {
                link = Some(array(options, option::ADDRESS)?);
            }
            options = options.get(length..).unwrap_or_default();
        }
        Ok(Self {
            operation,
            target: Ipv6Addr::from_octets(target),
            link,
        })
    }

    /// Writes a message of [`LEN`] octets without a checksum. Without an address, the
    /// option has zeros.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room.
    pub(crate) fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        let (kind, flags, of) = match self.operation {
            Operation::Solicitation => (NEIGHBOUR_SOLICITATION, 0, OF_SOURCE),
            Operation::Advertisement { solicited } => {
                let solicited = if solicited { SOLICITED } else { 0 };
                let flags = ROUTER | OVERRIDE | solicited;
                (NEIGHBOUR_ADVERTISEMENT, flags, OF_TARGET)
            }
        };
        let (message, _) = split_mut::<LEN>(octets)?;
        let header = icmp::Fields {
            kind,
            code: 0,
            rest: [flags, 0, 0, 0],
        };
        header.emit(message)?;
        put(message, field::TARGET, self.target.octets());
        put(message, field::OPTIONS, [of, 1]);
        let link = self.link.unwrap_or_default();
        put(message, field::OPTIONS + option::ADDRESS, link);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_laid_out_as_in_the_figures() {
        let target = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 2);
        let link = Some([2, 0, 0, 0, 0, 9]);
        let mut octets = [0xee; LEN];
        for (operation, begins, option) in [
            (Operation::Solicitation, [135, 0, 0, 0, 0], 1),
            (
                Operation::Advertisement { solicited: true },
                [136, 0, 0, 0, 0xe0],
                2,
            ),
        ] {
            let fields = Fields {
                operation,
                target,
                link,
            };
            fields.emit(&mut octets).unwrap();
            assert_eq!(octets[..5], begins);
            assert_eq!(octets[8..24], target.octets());
            assert_eq!(octets[24..], [option, 1, 2, 0, 0, 0, 0, 9]);
            assert_eq!(Fields::parse(&octets), Ok(fields));
            let without = Fields::parse(&octets[..24]).unwrap();
            assert_eq!(without.link, None);
        }
        octets[25] = 0;
        let bad = Err(Error::Malformed(Field::OptionLength));
        assert_eq!(Fields::parse(&octets), bad);
        octets[1] = 1;
        assert_eq!(Fields::parse(&octets), Err(Error::Malformed(Field::Code)));
    }
}
