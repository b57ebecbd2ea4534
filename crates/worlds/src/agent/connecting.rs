//! Connections among all hosts of a network.

use os::{Worker, clock};
use traffic::driver::connections::{Outcome, Task};
use units::Span;

use super::{Agents, Failure, Reply, Request, ask, hear};

/// How long a host may take to open its ports.
const OPENING: Span = Span::from_secs(10);

/// Time for replies after the end of the connections.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Opens all ports of `tasks`, one for each host in the order of the test bed, and
    /// carries the connections from an instant in `lead` on. Returns the beginning, in
    /// nanoseconds of CLOCK_MONOTONIC, too.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn connections(
        &mut self,
        tasks: &[Task],
        lead: Span,
    ) -> Result<(u64, Vec<Outcome>), Failure> {
        let lasts = tasks.iter().map(|task| task.end).max().unwrap_or_default();
        let opened = self.all_answer(tasks.iter().cloned().map(Request::Connect), OPENING)?;
        let mut failed = opened.into_iter();
        if let Some(other) = failed.find(|reply| !matches!(reply, Reply::Opened)) {
            // Those that have opened theirs close them.
            self.all_answer(tasks.iter().map(|_| Request::Disconnect), OPENING)?;
            return Err(Failure::unexpected("host", other));
        }
        let begin = clock::monotonic_nanos() + lead.as_nanos();
        let starts = tasks.iter().map(|_| Request::Carry(begin));
        let carried = self.all_answer(starts, lasts + MARGIN)?;
        let outcomes: Result<_, _> = { carried.into_iter() }
            .map(|reply| match reply {
                Reply::Carried(outcome) => Ok(outcome),
                other => Err(Failure::unexpected("host", other)),
            })
            .collect();
        Ok((begin, outcomes?))
    }

    /// The replies of all hosts, in the order of the test bed, to one request each.
    fn all_answer(
        &mut self,
        requests: impl Iterator<Item = Request>,
        timeout: Span,
    ) -> Result<Vec<Reply>, Failure> {
        let mut hosts: Vec<&mut Worker> = std::iter::once(&mut self.sender)
            .chain(&mut self.others)
            .chain([&mut self.receiver])
            .collect();
        for (host, request) in hosts.iter_mut().zip(requests) {
            ask(host, &request)?;
        }
        let replies = hosts.iter_mut().map(|host| hear(host, "host", timeout));
        Ok(replies.collect::<Result<_, _>>()?)
    }
}
