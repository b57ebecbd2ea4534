//! The requests to the agent of a host, and what it does.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result};
use link::Protocol;
use os::cpu_time::{Machine, Process};
use os::host_changes::{HostChanges, Wanted};
use os::interfaces::Interface;
use os::nic::Nic;
use os::request::Job;
use probe::driver::stamp::{RunningReflector, StampReflector};
use probe::driver::{Effort, Task, investigate};
use probe::machine::PathReport;
use probe::machine::stamp::Limits;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use super::metering::Metering;
use super::{Description, HostUse, Metered, OnLinux, SharedHeartbeat, on_linux};
use crate::agent::{self, Agent};
use crate::facts;

/// The variable in which `sshd` leaves the addresses of its connection: the client's
/// address and port, then the server's [ssh(1)].
pub(super) const SSH_CONNECTION: &str = "SSH_CONNECTION";

/// The time for a change: a driver may reset its hardware, and a link comes up again.
const CHANGING: Span = Span::from_secs(90);

/// The time for an investigation, which has a limit of its own.
const INVESTIGATING: Span = Span::from_secs(120);

/// The path of an investigation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Investigation {
    /// The far end, where a reflector answers.
    pub(crate) to: SocketAddr,
    /// The address of this end.
    pub(crate) from: IpAddr,
    /// The size that the path should carry.
    pub(crate) up_to: Bytes,
}

/// The agent of a host, with everything begun and not ended.
#[derive(Default)]
pub(crate) struct Host {
    /// Serves the requests of a trial.
    agent: Agent,
    pub(super) on_linux: OnLinux,
    metering: Option<Metering>,
    changes: Option<HostChanges>,
    reflector: Option<RunningReflector>,
    heartbeat: SharedHeartbeat,
}

impl Host {
    /// The heartbeat of changes, which another thread passes on.
    pub(super) fn heartbeat(&self) -> SharedHeartbeat {
        Arc::clone(&self.heartbeat)
    }
}

os::requests! {
    /// Reads a request about the host, on any system.
    pub(crate) fn requests(host: Host);

    /// Describe the host.
    Describe() -> Description { describe()? }

    ListInterfaces() -> Vec<Interface> { os::interfaces::all()? }

    /// Describe these interfaces.
    DescribeNics(names: Vec<String>) -> Vec<Nic> {
        let nics = names.iter().map(|name| os::nic::named(name));
        nics.collect::<os::Result<_>>()?
    }
    /// Name the interface towards this address.
    FindInterface(address: IpAddr) -> String { os::interfaces::towards(address)? }

    /// Sample the processors.
    SampleMachine() -> Machine { Machine::sample()? }

    /// Sample the agent's own processor time.
    SampleProcess() -> Process { Process::sample()? }

    /// Begin to meter this host.
    BeginMetering(metered: Metered) -> () {
        host.metering = Some(Metering::begin(metered)?);
    }
    /// Report the use since then.
    EndMetering() -> HostUse {
        host.metering.take().context("nothing is metered")?.end()?
    }
    /// Lock the host for the run of this name, to change its interfaces. The answer is
    /// sentences about what an earlier run left there.
    BeginChanges(run: String) within CHANGING -> Vec<String> {
        let changes = HostChanges::begin(&run)?;
        let notes = changes.notes().to_vec();
        *host.heartbeat.lock().unwrap_or_else(PoisonError::into_inner) = Some(changes.heartbeat());
        host.changes = Some(changes);
        notes
    }
    /// Change an interface, and wait until its link is up again.
    Change(wanted: Wanted) within CHANGING -> () {
        let changes = host.changes.as_mut().context("no changes have begun")?;
        changes.apply(&wanted)?;
    }
    /// Put everything back. The answer is a sentence for each setting that is not as before.
    Restore() within CHANGING -> Vec<String> {
        match host.changes.take() {
            Some(changes) => changes.restore()?,
            None => Vec::new(),
        }
    }
    /// Answer test packets at this address. The answer is the port.
    BeginReflecting(address: IpAddr) -> u16 {
        let (reflector, port) = reflect(address)?;
        host.reflector = Some(reflector);
        port
    }
    /// Answer no more of them.
    EndReflecting() -> () {
        if let Some(reflector) = host.reflector.take() {
            reflector.end()?;
        }
    }
    /// Investigate a path.
    ProbePath(investigation: Investigation) within INVESTIGATING -> PathReport {
        investigate(&task(investigation), |_| {})?.report
    }
}

/// The probes that every user may send: datagrams, and on Windows echo requests, which show the
/// routers that datagrams show on Linux.
const PROTOCOLS: &[Protocol] = match cfg!(windows) {
    true => &[Protocol::Udp, Protocol::Icmp],
    false => &[Protocol::Udp],
};

fn task(investigation: Investigation) -> Task {
    Task {
        to: investigation.to,
        protocols: PROTOCOLS.to_vec(),
        port: None,
        reflector: Some(investigation.to.port()),
        up_to: Some(investigation.up_to),
        interface: None,
        address: Some(investigation.from),
        is_short: true,
        ignores_cache: false,
        capture: None,
        most_time: None,
        effort: Effort::default(),
    }
}

/// Begins to answer test packets at a free port, and returns it.
fn reflect(address: IpAddr) -> Result<(RunningReflector, u16)> {
    let listen = [SocketAddr::new(address, 0)];
    let reflector = StampReflector::open(&listen, Limits::default())?;
    let port = reflector.addresses().first().map(SocketAddr::port);
    let port = port.context("the reflector has no address")?;
    Ok((RunningReflector::start(reflector)?, port))
}

/// Reads a request about the host, or one of a trial.
pub(crate) fn all_requests(name: &str, json: &str) -> Option<os::Result<Job<Host>>> {
    let of_trial = |job: Job<Agent>| -> Job<Host> { Box::new(|host| job(&mut host.agent)) };
    requests(name, json)
        .or_else(|| on_linux::requests_of_linux(name, json))
        .or_else(|| Some(agent::all_requests(name, json)?.map(of_trial)))
}

/// The names of requests that this system does not support.
pub(crate) fn absent() -> impl Iterator<Item = &'static str> {
    on_linux::ABSENT.iter().chain(&agent::ABSENT).copied()
}

fn describe() -> Result<Description> {
    let connection = std::env::var(SSH_CONNECTION).unwrap_or_default();
    let ours = connection.split_whitespace().nth(2);
    Ok(Description {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: os::machine::name(),
        system: os::machine::system(),
        absent: absent().map(str::to_owned).collect(),
        states_offloads: os::nic::states_offloads(),
        facts: facts::of_named_host()?,
        clock: os::kernel_clock::identity(),
        ssh_address: ours.and_then(|address| address.parse().ok()),
        interfaces: os::interfaces::all()?,
    })
}
