//! Super-packets: segments of TCP or datagrams of UDP in one packet that a kernel left
//! to the interface to cut [Virtio s5.1.6].
//!
//! The pieces are those that Linux cuts itself: sequence numbers continue, FIN and PSH
//! are in the last segment only, CWR in the first only [RFC3168 s6.1.2], and the
//! identification of IPv4 grows by one from piece to piece [LinuxUapi virtio_net.h].
//!
//! A super-packet may be larger than what its length field counts ("BIG TCP"): the field is
//! then zero, and older kernels put a Jumbo Payload option [RFC2675 s2] behind the header
//! of IPv6, which pieces do not have.
//!
//! A [`Run`] is the way back: segments that a super-packet of their own would be cut into.

mod run;

use units::IpVersion;

use crate::bytes::demand_mut;
use crate::protocol::ip::{ends, number, pseudo_header, version};
use crate::protocol::ipv6::extension::{self, Extension};
use crate::protocol::ipv6::option;
use crate::protocol::tcp::flag;
use crate::protocol::{ipv4, ipv6, tcp, udp};
use crate::{Error, Field};

pub use run::Run;

/// The protocol of a super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Segments of TCP.
    Tcp,
    /// Datagrams of UDP.
    Udp,
}

/// A view of a super-packet.
#[derive(Clone, Copy, Debug)]
pub struct SuperPacket<'a> {
    packet: &'a [u8],
    version: IpVersion,
    transport: Transport,
    /// Bytes behind the IPv6 header that pieces do not have.
    jumbo: usize,
    /// Offset of the header of TCP or UDP, and of the payload.
    start: usize,
    payload: usize,
    /// Bytes of payload in each piece but the last.
    size: usize,
}

impl<'a> SuperPacket<'a> {
    /// Reads the super-packet in the IP packet `packet`, whose header of TCP or UDP begins
    /// at `start` and whose pieces carry `size` bytes of payload.
    ///
    /// # Errors
    /// [`Error::Truncated`] without whole headers; [`Error::Malformed`] for another
    /// version of IP, other headers in front of that of TCP or UDP, such as those of a
    /// tunnel, and pieces that cannot be.
    pub fn parse(
        packet: &'a [u8],
        transport: Transport,
        start: usize,
        size: usize,
    ) -> Result<Self, Error> {
        let version = match version(packet)? {
            4 => IpVersion::V4,
            6 => IpVersion::V6,
            _ => return Err(Error::Malformed(Field::Version)),
        };
        let (begin, protocol) = match version {
            IpVersion::V4 => {
                let header = ipv4::Header::of(packet);
                (header.header_len()?, header.protocol()?)
            }
            IpVersion::V6 => behind_extensions(packet)?,
        };
        let is_transport = match transport {
            Transport::Tcp => protocol == number::TCP,
            Transport::Udp => protocol == number::UDP,
        };
        if start != begin || !is_transport {
            return Err(Error::Malformed(Field::Protocol));
        }
        let from = packet.get(start..).unwrap_or_default();
        let header = match transport {
            Transport::Tcp => tcp::Header::of(from).header_len()?.max(tcp::HEADER_LEN),
            Transport::Udp => udp::HEADER_LEN,
        };
        let payload = start.saturating_add(header);
        if payload > packet.len() {
            return Err(Error::Truncated {
                need: payload,
                have: packet.len(),
            });
        }
        if size == 0 || payload.saturating_add(size) > usize::from(u16::MAX) {
            return Err(Error::Malformed(Field::Length));
        }
        Ok(Self {
            packet,
            version,
            transport,
            jumbo: match version {
                IpVersion::V4 => 0,
                IpVersion::V6 => jumbo(packet),
            },
            start,
            payload,
            size,
        })
    }

    /// Number of pieces, at least one.
    pub const fn count(&self) -> usize {
        let payload = self.packet.len() - self.payload;
        let count = payload.div_ceil(self.size);
        if count == 0 { 1 } else { count }
    }

    /// Writes piece `number`, counted from 0, with all checksums, to the start of
    /// `bytes`; returns its length.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, number: usize, bytes: &mut [u8]) -> Result<usize, Error> {
        let (headers, payload) = self.packet.split_at(self.payload);
        let done = number.saturating_mul(self.size).min(payload.len());
        let end = done.saturating_add(self.size).min(payload.len());
        let part = &payload[done..end];
        let length = headers.len() - self.jumbo + part.len();
        let piece = demand_mut(bytes, length)?;
        let (head, body) = piece.split_at_mut(headers.len() - self.jumbo);
        body.copy_from_slice(part);
        match self.jumbo {
            0 => head.copy_from_slice(headers),
            jumbo => {
                let (ip, rest) = head.split_at_mut(ipv6::HEADER_LEN);
                ip.copy_from_slice(&headers[..ipv6::HEADER_LEN]);
                rest.copy_from_slice(&headers[ipv6::HEADER_LEN + jumbo..]);
                ip[ipv6::field::NEXT_HEADER] = headers[ipv6::HEADER_LEN];
            }
        }
        set_place(self.version, number, length, piece)?;
        let behind = u16::try_from(length - self.segment());
        let behind = behind.map_err(|_| Error::Malformed(Field::Length))?;
        match self.transport {
            Transport::Tcp => self.emit_tcp(done, end == payload.len(), behind, piece)?,
            Transport::Udp => self.emit_udp(behind, piece)?,
        }
        Ok(length)
    }

    /// Offset of the header of TCP or UDP in a piece.
    const fn segment(&self) -> usize {
        self.start - self.jumbo
    }

    fn emit_tcp(
        &self,
        done: usize,
        last: bool,
        behind: u16,
        piece: &mut [u8],
    ) -> Result<(), Error> {
        let whole = tcp::Header::of(&self.packet[self.start..]);
        let done = u32::try_from(done).map_err(|_| Error::Malformed(Field::Length))?;
        let sequence = whole.sequence()?.wrapping_add(done);
        let mut flags = whole.flags()?;
        if !last {
            flags &= !(flag::FIN | flag::PSH);
        }
        if done > 0 {
            flags &= !flag::CWR;
        }
        let sum = pseudo_header(ends(self.version, self.packet), number::TCP, behind.into());
        let segment = &mut piece[self.segment()..];
        let mut header = tcp::Header::of(&mut *segment);
        header.set_sequence(sequence)?;
        header.set_flags(flags)?;
        header.set_checksum(0)?;
        let sum = sum.add(segment).finish();
        tcp::Header::of(segment).set_checksum(sum)
    }

    fn emit_udp(&self, behind: u16, piece: &mut [u8]) -> Result<(), Error> {
        let sum = pseudo_header(ends(self.version, self.packet), number::UDP, behind.into());
        let datagram = &mut piece[self.segment()..];
        let mut header = udp::Header::of(&mut *datagram);
        header.set_length(behind)?;
        header.clear_checksum()?;
        let sum = sum.add(datagram).finish();
        udp::Header::of(datagram).set_checksum(sum)
    }
}

/// Makes the IP header in `head`, which is that of the first piece, the header of piece
/// `number`, which has `length` bytes.
fn set_place(
    version: IpVersion,
    number: usize,
    length: usize,
    head: &mut [u8],
) -> Result<(), Error> {
    let short = |number| u16::try_from(number).map_err(|_| Error::Malformed(Field::Length));
    match version {
        IpVersion::V4 => {
            let mut header = ipv4::Header::of(head);
            let first = header.identification()?;
            header.set_packet(short(length)?, first.wrapping_add(short(number)?))?;
            header.set_checksum()
        }
        IpVersion::V6 => {
            let payload = length.saturating_sub(ipv6::HEADER_LEN);
            ipv6::Header::of(head).set_payload_length(short(payload)?)
        }
    }
}

/// The place behind the headers of the IPv6 packet `packet`, and the protocol number of what
/// is there.
fn behind_extensions(packet: &[u8]) -> Result<(usize, u8), Error> {
    let mut place = ipv6::HEADER_LEN;
    let mut next = ipv6::Header::of(packet).next_header()?;
    // Each round goes eight bytes further at least.
    while let Some(extension) = Extension::parse(next, packet.get(place..).unwrap_or_default())? {
        next = extension.next_header;
        place += extension.length;
    }
    Ok((place, next))
}

/// Bytes of a header with the Jumbo Payload option alone in the IPv6 packet `packet`.
fn jumbo(packet: &[u8]) -> usize {
    let header = packet.get(ipv6::HEADER_LEN..).unwrap_or_default();
    let is_first = ipv6::Header::of(packet).next_header() == Ok(number::HOP_BY_HOP);
    match header.get(1..extension::START + 2) {
        Some([0, option::JUMBO_PAYLOAD, option::JUMBO_PAYLOAD_LEN]) if is_first => {
            option::JUMBO_HEADER_LEN
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
