//! How a sender reacts where the network tells it of a drop.

/// What a source does that is told of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// It sends the segment again.
    Retransmit,
    /// It also reduces its window, once for what is in flight.
    RetransmitAndReduce,
}
