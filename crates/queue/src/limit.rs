//! The law of a finite buffer.

use units::Bytes;

use crate::law::Profile;
use crate::{Backlog, View};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Limit {
    /// So many bytes.
    Bytes(Bytes),
    /// So many packets, whatever their size.
    Packets(u32),
}

impl Limit {
    /// Whether an arrival has room beside `backlog`.
    pub fn admits(self, backlog: Backlog, arrival: View) -> bool {
        match self {
            Self::Bytes(most) => backlog.bytes + arrival.size <= most,
            Self::Packets(most) => backlog.packets < most,
        }
    }

    /// The largest arrival that has room in an empty queue, if any has.
    pub(crate) fn largest(self) -> Option<Bytes> {
        match self {
            _ if self.is_zero() => None,
            Self::Bytes(most) => Some(most),
            Self::Packets(_) => Some(Bytes::new(u64::MAX)),
        }
    }

    /// Whether `backlog` is more than may wait.
    pub fn is_exceeded(self, backlog: Backlog) -> bool {
        match self {
            Self::Bytes(most) => backlog.bytes > most,
            Self::Packets(most) => backlog.packets > most,
        }
    }

    /// Whether nothing at all has room.
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Bytes(Bytes::ZERO) | Self::Packets(0))
    }

    /// How much may wait in a plain queue: of ns-2.35's, the last place is never
    /// taken [Ns2].
    pub(crate) fn with(self, profile: Profile) -> Self {
        match (profile, self) {
            (Profile::Clean, limit) => limit,
            (Profile::Ns2, Self::Packets(most)) => Self::Packets(most.saturating_sub(1)),
            (Profile::Ns2, Self::Bytes(most)) => {
                Self::Bytes(Bytes::new(most.get().saturating_sub(1)))
            }
        }
    }
}
