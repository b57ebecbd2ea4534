//! Drop-tail: who finds no room is dropped.

use units::{Bytes, Time};

use crate::keys::{Field, Keyed, Keys};
use crate::law::Profile;
use crate::{Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason, Spec};

/// First in, first out; an arrival that finds no room is dropped.
#[derive(Debug)]
pub struct DropTail<P> {
    limit: Limit,
    fifo: Fifo<P>,
}

impl<P: Packet> DropTail<P> {
    /// An empty queue.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            fifo: Fifo::new(),
        }
    }
}

impl<P: Packet> Discipline<P> for DropTail<P> {
    fn enqueue(&mut self, _now: Time, packet: P, drops: &mut Drops<P>) {
        if self.limit.admits(self.fifo.backlog(), packet.view()) {
            self.fifo.push(packet);
        } else {
            drops.push(packet, Reason::Full);
        }
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

/// [`DropTail`] that is being set.
pub(crate) struct DropTailKeys {
    limit: Limit,
    profile: Profile,
}

impl Keyed for DropTailKeys {
    type Settings = Spec;
    const NAME: &'static str = "droptail";
    const ABOUT: &'static str = "Of `droptail`.";

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
        Ok(Spec::DropTail { limit })
    }
}
