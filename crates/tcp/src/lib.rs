//! Both ends of a one-way TCP connection, without I/O and without payload bytes.
//!
//! A driver hands each end the arriving segments and the expiries of its timers, and
//! sends the segments that it returns. Sequence numbers count bytes; in the profile
//! ns-2 they count segments.

mod congestion;
mod ns2;
mod ranges;
mod react;
mod receiver;
mod rto;
mod segment;
mod sender;
mod settings;
mod standard;

pub use ranges::Range;
use ranges::Ranges;
pub use react::React;
pub use receiver::Receiver;
pub use segment::{Ack, Data, HEADER, MOST_BLOCKS};
pub use sender::{Counts, Sender, State};
pub use settings::{
    Acknowledging, Control, Counting, Profile, Recovery, Reduction, Settings, SlowStart,
};
