//! The protocol of iperf3, without I/O, as docs/reference/iperf3.md describes it: written down
//! from observation of iperf3 3.12 [iperf3].
//!
//! A client opens a control connection and sends a [`Cookie`]. The server leads with one-byte
//! [`State`]s; [`Parameters`] and [`Results`] are JSON behind a length of four bytes
//! ([`Input`], [`framed`]). Datagrams have the header of [`Header`].

mod datagram;
mod input;
mod parameters;
mod request;
mod results;
mod state;

#[cfg(test)]
mod fuzz;

pub use datagram::{Arrivals, Header, LEAST_DATAGRAM, answers, opens};
pub use input::{COOKIE_LEN, Cookie, Input, Malformed, framed};
pub use parameters::Parameters;
pub use request::{Bounds, Direction, MOST_STREAMS, Rejection, Request, stream_id};
pub use results::{LARGEST_RESULTS, Results, StreamResults};
pub use state::State;

/// The port of an iperf3 server.
pub const PORT: u16 = 5201;

/// The largest JSON of parameters that a server reads.
pub const LARGEST_PARAMETERS: usize = 1 << 16;

/// The whole part of a number; of one below zero, zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub(crate) const fn whole(number: f64) -> u64 {
    number as u64
}
