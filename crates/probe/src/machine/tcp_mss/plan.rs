//! The connections of a test.

use super::SMALL_MSS;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Ladder,
    /// A whole request in one segment, whose answer comes in small ones.
    Whole,
    /// A fetch whose packets have at most this size; `None`: as the system chooses.
    Fetch {
        size: Option<u32>,
        mss: Option<u16>,
        requests: u32,
        role: Role,
    },
}

/// The question of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Does the server answer at all, and how much?
    Small,
    /// Do the largest packets arrive?
    Large,
    /// Do packets of a size between arrive?
    Search,
    /// Does the server serve several connections at the same time?
    Control,
}

impl Plan {
    /// The MSS that the connection announces, or its window; `None`: the system's choice.
    pub(super) const fn mss(&self) -> Option<u16> {
        match self {
            Self::Ladder => None,
            Self::Whole => Some(SMALL_MSS),
            Self::Fetch { mss, .. } => *mss,
        }
    }
}
