//! Asks the agent of a host.

use std::cell::RefCell;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use os::Worker;
use os::request::Request;
use os::worker::Command;
use units::Span;

use super::{AttendProgram, EndProgram, Host, ProgramState, StartProgram};
use crate::call::call_within;
use crate::measure::Program;

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

    /// What the host answers to `request`.
    ///
    /// # Errors
    /// The agent has ended, does not answer, or rejects.
    pub(crate) fn call<R: Request<Server = Host>>(&self, request: &R) -> Result<R::Answer> {
        self.call_within(request, R::TIME)
    }

    /// The same, for a request that takes `time`.
    fn call_within<R: Request<Server = Host>>(&self, request: &R, time: Span) -> Result<R::Answer> {
        let answer = call_within(&mut self.worker.borrow_mut(), &self.host, request, time);
        answer.with_context(|| format!("host {}", self.host))
    }

    /// Starts a program of the user.
    ///
    /// # Errors
    /// As [`HostAgent::call`].
    pub(crate) fn start_program(&self, words: &[String]) -> Result<RemoteTool<'_>> {
        Ok(RemoteTool {
            agent: self,
            number: self.call(&StartProgram(words.to_vec()))?,
            state: ProgramState::default(),
        })
    }
}

/// A program of the user on a host. It ends when this value is dropped.
pub(crate) struct RemoteTool<'a> {
    agent: &'a HostAgent,
    number: u32,
    state: ProgramState,
}

impl Program for RemoteTool<'_> {
    fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>> {
        if self.state.status.is_none() {
            let request = AttendProgram(self.number, timeout);
            let time = timeout + AttendProgram::TIME;
            self.state = self.agent.call_within(&request, time)?;
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
        let _ = self.agent.call(&EndProgram(self.number));
    }
}
