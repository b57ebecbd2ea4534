//! Requests of flows.

use serde::{Deserialize, Deserializer, Serialize};
use units::Transport;

use super::{below, is_text, text, valid};

/// A flow, as the sender describes it to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The first bytes of the flow's traffic. They prove to the receiver that the
    /// source address of the traffic is the sender's.
    pub cookie: [u8; 16],
}

/// The delay that a flow measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meter {
    /// One-way delay of messages to the receiver.
    OneWay,
    /// Round-trip time of messages and their echoes.
    RoundTrip,
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
