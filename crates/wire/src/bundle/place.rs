//! Where the parts of a carried bundle are, as headers that were read tell.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::carriage::{Carriage, PORT, PROTOCOL, UDP};
use crate::datagram::Addresses;
use crate::octets::{array, u8_at, u16_at, u32_at};
use crate::protocol::checksum::{Checksum, Sum};
use crate::protocol::{mpls, udp};
use crate::{Error, Field};

/// Offsets in an IPv4 header [RFC791 s3.1].
pub(super) mod ipv4 {
    pub(in crate::bundle) const SERVICE: usize = 1;
    pub(in crate::bundle) const TOTAL_LENGTH: usize = 2;
    pub(in crate::bundle) const FRAGMENT: usize = 6;
    /// More fragments, or an offset.
    pub(in crate::bundle) const FRAGMENT_MASK: u16 = 0x3fff;
    pub(in crate::bundle) const PROTOCOL: usize = 9;
    pub(in crate::bundle) const CHECKSUM: usize = 10;
    pub(in crate::bundle) const SOURCE: usize = 12;
    pub(in crate::bundle) const DESTINATION: usize = 16;
    pub(in crate::bundle) const HEADER_LEN: usize = 20;
}

/// Offsets in an IPv6 header [RFC8200 s3].
pub(super) mod ipv6 {
    pub(in crate::bundle) const PAYLOAD_LENGTH: usize = 4;
    pub(in crate::bundle) const NEXT_HEADER: usize = 6;
    pub(in crate::bundle) const SOURCE: usize = 8;
    pub(in crate::bundle) const DESTINATION: usize = 24;
    pub(in crate::bundle) const HEADER_LEN: usize = 40;
}

/// Where the parts of a carried bundle are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the IP header or the first label begins.
    pub(super) start: usize,
    /// Where the UDP header begins, if there is one.
    pub(super) udp: Option<usize>,
    /// Where the bundle begins.
    pub(super) bundle: usize,
    /// Where it ends, as far as the carriage tells: behind a label it is not
    /// told, and what follows may be padding.
    pub(super) end: usize,
    pub(super) outer: Outer,
}

/// What says how long the bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outer {
    V4,
    V6,
    Label,
}

impl Place {
    /// Of the IP packet from `start` on.
    pub(super) fn of_packet(octets: &[u8], start: usize) -> Result<Self, Error> {
        let packet = octets.get(start..).unwrap_or_default();
        // Most packets carry something else, and that is seen first.
        let (outer, header, protocol, length) = match u8_at(packet, 0)? >> 4 {
            4 => {
                let header = ipv4_header(packet)?;
                let total = usize::from(u16_at(packet, ipv4::TOTAL_LENGTH)?);
                let length = total.checked_sub(header);
                (Outer::V4, header, packet[ipv4::PROTOCOL], length)
            }
            6 => {
                array::<{ ipv6::HEADER_LEN }>(packet, 0)?;
                // Zero is a jumbogram's, which none of ours is [RFC2675 s3].
                let length = match usize::from(u16_at(packet, ipv6::PAYLOAD_LENGTH)?) {
                    0 => None,
                    length => Some(length),
                };
                let protocol = packet[ipv6::NEXT_HEADER];
                (Outer::V6, ipv6::HEADER_LEN, protocol, length)
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
            UDP => Some(after),
            _ => return Err(Error::Malformed(Field::Protocol)),
        };
        if udp.is_some() {
            let datagram = &packet[header..header + length];
            check_udp(datagram, outer)?;
        }
        if outer == Outer::V4 && Checksum::default().add(&packet[..header]).finish() != 0 {
            return Err(Error::Malformed(Field::Checksum));
        }
        Ok(Self {
            start,
            udp,
            bundle: after + udp.map_or(0, |_| udp::HEADER_LEN),
            end: after + length,
            outer,
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
        let ip = octets.get(self.start..).unwrap_or_default();
        let (addresses, service) = match self.outer {
            Outer::Label => {
                let entry = mpls::Entry::parse(octets, self.bundle - mpls::ENTRY_LEN)?;
                return Ok(Carriage::Label {
                    label: entry.label,
                    class: entry.class,
                });
            }
            Outer::V4 => {
                let [from, to] = [ipv4::SOURCE, ipv4::DESTINATION];
                let ends = [array(ip, from)?, array(ip, to)?].map(Ipv4Addr::from_octets);
                (Addresses::V4(ends), u8_at(ip, ipv4::SERVICE)?)
            }
            Outer::V6 => {
                let [from, to] = [ipv6::SOURCE, ipv6::DESTINATION];
                let ends = [array(ip, from)?, array(ip, to)?].map(Ipv6Addr::from_octets);
                // The version, the octet of service and the flow label share
                // octets [RFC8200 s3].
                let [service, ..] = (u32_at(ip, 0)? << 4).to_be_bytes();
                (Addresses::V6(ends), service)
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
    /// lengths as they stand there [RFC768] [RFC8200 s8.1].
    pub(super) fn udp_sum(&self, octets: &[u8], udp: usize) -> Sum {
        let addresses = match self.outer {
            Outer::V4 => self.start + ipv4::SOURCE..self.start + ipv4::HEADER_LEN,
            Outer::V6 => self.start + ipv6::SOURCE..self.start + ipv6::HEADER_LEN,
            Outer::Label => 0..0,
        };
        let udp = udp::Header::of(&octets[udp..]);
        Checksum::default()
            .add(&octets[addresses])
            .add(&[0, UDP])
            .add(&udp.length().unwrap_or(0).to_be_bytes())
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
    array::<{ ipv4::HEADER_LEN }>(packet, 0)?;
    let length = usize::from(packet[0] & 0xf) * 4;
    let header = packet.get(..length).unwrap_or_default();
    if header.len() < ipv4::HEADER_LEN {
        return Err(Error::Malformed(Field::HeaderLength));
    }
    if u16_at(header, ipv4::FRAGMENT)? & ipv4::FRAGMENT_MASK != 0 {
        return Err(Error::Malformed(Field::Fragment));
    }
    Ok(length)
}

/// Whether the header of a datagram over IP is that of a bundle.
fn check_udp(datagram: &[u8], outer: Outer) -> Result<(), Error> {
    let header = udp::Header::of(datagram);
    if header.destination_port()? != PORT {
        return Err(Error::Malformed(Field::Port));
    }
    let length = usize::from(header.length()?);
    if length != datagram.len() || length < udp::HEADER_LEN {
        return Err(Error::Malformed(Field::Length));
    }
    // Over IPv6 there must be one [RFC8200 s8.1].
    if outer == Outer::V6 && header.checksum()? == 0 {
        return Err(Error::Malformed(Field::Checksum));
    }
    Ok(())
}
