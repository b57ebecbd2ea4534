//! Connections among all hosts of a network.

use live::Worker;
use live::connections::{Outcome, Task};
use units::Span;

use super::{Agents, Failure, Reply, Request, ask, hear};

/// How long a host may take to open its ports.
const OPENING: Span = Span::from_secs(10);

/// Time for replies after the end of the connections.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Opens all ports of `tasks`, one for each host in the order of the test bed, and
    /// carries the connections.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn connections(&mut self, tasks: Vec<Task>) -> Result<Vec<Outcome>, Failure> {
        let lasts = tasks.iter().map(|task| task.end).max().unwrap_or_default();
        let mut hosts: Vec<&mut Worker> = std::iter::once(&mut self.sender)
            .chain(&mut self.others)
            .chain([&mut self.receiver])
            .collect();
        for (host, task) in hosts.iter_mut().zip(tasks) {
            ask(host, &Request::Connect(task))?;
        }
        let mut failed = None;
        for host in &mut hosts {
            match hear(host, "host", OPENING)? {
                Reply::Listening(_) => {}
                other => failed = Some(other),
            }
        }
        let mut outcomes = Vec::new();
        for host in &mut hosts {
            if failed.is_some() {
                continue;
            }
            match hear(host, "host", lasts + MARGIN)? {
                Reply::Connected(outcome) => outcomes.push(outcome),
                other => failed = Some(other),
            }
        }
        match failed {
            None => Ok(outcomes),
            Some(other) => Err(Failure::unexpected("host", other)),
        }
    }
}
