//! Access to this machine: sockets, network namespaces, clocks and meters.
//!
//! A [`Sandbox`] gives the process the privileges that it needs and removes everything
//! in it afterwards. A [`Testbed`](testbed::Testbed) is a path of network namespaces
//! inside it; a [`Worker`] is a process of this program in one of them, a
//! [`Tool`](tool::Tool) a program of the user's. Two workers run a [`transfer`] of
//! messages, or a [`request_response`] exchange message by message. An [`emulator`]
//! imposes the behaviour of wires on links; it consists of a [`port`] at each end and
//! [`frames`] between them. The [`meter`] reads the cost of a run, [`stalls`] what the
//! CPUs did not do meanwhile. [`stamp`] answers test packets. [`ssh`] starts this program
//! on other machines, and [`host_changes`] changes their interfaces for the time of a
//! run. [`machine`], [`nic`], [`stamps`] and [`precision`] describe the machine and the
//! quality of its clocks. A tool opens its sockets in [`socket`].
//!
//! All `unsafe` code of the program is in this crate, each piece with its reason.

pub mod capture;
mod capture_file;
mod claim;
pub mod clock;
pub mod clock_comparison;
pub mod connections;
mod deadline;
pub mod discovery;
pub mod emulator;
pub mod energy;
mod error;
pub mod far_host;
pub mod fragments;
pub mod frames;
pub mod gateway;
pub mod host_changes;
pub mod interfaces;
pub mod interrupt;
pub mod jumbogram;
pub mod lease;
pub mod limits;
mod lines;
mod listening;
pub mod machine;
pub mod meter;
pub mod metrics;
mod namespace;
mod netlink;
pub mod nic;
mod offload;
pub mod own_program;
pub mod pacing;
pub mod port;
pub mod precision;
pub mod probe;
pub mod processes;
mod processor;
pub mod random;
pub mod request_response;
mod sandbox;
pub mod secrecy;
pub mod socket;
pub mod ssh;
pub mod stalls;
pub mod stamp;
pub mod stamps;
mod sys;
pub mod testbed;
pub mod tool;
pub mod traffic;
pub mod transfer;
pub mod trial_token;
pub mod tun;
pub mod worker;

pub use error::{Error, Result};
pub use listening::listeners;
pub use namespace::Namespace;
pub use sandbox::{Refusal, Sandbox, effective_user, privileged};
pub use sys::allocator::Allocator;
pub use worker::Worker;
