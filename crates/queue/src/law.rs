//! Laws: arithmetic over times, lengths and chance. None holds a packet.

mod adaptation;
mod average;
mod codel;
mod curve;
mod pie;
mod red;
mod rounding;
mod spread;

pub use adaptation::Adaptation;
pub use average::Average;
pub(crate) use average::AverageBacklog;
pub use codel::Codel;
pub use curve::Curve;
pub use pie::{Pie, PieGains};
pub use red::{Profile, Red, Verdict};
pub use rounding::Rounding;
pub use spread::Spread;
