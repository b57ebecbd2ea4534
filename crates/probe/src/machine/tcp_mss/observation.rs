//! What a system states of a connection.

use units::{Bytes, Span};

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The far end has not answered yet.
    Connecting,
    /// Data can be sent.
    Open,
    /// The far end has sent everything, and all of it has arrived.
    Ended,
    /// The far end rejected or reset it.
    Reset,
    /// It ended for another reason, for example because nothing answers.
    Failed,
}

/// What the system states of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    pub state: State,
    /// The headers of a packet with data: IP, TCP and its options.
    pub headers: Bytes,
    /// The bytes of TCP's options that the headers may have in addition, because the system does
    /// not state them.
    pub unstated_options: Bytes,
    /// The largest packet that the system sends, given the far end's MSS and the path MTU that
    /// the system knows.
    pub sends: Option<Bytes>,
    /// The path MTU that the system knows, the MTU of the interface at first.
    pub known_mtu: Bytes,
    /// The largest packet that the far end may send, given the MSS that this end announced.
    pub accepts: Bytes,
    /// The progress of what this end sends.
    pub sending: Option<Sending>,
    /// The bytes of data that have arrived in order.
    pub received: u64,
    /// Segments that arrived while an earlier one was missing.
    pub out_of_order: Option<u32>,
    /// The largest packet with data that has arrived in order, if it is larger than
    /// [`SMALL_MSS`](super::SMALL_MSS) makes it.
    pub largest_received: Option<Bytes>,
    /// The smoothed round-trip time.
    pub round_trip: Option<Span>,
    /// Segments sent other than acknowledgements, and their bytes with headers.
    pub segments: u64,
    pub sent: Bytes,
}

/// The progress of what a connection sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The bytes of data that the far end has acknowledged.
    pub acknowledged: u64,
    /// Segments that arrived behind one that is missing.
    pub behind: Option<u32>,
    /// Segments that were sent again.
    pub retransmitted: u32,
    /// The bytes that the far end takes without delivering any to its program.
    pub window: Bytes,
}

impl Observation {
    /// The bytes of data that the far end has acknowledged.
    pub(super) fn acknowledged(&self) -> Option<u64> {
        self.sending.map(|sending| sending.acknowledged)
    }
}
