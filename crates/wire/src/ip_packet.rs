//! The headers of an IP packet of either version, as routers, hosts and quotes need
//! them.

use units::IpVersion;

use crate::bytes::demand;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::ipv6::extension::{Extension, Fragment};
use crate::protocol::{ethernet, ip, ipv4, ipv6, vlan};
use crate::{Error, Field};

/// The headers of an IP packet, extensions included, and what is there of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source and destination.
    pub addresses: Addresses,
    /// Bytes of the whole packet, as its header states.
    pub size: u32,
    /// The hop limit (IPv4: time to live).
    pub hop_limit: u8,
    /// The flow label [RFC6437]; 0 for IPv4.
    pub flow_label: u32,
    /// Whether routers must not fragment it; always so for IPv6 [RFC8200 s5].
    pub dont_fragment: bool,
    /// The place in the whole packet, if this is a fragment.
    pub fragment: Option<FragmentPlace>,
    /// The protocol number of the payload, behind all extension headers.
    pub protocol: u8,
    /// The payload, as far as there are bytes of it.
    pub payload: &'a [u8],
}

/// The place of a fragment in the payload of the whole packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// Bytes of the payload in front of the fragment.
    pub offset: u16,
    /// Whether another fragment follows.
    pub more: bool,
    /// The number that the fragments of one packet share.
    pub identification: u32,
}

impl<'a> IpPacket<'a> {
    /// Reads the headers at the start of `bytes`. The payload may be cut short, as in
    /// the quotes of ICMP errors; bytes behind the packet are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the headers are cut short, [`Error::Malformed`] for
    /// another version, and for lengths that cannot be.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        match ip::version(bytes)? {
            4 => Self::parse_v4(bytes),
            6 => Self::parse_v6(bytes),
            _ => Err(Error::Malformed(Field::Version)),
        }
    }

    /// Reads a packet that must be complete, and have a valid header checksum.
    ///
    /// # Errors
    /// As [`Self::parse`], and for a packet that is cut short or damaged.
    pub fn parse_whole(bytes: &'a [u8]) -> Result<Self, Error> {
        let packet = Self::parse(bytes)?;
        demand(bytes, usize::try_from(packet.size).unwrap_or(usize::MAX))?;
        match packet.addresses {
            Addresses::V4(_) if !ipv4::Header::of(bytes).checksum_holds()? => {
                Err(Error::Malformed(Field::Checksum))
            }
            _ => Ok(packet),
        }
    }

    fn parse_v4(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = ipv4::Header::of(demand(bytes, ipv4::HEADER_LEN)?);
        let size = header.total_length()?;
        let end = bytes.len().min(size.into());
        let payload = bytes.get(header.header_len()?..end);
        let fragment = FragmentPlace {
            offset: header.fragment_offset()?,
            more: header.more_fragments()?,
            identification: header.identification()?.into(),
        };
        Ok(Self {
            addresses: Addresses::V4(header.addresses()?),
            size: size.into(),
            hop_limit: header.hop_limit()?,
            flow_label: 0,
            dont_fragment: header.dont_fragment()?,
            fragment: header.is_fragment()?.then_some(fragment),
            protocol: header.protocol()?,
            payload: payload.ok_or(Error::Malformed(Field::Length))?,
        })
    }

    fn parse_v6(bytes: &'a [u8]) -> Result<Self, Error> {
        let fields = ipv6::Fields::parse(bytes)?;
        let header = ipv6::Header::of(bytes);
        let size = ipv6::HEADER_LEN + usize::from(fields.payload_length);
        let mut next = fields.next_header;
        let mut rest = &bytes[ipv6::HEADER_LEN..bytes.len().min(size)];
        let mut place = None;
        // Each round consumes at least eight bytes of `rest`. Behind the header of a
        // later fragment is the payload of another part of the packet.
        while place.is_none_or(|place: FragmentPlace| place.offset == 0) {
            let Some(extension) = Extension::parse(next, rest)? else {
                break;
            };
            if next == number::FRAGMENT {
                let header = Fragment::parse(rest)?;
                place = Some(FragmentPlace {
                    offset: header.offset,
                    more: header.more_fragments,
                    identification: header.identification,
                });
            }
            next = extension.next_header;
            rest = rest.get(extension.length..).ok_or(Error::Truncated {
                need: extension.length,
                have: rest.len(),
            })?;
        }
        Ok(Self {
            addresses: Addresses::V6(fields.addresses),
            size: u32::try_from(size).unwrap_or(u32::MAX),
            hop_limit: header.hop_limit()?,
            flow_label: header.flow_label()?,
            dont_fragment: true,
            fragment: place,
            protocol: next,
            payload: rest,
        })
    }

    /// The version of IP.
    pub const fn version(&self) -> IpVersion {
        self.addresses.version()
    }

    /// Whether the packet lacks the start of the payload: a fragment other than the
    /// first.
    pub fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|place| place.offset != 0)
    }
}

/// Source and destination of the packet at the start of `bytes`, of whose headers no
/// other field is read.
///
/// # Errors
/// [`Error::Truncated`] if they are cut short, [`Error::Malformed`] for another version.
pub fn addresses(bytes: &[u8]) -> Result<Addresses, Error> {
    match ip::version(bytes)? {
        4 => Ok(Addresses::V4(ipv4::Header::of(bytes).addresses()?)),
        6 => Ok(Addresses::V6(ipv6::Fields::parse(bytes)?.addresses)),
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// The bytes of the whole packet, as the IP header at the start of `bytes` states them.
///
/// # Errors
/// [`Error::Truncated`] if the header is cut short, [`Error::Malformed`] for another version.
pub fn stated_length(bytes: &[u8]) -> Result<usize, Error> {
    match ip::version(bytes)? {
        4 => Ok(ipv4::Header::of(bytes).total_length()?.into()),
        6 => {
            let payload = ipv6::Header::of(bytes).payload_length()?;
            Ok(ipv6::HEADER_LEN + usize::from(payload))
        }
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// Writes a hop limit into the packet in `bytes`, and updates the header checksum of
/// IPv4.
///
/// # Errors
/// [`Error::Truncated`] if the header is cut short, [`Error::Malformed`] for another
/// version.
pub fn set_hop_limit(bytes: &mut [u8], hops: u8) -> Result<(), Error> {
    match ip::version(bytes)? {
        4 => ipv4::Header::of(bytes).set_hop_limit(hops),
        6 => ipv6::Header::of(bytes).set_hop_limit(hops),
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// Lets routers fragment a packet of IPv4. Packets of IPv6 have no such flag: they stay as
/// they are.
///
/// # Errors
/// As [`set_hop_limit`].
pub fn clear_dont_fragment(bytes: &mut [u8]) -> Result<(), Error> {
    match ip::version(bytes)? {
        4 => ipv4::Header::of(bytes).clear_dont_fragment(),
        6 => Ok(()),
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// The IP packet in an Ethernet frame without FCS, behind at most one tag; `None` if the
/// frame holds something else.
pub fn in_frame(frame: &mut [u8]) -> Option<&mut [u8]> {
    let (kind, header) = vlan::inside(frame, 1).ok()?;
    let bytes = frame.get_mut(header..)?;
    let version = match ip::version(bytes).ok()? {
        4 => IpVersion::V4,
        6 => IpVersion::V6,
        _ => return None,
    };
    (kind == ethernet::ip_type(version)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_behind_a_tag_and_nothing_else_is_taken_for_one() {
        let mut tagged = [2; 40];
        tagged[12..18].copy_from_slice(&[0x81, 0, 0, 7, 0x86, 0xdd]);
        tagged[18] = 0x60;
        assert_eq!(in_frame(&mut tagged).map(|packet| packet.len()), Some(22));
        tagged[18] = 0x45;
        assert_eq!(in_frame(&mut tagged), None);
        tagged[16..18].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(in_frame(&mut tagged), None);
        assert_eq!(in_frame(&mut tagged[..12]), None);
    }
}
