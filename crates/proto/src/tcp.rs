//! Both ends of a TCP connection that carries data one way, without I/O and
//! without octets.
//!
//! A driver hands each end what arrives and the instants of its timers, and
//! takes away what it has to send. Numbers count octets; in the profile ns-2
//! they count segments.

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
pub use segment::{Ack, Blocks, Data, HEADER, MOST_BLOCKS};
pub use sender::{Counts, Sender, State};
pub use settings::{
    Acknowledging, Control, Counting, Profile, Recovery, Reduction, Settings, SlowStart,
};
