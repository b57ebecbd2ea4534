//! Looking at what a link does, at the instants at which it happens.

use queue::{Backlog, Reason};
use units::Time;

use super::Fate;

/// The state of a queue when a packet arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueState {
    /// The packets that wait already.
    pub backlog: Backlog,
    /// The average that the queue's law goes by, before it counts this packet;
    /// `None` for laws without one.
    pub average: Option<f64>,
}

/// Sees every packet of a link, and changes nothing. All methods do nothing
/// unless written otherwise; `()` sees nothing and costs nothing.
///
/// A link works out what its queue did when it is asked next, so it may tell
/// of an instant long after it; the instants themselves are exact, and never
/// go back.
pub trait LinkObserver<P> {
    /// `packet` came at `at`, when the queue was in the state that `state` returns.
    fn arrived(&mut self, _packet: &P, _at: Time, _state: impl FnOnce() -> QueueState) {}

    /// `packet`, which came at `arrival`, has the wire from `begins` until
    /// `ends`; what becomes of it there is its fate.
    fn sent(&mut self, _packet: &P, _arrival: Time, _begins: Time, _ends: Time, _fate: Fate) {}

    /// `packet`, which came at `arrival`, was dropped by the queue at `at`, or
    /// refused because it was too big: then there is no reason.
    fn dropped(&mut self, _packet: &P, _arrival: Time, _at: Time, _reason: Option<Reason>) {}

    /// `packet` was dropped by the queue at `at` out of a bundle, which goes on
    /// without it.
    fn inner_dropped(&mut self, _packet: &P, _at: Time, _reason: Reason) {}
}

impl<P> LinkObserver<P> for () {}
