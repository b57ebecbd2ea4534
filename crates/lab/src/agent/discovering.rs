//! Connections between two agents that discover the MTU of their path.

use live::discovery::{Settled, Task};
use units::Span;

use super::{Agents, Failure, Reply, Request};

/// Additional time beyond that of the connection: the far end waits for a connection
/// whose end it has not seen.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Makes the sender connect to the receiver until the size of packets has settled.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn discover(&mut self, task: &Task) -> Result<Settled, Failure> {
        let receiving = |_| Request::Accept(task.clone());
        let sending = |_, port| Request::Settle(task.clone(), port);
        match self.both(receiving, sending, task.timeout + MARGIN)? {
            (Reply::Settled(settled), Reply::Accepted) => Ok(settled),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }
}
