//! The two directions of a path.

/// A direction of a path between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Direction {
    /// From the sender to the receiver; of a probed path, to the far end.
    Forward,
    /// From the receiver to the sender; of a probed path, from the far end.
    Reverse,
}

impl Direction {
    /// Both directions, in the order of a link's directions.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The name in experiments and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}
