//! The reflector of STAMP [RFC8762], and the losses that its replies tell, without I/O.
//!
//! A [`Reflector`] answers test packets of anybody, within [`Limits`]: each with at most
//! one reply that is no longer than the packet, at a limited rate, and with memory that
//! the number of senders does not raise. [`OneWayLoss`] counts the losses of each direction
//! from the replies that a sender receives.

mod budget;
mod limits;
mod one_way_loss;
mod reflector;
mod sessions;

#[cfg(test)]
mod tests;

pub use budget::PacketRate;
pub use limits::Limits;
pub use one_way_loss::{OneWayCounts, OneWayLoss};
pub use reflector::{Arrival, Counts, Reflector, Rejection};
