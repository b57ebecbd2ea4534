//! Request/response traffic: the content of responses, how messages are written and read,
//! and what is known of those that were not answered.

/// Resolutions of the coarse clocks that are compared with the fine one, in
/// milliseconds: a tick of 1000 Hz, one of 100 Hz, and that of a personal computer of
/// the nineties [Egan s4].
pub const COARSE: [u64; 3] = [1, 10, 55];

/// The response to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// Its header, once the whole message has arrived, as in the listing of the study
    /// [Egan s4].
    Acknowledgement,
    /// All its bytes, once the whole message has arrived, as in the text of the study
    /// [Egan s4].
    Whole,
    /// Each piece as soon as it is read, like a simple echo server; over UDP the same
    /// as [`Answer::Whole`].
    Pieces,
}

/// How the requesting end reads a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadMode {
    /// Reads until the whole response has arrived.
    Whole,
    /// Reads once and takes the result for the whole response, like a program that
    /// ignores that a stream has no message boundaries. It never waits for the rest.
    Once,
}

/// How a message is written to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteMode {
    /// In one write.
    Whole,
    /// The header first and then the rest: two writes, as in a program that keeps them
    /// in separate buffers.
    Parts,
}

/// A message that was not answered in time, with the kernel's state of the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stall {
    /// Bytes of the message.
    pub size: u32,
    /// Number of the message in its size, from 1.
    pub message: u64,
    /// Bytes of it that the kernel had accepted.
    pub written: u64,
    /// Bytes of its response that had been read.
    pub read: u64,
    /// The activity of the asking end.
    pub at: String,
    /// Unacknowledged bytes in the send queue.
    pub send_queue: u64,
    /// Unread bytes in the receive queue.
    pub receive_queue: u64,
    /// Statistics of TCP; `None` over UDP.
    pub tcp: Option<TcpStats>,
}

/// The fields of TCP_INFO that explain a stall [LinuxUapi tcp.h].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TcpStats {
    /// Unacknowledged segments in flight.
    pub unacknowledged: u32,
    /// Segments considered lost.
    pub lost: u32,
    /// Consecutive timeouts of the same segment.
    pub retransmits: u8,
    /// Number of doublings of the timeout.
    pub backoff: u8,
    /// Unanswered window probes.
    pub probes: u8,
    /// Retransmission timeout, in microseconds.
    pub timeout_us: u32,
    /// Congestion window, in segments.
    pub window: u32,
    /// Segments retransmitted during the connection.
    pub retransmitted: u32,
    /// Smoothed round-trip time, in microseconds.
    pub round_trip_us: u32,
    /// Time since the last transmission, in milliseconds.
    pub silent_ms: u32,
}

/// A connection that ended within a message, as the answering end saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Broken {
    /// Bytes of the message, if its header had arrived.
    pub size: u32,
    /// Bytes of it that had been read.
    pub read: u64,
    /// Bytes of the response that the kernel had accepted.
    pub written: u64,
}

/// Times of the messages of one size, from before the write until the response was
/// read, in nanoseconds. The last message, which may be shorter, is excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OfSize {
    /// Bytes of a message.
    pub size: u32,
    /// Number of answered messages.
    pub messages: u64,
    /// Mean time.
    pub mean: f64,
    /// The standard deviation; zero for one message.
    pub deviation: f64,
    /// Minimum time.
    pub least: u64,
    /// Time from before the first message until the last response, of all bytes.
    pub whole: u64,
    /// Processor time per message, by the process's clock.
    pub processor: f64,
    /// Mean times as measured by coarse clocks, see [`COARSE`].
    pub coarse: [f64; 3],
}
