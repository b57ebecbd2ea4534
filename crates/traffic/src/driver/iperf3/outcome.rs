//! What both ends count of a test.

use std::net::SocketAddr;

use units::{Bytes, Span, Transport};
use wire::control::Name;

/// The outcome of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The other end of the control connection.
    pub peer: SocketAddr,
    /// The streams, in the order of their numbers.
    pub flows: Vec<FlowOutcome>,
    /// What the server printed, if it sent that.
    pub text: Option<String>,
    /// The reason if the test failed.
    pub fault: Option<String>,
}

/// A stream at both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    pub name: Name,
    pub transport: Transport,
    /// Whether the server sends.
    pub reverse: bool,
    /// Whether this end sends.
    pub sent_here: bool,
    /// Its count by its sender; `None` if the other end did not report it.
    pub sent: Option<Count>,
    /// Its count by its receiver, likewise.
    pub received: Option<Count>,
    /// The sender's congestion control, of streams of TCP.
    pub congestion: Option<String>,
}

/// What one end counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub bytes: Bytes,
    /// Its time.
    pub lasted: Span,
    /// Datagrams; at a receiver, those that arrived.
    pub datagrams: Option<u64>,
    /// Datagrams that did not arrive.
    pub lost: Option<u64>,
    /// Datagrams that arrived again, and behind later ones; only this end knows them.
    pub duplicates: Option<u64>,
    pub reordered: Option<u64>,
    /// Interarrival jitter [RFC3550 s6.4.1].
    pub jitter: Option<Span>,
    /// Segments retransmitted.
    pub retransmitted: Option<u64>,
}

impl Count {
    /// Bits per second.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.lasted.as_secs_f64();
        (seconds > 0.0).then(|| self.bytes.bits() as f64 / seconds)
    }
}
