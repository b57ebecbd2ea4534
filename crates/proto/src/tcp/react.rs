//! How a sender reacts when the network notifies it of a drop.

/// The reaction of a source to a notification of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// It sends the segment again.
    Retransmit,
    /// It also reduces its window, once for what is in flight.
    RetransmitAndReduce,
}
