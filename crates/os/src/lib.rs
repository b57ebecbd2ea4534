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

// On Linux the tests alone use it.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code, unreachable_pub, unused_imports))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
mod portable;
mod remote;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    cpu_time, echoes, energy, far_host, host_changes, interfaces, kernel_clock, lease, machine,
    nic, pacing, processor, random, secrecy, socket, users::privileged,
};
#[cfg(target_os = "linux")]
pub use linux::{
    capture, capture_file, claim, cpu_time, energy, fragments, frames, interfaces, kernel_clock,
    limits, listening, machine, metrics, namespace, netlink, nic, offload, pacing, path_mtu, port,
    processes, processor, random, sandbox, secrecy, signals, socket, stalls, stamps, sys, tool,
    tun, users,
};
pub use portable::{
    clock, console, deadline, error, host_name, interrupt, memory, own_executable, precision,
};
pub use remote::request;
#[cfg(target_os = "linux")]
pub use remote::{far_host, host_changes, lease, lines, ssh, worker};

#[cfg(target_os = "linux")]
pub use linux::listening::listeners;
#[cfg(target_os = "linux")]
pub use linux::namespace::Namespace;
#[cfg(target_os = "linux")]
pub use linux::sandbox::{Rejection, Sandbox, privileged};
#[cfg(target_os = "linux")]
pub use linux::sys::allocator::Allocator;
#[cfg(target_os = "linux")]
pub use linux::users::effective_user;
pub use portable::error::{Error, Result};
pub use portable::program_stamps::{ProgramStamps, program_stamps};
#[cfg(target_os = "linux")]
pub use remote::worker::Worker;
