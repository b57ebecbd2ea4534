//! Router Advertisements [RFC4861 s4.2], by which a router announces the link MTU, a
//! prefix and itself as default router.
//!
//! Checksums are left zero: the kernel computes them on raw ICMPv6 sockets
//! [RFC3542 s3.1].

use core::net::Ipv6Addr;

use super::kind::ROUTER_ADVERTISEMENT;
use crate::bytes::{array, demand, demand_mut, u8_at, u16_at, u32_at};
use crate::{Error, Field};

/// Bytes up to the first option [RFC4861 s4.2].
const HEADER_LEN: usize = 16;
/// Unit of option lengths [RFC4861 s4.6].
const UNIT: usize = 8;

/// Offsets in the message [RFC4861 s4.2]. Reachable time and retransmission timer stay
/// unspecified.
mod field {
    pub(super) use crate::protocol::icmp::field::{CODE, TYPE};
    pub(super) const HOP_LIMIT: usize = 4;
    pub(super) const ROUTER_LIFETIME: usize = 6;
}

/// Offsets in every option [RFC4861 s4.6].
mod option {
    pub(super) const TYPE: usize = 0;
    pub(super) const LENGTH: usize = 1;
}

/// Source Link-Layer Address on Ethernet [RFC4861 s4.6.1] [RFC2464 s6].
mod link_address {
    pub(super) const TYPE: u8 = 1;
    pub(super) const UNITS: u8 = 1;
    pub(super) const ADDRESS: usize = 2;
}

/// Prefix Information [RFC4861 s4.6.2].
mod prefix {
    pub(super) const TYPE: u8 = 3;
    pub(super) const UNITS: u8 = 4;
    pub(super) const LENGTH: usize = 2;
    pub(super) const FLAGS: usize = 3;
    pub(super) const VALID: usize = 4;
    pub(super) const PREFERRED: usize = 8;
    pub(super) const ADDRESS: usize = 16;

    pub(super) const ON_LINK: u8 = 0x80;
    pub(super) const AUTONOMOUS: u8 = 0x40;
}

/// MTU [RFC4861 s4.6.4].
mod mtu {
    pub(super) const TYPE: u8 = 5;
    pub(super) const UNITS: u8 = 1;
    pub(super) const MTU: usize = 4;
}

/// A prefix of the link [RFC4861 s4.6.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// An address that begins with the prefix. The other bits are sent as zero and not
    /// read.
    pub address: Ipv6Addr,
    /// Bits of the prefix, at most 128.
    pub length: u8,
    /// Whether addresses with this prefix are reached without a router.
    pub on_link: bool,
    /// Whether hosts may form their own addresses with this prefix [RFC4862 s5.5].
    pub autonomous: bool,
    /// Validity of `on_link` in seconds; all ones: infinite.
    pub valid_seconds: u32,
    /// Preferred lifetime of formed addresses in seconds; all ones: infinite.
    pub preferred_seconds: u32,
}

/// A Router Advertisement [RFC4861 s4.2] with at most one option of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterAdvertisement {
    /// The hop limit that hosts are to use; 0: unspecified.
    pub hop_limit: u8,
    /// Seconds for which this is a default router; 0: it is not one.
    pub router_lifetime_seconds: u16,
    /// The IPv6 MTU of the link [RFC4861 s4.6.4].
    pub link_mtu: Option<u32>,
    /// A prefix of the link.
    pub prefix: Option<Prefix>,
    /// The sender's Ethernet address [RFC4861 s4.6.1].
    pub link_address: Option<[u8; 6]>,
}

impl RouterAdvertisement {
    /// Reads the message in `bytes`, from the ICMPv6 type on. The kernel has verified
    /// the checksum. Options of other types, and link-layer addresses that are not
    /// Ethernet's, are skipped; of two options of one kind the first counts.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the message or an option ends early;
    /// [`Error::Malformed`] for another type, a code, an option of length zero
    /// [RFC4861 s6.1.2] or of a length that its type does not have, and a prefix longer than an
    /// address.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let header = demand(bytes, HEADER_LEN)?;
        if u8_at(header, field::TYPE)? != ROUTER_ADVERTISEMENT {
            return Err(Error::Malformed(Field::Type));
        }
        if u8_at(header, field::CODE)? != 0 {
            return Err(Error::Malformed(Field::Code));
        }
        let mut message = Self {
            hop_limit: u8_at(header, field::HOP_LIMIT)?,
            router_lifetime_seconds: u16_at(header, field::ROUTER_LIFETIME)?,
            ..Self::default()
        };
        let mut rest = &bytes[HEADER_LEN..];
        while !rest.is_empty() {
            let units = u8_at(rest, option::LENGTH)?;
            if units == 0 {
                return Err(Error::Malformed(Field::OptionLength));
            }
            let body = demand(rest, usize::from(units) * UNIT)?;
            message.read_option(body, units)?;
            rest = &rest[body.len()..];
        }
        Ok(message)
    }

    /// Reads one option, `units` times eight bytes long.
    fn read_option(&mut self, body: &[u8], units: u8) -> Result<(), Error> {
        match (u8_at(body, option::TYPE)?, units) {
            (link_address::TYPE, link_address::UNITS) => {
                let address = array(body, link_address::ADDRESS)?;
                self.link_address = self.link_address.or(Some(address));
            }
            (prefix::TYPE, prefix::UNITS) => {
                let read = Prefix::parse(body)?;
                self.prefix = self.prefix.or(Some(read));
            }
            (mtu::TYPE, mtu::UNITS) => {
                let bytes = u32_at(body, mtu::MTU)?;
                self.link_mtu = self.link_mtu.or(Some(bytes));
            }
            (prefix::TYPE | mtu::TYPE, _) => return Err(Error::Malformed(Field::OptionLength)),
            _ => {}
        }
        Ok(())
    }

    /// Bytes that [`Self::emit`] writes.
    pub fn buffer_len(&self) -> usize {
        let options = [
            self.link_address.map(|_| link_address::UNITS),
            self.link_mtu.map(|_| mtu::UNITS),
            self.prefix.map(|_| prefix::UNITS),
        ];
        let units = options.into_iter().flatten().map(usize::from);
        HEADER_LEN + units.sum::<usize>() * UNIT
    }

    /// Writes the message, its checksum zero, to the first
    /// [`Self::buffer_len`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room; [`Error::Malformed`] for a prefix longer
    /// than an address.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, self.buffer_len())?;
        bytes.fill(0);
        let (header, mut rest) = bytes.split_at_mut(HEADER_LEN);
        header[field::TYPE] = ROUTER_ADVERTISEMENT;
        header[field::HOP_LIMIT] = self.hop_limit;
        header[field::ROUTER_LIFETIME..][..2]
            .copy_from_slice(&self.router_lifetime_seconds.to_be_bytes());
        if let Some(address) = self.link_address {
            let body = begin(&mut rest, link_address::TYPE, link_address::UNITS);
            body[link_address::ADDRESS..].copy_from_slice(&address);
        }
        if let Some(bytes) = self.link_mtu {
            let body = begin(&mut rest, mtu::TYPE, mtu::UNITS);
            body[mtu::MTU..].copy_from_slice(&bytes.to_be_bytes());
        }
        if let Some(prefix) = self.prefix {
            prefix.emit(begin(&mut rest, prefix::TYPE, prefix::UNITS))?;
        }
        Ok(())
    }
}

impl Prefix {
    /// Reads the prefix from a whole option.
    fn parse(body: &[u8]) -> Result<Self, Error> {
        let length = u8_at(body, prefix::LENGTH)?;
        let flags = u8_at(body, prefix::FLAGS)?;
        let address = u128::from_be_bytes(array(body, prefix::ADDRESS)?);
        Ok(Self {
            address: Ipv6Addr::from_bits(address & mask(length)?),
            length,
            on_link: flags & prefix::ON_LINK != 0,
            autonomous: flags & prefix::AUTONOMOUS != 0,
            valid_seconds: u32_at(body, prefix::VALID)?,
            preferred_seconds: u32_at(body, prefix::PREFERRED)?,
        })
    }

    /// Writes the prefix to a whole option whose other bytes are zero.
    fn emit(&self, body: &mut [u8]) -> Result<(), Error> {
        let address = self.address.to_bits() & mask(self.length)?;
        let flag = |set, bit| if set { bit } else { 0 };
        body[prefix::LENGTH] = self.length;
        body[prefix::FLAGS] =
            flag(self.on_link, prefix::ON_LINK) | flag(self.autonomous, prefix::AUTONOMOUS);
        body[prefix::VALID..][..4].copy_from_slice(&self.valid_seconds.to_be_bytes());
        body[prefix::PREFERRED..][..4].copy_from_slice(&self.preferred_seconds.to_be_bytes());
        body[prefix::ADDRESS..][..16].copy_from_slice(&address.to_be_bytes());
        Ok(())
    }
}

/// Cuts an option of `units` off `rest` and writes its first two fields.
fn begin<'a>(rest: &mut &'a mut [u8], kind: u8, units: u8) -> &'a mut [u8] {
    let (body, after) = core::mem::take(rest).split_at_mut(usize::from(units) * UNIT);
    *rest = after;
    body[option::TYPE] = kind;
    body[option::LENGTH] = units;
    body
}

/// A mask of `length` ones followed by zeros.
fn mask(length: u8) -> Result<u128, Error> {
    match length {
        0..=128 => Ok(!u128::MAX.checked_shr(u32::from(length)).unwrap_or(0)),
        _ => Err(Error::Malformed(Field::PrefixLength)),
    }
}

#[cfg(test)]
mod tests;
