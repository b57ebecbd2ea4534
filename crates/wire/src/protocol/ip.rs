//! The common parts of IPv4 [RFC791] and IPv6 [RFC8200].

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use units::IpVersion;

use super::checksum::Checksum;
use super::{ipv4, ipv6};
use crate::Error;
use crate::bytes::u8_at;

/// The hop limit (IPv4: time to live) of packets that are built.
pub(crate) const HOP_LIMIT: u8 = 64;

/// Protocol numbers of the header behind that of IP [RFC791 s3.1] [RFC8200 s4.1].
pub(crate) mod number {
    pub(crate) const HOP_BY_HOP: u8 = 0;
    /// [RFC792].
    pub(crate) const ICMP: u8 = 1;
    /// [RFC9293 s3.1].
    pub(crate) const TCP: u8 = 6;
    /// [RFC768].
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    /// [RFC4302 s2].
    pub(crate) const AUTHENTICATION: u8 = 51;
    /// [RFC4443 s1].
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const NO_NEXT_HEADER: u8 = 59;
    pub(crate) const DESTINATION_OPTIONS: u8 = 60;
}

/// Source and destination of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Of IPv4.
    V4([Ipv4Addr; 2]),
    /// Of IPv6.
    V6([Ipv6Addr; 2]),
}

impl Addresses {
    /// Both addresses, in the type for either version.
    pub fn ends(self) -> [IpAddr; 2] {
        match self {
            Self::V4(ends) => ends.map(IpAddr::V4),
            Self::V6(ends) => ends.map(IpAddr::V6),
        }
    }

    /// The version of IP.
    pub const fn version(&self) -> IpVersion {
        match self {
            Self::V4(_) => IpVersion::V4,
            Self::V6(_) => IpVersion::V6,
        }
    }

    /// Bytes of an IP header with these addresses, without options or extensions.
    pub(crate) const fn header_len(&self) -> usize {
        match self {
            Self::V4(_) => ipv4::HEADER_LEN,
            Self::V6(_) => ipv6::HEADER_LEN,
        }
    }

    /// The sum of the pseudo-header with these addresses, as [`pseudo_header`].
    pub(crate) fn pseudo_header(&self, protocol: u8, length: u32) -> Checksum {
        match self {
            Self::V4(ends) => pseudo_header(
                ends.map(|end| end.octets()).as_flattened(),
                protocol,
                length,
            ),
            Self::V6(ends) => pseudo_header(
                ends.map(|end| end.octets()).as_flattened(),
                protocol,
                length,
            ),
        }
    }
}

/// The sum of the pseudo-header that the checksum of `protocol` covers: `ends` (the
/// bytes of source and destination), the protocol number, and `length`, the bytes of
/// its header and payload [RFC768] [RFC8200 s8.1].
pub(crate) fn pseudo_header(ends: &[u8], protocol: u8, length: u32) -> Checksum {
    Checksum::default()
        .add(ends)
        .add(&length.to_be_bytes())
        .add(&[0, protocol])
}

/// The version field of a packet [RFC791 s3.1] [RFC8200 s3].
pub(crate) fn version(packet: &[u8]) -> Result<u8, Error> {
    Ok(u8_at(packet, 0)? >> 4)
}

/// The bytes of source and destination of a packet of this version; an empty slice if
/// the packet is too short.
pub(crate) fn ends(version: IpVersion, packet: &[u8]) -> &[u8] {
    let ends = match version {
        IpVersion::V4 => packet.get(ipv4::ENDS),
        IpVersion::V6 => packet.get(ipv6::ENDS),
    };
    ends.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pseudo_header_sums_up_as_the_figures_of_the_standards_say() {
        let four = Addresses::V4([Ipv4Addr::new(1, 2, 3, 4), Ipv4Addr::new(5, 6, 7, 8)]);
        let sum = 0x0102 + 0x0304 + 0x0506 + 0x0708 + 17 + 9;
        assert_eq!(four.pseudo_header(17, 9).finish(), !sum);
        let ends = [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end));
        // The length has 32 bits [RFC8200 s8.1].
        let sum = 2 * (0x2001 + 0xdb8) + 1 + 2 + 58 + 1 + 0x1234;
        let six = Addresses::V6(ends);
        assert_eq!(six.pseudo_header(58, 0x0001_1234).finish(), !sum);
    }
}
