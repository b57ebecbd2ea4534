//! The requests about a host that its agent answers on Linux alone, and what it does.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use anyhow::{Context, Result};
use link::Protocol;
use os::capture::Capture;
use os::fragments::Fragments;
use os::machine::has_program;
use os::socket::{default_congestion_control, try_congestion_control};
use os::stalls::Stalls;
use os::tool::Tool;
use probe::driver::stamp::{RunningReflector, StampReflector};
use probe::driver::{Effort, Task, investigate};
use probe::machine::PathReport;
use probe::machine::stamp::Limits;
use serde::{Deserialize, Serialize};
use units::{Bytes, IpVersion, Span};

use super::Host;
use crate::stall_meter::{Begin, End, StallMeter};

/// The requests of other systems that this one lacks: none.
pub(super) const ABSENT: [&str; 0] = [];

/// The time for an investigation, which has a limit of its own.
const INVESTIGATING: Span = Span::from_secs(120);

/// The programs, meters and captures that requests have begun and not ended.
#[derive(Default)]
pub(crate) struct OnLinux {
    stalls: Option<StallMeter>,
    capture: Option<Capture>,
    programs: BTreeMap<u32, Tool>,
    /// Programs started so far.
    started: u32,
    reflector: Option<RunningReflector>,
}

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

/// The state of a program of the user.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ProgramState {
    /// The kernel's status of a program that has ended.
    pub(super) status: Option<i32>,
    /// Its stdout, once it has ended; `None` if that is too long.
    pub(super) output: Option<String>,
    /// The first line of its stderr.
    pub(super) complaint: String,
}

os::requests! {
    /// Reads a request about the host that needs Linux.
    pub(crate) fn requests_of_linux(host: Host);

    /// Try this congestion control. The answer is the one that connections then have; nothing, if
    /// the system lets no program choose.
    TryCongestion(name: String) -> Option<String> {
        try_congestion_control(&name)?;
        Some(name)
    }
    /// Name the congestion control that programs begin with, if the system does.
    DefaultCongestion() -> Option<String> { Some(default_congestion_control()?) }

    /// Say whether there is such a program.
    FindProgram(name: String) -> bool {
        match name.contains('/') {
            true => Path::new(&name).exists(),
            false => has_program(&name),
        }
    }
    /// Begin to meter stalls of the processors.
    BeginStalls() -> () {
        let meter = match &mut host.on_linux.stalls {
            Some(meter) => meter,
            none => none.insert(StallMeter::start()?),
        };
        meter.call(&Begin())?;
    }
    /// Report the stalls since then, if the system meters them.
    EndStalls() -> Option<Stalls> {
        let meter = host.on_linux.stalls.as_mut();
        Some(meter.context("no stalls are metered")?.call(&End())?)
    }
    /// Count the packets that the queue of this interface dropped, if the system does.
    CountDrops(interface: String) -> Option<u64> {
        Some(os::interfaces::queue_drops(&interface)?)
    }
    /// Read the counters of fragments of this version of IP, if the system has them.
    CountFragments(ip: IpVersion) -> Option<Fragments> { Some(Fragments::here(ip)?) }

    /// Count the sockets that wait for a peer.
    CountListeners() -> usize { os::listeners() }

    /// Start a program of the user. The answer is its number.
    StartProgram(words: Vec<String>) -> u32 {
        let tool = Tool::heard_here(&words)?;
        host.on_linux.started += 1;
        host.on_linux.programs.insert(host.on_linux.started, tool);
        host.on_linux.started
    }
    /// Report on this program, at the latest after the given time.
    AttendProgram(number: u32, time: Span) -> ProgramState {
        let tool = host.on_linux.programs.get_mut(&number);
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
    EndProgram(number: u32) -> () { host.on_linux.programs.remove(&number); }

    /// Capture the frames of this interface between two addresses.
    BeginCapture(interface: String, ends: [IpAddr; 2]) -> () {
        host.on_linux.capture = Some(Capture::here(&interface, ends)?);
    }
    /// Report the largest packet since then.
    EndCapture() -> Bytes {
        let capture = host.on_linux.capture.take().context("nothing is captured")?;
        capture.drain()?.largest_packet
    }
    /// Answer test packets at this address. The answer is the port.
    BeginReflecting(address: IpAddr) -> u16 {
        let (reflector, port) = reflect(address)?;
        host.on_linux.reflector = Some(reflector);
        port
    }
    /// Answer no more of them.
    EndReflecting() -> () {
        if let Some(reflector) = host.on_linux.reflector.take() {
            reflector.end()?;
        }
    }
    /// Investigate a path.
    ProbePath(investigation: Investigation) within INVESTIGATING -> PathReport {
        investigate(&task(investigation), |_| {})?.report
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

#[cfg(test)]
mod tests {
    use super::super::no_linux::{self, ABSENT, UNKNOWN};
    use super::*;

    #[test]
    fn other_systems_reject_these_requests_by_name_or_state_nothing() {
        for name in ABSENT.into_iter().chain(UNKNOWN) {
            assert!(requests_of_linux(name, "").is_some(), "{name}");
            let job = no_linux::requests_of_linux(name, "").unwrap().unwrap();
            let reply = job(&mut Host::default());
            match UNKNOWN.contains(&name) {
                true => assert_eq!(reply, r#"{"Ok":null}"#),
                false => assert!(reply.contains(&format!("{name} needs Linux")), "{reply}"),
            }
        }
        assert!(no_linux::requests_of_linux("Describe", "").is_none());
    }
}
