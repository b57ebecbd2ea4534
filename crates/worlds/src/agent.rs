//! The worker process in a node of the test bed, and its protocol: one JSON
//! object per line, a request and its replies.

mod between;
mod clocks;
mod connecting;
mod discovering;
mod flows;
mod probing;
mod server;

use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use meter::clock_offset::ClockLine;
use os::Worker;
use os::cpu_time::{Machine, Process};
use probe::driver::stamp;
use probe::driver::{Investigated, Services, Task};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use traffic::driver::clock_comparison::Compared;
use traffic::driver::connections;
use traffic::driver::discovery::{self, Settled};
use traffic::driver::request_response::{Answered, Asked, RequestResponse};
use traffic::driver::transfer::latency_breakdown::{self, Probe};
use traffic::driver::transfer::{Received, Sent, Transfer};
use traffic::driver::trial_token::Token;
use units::Span;

use crate::interrupted;
pub(crate) use between::Agents;
pub(crate) use flows::{Arrivals, Arrived, Departed, Receiving, Sending, Wanted};
pub(crate) use server::{Kept, answer, serve};

/// The role of the worker, as [`os::worker::Command::local`] takes it.
pub(crate) const ROLE: &str = "node";

/// A request to a worker. The port of a request for traffic accepts only the peer with the
/// token of that request.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// Open a port, report it, and receive.
    Receive(Transfer, Token),
    /// Send to that port.
    Send(Transfer, Token, u16),
    /// Open a port, report it, and receive flows.
    ReceiveFlows(Receiving, Token),
    /// Send flows to that port.
    SendFlows(Sending, Token, u16),
    /// Open a port, report it, and answer messages.
    Answer(RequestResponse, Token),
    /// Send messages to that port, one at a time.
    Ask(RequestResponse, Token, u16),
    /// Open a port, report it, and answer messages with their timestamps.
    AnswerProbes(Probe, Token),
    /// Send messages to that port, each after the echo of the previous one.
    SendProbes(Probe, Token, u16),
    /// Answer the probes of an investigation from now on.
    OpenFarEnd(Services),
    /// End that, and report what was reflected.
    CloseFarEnd,
    /// Prepare an investigation.
    OpenProber(Task),
    /// Run it.
    Investigate,
    /// Open a port, report it, and receive the data of a connection.
    Accept(discovery::Task, Token),
    /// Connect to that port, and send until the size of packets has settled.
    Settle(discovery::Task, Token, u16),
    /// As `Receive`, but keep the record until `Finish`.
    Record(Transfer, Token),
    /// Report what was kept, corrected by the offset of the clocks.
    Finish(ClockLine),
    /// Open a port on the address, report it, and tell the clock to those who ask.
    AnswerClock(IpAddr, Token),
    /// Ask for the clock at the address and port.
    CompareClocks(IpAddr, Token, u16),
    /// Open all ports.
    Connect(connections::Task),
    /// Carry their connections from this instant on, in nanoseconds of CLOCK_MONOTONIC.
    Carry(u64),
    /// Close all ports instead.
    Disconnect,
    /// Read the meters of the host.
    Sample,
}

/// A reply of a worker.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Listening(u16),
    Received(Received),
    Sent(Sent),
    Arrived(Arrivals),
    Departed(Vec<Departed>),
    Answered(Answered),
    Asked(Asked),
    ProbesAnswered(latency_breakdown::Answered),
    Probed(latency_breakdown::Asked),
    /// The far end, the prober or all ports are open.
    Opened,
    Closed(Option<stamp::Outcome>),
    Investigated(Box<Investigated>),
    /// The connection was received; unauthenticated peers were refused.
    Accepted(u64),
    Settled(Settled),
    Recorded,
    ClockAnswered,
    Compared(Compared),
    Carried(connections::Outcome),
    Disconnected,
    Sampled(Box<HostSample>),
    /// The request failed: one line of text.
    Failed(String),
}

/// The meters of an agent's host at one instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct HostSample {
    /// The processor time of the agent since its start.
    pub(crate) process: Process,
    /// The processors of its machine.
    pub(crate) machine: Machine,
    /// The offset of its wall clock from its monotonic clock, in nanoseconds. The
    /// difference of two samples is the step in between.
    pub(crate) wall_offset: i64,
    /// The identity of its clock, see [`os::clock::identity`].
    pub(crate) clock: [u8; 8],
}

impl HostSample {
    fn now() -> os::Result<Self> {
        Ok(Self {
            clock: os::clock::identity(),
            wall_offset: os::clock::wall_offset_nanos(),
            machine: Machine::sample()?,
            process: Process::sample()?,
        })
    }
}

/// The reason why a transfer has no result.
#[derive(Debug)]
pub enum Failure {
    /// An end of the transfer reported this error; the next trial can run.
    Transfer(String),
    /// Other work on the machine disturbed the trial so far that it has no
    /// result; the next trial can run.
    Disturbed(String),
    /// The test bed is unusable, or the user asked to stop.
    Lost(anyhow::Error),
}

impl Failure {
    /// An error from the last replies of sender and receiver: a failed end
    /// states the reason.
    fn unexpected_of_two((sender, receiver): (Reply, Reply)) -> Self {
        match sender {
            Reply::Failed(_) => Self::unexpected("sender", sender),
            _ if matches!(receiver, Reply::Failed(_)) => Self::unexpected("receiver", receiver),
            _ => Self::unexpected("sender", sender),
        }
    }

    fn unexpected(end: &str, reply: Reply) -> Self {
        match reply {
            Reply::Failed(reason) => Self::Transfer(format!("{end}: {reason}")),
            reply => Self::Lost(anyhow::anyhow!("unexpected reply of the {end}: {reply:?}")),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Lost(error)
    }
}

/// Sends a request to an agent.
///
/// # Errors
/// The agent has ended.
pub(crate) fn ask(worker: &mut Worker, request: &impl Serialize) -> Result<()> {
    Ok(worker.send_line(&serde_json::to_string(request)?)?)
}

/// The next reply of the agent of `end`, for which it has `timeout`.
///
/// # Errors
/// The agent has ended or does not answer, or the user asked to stop.
pub(crate) fn hear<T: DeserializeOwned>(
    worker: &mut Worker,
    end: &str,
    timeout: Span,
) -> Result<T> {
    let deadline = os::clock::monotonic() + timeout;
    loop {
        let soon = deadline.min(os::clock::monotonic() + Span::from_millis(100));
        let line = worker
            .receive_line(soon)
            .map_err(|error| match os::interrupt::asked() {
                // The signal may have reached the worker, too.
                true => interrupted(),
                false => error.into(),
            })?;
        match line {
            Some(line) => {
                return serde_json::from_str(&line)
                    .with_context(|| format!("reading the reply of the {end}"));
            }
            None if os::interrupt::asked() => return Err(interrupted()),
            None if os::clock::monotonic() >= deadline => {
                bail!(
                    "the {end} did not answer within {:.0} s",
                    timeout.as_secs_f64()
                )
            }
            None => {}
        }
    }
}
