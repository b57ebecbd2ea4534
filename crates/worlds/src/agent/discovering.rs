//! Connections between two agents that discover the MTU of their path.

use traffic::driver::discovery::{Settled, Task};
use units::Span;

use super::requests::{Accept, Settle};
use super::{Agents, Failure};

/// Additional time beyond that of the connection: the far end waits for a connection
/// whose end it has not seen.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Makes the sender connect to the receiver until the size of packets has settled. Returns
    /// it with the number of unauthenticated peers.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn discover(&mut self, task: &Task) -> Result<(Settled, u64), Failure> {
        let receiving = |token| Accept(task.clone(), token);
        let sending = |token, port| Settle(task.clone(), token, port);
        self.both(receiving, sending, task.timeout + MARGIN)
    }
}
