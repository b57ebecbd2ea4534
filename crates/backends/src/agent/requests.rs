//! The requests to an agent, and what it does.

use std::io::BufRead;
use std::net::IpAddr;

use anyhow::{Context, Result};
use meter::clock_offset::ClockLine;
use os::request::{self, Job};
use traffic::driver::clock_comparison::{ClockAnswerer, Compared, compare};
use traffic::driver::request_response::{self, Answerer, RequestResponse};
use traffic::driver::transfer::{Received, Receiver, Recorded, Sent, Transfer, send};
use traffic::driver::trial_token::Token;
use units::Span;

use super::{Arrivals, Departed, HostSample, OnLinux, Receiving, Sending, flows, on_linux};

/// The time for a corrected result.
const EVALUATION: Span = Span::from_secs(60);

/// The main loop of the worker: serves requests until its input ends.
///
/// # Errors
/// The parent process cannot be read from or written to.
pub(crate) fn serve(lines: impl BufRead) -> Result<()> {
    let mut agent = Agent::default();
    for line in lines.lines() {
        request::answer(&line?, all_requests, &mut agent)?;
    }
    Ok(())
}

/// The state of an agent between requests.
#[derive(Default)]
pub(crate) struct Agent {
    recorded: Option<Recorded>,
    pub(super) on_linux: OnLinux,
}

/// Reads a request to an agent.
pub(crate) fn all_requests(name: &str, json: &str) -> Option<os::Result<Job<Agent>>> {
    requests(name, json).or_else(|| on_linux::requests_of_linux(name, json))
}

/// Reports the port that a request has opened, ahead of the answer.
pub(super) fn listening(port: u16) -> os::Result<()> {
    request::send_reply(&Ok(port))
}

os::requests! {
    /// Reads a request to an agent on any system. The port of a request for traffic accepts only the peer
    /// with the token of that request.
    pub(crate) fn requests(agent: Agent);

    /// Open a port, report it, and receive.
    Receive(transfer: Transfer, token: Token) -> Received {
        let receiver = Receiver::open(transfer, token)?;
        listening(receiver.port)?;
        receiver.receive()?
    }
    /// Send to that port.
    SendTransfer(transfer: Transfer, token: Token, port: u16) -> Sent {
        send(&transfer, &token, port)?
    }
    /// As `Receive`, but keep the record until `Finish`.
    Record(transfer: Transfer, token: Token) -> () {
        let receiver = Receiver::open(transfer, token)?;
        listening(receiver.port)?;
        agent.recorded = Some(receiver.record()?);
    }
    /// Report what was kept, corrected by the offset of the clocks.
    Finish(line: ClockLine) within EVALUATION -> Received {
        agent.recorded.take().context("no transfer was kept")?.finish(Some(line))
    }
    /// Open a port, report it, and receive flows.
    ReceiveFlows(receiving: Receiving, token: Token) -> Arrivals {
        flows::receive(receiving, &token, listening)?
    }
    /// Send flows to that port.
    SendFlows(sending: Sending, token: Token, port: u16) -> Vec<Departed> {
        flows::send(sending, &token, port)?
    }
    /// Open a port, report it, and answer messages.
    AnswerMessages(messages: RequestResponse, token: Token) -> request_response::Answered {
        let answerer = Answerer::open(messages, token)?;
        listening(answerer.port)?;
        answerer.answer()?
    }
    /// Send messages to that port, one at a time.
    SendMessages(messages: RequestResponse, token: Token, port: u16) -> request_response::Asked {
        request_response::ask(&messages, &token, port)?
    }
    /// Open a port on the address, report it, and tell the clock to those who ask.
    AnswerClock(address: IpAddr, token: Token) -> () {
        let answerer = ClockAnswerer::open(address, token)?;
        listening(answerer.port)?;
        answerer.answer()?;
    }
    /// Ask for the clock at the address and port.
    CompareClocks(address: IpAddr, token: Token, port: u16) -> Compared {
        compare(address, &token, port)?
    }
    /// Read the meters of the host.
    Sample() -> HostSample {
        HostSample::now()?
    }
}
