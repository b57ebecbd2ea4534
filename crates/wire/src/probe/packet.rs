//! Building of probes and of their answers.

use units::IpVersion;

use super::{Echo, Tcp, Transport};
use crate::bytes::{demand_mut, put};
use crate::protocol::icmp::EchoHeader;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{icmp, ipv4, ipv6, tcp, udp};
use crate::{Error, Field, ip_packet};

/// An IP packet with the header of one [`Transport`] and data: some bytes, and zeros up
/// to the size of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbePacket<'a> {
    /// Source and destination.
    pub addresses: Addresses,
    /// The hop limit (IPv4: time to live).
    pub hop_limit: u8,
    /// The flow label [RFC6437], 20 bits; not written over IPv4.
    pub flow_label: u32,
    /// Identification; not written over IPv6.
    pub identification: u16,
    /// Whether routers must not fragment the packet; not written over IPv6, where none
    /// does.
    pub dont_fragment: bool,
    /// The header behind that of IP.
    pub transport: Transport,
    /// The data behind the headers; zeros follow up to the size.
    pub data: &'a [u8],
    /// Bytes of the whole packet.
    pub size: u32,
}

impl ProbePacket<'_> {
    /// Bytes of the headers: the smallest [`Self::size`] without data.
    pub const fn headers(&self) -> usize {
        let transport = match self.transport {
            Transport::Echo(_) => icmp::HEADER_LEN,
            Transport::Udp { .. } => udp::HEADER_LEN,
            Transport::Tcp(tcp) => tcp_header(tcp),
        };
        self.addresses.header_len() + transport
    }

    /// Bytes that [`Self::emit`] writes.
    pub fn buffer_len(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// Writes the packet, with checksums, to the first [`Self::buffer_len`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room; [`Error::Malformed`] if headers and data
    /// exceed the size, or the size exceeds what the header of IP can state.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, self.buffer_len())?;
        let least = self.headers() + self.data.len();
        if bytes.len() < least {
            return Err(Error::Malformed(Field::Length));
        }
        let payload = self.emit_ip(bytes)?;
        let length = u32::try_from(payload.len()).map_err(|_| Error::Malformed(Field::Length))?;
        let pseudo_header = self.addresses.pseudo_header(self.protocol(), length);
        match self.transport {
            Transport::Echo(Echo {
                reply,
                identifier,
                sequence,
            }) => {
                self.fill(payload, icmp::HEADER_LEN);
                let header = EchoHeader {
                    reply,
                    identifier,
                    sequence,
                };
                header.emit(payload, self.addresses.version())?;
                if self.addresses.version() == IpVersion::V6 {
                    icmp::set_checksum(payload, pseudo_header.add(payload).finish())?;
                }
                Ok(())
            }
            Transport::Udp { ports } => {
                self.fill(payload, udp::HEADER_LEN);
                let length = u16::try_from(length).map_err(|_| Error::Malformed(Field::Length))?;
                udp::Fields { ports, length }.emit(payload)?;
                let sum = pseudo_header.add(payload).finish();
                udp::Header::of(payload).set_checksum(sum)
            }
            Transport::Tcp(fields) => {
                self.fill(payload, tcp_header(fields));
                emit_tcp(fields, payload)?;
                let sum = pseudo_header.add(payload).finish();
                tcp::Header::of(payload).set_checksum(sum)
            }
        }
    }

    /// Writes the data and zeros behind the first `header` bytes of `payload`, which
    /// has room for them.
    fn fill(&self, payload: &mut [u8], header: usize) {
        let (data, zeros) = payload[header..].split_at_mut(self.data.len());
        data.copy_from_slice(self.data);
        zeros.fill(0);
    }

    const fn protocol(&self) -> u8 {
        match (self.transport, self.addresses) {
            (Transport::Echo(_), Addresses::V4(_)) => number::ICMP,
            (Transport::Echo(_), Addresses::V6(_)) => number::ICMPV6,
            (Transport::Udp { .. }, _) => number::UDP,
            (Transport::Tcp(_), _) => number::TCP,
        }
    }

    /// Writes the IP header. Returns the bytes behind it.
    fn emit_ip<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let length =
            |bytes: usize| u16::try_from(bytes).map_err(|_| Error::Malformed(Field::Length));
        match self.addresses {
            Addresses::V4(addresses) => {
                let fields = ipv4::Fields {
                    service: 0,
                    total_length: length(bytes.len())?,
                    identification: self.identification,
                    dont_fragment: self.dont_fragment,
                    more_fragments: false,
                    offset: 0,
                    protocol: self.protocol(),
                    addresses,
                };
                fields.emit(bytes)?;
            }
            Addresses::V6(addresses) => {
                let fields = ipv6::Fields {
                    traffic_class: 0,
                    payload_length: length(bytes.len() - ipv6::HEADER_LEN)?,
                    next_header: self.protocol(),
                    addresses,
                };
                fields.emit(bytes)?;
                ipv6::Header::of(&mut *bytes).set_flow_label(self.flow_label)?;
            }
        }
        ip_packet::set_hop_limit(bytes, self.hop_limit)?;
        Ok(&mut bytes[self.addresses.header_len()..])
    }
}

/// Bytes of the header of a segment with the options of `tcp`.
const fn tcp_header(tcp: Tcp) -> usize {
    match tcp.mss {
        None => tcp::HEADER_LEN,
        Some(_) => tcp::HEADER_LEN + tcp::option::SEGMENT_SIZE_LEN as usize,
    }
}

/// Writes the header and its option to the start of `bytes`.
fn emit_tcp(tcp: Tcp, bytes: &mut [u8]) -> Result<(), Error> {
    let header = u16::try_from(tcp_header(tcp)).unwrap_or(u16::MAX);
    let fields = tcp::Fields {
        ports: tcp.ports,
        sequence: tcp.sequence,
        acknowledgement: tcp.acknowledgement,
        data_offset: tcp::data_offset(header)?,
        flags: tcp.flags,
        window: tcp.window,
    };
    let options = fields.emit(bytes)?;
    if let Some(size) = tcp.mss {
        let option = tcp::option::segment_size(size);
        put(demand_mut(options, option.len())?, 0, option);
    }
    Ok(())
}
