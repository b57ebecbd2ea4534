//! Strict priority: the best class that has a packet goes first.

use alloc::boxed::Box;
use alloc::vec::Vec;

use units::{Bytes, Rate, Seed, Time};

use crate::keys::{Field, Keyed, Keys, NamedChoice, Reaction};
use crate::spec::DISCIPLINES;
use crate::{Backlog, BadSpec, Choice, Configured, Discipline, Drops, Limit, Packet, Spec};

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

/// [`Priority`] that is being set.
pub(crate) struct PriorityKeys {
    limit: Limit,
    largest: Bytes,
    classes: u8,
    each: Configured,
}

impl Keyed for PriorityKeys {
    type Settings = Spec;
    const NAME: &'static str = "priority";
    const ABOUT: &'static str = "Of `priority`, the highest class first; the queue of each class has its own parameters in its own table.";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self {
            limit,
            largest,
            classes: 2,
            each: Configured {
                spec: Ok(Spec::DropTail { limit }),
                notices: None,
                idle: Vec::new(),
            },
        }
    }

    /// Its own keys, and those of the queue of each class.
    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        let mut classes = self.classes.into();
        keys.key(
            "classes",
            "Number of classes.",
            Field::Count {
                most: 8,
                count: &mut classes,
            },
        );
        self.classes = u8::try_from(classes).unwrap_or(u8::MAX);
        let mut each = Choice::usual();
        keys.key(
            "class_queue",
            "The queue of every class.",
            Field::Queue(&mut each),
        );
        self.each = match each.name {
            Self::NAME => Configured {
                spec: Err(BadSpec::Nested),
                notices: None,
                idle: Vec::new(),
            },
            _ => each.configure(self.limit, self.largest, keys.visitor()),
        };
    }

    fn settings(self) -> Result<Spec, BadSpec> {
        Ok(Spec::Priority {
            classes: self.classes,
            each: Box::new(self.each.spec?),
        })
    }

    fn notices(&self) -> Option<Reaction> {
        self.each.notices
    }

    fn idle(&self) -> Vec<BadSpec> {
        self.each.idle.clone()
    }
}

impl NamedChoice for &'static Choice {
    fn words(&self) -> Vec<&'static str> {
        DISCIPLINES.iter().map(|choice| choice.name).collect()
    }

    fn word(&self) -> &'static str {
        self.name
    }

    fn choose(&mut self, word: &str) -> bool {
        let named = Choice::named(word);
        if let Some(choice) = named {
            *self = choice;
        }
        named.is_some()
    }
}
