//! Offsets of the parts of a carried bundle, read from its headers.

use units::IpVersion;

use super::encapsulation::{Encapsulation, PORT, PROTOCOL};
use crate::bytes::demand;
use crate::protocol::checksum::Sum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{ethernet, ip, ipv4, ipv6, mpls, udp};
use crate::{Error, Field};

/// Offsets of the parts of a carried bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offsets {
    /// The IP header or the first label.
    pub(super) start: usize,
    /// The UDP header, if there is one.
    pub(super) udp: Option<usize>,
    /// The bundle.
    pub(super) bundle: usize,
    /// The end of the bundle, if the encapsulation states it. Behind a label it is unknown,
    /// and padding may follow.
    pub(super) end: usize,
    pub(super) outer: Outer,
}

/// The header that states the length of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outer {
    Ip(IpVersion),
    Label,
}

impl Outer {
    /// The EtherType of its frames.
    pub(super) const fn ether_type(self) -> u16 {
        match self {
            Self::Ip(version) => ethernet::ip_type(version),
            Self::Label => ethernet::ether_type::MPLS,
        }
    }
}

impl Offsets {
    /// Offsets in the IP packet that begins at `start`.
    pub(super) fn of_packet(bytes: &[u8], start: usize) -> Result<Self, Error> {
        let packet = bytes.get(start..).unwrap_or_default();
        // Most packets carry other protocols, so this is checked first.
        let (version, header, protocol, length) = match ip::version(packet)? {
            4 => {
                let header = ipv4_header(packet)?;
                let ip = ipv4::Header::of(packet);
                let length = usize::from(ip.total_length()?).checked_sub(header);
                (IpVersion::V4, header, ip.protocol()?, length)
            }
            6 => {
                let header = ipv6::HEADER_LEN;
                let ip = ipv6::Header::of(demand(packet, header)?);
                // Zero marks a jumbogram, which a bundle never is [RFC2675 s3].
                let length = match usize::from(ip.payload_length()?) {
                    0 => None,
                    length => Some(length),
                };
                (IpVersion::V6, header, ip.next_header()?, length)
            }
            _ => return Err(Error::Malformed(Field::Version)),
        };
        let length = length.ok_or(Error::Malformed(Field::Length))?;
        if header + length > packet.len() {
            return Err(Error::Truncated {
                need: header + length,
                have: packet.len(),
            });
        }
        let after = start + header;
        let udp = match protocol {
            PROTOCOL => None,
            number::UDP => Some(after),
            _ => return Err(Error::Malformed(Field::Protocol)),
        };
        if udp.is_some() {
            let datagram = &packet[header..header + length];
            check_udp(datagram, version)?;
        }
        if version == IpVersion::V4 && !ipv4::Header::of(packet).checksum_holds()? {
            return Err(Error::Malformed(Field::Checksum));
        }
        Ok(Self {
            start,
            udp,
            bundle: after + udp.map_or(0, |_| udp::HEADER_LEN),
            end: after + length,
            outer: Outer::Ip(version),
        })
    }

    /// Offsets behind the labels that begin at `start`.
    pub(super) fn of_labels(bytes: &[u8], start: usize) -> Result<Self, Error> {
        let mut bundle = start;
        while !mpls::Entry::parse(bytes, bundle)?.bottom {
            bundle += mpls::ENTRY_LEN;
        }
        Ok(Self {
            start,
            udp: None,
            bundle: bundle + mpls::ENTRY_LEN,
            end: bytes.len(),
            outer: Outer::Label,
        })
    }

    /// Reads the encapsulation from the bytes in front of the bundle.
    pub(super) fn encapsulation(&self, bytes: &[u8]) -> Result<Encapsulation, Error> {
        let packet = bytes.get(self.start..).unwrap_or_default();
        let (addresses, service) = match self.outer {
            Outer::Label => {
                let entry = mpls::Entry::parse(bytes, self.bundle - mpls::ENTRY_LEN)?;
                return Ok(Encapsulation::Label {
                    label: entry.label,
                    class: entry.class,
                });
            }
            Outer::Ip(IpVersion::V4) => {
                let ip = ipv4::Header::of(packet);
                (Addresses::V4(ip.addresses()?), ip.service()?)
            }
            Outer::Ip(IpVersion::V6) => {
                let ip = ipv6::Header::of(packet);
                (Addresses::V6(ip.addresses()?), ip.traffic_class()?)
            }
        };
        Ok(match self.udp {
            None => Encapsulation::Ip { addresses, service },
            Some(udp) => Encapsulation::Udp {
                addresses,
                service,
                port: udp::Header::of(&bytes[udp..]).source_port()?,
            },
        })
    }

    /// The sum of the bytes in front of the bundle that UDP's checksum covers, without
    /// the checksum itself: the pseudo-header and the UDP header, with the lengths in
    /// the buffer.
    pub(super) fn udp_sum(&self, bytes: &[u8], udp: usize) -> Sum {
        let ends = match self.outer {
            Outer::Ip(version) => ip::ends(version, &bytes[self.start..]),
            Outer::Label => &[],
        };
        let udp = udp::Header::of(&bytes[udp..]);
        let length = u32::from(udp.length().unwrap_or(0));
        ip::pseudo_header(ends, number::UDP, length)
            .and(udp.sum().unwrap_or_default())
            .into()
    }

    /// Writes the checksum of UDP, if there is UDP.
    pub(super) fn seal(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let Some(udp) = self.udp else { return Ok(()) };
        let sum = self
            .udp_sum(bytes, udp)
            .plus(Sum::of(&bytes[self.bundle..self.end]));
        udp::Header::of(&mut bytes[udp..]).set_checksum(sum.checksum())
    }
}

/// Bytes of the IPv4 header of a packet, which must not be a fragment.
fn ipv4_header(packet: &[u8]) -> Result<usize, Error> {
    let ip = ipv4::Header::of(demand(packet, ipv4::HEADER_LEN)?);
    let length = ip.header_len()?;
    if length > packet.len() {
        return Err(Error::Malformed(Field::HeaderLength));
    }
    if ip.is_fragment()? {
        return Err(Error::Malformed(Field::Fragment));
    }
    Ok(length)
}

/// Checks whether the UDP header of a datagram is that of a bundle.
fn check_udp(datagram: &[u8], version: IpVersion) -> Result<(), Error> {
    let header = udp::Header::of(datagram);
    if header.destination_port()? != PORT {
        return Err(Error::Malformed(Field::Port));
    }
    let length = usize::from(header.length()?);
    if length != datagram.len() || length < udp::HEADER_LEN {
        return Err(Error::Malformed(Field::Length));
    }
    // UDP over IPv6 requires a checksum [RFC8200 s8.1].
    if version == IpVersion::V6 && header.checksum()? == 0 {
        return Err(Error::Malformed(Field::Checksum));
    }
    Ok(())
}
