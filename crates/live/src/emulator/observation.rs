//! Observations of the packets in front of an emulated link, by direction.

use proto::link::{Entered, Fate, LinkObserver, QueueState};
use queue::{Packet, Reason};
use units::Time;

use crate::frames::Frame;

/// An event in front of a link. Instants are on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Observation {
    /// A frame with this many packets of senders arrived, and found this average; `None`
    /// for disciplines without one.
    Arrived(Time, u32, Option<f64>),
    /// A frame with this many packets of senders, which arrived at the first instant, is
    /// transmitted from the second to the third.
    Sent([Time; 3], u32),
    /// The queue dropped a frame with this many packets of senders.
    Dropped(Time, u32),
    /// The queue dropped this many packets of senders out of a frame.
    InnerDropped(Time, u32),
}

/// Keeps the observations of one direction of a link while it is asked to.
#[derive(Debug, Default)]
pub(super) struct Observer {
    kept: Option<Vec<Observation>>,
}

impl Observer {
    /// Starts anew.
    pub(super) fn begin(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// The observations so far; no more are kept.
    pub(super) fn end(&mut self) -> Vec<Observation> {
        self.kept.take().unwrap_or_default()
    }

    fn keep(&mut self, observation: impl FnOnce() -> Observation) {
        if let Some(kept) = &mut self.kept {
            kept.push(observation());
        }
    }
}

impl LinkObserver<Frame> for Observer {
    fn arrived(&mut self, frame: &Frame, arrival: Entered, state: impl FnOnce() -> QueueState) {
        self.keep(|| Observation::Arrived(arrival.at, frame.live(), state().average));
    }

    fn sent(&mut self, frame: &Frame, arrival: Entered, begins: Time, ends: Time, _: Fate) {
        self.keep(|| Observation::Sent([arrival.at, begins, ends], frame.live()));
    }

    fn dropped(&mut self, frame: &Frame, _: Entered, at: Time, reason: Option<Reason>) {
        // What is too big for the link never reaches its queue.
        if reason.is_some() {
            self.keep(|| Observation::Dropped(at, frame.live()));
        }
    }

    fn inner_dropped(&mut self, packet: &Frame, _: Entered, at: Time, _: Reason) {
        self.keep(|| Observation::InnerDropped(at, packet.live()));
    }
}
