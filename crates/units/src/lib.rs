//! The nouns that every other crate speaks: times and spans of time, sizes
//! in bytes, rates in bits per second, IP MTUs, Ethernet framing, and seeds.
//!
//! No clock and no socket exist here. Every quantity has one type, conversions
//! are explicit, and bad text is rejected where it is read ([`text`]).
#![warn(missing_docs)]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod framing;
mod mtu;
mod rate;
mod seed;
mod size;
mod spelling;
pub mod text;
mod time;
mod transport;
#[cfg(feature = "serde")]
pub mod with_unit;

pub use framing::Framing;
pub use mtu::{BadMtu, IpMtu, IpVersion};
pub use rate::Rate;
pub use seed::Seed;
pub use size::Bytes;
pub use text::BadText;
pub use time::{Span, Time};
pub use transport::Transport;
