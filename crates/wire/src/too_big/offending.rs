//! Packets about which a sender may be told something.

use units::IpVersion;

use crate::octets::{array, u8_at, u16_at};
use crate::protocol::checksum::Checksum;
use crate::protocol::ethernet::ether_type;
use crate::protocol::{ethernet, vlan};

/// Offsets that are read of an IPv4 header [RFC791 s3.1].
mod ipv4 {
    pub(super) const VERSION: usize = 0;
    pub(super) const TOTAL_LENGTH: usize = 2;
    pub(super) const FRAGMENT: usize = 6;
    pub(super) const PROTOCOL: usize = 9;
    pub(super) const SOURCE: usize = 12;
    pub(super) const DESTINATION: usize = 16;
    pub(super) const HEADER_LEN: usize = 20;

    pub(super) const DO_NOT_FRAGMENT: u16 = 0x4000;
    pub(super) const OFFSET_MASK: u16 = 0x1fff;

    pub(super) const ICMP: u8 = 1;
    /// Types that ask or answer; all others are errors or unknown: echo
    /// reply, echo, timestamp and its reply [RFC792].
    pub(super) const NO_ERRORS: [u8; 4] = [0, 8, 13, 14];
}

/// Offsets that are read of an IPv6 header [RFC8200 s3] and of its extensions
/// [RFC8200 s4].
mod ipv6 {
    pub(super) const VERSION: usize = 0;
    pub(super) const PAYLOAD_LENGTH: usize = 4;
    pub(super) const NEXT_HEADER: usize = 6;
    pub(super) const SOURCE: usize = 8;
    pub(super) const DESTINATION: usize = 24;
    pub(super) const HEADER_LEN: usize = 40;

    pub(super) const EXTENSION_LENGTH: usize = 1;
    pub(super) const FRAGMENT_OFFSET: usize = 2;
    pub(super) const OFFSET_MASK: u16 = 0xfff8;

    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    /// [RFC4302 s2].
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const ICMP: u8 = 58;
    pub(super) const DESTINATION_OPTIONS: u8 = 60;

    /// Informational messages have this bit [RFC4443 s2.1].
    pub(super) const INFORMATIONAL: u8 = 0x80;
    /// A redirect is informational by number and not to be answered
    /// [RFC4443 s2.4].
    pub(super) const REDIRECT: u8 = 137;
}

/// A whole IP packet from one host to one other, about which there may be an
/// ICMP error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offending<'a> {
    /// The Ethernet header with its tag.
    pub(super) link_header: &'a [u8],
    /// The Internet Protocol.
    pub(super) ip: IpVersion,
    /// The packet without padding.
    pub(super) packet: &'a [u8],
    /// The address it comes from.
    pub(super) source: &'a [u8],
    /// The address it goes to.
    pub(super) destination: &'a [u8],
}

impl<'a> Offending<'a> {
    /// The packet in `frame`, if there may be an error about it.
    pub(super) fn read(frame: &'a [u8]) -> Option<Self> {
        let (kind, header) = vlan::inside(frame, 1).ok()?;
        let (link_header, packet) = frame.split_at_checked(header)?;
        let ends = ethernet::Header::of(link_header).addresses().ok()?;
        if ends.into_iter().any(ethernet::is_group) {
            return None;
        }
        match kind {
            ether_type::IPV4 => Self::read_ipv4(link_header, packet),
            ether_type::IPV6 => Self::read_ipv6(link_header, packet),
            _ => None,
        }
    }

    fn read_ipv4(link_header: &'a [u8], packet: &'a [u8]) -> Option<Self> {
        let first = u8_at(packet, ipv4::VERSION).ok()?;
        let header = usize::from(first & 0xf) * 4;
        if first >> 4 != 4 || header < ipv4::HEADER_LEN {
            return None;
        }
        let total = usize::from(u16_at(packet, ipv4::TOTAL_LENGTH).ok()?);
        let packet = packet.get(..total)?;
        let (head, rest) = packet.split_at_checked(header)?;
        // What was damaged is dropped in silence [RFC1812 s5.2.2].
        if Checksum::default().add(head).finish() != 0 {
            return None;
        }
        let fragment = u16_at(head, ipv4::FRAGMENT).ok()?;
        if fragment & ipv4::DO_NOT_FRAGMENT == 0 || fragment & ipv4::OFFSET_MASK != 0 {
            return None;
        }
        let [source, destination] = [ipv4::SOURCE, ipv4::DESTINATION]
            .map(|at| array::<4>(head, at).map(u32::from_be_bytes));
        if !single_v4(source.ok()?) || !single_v4(destination.ok()?) {
            return None;
        }
        if head[ipv4::PROTOCOL] == ipv4::ICMP && !ipv4::NO_ERRORS.contains(rest.first()?) {
            return None;
        }
        Some(Self {
            link_header,
            ip: IpVersion::V4,
            packet,
            source: &head[ipv4::SOURCE..][..4],
            destination: &head[ipv4::DESTINATION..][..4],
        })
    }

    fn read_ipv6(link_header: &'a [u8], packet: &'a [u8]) -> Option<Self> {
        if u8_at(packet, ipv6::VERSION).ok()? >> 4 != 6 {
            return None;
        }
        let payload = usize::from(u16_at(packet, ipv6::PAYLOAD_LENGTH).ok()?);
        let packet = packet.get(..ipv6::HEADER_LEN + payload)?;
        let (head, rest) = packet.split_at(ipv6::HEADER_LEN);
        let source = &head[ipv6::SOURCE..][..16];
        let destination = &head[ipv6::DESTINATION..][..16];
        let single = single_v6(source) && single_v6(destination);
        (single && answerable(head[ipv6::NEXT_HEADER], rest)).then_some(Self {
            link_header,
            ip: IpVersion::V6,
            packet,
            source,
            destination,
        })
    }
}

/// Whether the address is that of one host elsewhere: neither unspecified,
/// nor of this host, nor of many [RFC1122 s3.2.1.3].
fn single_v4(address: u32) -> bool {
    !matches!(address >> 24, 0 | 127 | 224..)
}

/// Likewise [RFC4291 s2.4].
fn single_v6(address: &[u8]) -> bool {
    let own = address[..15].iter().all(|&octet| octet == 0) && address[15] <= 1;
    address[0] != 0xff && !own
}

/// Whether what follows an IPv6 header is neither an ICMPv6 error, nor a later
/// fragment, nor cut short before that shows.
fn answerable(mut next: u8, mut rest: &[u8]) -> bool {
    // Every round takes at least eight octets off `rest`.
    loop {
        let units = u8_at(rest, ipv6::EXTENSION_LENGTH).map(usize::from);
        let length = match (next, units) {
            (ipv6::HOP_BY_HOP | ipv6::ROUTING | ipv6::DESTINATION_OPTIONS, Ok(units)) => {
                (units + 1) * 8
            }
            (ipv6::AUTHENTICATION, Ok(units)) => (units + 2) * 4,
            (ipv6::FRAGMENT, Ok(_)) => match u16_at(rest, ipv6::FRAGMENT_OFFSET) {
                Ok(offset) if offset & ipv6::OFFSET_MASK == 0 => 8,
                _ => return false,
            },
            (ipv6::ICMP, Ok(_)) => {
                return rest.first().is_some_and(|&kind| {
                    kind & ipv6::INFORMATIONAL != 0 && kind != ipv6::REDIRECT
                });
            }
            (_, units) => return units.is_ok(),
        };
        let Some((header, after)) = rest.split_at_checked(length) else {
            return false;
        };
        next = header[0];
        rest = after;
    }
}
