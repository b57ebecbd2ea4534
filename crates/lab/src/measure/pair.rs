//! What a trial needs of the world that it runs in: two agents, the path
//! between them, and meters.
//!
//! A world builds a [`Pair`] for each path that a setting asks for. Trials use
//! nothing else of it, so that they do not know how agents are reached or what
//! the path is made of.

use anyhow::Result;
use live::emulator::Report;
use live::meter::{Machine, Process};
use live::testbed::Fragments;
use live::tool::Tool;
use plan::command_line::Addresses;
use units::{Bytes, Rate, Transport};

use crate::agent::Agents;
use crate::link_window::LinkWindow;

/// A sender and a receiver, ready for a trial.
pub(crate) struct Pair<'a> {
    /// The agents of both, which hear JSON lines.
    pub(crate) agents: &'a mut Agents,
    /// The path between them.
    pub(crate) path: Path,
    /// The meters of the path and of the machine.
    pub(crate) meters: Box<dyn Meters + 'a>,
    /// Where programs of the user's run.
    pub(crate) programs: Box<dyn Programs + 'a>,
}

/// A path as the world set it up, and as an inspection saw it.
pub(crate) struct Path {
    /// Who paces its links.
    pub(crate) paced: Paced,
    /// The addresses of its nodes; traffic is sent to that of the receiver.
    pub(crate) addresses: Addresses,
    /// Offloads that the sender's interface says are on.
    pub(crate) offloads: Vec<String>,
    /// What frames looked like.
    pub(crate) inspection: Inspection,
    /// The most goodput that it carries.
    pub(crate) pace: Option<Rate>,
}

/// What frames of a little traffic looked like.
#[derive(Clone)]
pub(crate) struct Inspection {
    /// The transport of this traffic.
    pub(crate) protocol: Transport,
    /// Octets of its messages.
    pub(crate) message: Bytes,
    /// The largest IP packet seen leaving the sender.
    pub(crate) largest_sent: Bytes,
    /// The largest IP packet seen reaching the receiver.
    pub(crate) largest_received: Bytes,
}

/// Who paces the links of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paced {
    /// The kernel's token buckets.
    Kernel,
    /// Our emulator.
    Emulator,
}

/// The meters of one path, and of the machine that carries the traffic.
pub(crate) trait Meters {
    /// The processors of the machine.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn machine(&self) -> Result<Machine>;

    /// What the coordinator used of these processors.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn coordinator(&self) -> Result<Process>;

    /// Packets dropped so far by the kernel's queues in front of the links.
    ///
    /// # Errors
    /// Where a counter cannot be read.
    fn queue_drops(&self) -> Result<u64>;

    /// What each node did so far with packets that did not fit, by its name.
    ///
    /// # Errors
    /// Where a counter cannot be read.
    fn fragments(&self) -> Result<Vec<(String, Fragments)>>;

    /// What the emulator of the links did so far, if there is one; lateness
    /// since the last report.
    ///
    /// # Errors
    /// Where the emulator is gone.
    fn emulator(&mut self) -> Result<Option<Report>>;

    /// Why a trial in which the emulator did what `report` says is not valid,
    /// if it is not.
    fn invalid(&self, report: &Report) -> Option<String>;

    /// What the emulated link number `link`, which is recorded, did with
    /// packets on their way to the receiver between two instants, in nanoseconds
    /// of the wall clock since 1970.
    ///
    /// # Errors
    /// Where no emulator has such a link.
    fn window(&mut self, link: usize, from: u64, to: u64) -> Result<Option<LinkWindow>>;
}

/// An end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// The hosts of a pair, as programs of the user's meet them.
pub(crate) trait Programs {
    /// Has TCP of both hosts begin with the congestion control `name`.
    ///
    /// # Errors
    /// Where the kernel refuses it.
    fn set_congestion_control(&self, name: &str) -> Result<()>;

    /// How many sockets of the receiver wait for somebody to speak to them.
    ///
    /// # Errors
    /// Where they cannot be counted.
    fn listeners(&self) -> Result<usize>;

    /// Starts `words`, a program and its arguments, at `end`.
    ///
    /// # Errors
    /// Where it cannot be started.
    fn start(&self, end: End, words: &[String]) -> live::Result<Tool>;
}
