//! ICMP errors of both versions: their causes, and the packets that carry them
//! [RFC792] [RFC4443 s3].

mod offending;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use units::IpVersion;

use crate::bytes::demand_mut;
use crate::ip_packet::IpPacket;
use crate::protocol::checksum::Checksum;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{icmp, icmpv4, icmpv6, ipv4, ipv6};
use crate::{Error, Field};
pub(crate) use offending::Offending;

/// The largest packet with an ICMP error: it quotes as much of the offending packet as
/// fits in the minimum MTU of IPv6 [RFC4443 s2.4] [RFC4443 s3.2], or in what every IPv4
/// host can reassemble [RFC1812 s4.3.2.3].
const LARGEST_V6: usize = 1280;
const LARGEST_V4: usize = 576;

/// The service byte of internetwork control, which ICMP errors carry
/// [RFC1812 s4.3.2.5].
const CONTROL: u8 = 0xc0;

/// Codes of a Time Exceeded [RFC792] [RFC4443 s3.3].
const IN_TRANSIT: u8 = 0;
const IN_REASSEMBLY: u8 = 1;

/// The type of the message of IPv4 that a time to live has ended [RFC792].
pub const TIME_EXCEEDED_V4: u8 = icmpv4::kind::TIME_EXCEEDED;

/// Why a packet was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is larger than the MTU of the next link, in bytes; 0 from routers older than
    /// [RFC1191].
    TooBig {
        /// The MTU.
        mtu: u32,
    },
    /// Its hop limit was used up.
    HopLimitExceeded,
    /// Fragments of it were missing for too long.
    ReassemblyTimeExceeded,
    /// Another reason, with the code of a Destination Unreachable.
    Unreachable {
        /// The code [RFC792] [RFC4443 s3.1].
        code: u8,
    },
}

impl Cause {
    /// The port has no receiver.
    pub const fn port_unreachable(version: IpVersion) -> Self {
        let code = match version {
            IpVersion::V4 => 3,
            IpVersion::V6 => 4,
        };
        Self::Unreachable { code }
    }

    /// Whether the port has no receiver, which proves that the packet arrived.
    pub fn is_port_unreachable(self, version: IpVersion) -> bool {
        self == Self::port_unreachable(version)
    }

    /// Whether a filter rejected the packet [RFC1812 s5.2.7.1] [RFC4443 s3.1].
    pub const fn is_prohibited(self, version: IpVersion) -> bool {
        match (self, version) {
            (Self::Unreachable { code }, IpVersion::V4) => matches!(code, 9 | 10 | 13),
            (Self::Unreachable { code }, IpVersion::V6) => matches!(code, 1 | 5 | 6),
            _ => false,
        }
    }

    /// The header of the message.
    fn header(self, version: IpVersion) -> icmp::Fields {
        use {icmpv4::kind as v4, icmpv6::kind as v6};
        let (kind, code) = match (self, version) {
            (Self::TooBig { mtu }, IpVersion::V4) => {
                return icmpv4::fragmentation_needed(u16::try_from(mtu).unwrap_or(u16::MAX));
            }
            (Self::TooBig { mtu }, IpVersion::V6) => return icmpv6::packet_too_big(mtu),
            (Self::HopLimitExceeded, IpVersion::V4) => (v4::TIME_EXCEEDED, IN_TRANSIT),
            (Self::HopLimitExceeded, IpVersion::V6) => (v6::TIME_EXCEEDED, IN_TRANSIT),
            (Self::ReassemblyTimeExceeded, IpVersion::V4) => (v4::TIME_EXCEEDED, IN_REASSEMBLY),
            (Self::ReassemblyTimeExceeded, IpVersion::V6) => (v6::TIME_EXCEEDED, IN_REASSEMBLY),
            (Self::Unreachable { code }, IpVersion::V4) => (v4::DESTINATION_UNREACHABLE, code),
            (Self::Unreachable { code }, IpVersion::V6) => (v6::DESTINATION_UNREACHABLE, code),
        };
        icmp::Fields {
            kind,
            code,
            rest: [0; 4],
        }
    }

    /// The cause that the header of a message states; `None` if it is no error, or one
    /// of another kind.
    pub fn of(header: icmp::Fields, version: IpVersion) -> Option<Self> {
        use {icmpv4::kind as v4, icmpv6::kind as v6};
        let icmp::Fields { kind, code, rest } = header;
        let [_, _, upper, lower] = rest;
        Some(match (version, kind, code) {
            (IpVersion::V4, v4::DESTINATION_UNREACHABLE, icmpv4::FRAGMENTATION_NEEDED) => {
                Self::TooBig {
                    mtu: u16::from_be_bytes([upper, lower]).into(),
                }
            }
            (IpVersion::V6, v6::PACKET_TOO_BIG, _) => Self::TooBig {
                mtu: u32::from_be_bytes(rest),
            },
            (IpVersion::V4, v4::TIME_EXCEEDED, IN_TRANSIT)
            | (IpVersion::V6, v6::TIME_EXCEEDED, IN_TRANSIT) => Self::HopLimitExceeded,
            (IpVersion::V4, v4::TIME_EXCEEDED, IN_REASSEMBLY)
            | (IpVersion::V6, v6::TIME_EXCEEDED, IN_REASSEMBLY) => Self::ReassemblyTimeExceeded,
            (IpVersion::V4, v4::DESTINATION_UNREACHABLE, code)
            | (IpVersion::V6, v6::DESTINATION_UNREACHABLE, code) => Self::Unreachable { code },
            _ => return None,
        })
    }
}

/// The cause that the whole packet in `bytes` states, if it is an ICMP error.
pub fn cause(bytes: &[u8]) -> Option<Cause> {
    let packet = IpPacket::parse_whole(bytes).ok()?;
    let version = packet.version();
    let is_icmp = match version {
        IpVersion::V4 => packet.protocol == number::ICMP,
        IpVersion::V6 => packet.protocol == number::ICMPV6,
    };
    let message = icmp::Fields::parse(packet.payload).ok()?;
    (is_icmp && packet.fragment.is_none()).then(|| Cause::of(message, version))?
}

/// Changes the MTU that the whole packet in `bytes` announces, and updates the
/// checksum. Returns whether it did: not if the packet is no error about a packet that
/// was too big.
///
/// # Errors
/// If the packet is cut short or malformed.
pub fn set_announced_mtu(bytes: &mut [u8], mtu: u32) -> Result<bool, Error> {
    let Some(Cause::TooBig { .. }) = cause(bytes) else {
        return Ok(false);
    };
    let version = IpPacket::parse_whole(bytes)?.version();
    let start = message(bytes)?.start;
    Cause::TooBig { mtu }
        .header(version)
        .emit(&mut bytes[start..])?;
    sum_message(bytes)?;
    Ok(true)
}

/// Changes the source of the whole packet with an ICMP error in `bytes`, and updates the
/// checksums.
///
/// # Errors
/// If the packet is cut short or malformed, or of another version than `source`.
pub fn set_source(bytes: &mut [u8], source: IpAddr) -> Result<(), Error> {
    message(bytes)?;
    match (IpPacket::parse_whole(bytes)?.version(), source) {
        (IpVersion::V4, IpAddr::V4(source)) => ipv4::Header::of(&mut *bytes).set_source(source)?,
        (IpVersion::V6, IpAddr::V6(source)) => ipv6::Header::of(&mut *bytes).set_source(source)?,
        _ => return Err(Error::Malformed(Field::Version)),
    }
    sum_message(bytes)
}

/// The place of the payload of the whole packet in `bytes`.
fn message(bytes: &[u8]) -> Result<Range<usize>, Error> {
    let packet = IpPacket::parse_whole(bytes)?;
    let end = usize::try_from(packet.size).unwrap_or(usize::MAX);
    Ok(end - packet.payload.len()..end)
}

/// Writes the checksum of the ICMP message in the whole packet in `bytes`.
fn sum_message(bytes: &mut [u8]) -> Result<(), Error> {
    let place = message(bytes)?;
    let packet = IpPacket::parse_whole(bytes)?;
    let (addresses, protocol) = (packet.addresses, packet.protocol);
    let message = &mut bytes[place];
    icmp::set_checksum(message, 0)?;
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let covered = match addresses {
        Addresses::V4(_) => Checksum::default(),
        Addresses::V6(_) => addresses.pseudo_header(protocol, length),
    };
    icmp::set_checksum(message, covered.add(message).finish())
}

/// An ICMP error about a packet, to be sent to its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError<'a> {
    pub(crate) cause: Cause,
    pub(crate) packet: &'a [u8],
    /// Source and destination of the error.
    pub(crate) addresses: Addresses,
}

impl<'a> IcmpError<'a> {
    /// An error from the node with the address `from` about the packet in `bytes`.
    /// `None` if no error is allowed or possible:
    ///
    /// - the bytes are no whole IP packet of the version of `from`, or a damaged one;
    /// - the packet is an ICMP error [RFC4443 s2.4] [RFC1122 s3.2.2], or ICMPv6 that may
    ///   be one;
    /// - it goes to a group or comes from an address that is no single host's;
    /// - it is a fragment other than the first [RFC1122 s3.2.2].
    pub fn about(bytes: &'a [u8], cause: Cause, from: IpAddr) -> Option<Self> {
        let Offending { packet, addresses } = Offending::read(bytes)?;
        let addresses = match (addresses, from) {
            (Addresses::V4([source, _]), IpAddr::V4(from)) => Addresses::V4([from, source]),
            (Addresses::V6([source, _]), IpAddr::V6(from)) => Addresses::V6([from, source]),
            _ => return None,
        };
        Some(Self {
            cause,
            packet,
            addresses,
        })
    }

    /// Bytes that [`Self::emit`] writes.
    pub fn buffer_len(&self) -> usize {
        self.headers() + self.quoted().len()
    }

    /// Writes the packet, with checksums, to the first [`Self::buffer_len`] of
    /// `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let packet = demand_mut(bytes, self.buffer_len())?;
        match self.addresses {
            Addresses::V4(ends) => self.emit_v4(packet, ends),
            Addresses::V6(ends) => self.emit_v6(packet, ends),
        }
    }

    /// Writes the IPv4 packet to `packet`, which has the right length.
    fn emit_v4(&self, packet: &mut [u8], addresses: [Ipv4Addr; 2]) -> Result<(), Error> {
        let fields = ipv4::Fields {
            service: CONTROL,
            total_length: length(packet.len())?,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            offset: 0,
            protocol: number::ICMP,
            addresses,
        };
        let message = fields.emit(packet)?;
        let quote = self.cause.header(IpVersion::V4).emit(message)?;
        quote.copy_from_slice(self.quoted());
        icmp::set_checksum(message, Checksum::default().add(message).finish())
    }

    /// Writes the IPv6 packet likewise.
    fn emit_v6(&self, packet: &mut [u8], addresses: [Ipv6Addr; 2]) -> Result<(), Error> {
        let payload_length = length(packet.len().saturating_sub(ipv6::HEADER_LEN))?;
        let fields = ipv6::Fields {
            traffic_class: 0,
            payload_length,
            next_header: number::ICMPV6,
            addresses,
        };
        let message = fields.emit(packet)?;
        let quote = self.cause.header(IpVersion::V6).emit(message)?;
        quote.copy_from_slice(self.quoted());
        let sum = self
            .addresses
            .pseudo_header(number::ICMPV6, payload_length.into())
            .add(message)
            .finish();
        icmp::set_checksum(message, sum)
    }

    /// Bytes of the IP and ICMP headers.
    const fn headers(&self) -> usize {
        self.addresses.header_len() + icmp::HEADER_LEN
    }

    /// The part of the offending packet that the error has room for.
    fn quoted(&self) -> &'a [u8] {
        let largest = match self.addresses.version() {
            IpVersion::V4 => LARGEST_V4,
            IpVersion::V6 => LARGEST_V6,
        };
        &self.packet[..self.packet.len().min(largest - self.headers())]
    }
}

fn length(bytes: usize) -> Result<u16, Error> {
    u16::try_from(bytes).map_err(|_| Error::Malformed(Field::Length))
}

#[cfg(test)]
mod tests;
