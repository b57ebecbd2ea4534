//! The requests about a host that its agent answers on Linux alone, and what it does.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use anyhow::Context;
use os::capture::Capture;
use os::fragments::Fragments;
use os::machine::has_program;
use os::socket::{default_congestion_control, try_congestion_control};
use os::stalls::Stalls;
use os::tool::Tool;
use serde::{Deserialize, Serialize};
use units::{Bytes, IpVersion, Span};

use super::Host;
use crate::stall_meter::{Begin, End, StallMeter};

/// The requests of other systems that this one lacks: none.
pub(super) const ABSENT: [&str; 0] = [];

/// The programs, meters and captures that requests have begun and not ended.
#[derive(Default)]
pub(crate) struct OnLinux {
    stalls: Option<StallMeter>,
    capture: Option<Capture>,
    programs: BTreeMap<u32, Tool>,
    /// Programs started so far.
    started: u32,
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
