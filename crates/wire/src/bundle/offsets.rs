//! Where the parts of a carried bundle are, as headers that were read tell.

use units::IpVersion;

use super::carriage::{Carriage, PORT, PROTOCOL};
use crate::octets::demand;
use crate::protocol::checksum::Sum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{ethernet, ip, ipv4, ipv6, mpls, udp};
use crate::{Error, Field};

/// Where the parts of a carried bundle are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offsets {
    /// Where the IP header or the first label begins.
    pub(super) start: usize,
    /// Where the UDP header begins, if there is one.
    pub(super) udp: Option<usize>,
    /// Where the bundle begins.
    pub(super) bundle: usize,
    /// Where it ends, as far as the carriage states it: behind a label it is
    /// unknown, and what follows may be padding.
    pub(super) end: usize,
    pub(super) outer: Outer,
}

/// What says how long the bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outer {
    Ip(IpVersion),
    Label,
}

impl Outer {
    /// The type of its frames.
    pub(super) const fn ether_type(self) -> u16 {
        match self {
            Self::Ip(version) => ethernet::ip_type(version),
            Self::Label => ethernet::ether_type::MPLS,
        }
    }
}

impl Offsets {
    /// Of the IP packet from `start` on.
    pub(super) fn of_packet(octets: &[u8], start: usize) -> Result<Self, Error> {
        let packet = octets.get(start..).unwrap_or_default();
        // Most packets carry something else, and that is seen first.
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
                // Zero is a jumbogram's, which none of ours is [RFC2675 s3].
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

    /// Of the labels from `start` on.
    pub(super) fn of_labels(octets: &[u8], start: usize) -> Result<Self, Error> {
        let mut bundle = start;
        while !mpls::Entry::parse(octets, bundle)?.bottom {
            bundle += mpls::ENTRY_LEN;
        }
        Ok(Self {
            start,
            udp: None,
            bundle: bundle + mpls::ENTRY_LEN,
            end: octets.len(),
            outer: Outer::Label,
        })
    }

    /// What the octets in front of the bundle say.
    pub(super) fn carriage(&self, octets: &[u8]) -> Result<Carriage, Error> {
        let packet = octets.get(self.start..).unwrap_or_default();
        let (addresses, service) = match self.outer {
            Outer::Label => {
                let entry = mpls::Entry::parse(octets, self.bundle - mpls::ENTRY_LEN)?;
                return Ok(Carriage::Label {
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
            None => Carriage::Ip { addresses, service },
            Some(udp) => Carriage::Udp {
                addresses,
                service,
                port: udp::Header::of(&octets[udp..]).source_port()?,
            },
        })
    }

    /// The sum of what UDP's checksum covers in front of the bundle, without
    /// the checksum itself: the pseudo-header and the UDP header, with the
    /// lengths as they stand there.
    pub(super) fn udp_sum(&self, octets: &[u8], udp: usize) -> Sum {
        let ends = match self.outer {
            Outer::Ip(version) => ip::ends(version, &octets[self.start..]),
            Outer::Label => &[],
        };
        let udp = udp::Header::of(&octets[udp..]);
        let length = u32::from(udp.length().unwrap_or(0));
        ip::pseudo_header(ends, number::UDP, length)
            .and(udp.sum().unwrap_or_default())
            .into()
    }

    /// Writes the checksum of UDP, if there is UDP.
    pub(super) fn seal(&self, octets: &mut [u8]) -> Result<(), Error> {
        let Some(udp) = self.udp else { return Ok(()) };
        let sum = self
            .udp_sum(octets, udp)
            .plus(Sum::of(&octets[self.bundle..self.end]));
        udp::Header::of(&mut octets[udp..]).set_checksum(sum.checksum())
    }
}

/// Octets of the IPv4 header of a packet that is no fragment.
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

/// Whether the header of a datagram over IP is that of a bundle.
fn check_udp(datagram: &[u8], version: IpVersion) -> Result<(), Error> {
    let header = udp::Header::of(datagram);
    if header.destination_port()? != PORT {
        return Err(Error::Malformed(Field::Port));
    }
    let length = usize::from(header.length()?);
    if length != datagram.len() || length < udp::HEADER_LEN {
        return Err(Error::Malformed(Field::Length));
    }
    // Over IPv6 there must be one [RFC8200 s8.1].
    if version == IpVersion::V6 && header.checksum()? == 0 {
        return Err(Error::Malformed(Field::Checksum));
    }
    Ok(())
}
