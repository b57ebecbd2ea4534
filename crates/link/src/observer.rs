//! Observers of a link's events, with their exact times.

use queue::{AverageQueue, Backlog, Reason};
use units::Time;

use super::PacketOutcome;

/// The state of a queue when a packet arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueState {
    /// The packets that wait already.
    pub backlog: Backlog,
    /// The average queue, before it counts this packet; `None` for disciplines without
    /// one.
    pub average: Option<AverageQueue>,
}

/// The arrival of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The time.
    pub at: Time,
    /// The number of packets that had arrived, this one included.
    pub number: u64,
}

/// Observes every packet of a link without influence on it. All methods do nothing by
/// default; `()` observes nothing and costs nothing.
///
/// A link computes the actions of its queue when it is called next, so it may report an
/// event long after its time. The times are exact and never decrease.
pub trait LinkObserver<P> {
    /// `packet` arrived; `state` returns the state of the queue before it.
    fn arrived(&mut self, _packet: &P, _arrival: Entered, _state: impl FnOnce() -> QueueState) {}

    /// `packet`, which arrived at `arrival`, is transmitted from `begins` until `ends`,
    /// with `outcome`.
    fn sent(
        &mut self,
        _packet: &P,
        _arrival: Entered,
        _begins: Time,
        _ends: Time,
        _outcome: PacketOutcome,
    ) {
    }

    /// `packet`, which arrived at `arrival`, was dropped by the queue at `at`. No
    /// reason means that it was rejected as too big.
    fn dropped(&mut self, _packet: &P, _arrival: Entered, _at: Time, _reason: Option<Reason>) {}

    /// The queue dropped `packet` at `at` out of a bundle that arrived at `arrival` and
    /// stays in the queue.
    fn inner_dropped(&mut self, _packet: &P, _arrival: Entered, _at: Time, _reason: Reason) {}
}

impl<P> LinkObserver<P> for () {}
