//! Both ends of STAMP [RFC8762] without I/O.
//!
//! A [`Reflector`] answers test packets of anybody, within [`Limits`]: each with at most
//! one reply that is no longer than the packet, at a limited rate, and with memory that
//! the number of senders does not raise. A [`Sender`] writes test packets, accepts each
//! reply once, and tells on which way packets were lost.
//!
//! Sequence numbers of the reflector's own tell the ways apart [RFC8762 s4.3]: between two
//! replies they grow by the number of packets that arrived at the reflector, while the
//! sender's grow by the number of packets sent.

mod budget;
mod limits;
mod reflector;
mod sender;
mod sessions;

#[cfg(test)]
mod tests;

pub use budget::PacketRate;
pub use limits::Limits;
pub use reflector::{Arrival, Counts, Reflector, Refusal};
pub use sender::{Delays, Lost, Reply, Sender, Totals, Unmatched};
