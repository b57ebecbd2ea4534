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

mod linux;
mod portable;
mod remote;

pub use linux::{
    capture, capture_file, claim, cpu_time, energy, fragments, frames, interfaces, limits,
    listening, machine, metrics, namespace, netlink, nic, offload, pacing, port, precision,
    processes, processor, random, sandbox, secrecy, socket, stalls, stamps, sys, tool, tun,
};
pub use portable::{clock, deadline, error, interrupt, own_program};
pub use remote::{far_host, host_changes, lease, lines, request, ssh, worker};

pub use linux::listening::listeners;
pub use linux::namespace::Namespace;
pub use linux::sandbox::{Refusal, Sandbox, effective_user, privileged};
pub use linux::sys::allocator::Allocator;
pub use portable::error::{Error, Result};
pub use remote::worker::Worker;
