//! Asks the agent of a host.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use anyhow::{Context, Result, anyhow, bail};
use os::Worker;
use os::cpu_time::{Machine, Process};
use os::fragments::Fragments;
use os::host_changes::Wanted;
use os::interfaces::Interface;
use os::nic::Nic;
use os::stalls::Stalls;
use os::worker::Command;
use probe::machine::PathReport;
use units::{Bytes, IpVersion, Span};

use super::{Attended, Description, HostUse, Investigation, Metered, Reply, Request};
use crate::agent::{ask, hear};
use crate::measure::Program;

/// The time for an ordinary reply.
const TIMEOUT: Span = Span::from_secs(30);

/// The time for an investigation, which has a limit of its own.
const INVESTIGATING: Span = Span::from_secs(120);

/// The time for a change: a driver may reset its hardware, and a link comes up again.
const CHANGING: Span = Span::from_secs(90);

pub(crate) struct HostAgent {
    worker: RefCell<Worker>,
    /// The name of the host in messages.
    host: String,
}

impl HostAgent {
    /// Starts the agent of `host`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(command: Command<'_>, host: String) -> Result<Self> {
        let worker = RefCell::new(Worker::spawn(command)?);
        Ok(Self { worker, host })
    }

    /// The name of the host in messages.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    fn ask(&self, request: &Request, time: Span) -> Result<Reply> {
        let mut worker = self.worker.borrow_mut();
        let place = || format!("host {}", self.host);
        ask(&mut worker, request).with_context(place)?;
        match hear(&mut worker, &self.host, time).with_context(place)? {
            Reply::Refused(why) => Err(anyhow!(why).context(place())),
            reply => Ok(reply),
        }
    }

    fn unexpected<T>(&self, reply: &Reply) -> Result<T> {
        bail!("host {}: unexpected reply: {reply:?}", self.host)
    }

    /// The description of the host.
    ///
    /// # Errors
    /// As every request: the agent has ended, does not answer, or refuses.
    pub(crate) fn describe(&self) -> Result<Description> {
        match self.ask(&Request::Describe, TIMEOUT)? {
            Reply::Host(description) => Ok(*description),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn interfaces(&self) -> Result<Vec<Interface>> {
        match self.ask(&Request::ListInterfaces, TIMEOUT)? {
            Reply::Interfaces(interfaces) => Ok(interfaces),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn nics(&self, names: &[String]) -> Result<Vec<Nic>> {
        match self.ask(&Request::DescribeNics(names.to_vec()), TIMEOUT)? {
            Reply::Nics(nics) => Ok(nics),
            other => self.unexpected(&other),
        }
    }

    /// The name of the interface towards `address`.
    pub(crate) fn interface_towards(&self, address: IpAddr) -> Result<String> {
        match self.ask(&Request::FindInterface(address), TIMEOUT)? {
            Reply::Interface(name) => Ok(name),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn try_congestion(&self, name: &str) -> Result<()> {
        self.done(&Request::TryCongestion(name.to_owned()))
    }

    pub(crate) fn default_congestion(&self) -> Result<String> {
        match self.ask(&Request::DefaultCongestion, TIMEOUT)? {
            Reply::Congestion(name) => Ok(name),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn has_program(&self, name: &str) -> Result<bool> {
        match self.ask(&Request::FindProgram(name.to_owned()), TIMEOUT)? {
            Reply::Found(found) => Ok(found),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn machine(&self) -> Result<Machine> {
        match self.ask(&Request::SampleMachine, TIMEOUT)? {
            Reply::Machine(machine) => Ok(machine),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn process(&self) -> Result<Process> {
        match self.ask(&Request::SampleProcess, TIMEOUT)? {
            Reply::Process(process) => Ok(process),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn begin_stalls(&self) -> Result<()> {
        self.done(&Request::BeginStalls)
    }

    pub(crate) fn end_stalls(&self) -> Result<Stalls> {
        match self.ask(&Request::EndStalls, TIMEOUT)? {
            Reply::Stalls(stalls) => Ok(stalls),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn begin_metering(&self, metered: Metered) -> Result<()> {
        self.done(&Request::BeginMetering(metered))
    }

    pub(crate) fn end_metering(&self) -> Result<HostUse> {
        match self.ask(&Request::EndMetering, TIMEOUT)? {
            Reply::Used(used) => Ok(used),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn queue_drops(&self, interface: &str) -> Result<u64> {
        self.count(&Request::CountDrops(interface.to_owned()))
    }

    pub(crate) fn fragments(&self, ip: IpVersion) -> Result<Fragments> {
        match self.ask(&Request::CountFragments(ip), TIMEOUT)? {
            Reply::Fragments(fragments) => Ok(fragments),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn listeners(&self) -> Result<u64> {
        self.count(&Request::CountListeners)
    }

    pub(crate) fn begin_capture(&self, interface: &str, ends: [IpAddr; 2]) -> Result<()> {
        self.done(&Request::BeginCapture(interface.to_owned(), ends))
    }

    pub(crate) fn end_capture(&self) -> Result<Bytes> {
        match self.ask(&Request::EndCapture, TIMEOUT)? {
            Reply::Captured(largest) => Ok(largest),
            other => self.unexpected(&other),
        }
    }

    /// Makes the host answer test packets at `address`; returns the full address.
    pub(crate) fn begin_reflecting(&self, address: IpAddr) -> Result<SocketAddr> {
        match self.ask(&Request::BeginReflecting(address), TIMEOUT)? {
            Reply::Reflecting(port) => Ok(SocketAddr::new(address, port)),
            other => self.unexpected(&other),
        }
    }

    pub(crate) fn end_reflecting(&self) -> Result<()> {
        self.done(&Request::EndReflecting)
    }

    pub(crate) fn investigate(&self, investigation: Investigation) -> Result<PathReport> {
        match self.ask(&Request::ProbePath(investigation), INVESTIGATING)? {
            Reply::Path(report) => Ok(*report),
            other => self.unexpected(&other),
        }
    }

    /// Starts a program of the user.
    pub(crate) fn start_program(&self, words: &[String]) -> Result<RemoteTool<'_>> {
        match self.ask(&Request::Start(words.to_vec()), TIMEOUT)? {
            Reply::Started(number) => Ok(RemoteTool {
                agent: self,
                number,
                state: Attended::default(),
            }),
            other => self.unexpected(&other),
        }
    }

    /// Locks the host for the run of this name, to change its interfaces. When this value is
    /// dropped, they are as before. Returns sentences about what an earlier run left there.
    ///
    /// # Errors
    /// Another run has locked it: one line with its name.
    pub(crate) fn begin_changes(&self, run: &str) -> Result<Vec<String>> {
        self.noted(&Request::BeginChanges(run.to_owned()))
    }

    /// Changes an interface, and waits until its link is up again.
    ///
    /// # Errors
    /// It carries the `ssh` connection, or the kernel refuses; or the host is lost.
    pub(crate) fn change(&self, wanted: Wanted) -> Result<()> {
        self.noted(&Request::Change(wanted)).map(drop)
    }

    /// Puts everything back. Returns a sentence for each setting that is not as before.
    ///
    /// # Errors
    /// The host is lost; it puts everything back by itself.
    pub(crate) fn restore(&self) -> Result<Vec<String>> {
        self.noted(&Request::Restore)
    }

    fn noted(&self, request: &Request) -> Result<Vec<String>> {
        match self.ask(request, CHANGING)? {
            Reply::Noted(notes) => Ok(notes),
            other => self.unexpected(&other),
        }
    }

    fn done(&self, request: &Request) -> Result<()> {
        match self.ask(request, TIMEOUT)? {
            Reply::Done => Ok(()),
            other => self.unexpected(&other),
        }
    }

    fn count(&self, request: &Request) -> Result<u64> {
        match self.ask(request, TIMEOUT)? {
            Reply::Count(count) => Ok(count),
            other => self.unexpected(&other),
        }
    }
}

/// A program of the user on a host. It ends when this value is dropped.
pub(crate) struct RemoteTool<'a> {
    agent: &'a HostAgent,
    number: u32,
    state: Attended,
}

impl Program for RemoteTool<'_> {
    fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>> {
        if self.state.status.is_none() {
            let request = Request::Attend(self.number, timeout);
            self.state = match self.agent.ask(&request, timeout + TIMEOUT)? {
                Reply::Attended(state) => state,
                other => return self.agent.unexpected(&other),
            };
        }
        Ok(self.state.status.map(ExitStatus::from_raw))
    }

    fn output(&self) -> Option<&[u8]> {
        match self.state.status {
            Some(_) => self.state.output.as_deref().map(str::as_bytes),
            None => Some(&[]),
        }
    }

    fn complaint(&self) -> String {
        self.state.complaint.clone()
    }
}

impl Drop for RemoteTool<'_> {
    fn drop(&mut self) {
        // An agent that has ended has ended its programs, too.
        let _ = self.agent.done(&Request::End(self.number));
    }
}
