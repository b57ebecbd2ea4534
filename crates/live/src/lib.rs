//! The real world: sockets, namespaces, clocks and meters of this machine.
//!
//! From the outside in: a [`Sandbox`] gives the process the privileges that it
//! needs and nothing that outlives it; a [`Testbed`](testbed::Testbed) is a
//! path of network namespaces inside it; a [`Worker`] is a process of its own
//! in one of them, a [`Tool`](tool::Tool) a program of the user's; a [`transfer`]
//! is what two workers do with each other, an [`request_response`] what they do message by message; an [`emulator`] is what links are made
//! of that behave like wires, out of a [`port`] at each end and [`frames`] between them; the [`meter`] reads what it cost the machine. What the machine is and how well
//! it keeps time is asked of [`machine`], [`nic`], [`stamps`] and [`precision`].
//!
//! All `unsafe` of the program lives in this crate, each piece with its reason.

pub mod capture;
pub mod clock;
pub mod emulator;
mod error;
pub mod frames;
pub mod interrupt;
pub mod jumbogram;
mod listening;
pub mod machine;
pub mod meter;
mod namespace;
mod netlink;
pub mod nic;
pub mod pacing;
pub mod port;
pub mod precision;
pub mod processes;
mod processor;
pub mod request_response;
mod sandbox;
pub mod stamps;
mod sys;
pub mod testbed;
pub mod tool;
pub mod traffic;
pub mod transfer;
pub mod worker;

pub use error::{Error, Result};
pub use namespace::Namespace;
pub use sandbox::{Refusal, Sandbox, privileged};
pub use worker::Worker;
