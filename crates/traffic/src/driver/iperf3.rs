//! iperf3's client and server: the sockets, threads and clocks of
//! [`crate::machine::iperf3`].
//!
//! A [`Server`] answers one client at a time, and [`run`] speaks to a server. Each stream has a
//! thread ([`stream`]), and the control connection has the caller's.

mod client;
mod control;
mod counters;
mod outcome;
mod serve;
mod stream;
mod streams;
mod test;

pub use client::{Plan, run};
pub use outcome::{Count, FlowOutcome, Outcome};
pub use serve::{Event, Server, Serving};
