//! Messages that go one at a time: each is sent once the one before it was
//! answered, and the time it took is reported by size.
//!
//! The answering end opens first and names its port; then the asking end
//! connects and goes through its sizes over one connection. Every message has
//! a deadline. One that misses it is a [`Stall`]: what the kernel says of the
//! connection then is kept, the connection is given up, and the next size goes
//! over a new one.

mod answer;
mod ask;
mod recorder;
mod socket;

use std::net::IpAddr;

use proto::request_response::{Answer, ReadMode, WriteMode};
use units::{Bytes, Span, Transport};

pub use answer::Answerer;
pub use ask::ask;

/// The steps of the coarse clocks that are held against the fine one, in
/// milliseconds: a tick of 1000 Hz, one of 100 Hz, and that of a personal
/// computer of the nineties [Egan s4].
pub const COARSE: [u64; 3] = [1, 10, 55];

/// What both ends must agree on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RequestResponse {
    /// The transport.
    pub protocol: Transport,
    /// The answering end's address.
    pub address: IpAddr,
    /// Octets of a message, in the order in which sizes are gone through; none
    /// is shorter than a message's header.
    pub sizes: Vec<u32>,
    /// Octets sent of each size; the last message of a size may be shorter.
    pub octets: u64,
    /// What comes back.
    pub answer: Answer,
    /// How it is taken.
    pub read_mode: ReadMode,
    /// How a message is written.
    pub write_mode: WriteMode,
    /// TCP congestion control.
    pub congestion: String,
    /// SO_SNDBUF of both ends, or the kernel's choice.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF of both ends, or the kernel's choice.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on.
    pub nagle: bool,
    /// For how long an acknowledgement may be delayed at the answering end at
    /// most, or the kernel's choice; over TCP.
    pub delayed_ack: Option<Span>,
    /// How long the answering end waits before it reads, each time.
    pub pause: Span,
    /// How long a message may take, its answer included.
    pub deadline: Span,
    /// After which time without an answer a datagram is sent again.
    pub retransmit_after: Span,
    /// How long all of it may take.
    pub timeout: Span,
}

/// What the asking end saw.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Asked {
    /// Each size that was gone through, in that order.
    pub sizes: Vec<OfSize>,
    /// Messages that were not answered in time.
    pub stalls: Vec<Stall>,
    /// Datagrams that were sent again.
    pub repeats: u64,
    /// Segments that TCP sent again.
    pub retransmitted: u64,
    /// Segments with data that TCP sent.
    pub segments: u64,
    /// Segments without data that came back, which acknowledge.
    pub acknowledgements: u64,
    /// Congestion control in force, over TCP.
    pub congestion: Option<String>,
    /// SO_SNDBUF as the kernel had it at the end, in octets of its memory.
    pub send_buffer: u64,
    /// SO_RCVBUF likewise.
    pub receive_buffer: u64,
}

/// How long messages of one size took, from before they were written until
/// their answer was read; the last one, which may be shorter, is not among
/// them. In nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OfSize {
    /// Octets of a message.
    pub size: u32,
    /// How many were answered.
    pub messages: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation; zero for one message.
    pub deviation: f64,
    /// The shortest.
    pub least: u64,
    /// All octets, from before the first message to the last answer.
    pub whole: u64,
    /// What the process's clock of processor time says of a message.
    pub processor: f64,
    /// The mean as clocks tell it that move in steps, see [`COARSE`].
    pub coarse: [f64; 3],
}

/// A message that was not answered in time, and what the kernel said then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stall {
    /// Octets of the message.
    pub size: u32,
    /// Which one of its size it was, from 1.
    pub message: u64,
    /// Octets of it that the kernel had taken.
    pub written: u64,
    /// Octets of its answer that had been read.
    pub read: u64,
    /// What the asking end was at.
    pub at: String,
    /// Octets in the sending queue that were not acknowledged.
    pub send_queue: u64,
    /// Octets in the receiving queue that were not read.
    pub receive_queue: u64,
    /// Statistics of TCP, over TCP.
    pub tcp: Option<TcpStats>,
}

/// Parts of TCP_INFO that tell why nothing moves [LinuxUapi tcp.h].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TcpStats {
    /// Segments in flight that are not acknowledged.
    pub unacknowledged: u32,
    /// Segments taken for lost.
    pub lost: u32,
    /// Time-outs in a row of the same segment.
    pub retransmits: u8,
    /// How often the time-out was doubled.
    pub backoff: u8,
    /// Probes of a closed window that were not answered with an open one.
    pub probes: u8,
    /// The time-out, in microseconds.
    pub timeout_us: u32,
    /// The congestion window, in segments.
    pub window: u32,
    /// Segments sent again over the life of the connection.
    pub retransmitted: u32,
    /// The smoothed round trip, in microseconds.
    pub round_trip_us: u32,
    /// Since when nothing was sent, in milliseconds.
    pub silent_ms: u32,
}

/// What the answering end saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answered {
    /// Messages that were answered.
    pub messages: u64,
    /// Packets that found no room in its socket.
    pub dropped: u64,
    /// Connections that ended within a message.
    pub broken: Vec<Broken>,
}

/// A connection that ended within a message, as the answering end had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Broken {
    /// Octets of the message, if its header was there.
    pub size: u32,
    /// Octets of it that had been read.
    pub read: u64,
    /// Octets of the answer that the kernel had taken.
    pub written: u64,
}

#[cfg(test)]
mod tests;
