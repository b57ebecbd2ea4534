//! Requests of flows.

use serde::{Deserialize, Deserializer, Serialize};
use units::Transport;

use super::{below, is_text, text, valid};

/// The bytes of a header of UDP-Lite, which its checksum always covers [RFC3828 s3.1].
pub const LEAST_COVERAGE: u16 = 8;

/// The most streams of an SCTP association: a kernel needs memory for each.
pub const MOST_STREAMS: u16 = 1024;

/// A flow, as the sender describes it to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Name of the flow, for logs and reports.
    pub name: Name,
    /// Transport protocol of the messages.
    pub transport: Protocol,
    /// The delay that is measured.
    pub meter: Meter,
    /// Whether the receiver polls for messages instead of sleeping.
    pub busy: bool,
    /// Whether the receiver's kernel may merge datagrams (UDP GRO).
    pub merge: bool,
    /// Differentiated services codepoint of messages and replies [RFC2474], for the log
    /// and for echoes.
    #[serde(deserialize_with = "below::<64, _>")]
    pub dscp: u8,
    /// The receive buffer to set, in bytes; 0: the receiver chooses.
    pub buffer: u32,
    /// Bytes of the largest message.
    pub largest: u32,
    /// The port to open for the flow; 0: the receiver chooses.
    pub port: u16,
    /// The receiver's address of the flow, an IPv4 address as an IPv4-mapped one
    /// [RFC4291 s2.5.5.2]; zeros: that of the control connection. Other traffic may come from
    /// another address than the control connection, too.
    pub at: [u8; 16],
    /// The codec of a call, for the report of its quality.
    pub codec: Option<Codec>,
    /// The first bytes of the flow's traffic. They prove to the receiver that the
    /// source address of the traffic is the sender's.
    pub cookie: [u8; 16],
}

/// The transport protocol of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP [RFC9293].
    Tcp,
    /// UDP [RFC768].
    Udp,
    /// UDP-Lite [RFC3828].
    UdpLite {
        /// The bytes that the checksum covers, those of the header included; 0: all.
        #[serde(deserialize_with = "coverage")]
        coverage: u16,
    },
    /// SCTP [RFC9260].
    Sctp {
        /// The streams in each direction, from 1 to [`MOST_STREAMS`].
        #[serde(deserialize_with = "streams")]
        streams: u16,
        /// Whether messages may overtake others of their stream.
        unordered: bool,
    },
}

impl Protocol {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::UdpLite { .. } => "UDP-Lite",
            Self::Sctp { .. } => "SCTP",
        }
    }

    /// Whether messages are separate datagrams, which the path may lose.
    pub const fn is_of_datagrams(self) -> bool {
        matches!(self, Self::Udp | Self::UdpLite { .. })
    }
}

impl From<Transport> for Protocol {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => Self::Tcp,
            Transport::Udp => Self::Udp,
        }
    }
}

fn coverage<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    valid(from, |bytes| *bytes == 0 || *bytes >= LEAST_COVERAGE)
}

fn streams<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    valid(from, |streams| (1..=MOST_STREAMS).contains(streams))
}

/// The delay that a flow measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meter {
    /// One-way delay of messages to the receiver.
    OneWay,
    /// Round-trip time of messages and their echoes.
    RoundTrip,
}

/// A codec of calls, with the frames or samples in a packet as D-ITG names them [D-ITG].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Codec {
    /// G.711, 10 ms of speech in a packet.
    G711One,
    /// G.711, 20 ms.
    G711Two,
    /// G.729, two frames of 10 ms.
    G729Two,
    /// G.729, three frames.
    G729Three,
    /// G.723.1 at 6.3 kbit/s, a frame of 30 ms.
    G723One,
}

impl Codec {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::G711One,
        Self::G711Two,
        Self::G729Two,
        Self::G729Three,
        Self::G723One,
    ];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G711One => "g711-1",
            Self::G711Two => "g711-2",
            Self::G729Two => "g729-2",
            Self::G729Three => "g729-3",
            Self::G723One => "g723-1",
        }
    }

    /// The codec with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// Bytes of speech in a packet, as D-ITG sends them; a frame of G.723.1 has 24
    /// [G.723.1].
    pub const fn payload(self) -> u16 {
        match self {
            Self::G711One => 80,
            Self::G711Two => 160,
            Self::G729Two => 20,
            Self::G729Three | Self::G723One => 30,
        }
    }

    /// Packets in a second, as D-ITG sends them.
    pub const fn packets_per_second(self) -> u8 {
        match self {
            Self::G711One => 100,
            Self::G711Two | Self::G729Two => 50,
            Self::G729Three => 33,
            Self::G723One => 26,
        }
    }
}

/// The name of a flow: 1 to 32 letters, digits, dots, dashes and underscores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// The name, padded with zeros.
    #[serde(deserialize_with = "name")]
    bytes: [u8; Self::LONGEST],
}

impl Name {
    /// The most bytes of a name.
    pub const LONGEST: usize = 32;

    /// The name `text`, or `None` if it is not allowed.
    pub fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; Self::LONGEST];
        bytes
            .get_mut(..text.len())?
            .copy_from_slice(text.as_bytes());
        is_name(&bytes).then_some(Self { bytes })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        text(&self.bytes)
    }
}

fn is_name(bytes: &[u8; Name::LONGEST]) -> bool {
    !text(bytes).is_empty() && is_text(bytes, b"._-")
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; Name::LONGEST], D::Error> {
    valid(from, is_name)
}
