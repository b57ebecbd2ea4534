//! Super-packets: segments of TCP or datagrams of UDP in one packet that a kernel left
//! to the interface to cut [Virtio s5.1.6].
//!
//! The pieces are those that Linux cuts itself: sequence numbers continue, FIN and PSH
//! are in the last segment only, CWR in the first only [RFC3168 s6.1.2], and the
//! identification of IPv4 grows by one from piece to piece [LinuxUapi virtio_net.h].

use units::IpVersion;

use crate::octets::demand_mut;
use crate::protocol::ip::{ends, number, pseudo_header, version};
use crate::protocol::tcp::flag;
use crate::protocol::{ipv4, ipv6, tcp, udp};
use crate::{Error, Field};

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
    /// Offset of the header of TCP or UDP, and of the payload.
    start: usize,
    payload: usize,
    /// Octets of payload in each piece but the last.
    size: usize,
}

impl<'a> SuperPacket<'a> {
    /// Reads the super-packet in the IP packet `packet`, whose header of TCP or UDP begins
    /// at `start` and whose pieces carry `size` octets of payload.
    ///
    /// # Errors
    /// [`Error::Truncated`] without whole headers; [`Error::Malformed`] for another
    /// version of IP, or pieces that cannot be.
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
        let least = match version {
            IpVersion::V4 => ipv4::Header::of(packet).header_len()?,
            IpVersion::V6 => ipv6::HEADER_LEN,
        };
        let from = packet.get(start..).unwrap_or_default();
        let header = match transport {
            Transport::Tcp => tcp::Header::of(from).header_len()?.max(tcp::HEADER_LEN),
            Transport::Udp => udp::HEADER_LEN,
        };
        let payload = start.saturating_add(header);
        if start < least || payload > packet.len() {
            return Err(Error::Truncated {
                need: payload.max(least),
                have: packet.len(),
            });
        }
        if size == 0 || payload + size > usize::from(u16::MAX) {
            return Err(Error::Malformed(Field::Length));
        }
        Ok(Self {
            packet,
            version,
            transport,
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
    /// `octets`; returns its length.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, number: usize, octets: &mut [u8]) -> Result<usize, Error> {
        let (headers, payload) = self.packet.split_at(self.payload);
        let done = number.saturating_mul(self.size).min(payload.len());
        let end = done.saturating_add(self.size).min(payload.len());
        let part = &payload[done..end];
        let length = headers.len() + part.len();
        let piece = demand_mut(octets, length)?;
        piece[..headers.len()].copy_from_slice(headers);
        piece[headers.len()..].copy_from_slice(part);
        self.emit_ip(number, piece)?;
        let behind = u16::try_from(length - self.start);
        let behind = behind.map_err(|_| Error::Malformed(Field::Length))?;
        match self.transport {
            Transport::Tcp => self.emit_tcp(done, end == payload.len(), behind, piece)?,
            Transport::Udp => self.emit_udp(behind, piece)?,
        }
        Ok(length)
    }

    fn emit_ip(&self, number: usize, piece: &mut [u8]) -> Result<(), Error> {
        let too_long = |_| Error::Malformed(Field::Length);
        match self.version {
            IpVersion::V4 => {
                let length = u16::try_from(piece.len()).map_err(too_long)?;
                let before = ipv4::Header::of(self.packet).identification()?;
                let number = u16::try_from(number).map_err(too_long)?;
                let mut header = ipv4::Header::of(piece);
                header.set_packet(length, before.wrapping_add(number))?;
                header.set_checksum()
            }
            IpVersion::V6 => {
                let length = u16::try_from(piece.len() - ipv6::HEADER_LEN).map_err(too_long)?;
                ipv6::Header::of(piece).set_payload_length(length)
            }
        }
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
        let segment = &mut piece[self.start..];
        let mut header = tcp::Header::of(&mut *segment);
        header.set_sequence(sequence)?;
        header.set_flags(flags)?;
        header.set_checksum(0)?;
        let sum = sum.add(segment).finish();
        tcp::Header::of(segment).set_checksum(sum)
    }

    fn emit_udp(&self, behind: u16, piece: &mut [u8]) -> Result<(), Error> {
        let sum = pseudo_header(ends(self.version, self.packet), number::UDP, behind.into());
        let datagram = &mut piece[self.start..];
        let mut header = udp::Header::of(&mut *datagram);
        header.set_length(behind)?;
        header.clear_checksum()?;
        let sum = sum.add(datagram).finish();
        udp::Header::of(datagram).set_checksum(sum)
    }
}

#[cfg(test)]
mod tests;
