//! The agent of a host that a run does not build: it serves the requests of
//! [`agent`](crate::agent), and those about the host itself.

mod channel;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
pub(crate) mod dial;
mod metering;
#[cfg(all(test, target_os = "linux"))]
#[path = "host_agent/no_linux.rs"]
#[allow(dead_code)]
mod no_linux;
#[cfg_attr(not(target_os = "linux"), path = "host_agent/no_linux.rs")]
mod on_linux;
mod requests;
mod server;

use std::net::IpAddr;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use os::host_changes::Heartbeat;
use os::interfaces::Interface;
use os::{lease, request};
use plan::HostFacts;
use serde::{Deserialize, Serialize};

pub use channel::PORT;
#[cfg(target_os = "linux")]
pub(crate) use client::HostAgent;
pub(crate) use metering::{HostUse, Metered};
pub(crate) use on_linux::*;
pub(crate) use requests::*;
pub use server::{Event, EventKind, Server};

/// The properties of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The version of its program.
    pub(crate) version: String,
    /// Its name for itself.
    pub(crate) name: String,
    /// Its operating system, as `uname -s` prints it.
    pub(crate) system: String,
    /// The names of requests that its system does not support.
    pub(crate) absent: Vec<String>,
    /// Whether its system states the offloads of interfaces.
    pub(crate) states_offloads: bool,
    /// The facts for the record of a run.
    pub(crate) facts: HostFacts,
    /// Identifies the clock, and so the machine.
    pub(crate) clock: [u8; 8],
    /// Its address to which `ssh` connects, if it was reached so.
    pub(crate) ssh_address: Option<IpAddr>,
    pub(crate) interfaces: Vec<Interface>,
}

/// Serves requests from stdin until it ends or the controller is silent, which ends the
/// process: neither a transfer nor a program of the user outlives it.
///
/// # Errors
/// The replies cannot be written.
pub fn serve() -> Result<()> {
    let mut host = Host::default();
    for line in lines(host.heartbeat())? {
        request::answer(&line, requests::all_requests, &mut host)?;
    }
    Ok(())
}

/// The lines of requests. Whatever the agent does meanwhile, a sign of life of the controller goes on
/// to the watchdog of changes.
fn lines(heartbeat: SharedHeartbeat) -> os::Result<Receiver<String>> {
    lease::requests(move || {
        let heartbeat = heartbeat.lock().unwrap_or_else(PoisonError::into_inner);
        // A watchdog that has ended says so at the next change.
        let _ = heartbeat.as_ref().map(Heartbeat::beat);
    })
}

/// The heartbeat of the host's changes, once they have begun.
type SharedHeartbeat = Arc<Mutex<Option<Heartbeat>>>;
