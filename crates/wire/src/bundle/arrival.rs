//! Bundles at the gateway that unpacks them: the encapsulation is taken off first, so that a
//! sealed bundle can be opened, and the bundle is read from what it carried.

use super::encapsulation::{Encapsulation, PORT, PROTOCOL};
use super::offsets::Offsets;
use super::{ENTRY_LEN, Entry, HEADER_LEN, Header, Part};
use crate::protocol::checksum::Sum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{ip, ipv4, ipv6, udp};
use crate::{Error, Field};

/// The content of an encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// The encapsulation, with addresses from sender to receiver.
    pub encapsulation: Encapsulation,
    /// The bytes behind it: a bundle, or a sealed one.
    pub payload: &'a [u8],
}

impl<'a> Arrival<'a> {
    /// Takes the encapsulation off the IP packet at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the packet is not whole; [`Error::Malformed`] if it is a
    /// fragment, carries something else, contradicts itself or has a wrong checksum.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let offsets = Offsets::of_packet(bytes, 0)?;
        let payload = bytes
            .get(offsets.bundle..offsets.end)
            .ok_or(Error::Malformed(Field::Length))?;
        if let Some(udp) = offsets.udp {
            let checksum = udp::Header::of(&bytes[udp..]).checksum()?;
            let sum = offsets
                .udp_sum(bytes, udp)
                .plus(Sum::of(payload))
                .plus(Sum::word(checksum));
            if checksum != 0 && !matches!(sum.checksum(), 0 | u16::MAX) {
                return Err(Error::Malformed(Field::Checksum));
            }
        }
        Ok(Self {
            encapsulation: offsets.encapsulation(bytes)?,
            payload,
        })
    }

    /// Takes the labels off the packet at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if they do not end.
    pub fn parse_labelled(bytes: &'a [u8]) -> Result<Self, Error> {
        let offsets = Offsets::of_labels(bytes, 0)?;
        Ok(Self {
            encapsulation: offsets.encapsulation(bytes)?,
            payload: bytes.get(offsets.bundle..).unwrap_or_default(),
        })
    }
}

/// Source and destination of an IP packet that carries what bundles are carried in.
/// `None` for all other packets. Looks at a few bytes only, so that packets of
/// unknown senders cost no more.
pub fn addressed(packet: &[u8]) -> Option<Addresses> {
    let (protocol, header, addresses) = match ip::version(packet).ok()? {
        4 => {
            let ip = ipv4::Header::of(packet);
            let addresses = Addresses::V4(ip.addresses().ok()?);
            (ip.protocol().ok()?, ip.header_len().ok()?, addresses)
        }
        6 => {
            let ip = ipv6::Fields::parse(packet).ok()?;
            (
                ip.next_header,
                ipv6::HEADER_LEN,
                Addresses::V6(ip.addresses),
            )
        }
        _ => return None,
    };
    let port = || udp::Header::of(packet.get(header..).unwrap_or_default()).destination_port();
    let carries = match protocol {
        PROTOCOL => true,
        number::UDP => port() == Ok(PORT),
        _ => false,
    };
    carries.then_some(addresses)
}

/// A bundle without an encapsulation.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    header: Header,
    entries: &'a [[u8; ENTRY_LEN]],
    packets: &'a [u8],
}

impl<'a> Body<'a> {
    /// Reads the bundle in `bytes`, which ends with them; behind labels, bytes that
    /// pad a short frame may follow it.
    ///
    /// # Errors
    /// [`Error::Truncated`] and [`Error::Malformed`] as [`super::Carried::parse`].
    pub fn parse(bytes: &'a [u8], padded: bool) -> Result<Self, Error> {
        let header = Header::parse(bytes)?;
        let table = header.table_len();
        let (entries, packets) = bytes.split_at_checked(table).ok_or(Error::Truncated {
            need: table,
            have: bytes.len(),
        })?;
        let entries = entries[HEADER_LEN..].as_chunks().0;
        let lengths = entries.iter().map(|entry| Entry::read(*entry).length);
        let total: usize = lengths.map(usize::from).sum();
        if total > packets.len() {
            return Err(Error::Truncated {
                need: table + total,
                have: bytes.len(),
            });
        }
        if total < packets.len() && !padded {
            return Err(Error::Malformed(Field::Length));
        }
        Ok(Self {
            header,
            entries,
            packets: &packets[..total],
        })
    }

    /// The header.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// The packets and pieces that no router dropped, in order, each with its waiting time
    /// in units of the header.
    pub fn packets(&self) -> impl Iterator<Item = (Part, u16, &'a [u8])> + use<'a> {
        let (header, mut rest) = (self.header, self.packets);
        (0..).zip(self.entries).filter_map(move |(index, entry)| {
            let entry = Entry::read(*entry);
            let (packet, after) = rest.split_at_checked(entry.length.into())?;
            rest = after;
            (!packet.is_empty()).then_some((header.part(index), entry.waited, packet))
        })
    }

    /// Bytes of the bundle, without padding.
    pub fn size(&self) -> usize {
        self.header.table_len() + self.packets.len()
    }

    /// How many packets no router dropped.
    pub fn live(&self) -> usize {
        let lengths = self.entries.iter().map(|entry| Entry::read(*entry).length);
        lengths.filter(|length| *length > 0).count()
    }
}
