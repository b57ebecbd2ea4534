//! Answers requests about this host.

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
use os::host_changes::HostChanges;
use os::machine::has_program;
use os::socket::{default_congestion_control, try_congestion_control};
use os::tool::Tool;
use probe::driver::stamp::{RunningReflector, StampReflector};
use probe::driver::{Task, investigate};
use probe::machine::stamp::Limits;

use super::metering::Metering;
use super::{Attended, Description, Investigation, Reply, Request, SharedHeartbeat};
use crate::facts;
use crate::stall_meter::StallMeter;

/// The variable in which `sshd` leaves the addresses of its connection: the client's
/// address and port, then the server's [ssh(1)].
const SSH_CONNECTION: &str = "SSH_CONNECTION";

/// The server of requests, with everything begun and not ended.
#[derive(Default)]
pub(super) struct Server {
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

impl Server {
    /// The heartbeat of changes, which another thread passes on.
    pub(super) fn heartbeat(&self) -> SharedHeartbeat {
        Arc::clone(&self.heartbeat)
    }

    /// Does what `request` asks for.
    pub(super) fn answer(&mut self, request: Request) -> Result<Reply> {
        Ok(match request {
            Request::Describe => Reply::Host(Box::new(describe()?)),
            Request::ListInterfaces => Reply::Interfaces(os::interfaces::all()?),
            Request::DescribeNics(names) => {
                let nics = names.iter().map(|name| os::nic::named(name));
                Reply::Nics(nics.collect::<Result<_, _>>()?)
            }
            Request::FindInterface(address) => Reply::Interface(os::interfaces::towards(address)?),
            Request::TryCongestion(name) => {
                try_congestion_control(&name)?;
                Reply::Done
            }
            Request::DefaultCongestion => Reply::Congestion(default_congestion_control()?),
            Request::FindProgram(name) => Reply::Found(match name.contains('/') {
                true => Path::new(&name).exists(),
                false => has_program(&name),
            }),
            Request::SampleMachine => Reply::Machine(Machine::sample()?),
            Request::SampleProcess => Reply::Process(Process::sample()?),
            Request::BeginStalls => {
                let meter = match &mut self.stalls {
                    Some(meter) => meter,
                    none => none.insert(StallMeter::start()?),
                };
                meter.begin()?;
                Reply::Done
            }
            Request::EndStalls => {
                let meter = self.stalls.as_mut().context("no stalls are metered")?;
                Reply::Stalls(meter.end()?)
            }
            Request::BeginMetering(metered) => {
                self.metering = Some(Metering::begin(metered)?);
                Reply::Done
            }
            Request::EndMetering => {
                let metering = self.metering.take().context("nothing is metered")?;
                Reply::Used(metering.end()?)
            }
            Request::CountDrops(interface) => {
                Reply::Count(os::interfaces::queue_drops(&interface)?)
            }
            Request::CountFragments(ip) => Reply::Fragments(Fragments::here(ip)?),
            Request::CountListeners => Reply::Count(os::listeners() as u64),
            Request::Start(words) => {
                let tool = Tool::heard_here(&words)?;
                self.started += 1;
                self.programs.insert(self.started, tool);
                Reply::Started(self.started)
            }
            Request::Attend(number, time) => {
                let tool = self.programs.get_mut(&number);
                let tool = tool.context("there is no such program")?;
                let status = tool.attend(time)?;
                let output = status.and_then(|_| tool.output());
                Reply::Attended(Attended {
                    status: status.map(|status| status.into_raw()),
                    output: output.map(|octets| String::from_utf8_lossy(octets).into_owned()),
                    complaint: tool.complaint(),
                })
            }
            Request::End(number) => {
                self.programs.remove(&number);
                Reply::Done
            }
            Request::BeginCapture(interface, ends) => {
                self.capture = Some(Capture::here(&interface, ends)?);
                Reply::Done
            }
            Request::EndCapture => {
                let capture = self.capture.take().context("nothing is captured")?;
                Reply::Captured(capture.drain()?.largest_packet)
            }
            Request::BeginReflecting(address) => {
                let (reflector, port) = reflect(address)?;
                self.reflector = Some(reflector);
                Reply::Reflecting(port)
            }
            Request::EndReflecting => {
                if let Some(reflector) = self.reflector.take() {
                    reflector.end()?;
                }
                Reply::Done
            }
            Request::BeginChanges(run) => {
                let changes = HostChanges::begin(&run)?;
                let mut heartbeat = self
                    .heartbeat
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                *heartbeat = Some(changes.heartbeat());
                let notes = changes.notes().to_vec();
                self.changes = Some(changes);
                Reply::Noted(notes)
            }
            Request::Change(wanted) => {
                let changes = self.changes.as_mut().context("no changes have begun")?;
                changes.apply(&wanted)?;
                Reply::Noted(Vec::new())
            }
            Request::Restore => Reply::Noted(match self.changes.take() {
                Some(changes) => changes.restore()?,
                None => Vec::new(),
            }),
            Request::ProbePath(investigation) => {
                let found = investigate(&task(investigation), |_| {})?;
                Reply::Path(Box::new(found.report))
            }
        })
    }
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
        capture: None,
        most_time: None,
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
        clock: os::clock::identity(),
        ssh_address: ours.and_then(|address| address.parse().ok()),
        interfaces: os::interfaces::all()?,
    })
}
