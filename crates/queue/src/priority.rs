//! Strict priority: the best class that has a packet goes first.

use alloc::boxed::Box;
use alloc::vec::Vec;

use units::{Rate, Seed, Time};

use crate::{Backlog, BadSpec, Discipline, Drops, Packet, Spec};

/// A queue for each class; a packet goes only where no better class has one.
pub struct Priority<P> {
    /// The lowest class first.
    classes: Vec<Box<dyn Discipline<P>>>,
}

impl<P: Packet + 'static> Priority<P> {
    /// Empty queues for `classes` classes, each like `each`. A packet of a
    /// higher class than there is waits in the highest.
    ///
    /// # Errors
    /// Where there is no class, or a queue cannot be like `each`.
    pub fn new(classes: u8, each: &Spec, rate: Option<Rate>, seed: Seed) -> Result<Self, BadSpec> {
        if classes == 0 {
            return Err(BadSpec::Zero("classes"));
        }
        let class = |number: u8| each.build(rate, seed.with(number.into()));
        Ok(Self {
            classes: (0..classes).map(class).collect::<Result<_, _>>()?,
        })
    }
}

impl<P: Packet> Discipline<P> for Priority<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>) {
        let class = usize::from(packet.view().class).min(self.classes.len() - 1);
        self.classes[class].enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        self.classes
            .iter_mut()
            .rev()
            .filter(|class| class.ready_at().is_some_and(|ready| ready <= now))
            .find_map(|class| class.dequeue(now, drops))
    }

    fn ready_at(&self) -> Option<Time> {
        self.classes
            .iter()
            .filter_map(|class| class.ready_at())
            .min()
    }

    fn backlog(&self) -> Backlog {
        self.classes
            .iter()
            .map(|class| class.backlog())
            .fold(Backlog::default(), |all, one| Backlog {
                packets: all.packets.saturating_add(one.packets),
                bytes: all.bytes + one.bytes,
            })
    }

    fn rest(&mut self, since: Time) {
        for class in &mut self.classes {
            class.rest(since);
        }
    }
}
