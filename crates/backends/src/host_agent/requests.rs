//! The requests to the agent of a host, and what it does.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result};
use link::Protocol;
use os::capture::Capture;
use os::cpu_time::{Machine, Process};
use os::fragments::Fragments;
use os::host_changes::{HostChanges, Wanted};
use os::interfaces::Interface;
use os::machine::has_program;
use os::nic::Nic;
use os::request::Job;
use os::socket::{default_congestion_control, try_congestion_control};
use os::stalls::Stalls;
use os::tool::Tool;
use probe::driver::stamp::{RunningReflector, StampReflector};
use probe::driver::{Effort, Task, investigate};
use probe::machine::PathReport;
use probe::machine::stamp::Limits;
use units::{Bytes, IpVersion, Span};

use super::metering::Metering;
use super::{Description, HostUse, Investigation, Metered, ProgramState, SharedHeartbeat};
use crate::agent::{self, Agent};
use crate::facts;
use crate::stall_meter::{Begin, End, StallMeter};

/// The variable in which `sshd` leaves the addresses of its connection: the client's
/// address and port, then the server's [ssh(1)].
pub(super) const SSH_CONNECTION: &str = "SSH_CONNECTION";

/// The time for an investigation, which has a limit of its own.
const INVESTIGATING: Span = Span::from_secs(120);

/// The time for a change: a driver may reset its hardware, and a link comes up again.
const CHANGING: Span = Span::from_secs(90);

/// The agent of a host, with everything begun and not ended.
#[derive(Default)]
pub(crate) struct Host {
    /// Serves the requests of a trial.
    agent: Agent,
    stalls: Option<StallMeter>,
    metering: Option<Metering>,
    capture: Option<Capture>,
    programs: BTreeMap<u32, Tool>,
    /// Programs started so far.
    started: u32,
    reflector: Option<RunningReflector>,
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
    /// Reads a request about the host.
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

    /// Say whether the kernel has this congestion control.
    TryCongestion(name: String) -> () { try_congestion_control(&name)?; }

    /// Name the congestion control that programs begin with.
    DefaultCongestion() -> String { default_congestion_control()? }

    /// Say whether there is such a program.
    FindProgram(name: String) -> bool {
        match name.contains('/') {
            true => Path::new(&name).exists(),
            false => has_program(&name),
        }
    }
    /// Sample the processors.
    SampleMachine() -> Machine { Machine::sample()? }

    /// Sample the agent's own processor time.
    SampleProcess() -> Process { Process::sample()? }

    /// Begin to meter stalls of the processors.
    BeginStalls() -> () {
        let meter = match &mut host.stalls {
            Some(meter) => meter,
            none => none.insert(StallMeter::start()?),
        };
        meter.call(&Begin())?;
    }
    /// Report the stalls since then.
    EndStalls() -> Stalls {
        host.stalls.as_mut().context("no stalls are metered")?.call(&End())?
    }
    /// Begin to meter this host.
    BeginMetering(metered: Metered) -> () {
        host.metering = Some(Metering::begin(metered)?);
    }
    /// Report the use since then.
    EndMetering() -> HostUse {
        host.metering.take().context("nothing is metered")?.end()?
    }
    /// Count the packets that the queue of this interface dropped.
    CountDrops(interface: String) -> u64 { os::interfaces::queue_drops(&interface)? }

    /// Read the counters of fragments of this version of IP.
    CountFragments(ip: IpVersion) -> Fragments { Fragments::here(ip)? }

    /// Count the sockets that wait for a peer.
    CountListeners() -> usize { os::listeners() }

    /// Start a program of the user. The answer is its number.
    StartProgram(words: Vec<String>) -> u32 {
        let tool = Tool::heard_here(&words)?;
        host.started += 1;
        host.programs.insert(host.started, tool);
        host.started
    }
    /// Report on this program, at the latest after the given time.
    AttendProgram(number: u32, time: Span) -> ProgramState {
        let tool = host.programs.get_mut(&number);
        let tool = tool.context("there is no such program")?;
        let status = tool.attend(time)?;
        let output = status.and_then(|_| tool.output());
        ProgramState {
            status: status.map(|status| status.into_raw()),
            output: output.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            complaint: tool.complaint(),
        }
    }
    /// End this program.
    EndProgram(number: u32) -> () { host.programs.remove(&number); }

    /// Capture the frames of this interface between two addresses.
    BeginCapture(interface: String, ends: [IpAddr; 2]) -> () {
        host.capture = Some(Capture::here(&interface, ends)?);
    }
    /// Report the largest packet since then.
    EndCapture() -> Bytes {
        let capture = host.capture.take().context("nothing is captured")?;
        capture.drain()?.largest_packet
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
pub(super) fn all_requests(name: &str, json: &str) -> Option<os::Result<Job<Host>>> {
    let of_trial = |job: Job<Agent>| -> Job<Host> { Box::new(|host| job(&mut host.agent)) };
    requests(name, json).or_else(|| Some(agent::requests(name, json)?.map(of_trial)))
}

/// Datagrams alone, which every user may send.
fn task(investigation: Investigation) -> Task {
    Task {
        to: investigation.to,
        protocols: vec![Protocol::Udp],
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

fn describe() -> Result<Description> {
    let connection = std::env::var(SSH_CONNECTION).unwrap_or_default();
    let ours = connection.split_whitespace().nth(2);
    Ok(Description {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: os::machine::name(),
        system: os::machine::system(),
        facts: facts::of_named_host()?,
        clock: os::kernel_clock::identity(),
        ssh_address: ours.and_then(|address| address.parse().ok()),
        interfaces: os::interfaces::all()?,
    })
}
