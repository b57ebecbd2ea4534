//! Blocks of a log that describe it and its flows.

use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::column::{emit_number, parse_number, take};
use crate::{Error, Field};

/// The most bytes of a flow's name; longer names are cut.
pub const NAME: usize = 255;

/// The properties of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The writer of the log.
    pub role: Role,
    /// The clock of departures.
    pub sent: Clock,
    /// The clock of arrivals.
    pub received: Clock,
    /// The clock of returned echoes.
    pub returned: Clock,
    /// The wall clock at the start of the log, in nanoseconds since 1970 UTC; 0:
    /// unknown.
    pub wall: u64,
    /// The writer's clock at that time, in nanoseconds.
    pub start: u64,
}

/// Writers of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A sender: records have no time of arrival.
    Sender,
    /// A receiver: records are in order of arrival.
    Receiver,
    /// A sender that waits for echoes: records are in the order in which echoes arrived
    /// or were declared lost.
    RoundTrip,
}

/// Clocks that time packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// None: the log has no such times.
    None,
    /// The program's clock, read next to the system call.
    Program,
    /// The kernel.
    Kernel,
    /// The network interface.
    Hardware,
    /// The simulation, with one clock for all nodes.
    Simulation,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number of the flow in the records.
    pub number: u32,
    /// The user's name for the flow, cut to [`NAME`] bytes.
    pub name: String,
    /// The protocol number of IP; 0: neither it nor the codepoint is known.
    pub protocol: u8,
    /// The Differentiated Services codepoint, 0 to 63 [RFC2474 s3].
    pub dscp: u8,
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
}

/// An estimate of the offset between the two clocks of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Number of the flow.
    pub flow: u32,
    /// Instant of the estimate, in nanoseconds on the clock of the log's writer.
    pub at: u64,
    /// The receiver's clock minus the sender's, in nanoseconds.
    pub offset: i64,
    /// Bound of the estimate's error, in nanoseconds.
    pub bound: u64,
}

/// The totals of a flow, as its sender counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the flow.
    pub flow: u32,
    /// Packets sent, numbered from 0.
    pub packets: u64,
    /// Bytes of payload sent.
    pub bytes: u64,
}

impl Facts {
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let facts = Self {
            role: match byte(bytes)? {
                0 => Role::Sender,
                1 => Role::Receiver,
                2 => Role::RoundTrip,
                _ => return Err(Error::Malformed(Field::Type)),
            },
            sent: Clock::parse(byte(bytes)?)?,
            received: Clock::parse(byte(bytes)?)?,
            returned: Clock::parse(byte(bytes)?)?,
            wall: u64_of(bytes)?,
            start: u64_of(bytes)?,
        };
        nothing_more(bytes, facts)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.push(match self.role {
            Role::Sender => 0,
            Role::Receiver => 1,
            Role::RoundTrip => 2,
        });
        out.extend([self.sent, self.received, self.returned].map(Clock::byte));
        out.extend(self.wall.to_le_bytes());
        out.extend(self.start.to_le_bytes());
    }
}

impl Clock {
    fn parse(byte: u8) -> Result<Self, Error> {
        Ok(match byte {
            0 => Self::None,
            1 => Self::Program,
            2 => Self::Kernel,
            3 => Self::Hardware,
            4 => Self::Simulation,
            _ => return Err(Error::Malformed(Field::Clock)),
        })
    }

    fn byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Program => 1,
            Self::Kernel => 2,
            Self::Hardware => 3,
            Self::Simulation => 4,
        }
    }
}

impl Flow {
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let number = u32_of(bytes)?;
        let protocol = byte(bytes)?;
        let dscp = byte(bytes)?;
        if dscp >= 1 << 6 {
            return Err(Error::Malformed(Field::Dscp));
        }
        let source = address_of(bytes)?;
        let destination = address_of(bytes)?;
        let length = byte(bytes)?;
        let name = core::str::from_utf8(take(bytes, length.into())?)
            .map_err(|_| Error::Malformed(Field::Name))?;
        let flow = Self {
            number,
            name: name.into(),
            protocol,
            dscp,
            source,
            destination,
        };
        nothing_more(bytes, flow)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_le_bytes());
        out.extend([self.protocol, self.dscp & 0x3f]);
        emit_address(self.source, out);
        emit_address(self.destination, out);
        let name = &self.name[..self.name.floor_char_boundary(NAME)];
        out.push(u8::try_from(name.len()).expect("NAME fits"));
        out.extend(name.as_bytes());
    }
}

impl Estimate {
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let estimate = Self {
            flow: u32_of(bytes)?,
            at: u64_of(bytes)?,
            offset: u64_of(bytes)?.cast_signed(),
            bound: u64_of(bytes)?,
        };
        nothing_more(bytes, estimate)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.flow.to_le_bytes());
        out.extend(self.at.to_le_bytes());
        out.extend(self.offset.to_le_bytes());
        out.extend(self.bound.to_le_bytes());
    }
}

impl Sent {
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let flow = u32_of(bytes)?;
        let sent = Self {
            flow,
            packets: parse_number(bytes)?,
            bytes: parse_number(bytes)?,
        };
        nothing_more(bytes, sent)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.flow.to_le_bytes());
        emit_number(self.packets, out);
        emit_number(self.bytes, out);
    }
}

fn nothing_more<T>(bytes: &[u8], found: T) -> Result<T, Error> {
    match bytes {
        [] => Ok(found),
        _ => Err(Error::Malformed(Field::Length)),
    }
}

fn byte(bytes: &mut &[u8]) -> Result<u8, Error> {
    Ok(take(bytes, 1)?[0])
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Error> {
    let mut array = [0; N];
    array.copy_from_slice(take(bytes, N)?);
    Ok(array)
}

pub(super) fn u32_of(bytes: &mut &[u8]) -> Result<u32, Error> {
    array(bytes).map(u32::from_le_bytes)
}

pub(super) fn u64_of(bytes: &mut &[u8]) -> Result<u64, Error> {
    array(bytes).map(u64::from_le_bytes)
}

/// IPv4 addresses are stored as IPv4-mapped IPv6 addresses [RFC4291 s2.5.5.2].
fn address_of(bytes: &mut &[u8]) -> Result<SocketAddr, Error> {
    let address = Ipv6Addr::from(array::<16>(bytes)?);
    let port = u16::from_le_bytes(array(bytes)?);
    let address = address
        .to_ipv4_mapped()
        .map_or(IpAddr::V6(address), IpAddr::V4);
    Ok(SocketAddr::new(address, port))
}

fn emit_address(address: SocketAddr, out: &mut Vec<u8>) {
    let bytes = match address.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    out.extend(bytes.octets());
    out.extend(address.port().to_le_bytes());
}
