//! OutcomeCounts of packets, and their counters.

use queue::Reason;

/// The outcome of a packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PacketOutcome {
    /// Delivered at the far end.
    Delivered,
    /// Delivered twice.
    Duplicated,
    /// Dropped by the queue.
    Dropped,
    /// Lost on the wire at random.
    Lost,
    /// Damaged by a bit error.
    Damaged,
    /// Rejected: its IP packet is larger than the link carries.
    TooBig,
}

impl PacketOutcome {
    /// Every outcome, in the order of [`Counters::outcomes`].
    pub const ALL: [Self; 6] = [
        Self::Delivered,
        Self::Duplicated,
        Self::Dropped,
        Self::Lost,
        Self::Damaged,
        Self::TooBig,
    ];
}

/// The number of packets by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Packets that arrived at the link.
    pub arrived: u64,
    /// Packets by outcome, in the order of [`PacketOutcome::ALL`].
    pub outcomes: [u64; 6],
    /// Bytes of delivered frames; a frame delivered twice counts twice.
    pub bytes: u64,
    /// Oversized packets whose senders were notified.
    pub answered: u64,
    /// Packets dropped by the queue, by reason, in the order of [`Reason::ALL`].
    pub dropped: [u64; 4],
    /// Packets that the queue gave a congestion mark and sent.
    pub marked: u64,
    /// Packets that the queue dropped out of bundles. They have no outcome of their own;
    /// the bundles were sent without them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub inner_dropped: u64,
}

impl Counters {
    /// The change of the counters since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrived: self.arrived - earlier.arrived,
            outcomes: std::array::from_fn(|outcome| {
                self.outcomes[outcome] - earlier.outcomes[outcome]
            }),
            bytes: self.bytes - earlier.bytes,
            answered: self.answered - earlier.answered,
            dropped: std::array::from_fn(|reason| self.dropped[reason] - earlier.dropped[reason]),
            marked: self.marked - earlier.marked,
            inner_dropped: self.inner_dropped - earlier.inner_dropped,
        }
    }

    /// The number of packets with `outcome`.
    pub const fn of(&self, outcome: PacketOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The number of packets dropped by the queue for `reason`.
    pub const fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }
}
