//! Who else is on a link.

use units::{Bytes, Rate};

/// Traffic of others on one link: it enters at one end and leaves at the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cross {
    /// What it asks of the link, framing included, on average.
    pub rate: Rate,
    /// Octets of each IP packet.
    pub packet: Bytes,
    /// The law of the gaps between arrivals.
    pub gaps: Gaps,
    /// Its direction.
    pub heading: Heading,
}

/// Laws of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// A Poisson process.
    Exponential,
    /// All alike.
    Constant,
    /// Anything from nothing to twice the mean.
    Uniform,
}

/// The direction of cross traffic on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// From the sender's side to the receiver's.
    With,
    /// Back.
    Against,
    /// Both, each as strong and with a random stream of its own.
    Both,
}

impl Heading {
    /// The directions that it means, 0 there and 1 back.
    pub const fn directions(self) -> &'static [usize] {
        match self {
            Self::With => &[0],
            Self::Against => &[1],
            Self::Both => &[0, 1],
        }
    }
}
