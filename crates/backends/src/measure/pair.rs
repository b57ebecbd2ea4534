//! The interface between trials and backends: two agents, the path between them,
//! and meters.
//!
//! A backend builds a [`Pair`] for each path of a setting. Trials use nothing
//! else, so they are independent of how agents are reached and how the path is
//! built.

use std::net::IpAddr;
use std::process::ExitStatus;

use crate::testbed::SentPackets;
use anyhow::Result;
use emulator::{Observation, Report};
use os::cpu_time::{Machine, Process};
use os::fragments::Fragments;
use os::stalls::Stalls;
use os::tool::Tool;
use plan::command_line::Addresses;
use units::{Bytes, Rate, Seed, Span, Time, Transport};

use crate::agent::Agents;
use crate::link_window::LinkWindow;
use crate::measure::RoleUse;
use crate::pace::Paced;

/// A sender and a receiver, ready for a trial.
pub(crate) struct Pair<'a> {
    /// The agents of both, which read lines of JSON.
    pub(crate) agents: &'a mut Agents,
    /// The path between them.
    pub(crate) path: Path,
    /// The meters of the path and of the machine.
    pub(crate) meters: Box<dyn Meters + 'a>,
    /// The hosts for programs of the user.
    pub(crate) programs: Box<dyn Programs + 'a>,
}

/// The configured path, with the results of an inspection.
pub(crate) struct Path {
    /// The kind of its links.
    pub(crate) paced: Paced,
    /// The addresses of its nodes; traffic goes to the receiver's.
    pub(crate) addresses: Addresses,
    /// The hosts of a network that is no path, in the order of their agents.
    pub(crate) hosts: Vec<(String, IpAddr)>,
    /// Offloads that the sender's interface reports as enabled; `None` where its
    /// system does not state them.
    pub(crate) offloads: Option<Vec<String>>,
    /// The inspection of its frames; `None`: the traffic itself inspects the path.
    pub(crate) inspection: Option<Inspection>,
    /// The maximum goodput.
    pub(crate) pace: Option<Rate>,
}

/// The inspection of the frames of some sample traffic.
#[derive(Clone)]
pub(crate) struct Inspection {
    /// The transport of this traffic.
    pub(crate) protocol: Transport,
    /// Bytes of its messages.
    pub(crate) message: Bytes,
    /// The largest IP packet seen leaving the sender.
    pub(crate) largest_sent: Bytes,
    /// The largest IP packet seen reaching the receiver.
    pub(crate) largest_received: Bytes,
}

/// The meters of one path and of its machine.
pub(crate) trait Meters {
    /// The CPU times of the machine.
    ///
    /// # Errors
    /// They cannot be read.
    fn machine(&self) -> Result<Machine>;

    /// Waits until no other thread needs the CPUs of a pass, as long as the plan
    /// allows; returns how long.
    ///
    /// # Errors
    /// The machine cannot be metered.
    fn wait_until_idle(&mut self) -> Result<Span>;

    /// Begins to meter the stalls of the machine's CPUs.
    ///
    /// # Errors
    /// They cannot be metered.
    fn begin_stalls(&mut self) -> Result<()>;

    /// The stalls of the machine's CPUs since [`Meters::begin_stalls`].
    ///
    /// # Errors
    /// They cannot be metered, or metering has not begun.
    fn end_stalls(&mut self) -> Result<Stalls>;

    /// Begins to meter the machines that the user named; `watches_clock`: the rates of
    /// their wall clocks, too. A backend with hosts of its own has none.
    ///
    /// # Errors
    /// A machine cannot be metered.
    fn begin_hosts(&mut self, watches_clock: bool) -> Result<()>;

    /// The use of each of these machines since [`Meters::begin_hosts`].
    ///
    /// # Errors
    /// A machine cannot be metered, or metering has not begun.
    fn end_hosts(&mut self) -> Result<Vec<RoleUse>>;

    /// The CPU time of the coordinator.
    ///
    /// # Errors
    /// It cannot be read.
    fn coordinator(&self) -> Result<Process>;

    /// Packets dropped so far by the kernel's queues in front of the links.
    ///
    /// # Errors
    /// A counter cannot be read.
    fn queue_drops(&self) -> Result<Option<u64>>;

    /// The fragmentation counters of each node, by name.
    ///
    /// # Errors
    /// A counter cannot be read.
    fn fragments(&self) -> Result<Vec<(String, Fragments)>>;

    /// The packets that the sender's interface has sent so far.
    ///
    /// # Errors
    /// Its counters cannot be read.
    fn sent(&self) -> Result<SentPackets>;

    /// The report of the links' emulator, if there is one; timing error since the
    /// last report.
    ///
    /// # Errors
    /// The emulator has exited.
    fn emulator(&mut self) -> Result<Option<Report>>;

    /// The reason why a trial with this emulator report is invalid, if it is.
    fn invalid(&self, report: &Report) -> Option<String>;

    /// The metrics of the recorded emulated link number `link` in the direction
    /// to the receiver, between two times in nanoseconds of the wall clock
    /// since 1970.
    ///
    /// # Errors
    /// No emulator has such a link.
    fn window(&mut self, link: usize, from: u64, to: u64) -> Result<Option<LinkWindow>>;

    /// Keeps observations of emulated `links` from now on, with the headers of packets
    /// where that is said.
    ///
    /// # Errors
    /// No emulator has links of a network.
    fn observe(&mut self, links: Vec<(usize, bool)>) -> Result<()>;

    /// Hands the observations of the emulated link number `link` to `take`, each with the
    /// time at which CLOCK_MONOTONIC showed `begin` nanoseconds.
    ///
    /// # Errors
    /// As [`Meters::observe`].
    fn observations(
        &mut self,
        link: usize,
        begin: u64,
        take: &mut dyn FnMut(Time, Observation),
    ) -> Result<()>;

    /// Restarts the random streams and the faults of emulated links: the times of
    /// faults count from now on.
    ///
    /// # Errors
    /// The emulator has exited.
    fn restart_links(&mut self, seed: Seed) -> Result<()>;
}

/// An end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// The hosts of a pair, for programs of the user.
pub(crate) trait Programs {
    /// Makes `name` the default congestion control of both hosts.
    ///
    /// # Errors
    /// The kernel rejects it.
    fn set_congestion_control(&self, name: &str) -> Result<()>;

    /// The number of listening sockets of the receiver.
    ///
    /// # Errors
    /// They cannot be counted.
    fn listeners(&self) -> Result<usize>;

    /// Starts `words`, a program and its arguments, at `end`.
    ///
    /// # Errors
    /// It cannot be started.
    fn start(&self, end: End, words: &[String]) -> Result<Box<dyn Program + '_>>;
}

/// A program of the user. It ends when this value is dropped.
pub(crate) trait Program {
    /// Reads its output for at most `timeout`, or until a signal. Returns its exit
    /// status, if it has ended.
    ///
    /// # Errors
    /// Its output or status cannot be read.
    fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>>;

    /// Its stdout once it has ended; `None` if that exceeds
    /// [`MOST_OUTPUT`](os::tool::MOST_OUTPUT).
    fn output(&self) -> Option<&[u8]>;

    /// The first line of its stderr; empty if there is none.
    fn complaint(&self) -> String;
}

impl Program for Tool {
    fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>> {
        Ok(Self::attend(self, timeout)?)
    }

    fn output(&self) -> Option<&[u8]> {
        Self::output(self)
    }

    fn complaint(&self) -> String {
        Self::complaint(self)
    }
}
