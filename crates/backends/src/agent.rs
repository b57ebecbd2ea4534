//! The worker process in a node of the test network, and trials between two of them. On other
//! systems than Linux there are agents of hosts alone, and the trials are those of a controller
//! on Linux.

#[cfg(target_os = "linux")]
mod between;
#[cfg(target_os = "linux")]
mod clocks;
#[cfg(target_os = "linux")]
mod connecting;
mod flows;
#[cfg(all(test, target_os = "linux"))]
#[path = "agent/no_linux.rs"]
#[allow(dead_code)]
mod no_linux;
#[cfg_attr(not(target_os = "linux"), path = "agent/no_linux.rs")]
mod on_linux;
#[cfg(target_os = "linux")]
mod probing;
mod requests;

use os::cpu_time::{Machine, Process};
use os::request::Reply;
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub(crate) use between::Agents;
pub(crate) use flows::{Arrivals, Arrived, Departed, Receiving, Sending, Wanted};
pub(crate) use on_linux::*;
pub(crate) use requests::*;

/// The role of the worker, as [`os::worker::Command::local`] takes it.
pub(crate) const ROLE: &str = "node";

/// The meters of an agent's host at one time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct HostSample {
    /// The processor time of the agent since its start.
    pub(crate) process: Process,
    /// The processors of its machine.
    pub(crate) machine: Machine,
    /// The offset of its wall clock from its monotonic clock, in nanoseconds. The
    /// difference of two samples is the step in between.
    pub(crate) wall_offset: i64,
    /// The identity of its clock, see [`os::kernel_clock::identity`].
    pub(crate) clock: [u8; 8],
}

impl HostSample {
    fn now() -> os::Result<Self> {
        Ok(Self {
            clock: os::kernel_clock::identity(),
            wall_offset: os::kernel_clock::wall_offset_nanos(),
            machine: Machine::sample()?,
            process: Process::sample()?,
        })
    }
}

/// The reason why a transfer has no result.
#[derive(Debug)]
pub enum Failure {
    /// An end of the transfer reported this error; the next trial can run.
    Transfer(String),
    /// Other work on the machine disturbed the trial so far that it has no
    /// result; the next trial can run.
    Disturbed(String),
    /// The test network is unusable, or the user asked to stop.
    Lost(anyhow::Error),
}

impl Failure {
    /// The answer of `end`, or the reason why it has none.
    fn or_answer<T>(end: &str, reply: Reply<T>) -> Result<T, Self> {
        reply.map_err(|why| Self::Transfer(format!("{end}: {why}")))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Lost(error)
    }
}
