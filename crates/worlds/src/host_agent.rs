//! The agent of a host that a run does not build: it serves the requests of
//! [`agent`](crate::agent), and those about the host itself. One JSON object per line,
//! a request and its reply.

mod client;
mod metering;
mod server;

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use os::cpu_time::{Machine, Process};
use os::fragments::Fragments;
use os::host_changes::{Heartbeat, Wanted};
use os::interfaces::Interface;
use os::lease;
use os::nic::Nic;
use os::stalls::Stalls;
use plan::HostFacts;
use probe::machine::PathReport;
use serde::{Deserialize, Serialize};
use units::{Bytes, IpVersion, Span};

use crate::agent::{self, Kept};
pub(crate) use client::HostAgent;
pub(crate) use metering::{HostUse, Metered};
use server::Server;

/// A request about the host.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// Describe the host.
    Describe,
    ListInterfaces,
    /// Describe these interfaces.
    DescribeNics(Vec<String>),
    /// Name the interface towards this address.
    FindInterface(IpAddr),
    /// Say whether the kernel has this congestion control.
    TryCongestion(String),
    /// Name the congestion control that programs begin with.
    DefaultCongestion,
    /// Say whether there is such a program.
    FindProgram(String),
    /// Sample the processors.
    SampleMachine,
    /// Sample the agent's own processor time.
    SampleProcess,
    /// Begin to meter stalls of the processors.
    BeginStalls,
    /// Report the stalls since then.
    EndStalls,
    /// Begin to meter this host.
    BeginMetering(Metered),
    /// Report the use since then.
    EndMetering,
    /// Count the packets that the queue of this interface dropped.
    CountDrops(String),
    /// Read the counters of fragments of this version of IP.
    CountFragments(IpVersion),
    /// Count the sockets that wait for a peer.
    CountListeners,
    /// Start a program of the user.
    Start(Vec<String>),
    /// Report on this program, at the latest after the given time.
    Attend(u32, Span),
    /// End this program.
    End(u32),
    /// Capture the frames of this interface between two addresses.
    BeginCapture(String, [IpAddr; 2]),
    /// Report the largest packet since then.
    EndCapture,
    /// Answer test packets at this address.
    BeginReflecting(IpAddr),
    /// Answer no more of them.
    EndReflecting,
    /// Investigate a path.
    ProbePath(Investigation),
    /// Lock the host for the run of this name, to change its interfaces.
    BeginChanges(String),
    /// Change an interface.
    Change(Wanted),
    /// Put everything back.
    Restore,
}

/// The path of an investigation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Investigation {
    /// The far end, where a reflector answers.
    pub(crate) to: SocketAddr,
    /// The address of this end.
    pub(crate) from: IpAddr,
    /// The interface of this end.
    pub(crate) interface: String,
    /// The size that the path should carry.
    pub(crate) up_to: Bytes,
}

/// A reply to a request about the host.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Host(Box<Description>),
    Interfaces(Vec<Interface>),
    Nics(Vec<Nic>),
    /// The name of an interface.
    Interface(String),
    Done,
    Congestion(String),
    Found(bool),
    Machine(Machine),
    Process(Process),
    Stalls(Stalls),
    Used(HostUse),
    Count(u64),
    Fragments(Fragments),
    Started(u32),
    Attended(Attended),
    /// The largest packet captured.
    Captured(Bytes),
    /// The port of the reflector.
    Reflecting(u16),
    Path(Box<PathReport>),
    /// Done, with sentences for the user.
    Noted(Vec<String>),
    /// The request failed: one line of text.
    Refused(String),
}

/// The state of a program of the user.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Attended {
    /// The kernel's status of a program that has ended.
    status: Option<i32>,
    /// Its stdout, once it has ended; `None` if that is too long.
    output: Option<String>,
    /// The first line of its stderr.
    complaint: String,
}

/// The properties of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The version of its program.
    pub(crate) version: String,
    /// Its name for itself.
    pub(crate) name: String,
    /// Its operating system, as `uname -s` prints it.
    pub(crate) system: String,
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
    let (mut server, mut kept) = (Server::default(), Kept::default());
    let mut replies = io::stdout().lock();
    for line in requests(server.heartbeat())? {
        match serde_json::from_str(&line) {
            Ok(request) => {
                let reply = server.answer(request);
                let reply = reply.unwrap_or_else(|error| Reply::Refused(format!("{error:#}")));
                writeln!(replies, "{}", serde_json::to_string(&reply)?)?;
                replies.flush()?;
            }
            Err(_) => agent::answer(&line, &mut kept, &mut replies)?,
        }
    }
    Ok(())
}

/// The requests. Whatever the agent does meanwhile, a sign of life of the controller goes on
/// to the watchdog of changes.
fn requests(heartbeat: SharedHeartbeat) -> os::Result<Receiver<String>> {
    lease::requests(move || {
        let heartbeat = heartbeat.lock().unwrap_or_else(PoisonError::into_inner);
        // A watchdog that has ended says so at the next change.
        let _ = heartbeat.as_ref().map(Heartbeat::beat);
    })
}

/// The heartbeat of the host's changes, once they have begun.
type SharedHeartbeat = Arc<Mutex<Option<Heartbeat>>>;
