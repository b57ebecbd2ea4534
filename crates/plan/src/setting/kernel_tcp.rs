//! The settings of a kernel's TCP.

use units::Span;

/// The settings of TCP that all connections of a kernel's host have; absent ones are as
/// the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTcp {
    /// Segments of the first window [RFC6928].
    pub initial_window: Option<u32>,
    /// The least retransmission timeout, in whole milliseconds.
    pub min_rto: Option<Span>,
    /// Whether every segment is acknowledged at once.
    pub acknowledges_each: bool,
    /// Whether receivers acknowledge selectively [RFC2018].
    pub sack: Option<bool>,
    /// Whether senders detect losses by the times of their segments [RFC8985].
    pub rack: Option<bool>,
    /// Whether senders probe for the loss of their last segments [RFC8985 s7].
    pub tail_loss_probe: Option<bool>,
}
