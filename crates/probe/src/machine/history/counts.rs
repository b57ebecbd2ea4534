//! Counts of the probes of one kind, by their outcome.

use units::Time;

/// Counts of the probes of one kind by their outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::machine) struct Counts {
    pub(in crate::machine) sent: u32,
    pub(in crate::machine) under_way: u32,
    /// Answered by the addressee, or by the router at which the hop limit ended.
    pub(in crate::machine) answered: u32,
    /// Answered by a message that they are too big.
    pub(in crate::machine) rejected: u32,
    /// Without an answer in time.
    pub(in crate::machine) lost: u32,
    /// The lost ones beside which another probe shows that the path worked.
    pub(in crate::machine) counted: u32,
    /// When the first lost one was sent.
    pub(in crate::machine) first_lost: Option<Time>,
    /// When the last one was sent, and the last one that was answered.
    pub(in crate::machine) last_sent: Option<Time>,
    pub(in crate::machine) last_answered: Option<Time>,
}
