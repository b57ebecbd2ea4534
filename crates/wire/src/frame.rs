//! Classification of captured frames: Ethernet [IEEE802.3 s3.1] with at most one VLAN
//! tag [IEEE802.1Q], IPv4 [RFC791] or IPv6 [RFC8200], TCP [RFC9293] or UDP [RFC768].
//!
//! A capture shows the packets that the host handed to its card, which may differ from
//! those on the wire: a snap length cuts bytes off, and segmentation offload shows one
//! packet of up to megabytes where the wire carried hundreds. This module therefore
//! rejects nothing; the summary holds the fields that could be read.

mod checksum;
mod ports;
mod service;

use core::net::IpAddr;

use units::IpVersion;

use crate::Error;
use crate::protocol::ethernet::ether_type;
use crate::protocol::ip::number;
use crate::protocol::ipv6::extension::Extension;
use crate::protocol::{ethernet, ip, ipv4, ipv6, tcp, udp, vlan};
pub use checksum::complete_checksum;
pub use ports::Ports;
pub use service::{mark, mark_packet, service, service_of, set_service};

/// The transport protocol of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP [RFC9293].
    Tcp,
    /// UDP [RFC768].
    Udp,
    /// The protocol with this number.
    Other(u8),
}

/// A hash of the flow of an Ethernet frame: equal for equal addresses, protocol and
/// ports, in one direction. All frames without IP share a value, and fragments are
/// hashed by their addresses alone.
pub fn flow(frame: &[u8]) -> u64 {
    let ip = vlan::inside(frame, 1).map_or(frame.len(), |(_, ip)| ip);
    let packet = frame.get(ip..).unwrap_or_default();
    flow_in(&Summary::of(frame, frame.len()), packet)
}

/// The same as [`flow`], for an IP packet without a frame.
pub fn flow_of(packet: &[u8]) -> u64 {
    let mut summary = Summary::bare(packet.len());
    // Fields read before an error stay valid, as in a frame.
    let _ = match ip::version(packet).unwrap_or(0) {
        4 => summary.read_ipv4(packet),
        6 => summary.read_ipv6(packet),
        _ => Ok(()),
    };
    flow_in(&summary, packet)
}

/// The flow hash of `packet`, which `summary` classifies.
fn flow_in(summary: &Summary, packet: &[u8]) -> u64 {
    let ends = summary.ip.map(|version| ip::ends(version, packet));
    let [source, destination] =
        [summary.source_port, summary.destination_port].map(|port| port.unwrap_or(0).to_be_bytes());
    let bytes = ends.unwrap_or_default().iter();
    // FNV-1a [FNV].
    bytes
        .chain(&source)
        .chain(&destination)
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Whether an Ethernet frame carries a packet from one of two addresses to the other.
pub fn is_between(frame: &[u8], ends: [IpAddr; 2]) -> bool {
    let ip = vlan::inside(frame, 1).map_or(frame.len(), |(_, ip)| ip);
    let packet = frame.get(ip..).unwrap_or_default();
    let Some(version) = Summary::of(frame, frame.len()).ip else {
        return false;
    };
    let seen = ip::ends(version, packet);
    let (source, destination) = seen.split_at(seen.len() / 2);
    let is = |bytes: &[u8], address: IpAddr| match address {
        IpAddr::V4(four) => bytes == four.octets(),
        IpAddr::V6(six) => bytes == six.octets(),
    };
    let [one, other] = ends;
    (is(source, one) && is(destination, other)) || (is(source, other) && is(destination, one))
}

/// Bytes of the VLAN tags of an Ethernet frame, which has at most two.
pub fn tags(frame: &[u8]) -> usize {
    vlan::tags(frame, 2) * vlan::TAG_LEN
}

/// The summary of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Bytes from the destination address to the end, without FCS.
    pub frame_size: usize,
    /// The Internet Protocol, if its header could be read.
    pub ip: Option<IpVersion>,
    /// The transport protocol, if the headers up to it could be read.
    pub transport: Option<Transport>,
    /// Bytes after the last header that could be read, without the padding of a short
    /// frame: the application's data with TCP and UDP, the fragment's part with later
    /// fragments.
    pub payload: usize,
    /// Source port of TCP and UDP.
    pub source_port: Option<u16>,
    /// Destination port of TCP and UDP.
    pub destination_port: Option<u16>,
}

impl Summary {
    /// Summarises `frame`, which had `original_len` bytes before the capture cut it
    /// short. A value below the length of `frame` is ignored.
    ///
    /// Sizes come from the headers, limited by the frame. A length of zero, which
    /// packets above 64 KiB carry [RFC2675 s3], stands for all bytes that follow.
    pub fn of(frame: &[u8], original_len: usize) -> Self {
        let frame_size = original_len.max(frame.len());
        let mut summary = Self {
            frame_size,
            ..Self::bare(frame_size.saturating_sub(ethernet::HEADER_LEN))
        };
        // An error marks the end of the readable bytes; the fields read before it stay
        // valid.
        let _ = summary.read_ethernet(frame);
        summary
    }

    /// The summary of bytes before any header is read.
    const fn bare(length: usize) -> Self {
        Self {
            frame_size: length,
            ip: None,
            transport: None,
            payload: length,
            source_port: None,
            destination_port: None,
        }
    }

    fn read_ethernet(&mut self, frame: &[u8]) -> Result<(), Error> {
        let (kind, header) = vlan::inside(frame, 1)?;
        self.payload = self.frame_size.saturating_sub(header);
        let packet = frame.get(header..).unwrap_or_default();
        match kind {
            ether_type::IPV4 => self.read_ipv4(packet),
            ether_type::IPV6 => self.read_ipv6(packet),
            _ => Ok(()),
        }
    }

    fn read_ipv4(&mut self, packet: &[u8]) -> Result<(), Error> {
        let ip = ipv4::Header::of(packet);
        let (header, protocol) = (ip.header_len()?, ip.protocol()?);
        if ip::version(packet)? != 4 {
            return Ok(());
        }
        self.ip = Some(IpVersion::V4);
        let total = usize::from(ip.total_length()?);
        if total >= header {
            self.payload = self.payload.min(total);
        }
        self.strip(header);
        let segment = packet.get(header..).unwrap_or_default();
        self.read_transport(protocol, ip.is_later_fragment()?, segment)
    }

    fn read_ipv6(&mut self, packet: &[u8]) -> Result<(), Error> {
        let ip = ipv6::Header::of(packet);
        let mut next = ip.next_header()?;
        if ip::version(packet)? != 6 {
            return Ok(());
        }
        self.ip = Some(IpVersion::V6);
        self.strip(ipv6::HEADER_LEN);
        let length = usize::from(ip.payload_length()?);
        if length != 0 || next == number::NO_NEXT_HEADER {
            self.payload = self.payload.min(length);
        }
        let mut rest = packet.get(ipv6::HEADER_LEN..).unwrap_or_default();
        let mut later_fragment = false;
        // Every round consumes at least eight bytes of `rest`. Only the first fragment
        // has the headers that follow.
        while !later_fragment && let Some(extension) = Extension::parse(next, rest)? {
            self.strip(extension.length);
            rest = rest.get(extension.length..).unwrap_or_default();
            next = extension.next_header;
            later_fragment = extension.later_fragment;
        }
        self.read_transport(next, later_fragment, rest)
    }

    /// Reads the header at the start of `segment`; a later fragment has none.
    fn read_transport(&mut self, number: u8, later: bool, segment: &[u8]) -> Result<(), Error> {
        let transport = match number {
            number::TCP => Transport::Tcp,
            number::UDP => Transport::Udp,
            number => Transport::Other(number),
        };
        self.transport = Some(transport);
        match transport {
            Transport::Tcp if !later => self.read_tcp(tcp::Header::of(segment)),
            Transport::Udp if !later => self.read_udp(udp::Header::of(segment)),
            _ => Ok(()),
        }
    }

    fn read_tcp(&mut self, segment: tcp::Header<&[u8]>) -> Result<(), Error> {
        self.source_port = Some(segment.source_port()?);
        self.destination_port = Some(segment.destination_port()?);
        self.strip(segment.header_len()?.max(tcp::HEADER_LEN));
        Ok(())
    }

    fn read_udp(&mut self, datagram: udp::Header<&[u8]>) -> Result<(), Error> {
        self.source_port = Some(datagram.source_port()?);
        self.destination_port = Some(datagram.destination_port()?);
        let length = usize::from(datagram.length()?);
        if length >= udp::HEADER_LEN {
            self.payload = self.payload.min(length);
        }
        self.strip(udp::HEADER_LEN);
        Ok(())
    }

    /// Subtracts a header from the payload.
    fn strip(&mut self, header: usize) {
        self.payload = self.payload.saturating_sub(header);
    }
}

#[cfg(test)]
mod tests;
