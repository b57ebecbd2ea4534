//! What a captured frame is: Ethernet [IEEE802.3 s3.1] with at most one VLAN
//! tag [IEEE802.1Q], IPv4 [RFC791] or IPv6 [RFC8200], TCP [RFC9293] or
//! UDP [RFC768].
//!
//! A capture sees what the host handed to its card, which need not be what the
//! wire carried: a snap length cuts the octets short, and segmentation offload
//! shows one packet of up to megabytes where the wire had hundreds. So nothing
//! is refused here; the summary says what could be made out.

mod service;

use units::IpVersion;

use crate::Error;
use crate::protocol::ethernet::ether_type;
use crate::protocol::ip::number;
use crate::protocol::ipv6::extension::Extension;
use crate::protocol::{ethernet, ip, ipv4, ipv6, tcp, udp, vlan};
pub use service::{mark, mark_packet, service, service_of};

/// What IP carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP [RFC9293].
    Tcp,
    /// UDP [RFC768].
    Udp,
    /// The protocol of this number.
    Other(u8),
}

/// A number for the flow of an Ethernet frame: equal for equal addresses,
/// protocol and ports, in one direction. Frames without IP share a number, and
/// fragments have the flow of their addresses alone.
pub fn flow(frame: &[u8]) -> u64 {
    let ip = vlan::inside(frame, 1).map_or(frame.len(), |(_, ip)| ip);
    let packet = frame.get(ip..).unwrap_or_default();
    flow_in(&Summary::of(frame, frame.len()), packet)
}

/// The same of an IP packet without a frame.
pub fn flow_of(packet: &[u8]) -> u64 {
    let mut summary = Summary::bare(packet.len());
    // As in a frame, what was found before an error stands.
    let _ = match ip::version(packet).unwrap_or(0) {
        4 => summary.read_ipv4(packet),
        6 => summary.read_ipv6(packet),
        _ => Ok(()),
    };
    flow_in(&summary, packet)
}

/// The number of the flow of `packet`, of which `summary` says what it is.
fn flow_in(summary: &Summary, packet: &[u8]) -> u64 {
    let ends = summary.ip.map(|version| ip::ends(version, packet));
    let [source, destination] =
        [summary.source_port, summary.destination_port].map(|port| port.unwrap_or(0).to_be_bytes());
    let octets = ends.unwrap_or_default().iter();
    // FNV-1a [FNV].
    octets
        .chain(&source)
        .chain(&destination)
        .fold(0xcbf2_9ce4_8422_2325, |hash, &octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The octets of the VLAN tags of an Ethernet frame, of which it has two at most.
pub fn tags(frame: &[u8]) -> usize {
    vlan::tags(frame, 2) * vlan::TAG_LEN
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Octets from the destination address to the end, without FCS.
    pub frame_size: usize,
    /// The Internet Protocol, if its header could be read.
    pub ip: Option<IpVersion>,
    /// What IP carries, if the headers could be followed so far.
    pub transport: Option<Transport>,
    /// Octets after the last header that could be read, without the padding of
    /// a short frame. Of TCP and UDP that is what the application sent; of a
    /// later fragment, what it carries.
    pub payload: usize,
    /// The port it came from, of TCP and UDP.
    pub source_port: Option<u16>,
    /// The port it goes to, of TCP and UDP.
    pub destination_port: Option<u16>,
}

impl Summary {
    /// What `frame` is, of which `original_len` octets were there before the
    /// capture cut it short; fewer than were handed in are not believed.
    ///
    /// Sizes are what the headers say, as far as the frame has room for it. A
    /// length of zero, which packets above 64 KiB carry [RFC2675 s3], stands
    /// for all that follows.
    pub fn of(frame: &[u8], original_len: usize) -> Self {
        let frame_size = original_len.max(frame.len());
        let mut summary = Self {
            frame_size,
            ..Self::bare(frame_size.saturating_sub(ethernet::HEADER_LEN))
        };
        // An error marks where the octets ended; what was found before stands.
        let _ = summary.read_ethernet(frame);
        summary
    }

    /// Of octets of which nothing is known yet.
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
        // Every round takes at least eight octets off `rest`. Only the first
        // fragment has the headers that follow.
        while !later_fragment && let Some(extension) = Extension::parse(next, rest)? {
            self.strip(extension.length);
            rest = rest.get(extension.length..).unwrap_or_default();
            next = extension.next_header;
            later_fragment = extension.later_fragment;
        }
        self.read_transport(next, later_fragment, rest)
    }

    /// Reads the header at the start of `segment`, if this is no later
    /// fragment, which has none.
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

    /// Takes a header off the payload.
    fn strip(&mut self, header: usize) {
        self.payload = self.payload.saturating_sub(header);
    }
}

#[cfg(test)]
mod tests;
