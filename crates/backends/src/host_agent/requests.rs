//! The requests to the agent of a host, and what it does.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result};
use os::cpu_time::{Machine, Process};
use os::host_changes::{HostChanges, Wanted};
use os::interfaces::Interface;
use os::nic::Nic;
use os::request::Job;
use units::Span;

use super::metering::Metering;
use super::{Description, HostUse, Metered, OnLinux, SharedHeartbeat, on_linux};
use crate::agent::{self, Agent};
use crate::facts;

/// The variable in which `sshd` leaves the addresses of its connection: the client's
/// address and port, then the server's [ssh(1)].
pub(super) const SSH_CONNECTION: &str = "SSH_CONNECTION";

/// The time for a change: a driver may reset its hardware, and a link comes up again.
const CHANGING: Span = Span::from_secs(90);

/// The agent of a host, with everything begun and not ended.
#[derive(Default)]
pub(crate) struct Host {
    /// Serves the requests of a trial.
    agent: Agent,
    pub(super) on_linux: OnLinux,
    metering: Option<Metering>,
    changes: Option<HostChanges>,
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
}

/// Reads a request about the host, or one of a trial.
pub(crate) fn all_requests(name: &str, json: &str) -> Option<os::Result<Job<Host>>> {
    let of_trial = |job: Job<Agent>| -> Job<Host> { Box::new(|host| job(&mut host.agent)) };
    requests(name, json)
        .or_else(|| on_linux::requests_of_linux(name, json))
        .or_else(|| Some(agent::all_requests(name, json)?.map(of_trial)))
}

fn describe() -> Result<Description> {
    let connection = std::env::var(SSH_CONNECTION).unwrap_or_default();
    let ours = connection.split_whitespace().nth(2);
    Ok(Description {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: os::machine::name(),
        system: os::machine::system(),
        absent: { on_linux::ABSENT.iter().chain(&agent::ABSENT) }
            .map(|name| (*name).to_owned())
            .collect(),
        states_offloads: cfg!(target_os = "linux"),
        facts: facts::of_named_host()?,
        clock: os::kernel_clock::identity(),
        ssh_address: ours.and_then(|address| address.parse().ok()),
        interfaces: os::interfaces::all()?,
    })
}
