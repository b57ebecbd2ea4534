//! Cross traffic on a link.

use units::{Bytes, Rate};

/// Cross traffic on one link: it enters at one end and leaves at the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cross {
    /// The mean rate, including framing.
    pub rate: Rate,
    /// Bytes of each IP packet.
    pub packet: Bytes,
    /// The distribution of the gaps between arrivals.
    pub gaps: Gaps,
    /// The direction of the traffic.
    pub heading: Heading,
}

/// Distributions of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// A Poisson process.
    Exponential,
    /// Constant gaps.
    Constant,
    /// Uniform gaps between 0 and twice the mean.
    Uniform,
}

/// The direction of cross traffic on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// From the sender's side to the receiver's.
    Forward,
    /// From the receiver's side to the sender's.
    Reverse,
    /// Both, with equal rates and independent random streams.
    Both,
}

impl Heading {
    /// The indices of the directions: 0 forward, 1 reverse.
    pub const fn directions(self) -> &'static [usize] {
        match self {
            Self::Forward => &[0],
            Self::Reverse => &[1],
            Self::Both => &[0, 1],
        }
    }
}
