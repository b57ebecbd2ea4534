//! Drop-from-front: who waited longest makes room [Lakshman1996].

use units::{Bytes, Time};

use crate::keys::{Field, Keyed, Keys};
use crate::law::Profile;
use crate::{Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason, Spec};

/// A FIFO queue that drops the oldest packets to make room for an arrival. Their
/// receivers detect the loss earlier, by the time that the queue takes to drain
/// [Lakshman1996]. A packet that does not fit into the empty queue is dropped
/// itself, without displacing others.
#[derive(Debug)]
pub struct DropFront<P> {
    limit: Limit,
    fifo: Fifo<P>,
}

impl<P: Packet> DropFront<P> {
    /// An empty queue.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            fifo: Fifo::new(),
        }
    }
}

impl<P: Packet> Discipline<P> for DropFront<P> {
    fn enqueue(&mut self, _now: Time, packet: P, drops: &mut Drops<P>) {
        let arrival = packet.view();
        if !self.limit.admits(Backlog::default(), arrival) {
            drops.push(packet, Reason::Full);
            return;
        }
        while !self.limit.admits(self.fifo.backlog(), arrival)
            && let Some(oldest) = self.fifo.pop()
        {
            drops.push(oldest, Reason::Full);
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops<P>) -> Option<P> {
        self.fifo.pop()
    }

    fn open(&self) -> Option<Limit> {
        Some(self.limit)
    }

    fn ready_at(&self) -> Option<Time> {
        (self.fifo.backlog().packets > 0).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}

/// [`DropFront`] that is being set.
pub(crate) struct DropFrontKeys {
    limit: Limit,
    profile: Profile,
}

impl Keyed for DropFrontKeys {
    type Settings = Spec;
    const NAME: &'static str = "dropfront";
    const ABOUT: &'static str = "Of `dropfront`.";

    fn usual(limit: Limit, _largest: Bytes) -> Self {
        let profile = Profile::Clean;
        Self { limit, profile }
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "profile",
            "`ns2` never fills the last slot, as ns-2.35.",
            Field::Word(&mut self.profile),
        );
    }

    fn settings(self) -> Result<Spec, BadSpec> {
        let limit = self.limit.with(self.profile);
        Ok(Spec::DropFront { limit })
    }
}
