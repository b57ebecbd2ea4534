//! The Address Resolution Protocol between Ethernet and IPv4 [RFC826].

use core::net::Ipv4Addr;

use super::ethernet::ether_type;
use crate::octets::{array, put, split_mut};
use crate::{Error, Field};

/// A packet for these two protocols [RFC826].
mod field {
    /// Both protocols and the octets of their addresses.
    pub(super) const FORMAT: usize = 0;
    pub(super) const OPERATION: usize = 6;
    pub(super) const SENDER: usize = 8;
    pub(super) const SENDER_IP: usize = 14;
    pub(super) const TARGET: usize = 18;
    pub(super) const TARGET_IP: usize = 24;
}

/// Octets of a packet.
pub(crate) const LEN: usize = 28;

/// Ethernet with addresses of 6 octets, IPv4 with addresses of 4.
const FORMAT: [u8; 6] = {
    let [high, low] = ether_type::IPV4.to_be_bytes();
    [0, 1, high, low, 6, 4]
};

/// The purpose of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Request,
    Reply,
}

impl Operation {
    const fn number(self) -> u16 {
        match self {
            Self::Request => 1,
            Self::Reply => 2,
        }
    }
}

/// The fields of a packet: Ethernet and IPv4 addresses of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) operation: Operation,
    pub(crate) sender: ([u8; 6], Ipv4Addr),
    pub(crate) target: ([u8; 6], Ipv4Addr),
}

impl Fields {
    /// Reads the packet at the start of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for other protocols and operations.
    pub(crate) fn parse(octets: &[u8]) -> Result<Self, Error> {
        if array(octets, field::FORMAT)? != FORMAT {
            return Err(Error::Malformed(Field::Version));
        }
        let operation = u16::from_be_bytes(array(octets, field::OPERATION)?);
        let ip = |at| array(octets, at).map(Ipv4Addr::from_octets);
        Ok(Self {
            operation: [Operation::Request, Operation::Reply]
                .into_iter()
                .find(|known| known.number() == operation)
                .ok_or(Error::Malformed(Field::Type))?,
            sender: (array(octets, field::SENDER)?, ip(field::SENDER_IP)?),
            target: (array(octets, field::TARGET)?, ip(field::TARGET_IP)?),
        })
    }

    /// Writes the packet.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room.
    pub(crate) fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        let (packet, _) = split_mut::<LEN>(octets)?;
        put(packet, field::FORMAT, FORMAT);
        let operation = self.operation.number().to_be_bytes();
        put(packet, field::OPERATION, operation);
        put(packet, field::SENDER, self.sender.0);
        put(packet, field::SENDER_IP, self.sender.1.octets());
        put(packet, field::TARGET, self.target.0);
        put(packet, field::TARGET_IP, self.target.1.octets());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_laid_out_as_in_the_standard() {
        let fields = Fields {
            operation: Operation::Reply,
            sender: ([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 1, 0, 1)),
            target: ([2, 0, 0, 0, 0, 2], Ipv4Addr::new(10, 1, 0, 2)),
        };
        let mut octets = [0xee; LEN];
        fields.emit(&mut octets).unwrap();
        assert_eq!(octets[..8], [0, 1, 8, 0, 6, 4, 0, 2]);
        assert_eq!(octets[8..18], [2, 0, 0, 0, 0, 1, 10, 1, 0, 1]);
        assert_eq!(octets[18..], [2, 0, 0, 0, 0, 2, 10, 1, 0, 2]);
        assert_eq!(Fields::parse(&octets), Ok(fields));
        octets[7] = 3;
        assert_eq!(Fields::parse(&octets), Err(Error::Malformed(Field::Type)));
        octets[0] = 1;
        let other = Err(Error::Malformed(Field::Version));
        assert_eq!(Fields::parse(&octets), other);
        assert!(Fields::parse(&octets[..5]).is_err());
    }
}
