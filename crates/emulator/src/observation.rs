//! Observations of the packets in front of an emulated link, by direction.

use link::{Entered, LinkObserver, PacketOutcome, QueueState};
use queue::{AverageQueue, Packet, Reason};
use units::Time;
use wire::frame::Ports;

use os::frames::Frame;

/// The headers of a packet of TCP or UDP in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Of a segment of TCP its sequence number and its bytes of payload.
    pub segment: Option<(u32, u32)>,
}

impl From<Ports> for Head {
    fn from(Ports { ports, segment }: Ports) -> Self {
        Self { ports, segment }
    }
}

/// An event in front of a link. Times are on the monotonic clock.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Observation {
    /// A frame with this many packets of senders arrived, and found this average; `None`
    /// for disciplines without one. The headers of its packets if they are kept, `None` for
    /// a packet of another protocol.
    Arrived(Time, u32, Option<AverageQueue>, Vec<Option<Head>>),
    /// A frame with this many packets of senders, which arrived at the first time, is
    /// transmitted from the second to the third.
    Sent([Time; 3], u32),
    /// The queue dropped a frame with this many packets of senders; their headers likewise.
    Dropped(Time, u32, Vec<Option<Head>>),
    /// The queue dropped this many packets of senders out of a frame; their headers likewise.
    InnerDropped(Time, u32, Vec<Option<Head>>),
}

/// Keeps the observations of one direction of a link while it is asked to.
#[derive(Debug, Default)]
pub(super) struct Observer {
    kept: Option<Vec<Observation>>,
    /// Whether headers are kept, too.
    heads: bool,
}

impl Observer {
    /// Starts anew, and keeps the headers of packets if `heads`.
    pub(super) fn begin(&mut self, heads: bool) {
        self.kept = Some(Vec::new());
        self.heads = heads;
    }

    fn heads(&self, frame: &Frame) -> Vec<Option<Head>> {
        match self.kept.is_some() && self.heads {
            true => { frame.ports().into_iter() }
                .map(|ports| ports.map(Head::from))
                .collect(),
            false => Vec::new(),
        }
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
        let heads = self.heads(frame);
        self.keep(|| Observation::Arrived(arrival.at, frame.live(), state().average, heads));
    }

    fn sent(
        &mut self,
        frame: &Frame,
        arrival: Entered,
        begins: Time,
        ends: Time,
        _: PacketOutcome,
    ) {
        self.keep(|| Observation::Sent([arrival.at, begins, ends], frame.live()));
    }

    fn dropped(&mut self, frame: &Frame, _: Entered, at: Time, reason: Option<Reason>) {
        // What is too big for the link never reaches its queue.
        if reason.is_some() {
            let heads = self.heads(frame);
            self.keep(|| Observation::Dropped(at, frame.live(), heads));
        }
    }

    fn inner_dropped(&mut self, packet: &Frame, _: Entered, at: Time, _: Reason) {
        let heads = self.heads(packet);
        self.keep(|| Observation::InnerDropped(at, packet.live(), heads));
    }
}
