//! Packets that an ICMP error may be sent about.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::protocol::ip::{Addresses, number};
use crate::protocol::ipv6::extension::Extension;
use crate::protocol::{icmpv4, icmpv6, ip, ipv4, ipv6};

/// A whole IP packet from one host to one other, about which an ICMP error is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offending<'a> {
    /// The packet without padding.
    pub(crate) packet: &'a [u8],
    /// Source and destination.
    pub(crate) addresses: Addresses,
}

impl<'a> Offending<'a> {
    /// Reads the packet at the start of `bytes`, if an error about it is allowed.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        match ip::version(bytes).ok()? {
            4 => Self::read_ipv4(bytes),
            6 => Self::read_ipv6(bytes),
            _ => None,
        }
    }

    fn read_ipv4(packet: &'a [u8]) -> Option<Self> {
        let total = usize::from(ipv4::Header::of(packet).total_length().ok()?);
        let packet = packet.get(..total)?;
        let ip = ipv4::Header::of(packet);
        let rest = packet.get(ip.header_len().ok()?..)?;
        // Damaged packets are dropped silently [RFC1812 s5.2.2].
        if !ip.checksum_holds().ok()? {
            return None;
        }
        if ip.is_later_fragment().ok()? {
            return None;
        }
        let addresses = ip.addresses().ok()?;
        if !addresses.iter().all(is_single_v4) {
            return None;
        }
        if ip.protocol().ok()? == number::ICMP && !icmpv4::may_be_answered(*rest.first()?) {
            return None;
        }
        Some(Self {
            packet,
            addresses: Addresses::V4(addresses),
        })
    }

    fn read_ipv6(packet: &'a [u8]) -> Option<Self> {
        let ip = ipv6::Fields::parse(packet).ok()?;
        let packet = packet.get(..ipv6::HEADER_LEN + usize::from(ip.payload_length))?;
        let single = ip.addresses.iter().all(is_single_v6);
        let answerable = answerable(ip.next_header, &packet[ipv6::HEADER_LEN..]);
        (single && answerable).then_some(Self {
            packet,
            addresses: Addresses::V6(ip.addresses),
        })
    }
}

/// Whether the address is that of one other host: not unspecified, not a loopback or
/// group address [RFC1122 s3.2.1.3].
const fn is_single_v4(address: &Ipv4Addr) -> bool {
    !matches!(address.octets(), [0 | 127 | 224.., ..])
}

/// The same for IPv6 [RFC4291 s2.4].
const fn is_single_v6(address: &Ipv6Addr) -> bool {
    !address.is_unspecified() && !address.is_loopback() && !address.is_multicast()
}

/// Whether the payload behind an IPv6 header is known to be neither an ICMPv6 error nor
/// a later fragment. A payload that is cut too short for this is not answerable.
fn answerable(mut next: u8, mut rest: &[u8]) -> bool {
    // Every round consumes at least eight bytes of `rest`.
    loop {
        match Extension::parse(next, rest) {
            Ok(Some(extension)) if !extension.later_fragment => {
                let Some(after) = rest.get(extension.length..) else {
                    return false;
                };
                next = extension.next_header;
                rest = after;
            }
            Ok(None) => break,
            _ => return false,
        }
    }
    match rest {
        [kind, _, ..] if next == number::ICMPV6 => icmpv6::may_be_answered(*kind),
        rest => rest.len() >= 2,
    }
}
