//! What the program asks of the operating system: sockets, network namespaces,
//! interfaces, clocks, processes, other machines.
//!
//! A [`Sandbox`] gives the process the privileges that it needs and removes everything
//! in it afterwards. A [`Worker`] is a process of this program in one of its
//! [`Namespace`]s or, by [`ssh`], on another machine; a [`Tool`](tool::Tool) is a program
//! of the user's. A [`port`] sends and receives the [`frames`] of an interface, a [`tun`]
//! the packets of a virtual one. [`cpu_time`] is the cost of a run, [`stalls`] what
//! the CPUs did not do meanwhile. [`host_changes`] changes interfaces for the time of a
//! run. [`machine`], [`nic`], [`stamps`] and [`precision`] describe the machine and the
//! quality of its clocks. A tool opens its sockets in [`socket`].
//!
//! All `unsafe` code of the program is in this crate, each piece with its reason.

pub mod capture;
pub mod capture_file;
pub mod claim;
pub mod clock;
pub mod cpu_time;
pub mod deadline;
pub mod energy;
pub mod error;
pub mod far_host;
pub mod fragments;
pub mod frames;
pub mod host_changes;
pub mod interfaces;
pub mod interrupt;
pub mod lease;
pub mod limits;
pub mod lines;
pub mod listening;
pub mod machine;
pub mod metrics;
pub mod namespace;
pub mod netlink;
pub mod nic;
pub mod offload;
pub mod own_program;
pub mod pacing;
pub mod port;
pub mod precision;
pub mod processes;
pub mod processor;
pub mod random;
pub mod request;
pub mod sandbox;
pub mod secrecy;
pub mod socket;
pub mod ssh;
pub mod stalls;
pub mod stamps;
pub mod sys;
pub mod tool;
pub mod tun;
pub mod worker;

pub use error::{Error, Result};
pub use listening::listeners;
pub use namespace::Namespace;
pub use sandbox::{Refusal, Sandbox, effective_user, privileged};
pub use sys::allocator::Allocator;
pub use worker::Worker;
