//! Packets that the queue of the uplink dropped.

use queue::Reason;
use units::Time;

use super::packet::Departing;
use link::{Entered, LinkObserver};

/// Drops of the uplink that nobody has counted yet.
#[derive(Debug, Default)]
pub(super) struct Lost(pub(super) Vec<LostPackets>);

/// A drop of the uplink's queue.
#[derive(Debug)]
pub(super) struct LostPackets {
    pub(super) at: Time,
    pub(super) peer: usize,
    pub(super) reason: Reason,
    /// The numbers of the packets.
    pub(super) packets: Vec<u64>,
    /// Whether their bundle went on without them.
    pub(super) taken_out: bool,
}

impl Lost {
    fn note(&mut self, lost: &Departing, at: Time, reason: Option<Reason>, taken_out: bool) {
        self.0.push(LostPackets {
            at,
            peer: lost.peer,
            reason: reason.unwrap_or(Reason::Full),
            packets: lost.numbers().map(|(number, _, _)| number).collect(),
            taken_out,
        });
    }
}

impl LinkObserver<Departing> for Lost {
    fn dropped(&mut self, packet: &Departing, _: Entered, at: Time, reason: Option<Reason>) {
        self.note(packet, at, reason, false);
    }

    fn inner_dropped(&mut self, packet: &Departing, _: Entered, at: Time, reason: Reason) {
        self.note(packet, at, Some(reason), true);
    }
}
