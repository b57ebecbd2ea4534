//! Connections among all hosts of a network.

use os::request::{Reply, Request};
use os::{Worker, kernel_clock};
use traffic::driver::connections::{Outcome, Task};
use units::Span;

use super::{Agent, Carry, Connect, Disconnect};
use super::{Agents, Failure};
use crate::call::{ask, hear};

/// Time for replies after the end of the connections.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Opens all ports of `tasks`, one for each host in the order of the test network, and
    /// carries the connections from a time in `lead` on. Returns the beginning, in
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
        let opened = self.all_answer(tasks.iter().cloned().map(Connect), Connect::TIME)?;
        if let Some(failed) = opened.into_iter().find(Result::is_err) {
            // Those that have opened theirs close them.
            self.all_answer(tasks.iter().map(|_| Disconnect()), Disconnect::TIME)?;
            Failure::or_answer("host", failed)?;
        }
        let begin = kernel_clock::monotonic_nanos() + lead.as_nanos();
        let starts = tasks.iter().map(|_| Carry(begin));
        let carried = self.all_answer(starts, lasts + MARGIN)?.into_iter();
        let outcomes = carried.map(|reply| Failure::or_answer("host", reply));
        Ok((begin, outcomes.collect::<Result<_, _>>()?))
    }

    /// The replies of all hosts, in the order of the test network, to one request each.
    fn all_answer<R: Request<Server = Agent>>(
        &mut self,
        requests: impl Iterator<Item = R>,
        timeout: Span,
    ) -> Result<Vec<Reply<R::Answer>>, Failure> {
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
