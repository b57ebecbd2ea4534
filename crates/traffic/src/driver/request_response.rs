//! Request/response traffic: each message is sent once the previous one was answered,
//! and the times are reported by message size.
//! The answering end opens first and reports its port; then the asking end connects, shows
//! the trial's token ([`crate::driver::trial_token`]), and goes through its sizes over one
//! connection. Every message has a deadline. A missed
//! deadline is a [`Stall`]: the kernel's state of the connection is recorded, the
//! connection is abandoned, and the next size uses a new one; a UDP socket is kept.

mod answer;
mod ask;
mod recorder;
mod socket;
#[cfg_attr(not(target_os = "linux"), path = "request_response/no_tcp_info.rs")]
mod tcp_info;

use std::net::IpAddr;

use meter::request_response::{Answer, Broken, OfSize, ReadMode, Stall, TcpStats, WriteMode};
use units::{Bytes, Span, Transport};

pub use answer::Answerer;
pub use ask::ask;
use os::socket::{CHOOSES_CONGESTION_CONTROL, LIMITS_SEGMENTS, Options};

/// The settings that both ends share.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RequestResponse {
    pub protocol: Transport,
    /// The answering end's address.
    pub address: IpAddr,
    /// Message sizes in bytes, in the order of use; none is shorter than a message's
    /// header.
    pub sizes: Vec<u32>,
    /// Bytes sent per size; the last message of a size may be shorter.
    pub bytes: u64,
    /// The form of a response.
    pub answer: Answer,
    /// How the asking end reads a response.
    pub read_mode: ReadMode,
    /// How a message is written.
    pub write_mode: WriteMode,
    /// TCP congestion control. An end whose system lets no program choose keeps the system's
    /// own.
    pub congestion: String,
    /// The largest segment of TCP in bytes (TCP_MAXSEG); `None`: as the path's MTU
    /// allows.
    pub largest_segment: Option<u16>,
    /// SO_SNDBUF of both ends; `None`: the kernel's default.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF of both ends; `None`: the kernel's default.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is active.
    pub nagle: bool,
    /// The longest delay of an acknowledgement at the answering end (TCP); `None`: the
    /// kernel's default.
    pub delayed_ack: Option<Span>,
    /// The pause of the answering end before each read.
    pub pause: Span,
    /// The longest time for a message and its response.
    pub deadline: Span,
    /// The time without a response after which a datagram is sent again.
    pub retransmit_after: Span,
    /// The longest time for all messages.
    pub timeout: Span,
}

impl RequestResponse {
    /// The largest message.
    fn longest(&self) -> usize {
        let longest = self.sizes.iter().max().copied().unwrap_or_default();
        usize::try_from(longest).unwrap_or(usize::MAX)
    }

    /// The options of either end's socket.
    fn options(&self) -> Options {
        Options {
            send_buffer: self.send_buffer,
            receive_buffer: self.receive_buffer,
            congestion: CHOOSES_CONGESTION_CONTROL.then(|| self.congestion.clone()),
            // Each end tells the other its largest segment [RFC9293 s3.7.1]: one limit is enough.
            segment: self.largest_segment.filter(|_| LIMITS_SEGMENTS),
            no_delay: !self.nagle,
            ..Options::default()
        }
    }
}

/// The results of the asking end.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Asked {
    /// The results of each completed size, in the order of use.
    pub sizes: Vec<OfSize>,
    /// Messages that were not answered in time.
    pub stalls: Vec<Stall>,
    /// Datagrams sent again.
    pub repeats: u64,
    /// Segments retransmitted by TCP.
    pub retransmitted: u64,
    /// Data segments sent by TCP.
    pub segments: u64,
    /// Segments without data received, which are acknowledgements.
    pub acknowledgements: u64,
    /// Congestion control in force (TCP).
    pub congestion: Option<String>,
    /// SO_SNDBUF at the end, in bytes of kernel memory.
    pub send_buffer: u64,
    /// SO_RCVBUF at the end, in bytes of kernel memory.
    pub receive_buffer: u64,
}

/// The results of the answering end.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Answered {
    /// Number of answered messages.
    pub messages: u64,
    /// Packets dropped because its socket's buffer was full; `None` where the system does not
    /// count them.
    pub dropped: Option<u64>,
    /// Rejected connections of unauthenticated peers; over UDP, their datagrams before the asking
    /// end's.
    pub rejected_peers: u64,
    /// Connections that ended within a message.
    pub broken: Vec<Broken>,
}

#[cfg(test)]
mod tests;
