//! Requests of flows.

use units::Transport;

use super::{Fields, Room, require};
use crate::{Error, Field};

/// A flow, as the sender describes it to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Name of the flow, for logs and reports.
    pub name: Name,
    /// Transport protocol of the messages.
    pub transport: Transport,
    /// The delay that is measured.
    pub meter: Meter,
    /// Whether the receiver polls for messages instead of sleeping.
    pub busy: bool,
    /// Whether the receiver's kernel may merge datagrams (UDP GRO).
    pub merge: bool,
    /// Differentiated services codepoint of messages and replies [RFC2474], for the log
    /// and for echoes.
    pub dscp: u8,
    /// The receive buffer to set, in octets; 0: the receiver chooses.
    pub buffer: u32,
    /// Octets of the largest message.
    pub largest: u32,
    /// The first octets of the flow's traffic. They prove to the receiver that the
    /// source address of the traffic is the sender's.
    pub cookie: [u8; 16],
}

/// The delay that a flow measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meter {
    /// One-way delay of messages to the receiver.
    OneWay,
    /// Round-trip time of messages and their echoes.
    RoundTrip,
}

/// The name of a flow: 1 to 32 letters, digits, dots, dashes and underscores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The name, padded with zeros.
    octets: [u8; Self::LONGEST],
}

impl Name {
    /// The most octets of a name.
    pub const LONGEST: usize = 32;

    /// The name `text`, or `None` if it is not allowed.
    pub fn new(text: &str) -> Option<Self> {
        let mut octets = [0; Self::LONGEST];
        octets
            .get_mut(..text.len())?
            .copy_from_slice(text.as_bytes());
        Self::of(octets).ok()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let length = self.octets.iter().position(|octet| *octet == 0);
        let octets = &self.octets[..length.unwrap_or(Self::LONGEST)];
        core::str::from_utf8(octets).unwrap_or_default()
    }

    fn of(octets: [u8; Self::LONGEST]) -> Result<Self, Error> {
        let length = octets.iter().position(|octet| *octet == 0);
        let (name, rest) = octets.split_at(length.unwrap_or(Self::LONGEST));
        let fine = |octet: &u8| octet.is_ascii_alphanumeric() || b"._-".contains(octet);
        let holds =
            !name.is_empty() && name.iter().all(fine) && rest.iter().all(|&octet| octet == 0);
        require(holds, Field::Name)?;
        Ok(Self { octets })
    }
}

mod flag {
    pub(super) const BUSY: u8 = 1;
    pub(super) const MERGE: u8 = 1 << 1;
}

impl Flow {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Error> {
        let flow = fields.u16()?;
        let name = Name::of(fields.array()?)?;
        let transport = match fields.u8()? {
            0 => Transport::Udp,
            1 => Transport::Tcp,
            _ => return Err(Error::Malformed(Field::Type)),
        };
        let meter = match fields.u8()? {
            0 => Meter::OneWay,
            1 => Meter::RoundTrip,
            _ => return Err(Error::Malformed(Field::Type)),
        };
        let flags = fields.u8()?;
        require(flags & !(flag::BUSY | flag::MERGE) == 0, Field::Flags)?;
        let dscp = fields.u8()?;
        require(dscp < 64, Field::Code)?;
        Ok(Self {
            flow,
            name,
            transport,
            meter,
            busy: flags & flag::BUSY != 0,
            merge: flags & flag::MERGE != 0,
            dscp,
            buffer: fields.u32()?,
            largest: fields.u32()?,
            cookie: fields.array()?,
        })
    }

    pub(super) fn write(&self, fields: &mut Room<'_>) {
        let busy = if self.busy { flag::BUSY } else { 0 };
        let merge = if self.merge { flag::MERGE } else { 0 };
        let transport = match self.transport {
            Transport::Udp => 0,
            Transport::Tcp => 1,
        };
        let meter = match self.meter {
            Meter::OneWay => 0,
            Meter::RoundTrip => 1,
        };
        fields.u16(self.flow).put(&self.name.octets);
        fields.put(&[transport, meter, busy | merge, self.dscp]);
        fields.put(&self.buffer.to_be_bytes());
        fields.put(&self.largest.to_be_bytes()).put(&self.cookie);
    }
}
