//! Sockets in words: their kinds, options and states, which are the same on every system.

use std::io;
use std::net::SocketAddr;

use meter::departures::PathMtu;
use units::{Bytes, Span, Transport};

use crate::error::Error;

/// The receive buffer that a UDP receiver requests: the default of 212 992 bytes loses
/// a large part of a burst in the receiving host, whatever the network does.
pub const UDP_RECEIVE_BUFFER: Bytes = Bytes::new(16 << 20);

/// A kind of socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TCP.
    Stream,
    /// UDP.
    Datagram,
    /// ICMP echoes. On Linux the kernel gives them their identifier; Windows has no such socket.
    Echo,
    /// Packets of an IP protocol, without the header of IPv6. With that of IPv4 the kernel
    /// delivers them, and takes them with the option for headers. On Linux only.
    Raw(i32),
    /// UDP-Lite. On Linux only.
    UdpLite {
        /// The bytes that the checksum of packets covers, those of the header included, and has
        /// to cover of packets that arrive; 0: all.
        coverage: u16,
    },
    /// An association of SCTP, which keeps the boundaries of messages. On Linux only.
    Sctp {
        /// The streams in each direction.
        streams: u16,
    },
}

impl From<Transport> for Kind {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => Self::Stream,
            Transport::Udp => Self::Datagram,
        }
    }
}

/// The options of a socket. By default each is as the machine has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The local address; `None`: the kernel's choice.
    pub bind: Option<SocketAddr>,
    /// The interface to which it is bound.
    pub device: Option<String>,
    /// Differentiated services code point, below 64; 0: the machine's default [RFC2474].
    pub dscp: u8,
    /// Explicit congestion notification: the two bits below the code point [RFC3168 s5]. TCP
    /// sets its own.
    pub ecn: u8,
    /// Flow label of IPv6, of 20 bits [RFC6437]. On Linux only.
    pub flow_label: Option<u32>,
    /// Time to live, or hop limit.
    pub ttl: Option<u8>,
    /// The treatment of the path MTU.
    pub path_mtu: PathMtu,
    /// Whether IPv6 rejects a packet above the MTU instead of fragmenting it.
    pub unfragmented: bool,
    /// Whether errors of the path are kept with their sources.
    pub path_errors: bool,
    /// Whether the unspecified address of IPv6 leaves IPv4 to others.
    pub v6_only: bool,
    /// SO_SNDBUF.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF.
    pub receive_buffer: Option<Bytes>,
    /// Congestion control (TCP).
    pub congestion: Option<String>,
    /// Maximum segment size in bytes, TCP's options included (TCP).
    pub segment: Option<u16>,
    /// Whether Nagle's algorithm is off (TCP).
    pub no_delay: bool,
    /// Whether the kernel timestamps arrivals.
    pub stamps: bool,
    /// Whether no call waits.
    pub non_blocking: bool,
    /// The longest time of a call that waits.
    pub timeout: Option<Span>,
    /// Whether the address may be in use by an earlier connection.
    pub reuse_address: bool,
    /// Whether closing it drops unsent data and resets the connection.
    pub reset_on_close: bool,
}

/// A datagram that was read, or a piece of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxEntry {
    /// Its bytes, which may exceed the room for them.
    pub length: usize,
    /// The kernel's timestamp, in nanoseconds since 1970. Only Linux has one.
    pub stamp: Option<u64>,
    /// The size of the datagrams that Linux merged into this one; the last may be shorter.
    pub merged: Option<usize>,
}

/// When a connection counts as lost.
#[derive(Clone, Copy, Debug)]
pub struct KeepAlive {
    /// The silence before TCP asks for a sign of life, in seconds.
    pub idle: i32,
    /// The time between two such questions, in seconds.
    pub interval: i32,
    /// The questions without an answer after which the connection is lost.
    pub probes: i32,
    /// The time after which data without an acknowledgement end the connection, where the
    /// system has that limit.
    pub unacknowledged: Span,
}

/// TCP's statistics of a connection [LinuxUapi tcp.h].
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TcpState {
    /// Congestion control in force.
    #[serde(rename = "congestion_control")]
    pub congestion: String,
    /// Smoothed round-trip time.
    #[serde(rename = "tcp_round_trip_s", with = "units::with_unit::seconds")]
    pub round_trip: Span,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// The largest segment sent, in bytes of payload.
    #[serde(rename = "segment_bytes")]
    pub segment_size: u64,
}

/// TCP's progress with what it sends.
#[derive(Clone, Copy, Debug)]
pub struct TcpProgress {
    /// Segments retransmitted so far.
    pub retransmitted: u64,
    /// The congestion window.
    pub window: Bytes,
    /// The smoothed round-trip time.
    pub round_trip: Span,
    /// The bytes of its segments, if it is stuck with one: several timeouts in a row.
    pub stuck: Option<u32>,
}

/// The segments of a connection as a system other than Linux states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentState {
    /// The largest segment that it sends, with TCP's options and without TCP's header.
    pub segment: Bytes,
    /// Whether each segment has a timestamp.
    pub has_timestamps: bool,
    /// The smoothed round-trip time.
    pub round_trip: Option<Span>,
    /// The bytes that the far end takes.
    pub window: Bytes,
    /// The bytes that a program has written and the far end has not acknowledged.
    pub unacknowledged: u64,
    /// The amount that was sent again: bytes or segments, as the system counts.
    pub sent_again: u64,
}

/// The error for an end without progress.
pub fn stalled(operation: &str, timeout: Span) -> Error {
    Error {
        operation: operation.to_owned(),
        source: io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no progress within {timeout}"),
        ),
    }
}
