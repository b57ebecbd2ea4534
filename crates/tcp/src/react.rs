//! Reactions of a sender to a notification of a drop.

/// The reaction of a source to a notification of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// The sender retransmits the segment.
    Retransmit,
    /// The sender also reduces its window, once per window in flight.
    RetransmitAndReduce,
}
