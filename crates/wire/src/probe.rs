//! Packets that probe a path, and the packets that answer them, as bytes.
//!
//! A probe identifies itself by 64 bits, which its answers repeat: the first eight
//! bytes of the data of an echo or a datagram. A TCP segment uses the lower half as its
//! sequence number. The answers are echo replies, datagrams, TCP segments, and ICMP
//! errors, which quote the start of the probe.

mod fragments;
mod packet;
mod received;
mod segment_size;

pub use fragments::{Fragment, Fragments, reassemble};
pub use packet::ProbePacket;
pub use received::{Content, Quote, QuotedTransport, Received};
pub use segment_size::clamp_segment_size;

/// Bytes of the identifier at the start of the data of an echo or a datagram.
pub const ID_LEN: usize = 8;

/// The header behind that of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// An ICMP echo [RFC792] [RFC4443 s4.1].
    Echo(Echo),
    /// UDP.
    Udp {
        /// Source and destination port.
        ports: [u16; 2],
    },
    /// TCP.
    Tcp(Tcp),
}

/// The header of an ICMP echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Whether it is a reply.
    pub reply: bool,
    /// Identifies the sender's series of echoes.
    pub identifier: u16,
    /// Sequence number in the series.
    pub sequence: u16,
}

/// The header of a TCP segment without options but the maximum segment size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Sequence number of the next byte expected.
    pub acknowledgement: u32,
    /// Bits of [`flag`](crate::protocol::tcp::flag).
    pub flags: u8,
    /// Receive window in bytes.
    pub window: u16,
    /// The maximum segment size that the sender accepts [RFC9293 s3.7.1].
    pub mss: Option<u16>,
}

/// The identifier at the start of `data`.
fn identifier(data: &[u8]) -> Option<u64> {
    data.first_chunk().copied().map(u64::from_be_bytes)
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
