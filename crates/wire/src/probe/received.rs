//! Reading of packets that were received: probes, and answers to them.

use units::IpVersion;

use super::{Echo, Tcp, Transport, identifier};
use crate::icmp_error::Cause;
use crate::ip_packet::IpPacket;
use crate::protocol::checksum::Checksum;
use crate::protocol::icmp::EchoHeader;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{icmp, tcp, udp};
use crate::{Error, Field};

/// The quote of an ICMP error with extensions is this long at least; shorter lengths in
/// the header mean that there are no extensions [RFC4884 s5.1].
const EXTENDED_QUOTE: usize = 128;
/// The byte with the length of the quote in the header of an extended message of IPv4
/// and of IPv6, and the bytes that it counts in [RFC4884 s4].
const QUOTE_LENGTH_V4: (usize, usize) = (1, 4);
const QUOTE_LENGTH_V6: (usize, usize) = (0, 8);

/// A packet that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The headers of IP.
    pub packet: IpPacket<'a>,
    /// The payload.
    pub content: Content<'a>,
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// An echo, a datagram or a segment.
    Data {
        /// The header.
        transport: Transport,
        /// The bytes behind it.
        data: &'a [u8],
    },
    /// An ICMP error about an earlier packet.
    Error {
        /// Its meaning.
        cause: Cause,
        /// The start of the packet that it is about.
        quote: Quote<'a>,
    },
}

/// The start of a packet, quoted by an ICMP error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The headers of IP; the size is that of the whole packet.
    pub packet: IpPacket<'a>,
    /// The start of the header behind that of IP; `None` for another protocol, a later
    /// fragment, and a quote that ends before.
    pub transport: Option<QuotedTransport>,
    /// The quoted bytes behind the header of an echo or a datagram.
    pub data: &'a [u8],
    /// The identifier at the start of the data; `None` if the quote ends before, and for
    /// TCP.
    pub id: Option<u64>,
}

/// The first eight bytes of the header behind that of IP, which every ICMP error
/// quotes [RFC792].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotedTransport {
    /// An ICMP echo.
    Echo(Echo),
    /// UDP.
    Udp {
        /// Source and destination port.
        ports: [u16; 2],
    },
    /// TCP.
    Tcp {
        /// Source and destination port.
        ports: [u16; 2],
        /// Sequence number of the first byte.
        sequence: u32,
    },
}

impl<'a> Received<'a> {
    /// Reads a packet, which must be whole, no fragment, and have valid checksums.
    ///
    /// # Errors
    /// If it does not, and for other protocols and messages than [`Content`] has.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let packet = IpPacket::parse_whole(bytes)?;
        if packet.fragment.is_some() {
            return Err(Error::Malformed(Field::Fragment));
        }
        let version = packet.addresses.version();
        let content = match packet.protocol {
            number::ICMP if version == IpVersion::V4 => {
                sums_up(Checksum::default().add(packet.payload))?;
                Content::of_icmp(packet.payload, version)?
            }
            number::ICMPV6 if version == IpVersion::V6 => {
                sums_up(covered(&packet))?;
                Content::of_icmp(packet.payload, version)?
            }
            number::UDP => read_udp(&packet)?,
            number::TCP => {
                sums_up(covered(&packet))?;
                Content::of_segment(&packet)?
            }
            _ => return Err(Error::Malformed(Field::Protocol)),
        };
        Ok(Self { packet, content })
    }

    /// The identifier of an echo or a datagram, or of the one that an error quotes.
    pub fn id(&self) -> Option<u64> {
        match self.content {
            Content::Data {
                transport: Transport::Echo(_) | Transport::Udp { .. },
                data,
            } => identifier(data),
            Content::Data { .. } => None,
            Content::Error { quote, .. } => quote.id,
        }
    }
}

impl<'a> Content<'a> {
    /// Reads an ICMP message. Its checksum is not checked: a kernel did so before it
    /// handed out the message without the header of IP.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for other messages than echoes and the
    /// errors of [`Cause`], and if the quote has no IP header of this version.
    pub fn of_icmp(message: &'a [u8], version: IpVersion) -> Result<Self, Error> {
        let header = icmp::Fields::parse(message)?;
        let behind = &message[icmp::HEADER_LEN..];
        let Some(cause) = Cause::of(header, version) else {
            let EchoHeader {
                reply,
                identifier,
                sequence,
            } = EchoHeader::parse(message, version)?;
            let transport = Transport::Echo(Echo {
                reply,
                identifier,
                sequence,
            });
            return Ok(Self::Data {
                transport,
                data: behind,
            });
        };
        let quote = Quote::parse(without_extensions(behind, header, cause, version))?;
        if quote.packet.version() != version {
            return Err(Error::Malformed(Field::Version));
        }
        Ok(Self::Error { cause, quote })
    }

    /// Reads a TCP segment, the payload of `packet`. Its checksum is not checked: a
    /// sender on the same machine leaves it to an interface that does not need it.
    ///
    /// # Errors
    /// If it is cut short or malformed.
    pub fn of_segment(packet: &IpPacket<'a>) -> Result<Self, Error> {
        let bytes = packet.payload;
        let header = tcp::Header::of(bytes);
        let options = header.options()?;
        let tcp = Tcp {
            ports: [header.source_port()?, header.destination_port()?],
            sequence: header.sequence()?,
            acknowledgement: header.acknowledgement()?,
            flags: header.flags()?,
            window: header.window()?,
            mss: tcp::option::find_segment_size(options).map(|(_, size)| size),
        };
        Ok(Self::Data {
            transport: Transport::Tcp(tcp),
            data: &bytes[tcp::HEADER_LEN + options.len()..],
        })
    }
}

/// The quote without the extensions behind it [RFC4884 s4]; a Packet Too Big has none.
fn without_extensions(
    quote: &[u8],
    header: icmp::Fields,
    cause: Cause,
    version: IpVersion,
) -> &[u8] {
    let (at, unit) = match (version, cause) {
        (IpVersion::V4, _) => QUOTE_LENGTH_V4,
        (IpVersion::V6, Cause::TooBig { .. }) => return quote,
        (IpVersion::V6, _) => QUOTE_LENGTH_V6,
    };
    let length = usize::from(header.rest[at]) * unit;
    match quote.get(..length) {
        Some(quote) if length >= EXTENDED_QUOTE => quote,
        _ => quote,
    }
}

impl<'a> Quote<'a> {
    /// Reads the start of a packet, without checksums.
    ///
    /// # Errors
    /// If the headers of IP are cut short or malformed.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let packet = IpPacket::parse(bytes)?;
        let transport = if packet.is_later_fragment() {
            None
        } else {
            QuotedTransport::parse(&packet).ok()
        };
        let data = match transport {
            Some(QuotedTransport::Echo(_)) => packet.payload.get(icmp::HEADER_LEN..),
            Some(QuotedTransport::Udp { .. }) => packet.payload.get(udp::HEADER_LEN..),
            _ => None,
        };
        Ok(Self {
            packet,
            transport,
            data: data.unwrap_or_default(),
            id: data.and_then(identifier),
        })
    }
}

impl QuotedTransport {
    /// Reads the start of the payload of `packet`, which is no later fragment.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for other protocols, and for ICMP but
    /// echoes.
    pub fn parse(packet: &IpPacket<'_>) -> Result<Self, Error> {
        let bytes = packet.payload;
        let version = packet.version();
        match (packet.protocol, version) {
            (number::ICMP, IpVersion::V4) | (number::ICMPV6, IpVersion::V6) => {
                let EchoHeader {
                    reply,
                    identifier,
                    sequence,
                } = EchoHeader::parse(bytes, version)?;
                Ok(Self::Echo(Echo {
                    reply,
                    identifier,
                    sequence,
                }))
            }
            (number::UDP, _) => {
                let udp::Fields { ports, .. } = udp::Fields::parse(bytes)?;
                Ok(Self::Udp { ports })
            }
            (number::TCP, _) => {
                let header = tcp::Header::of(bytes);
                Ok(Self::Tcp {
                    ports: [header.source_port()?, header.destination_port()?],
                    sequence: header.sequence()?,
                })
            }
            _ => Err(Error::Malformed(Field::Protocol)),
        }
    }
}

/// The sum over the pseudo-header and the payload.
fn covered(packet: &IpPacket<'_>) -> Checksum {
    let length = u32::try_from(packet.payload.len()).unwrap_or(u32::MAX);
    packet
        .addresses
        .pseudo_header(packet.protocol, length)
        .add(packet.payload)
}

fn sums_up(sum: Checksum) -> Result<(), Error> {
    match sum.finish() {
        0 => Ok(()),
        _ => Err(Error::Malformed(Field::Checksum)),
    }
}

fn read_udp<'a>(packet: &IpPacket<'a>) -> Result<Content<'a>, Error> {
    let udp::Fields { ports, length } = udp::Fields::parse(packet.payload)?;
    let header = udp::Header::of(packet.payload);
    if usize::from(length) != packet.payload.len() {
        return Err(Error::Malformed(Field::Length));
    }
    // Zero is none, which IPv4 allows [RFC768] [RFC8200 s8.1].
    let none = header.checksum()? == 0;
    match packet.addresses {
        Addresses::V4(_) if none => {}
        _ if none => return Err(Error::Malformed(Field::Checksum)),
        _ => sums_up(covered(packet))?,
    }
    Ok(Content::Data {
        transport: Transport::Udp { ports },
        data: &packet.payload[udp::HEADER_LEN..],
    })
}
