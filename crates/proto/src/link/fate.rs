//! What became of packets, each and counted.

use queue::Reason;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fate {
    /// It came out at the far end.
    Delivered,
    /// It came out twice.
    Duplicated,
    /// The queue dropped it.
    Dropped,
    /// Chance lost it on the wire.
    Lost,
    /// A bit of it was wrong.
    Damaged,
    /// Its IP packet is larger than the link carries.
    TooBig,
}

impl Fate {
    /// Every fate, in the order of its counter.
    pub const ALL: [Self; 6] = [
        Self::Delivered,
        Self::Duplicated,
        Self::Dropped,
        Self::Lost,
        Self::Damaged,
        Self::TooBig,
    ];
}

/// How many packets met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Packets that came to the link.
    pub arrived: u64,
    /// Packets by fate, in the order of [`Fate::ALL`].
    pub fates: [u64; 6],
    /// Octets of the frames that come out, a frame that comes out twice
    /// counted twice.
    pub octets: u64,
    /// Packets that were too big and whose senders were notified.
    pub answered: u64,
    /// Packets that the queue dropped, by reason, in the order of
    /// [`Reason::ALL`].
    pub dropped: [u64; 4],
    /// Packets that the queue marked as having met congestion and let go.
    pub marked: u64,
    /// Packets of senders that the queue dropped out of bundles, which went on
    /// without them. They have no fate of their own.
    #[cfg_attr(feature = "serde", serde(default))]
    pub inner_dropped: u64,
}

impl Counters {
    /// What happened since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrived: self.arrived - earlier.arrived,
            fates: std::array::from_fn(|fate| self.fates[fate] - earlier.fates[fate]),
            octets: self.octets - earlier.octets,
            answered: self.answered - earlier.answered,
            dropped: std::array::from_fn(|reason| self.dropped[reason] - earlier.dropped[reason]),
            marked: self.marked - earlier.marked,
            inner_dropped: self.inner_dropped - earlier.inner_dropped,
        }
    }

    /// How many met `fate`.
    pub const fn of(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// How many the queue dropped for `reason`.
    pub const fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }
}
