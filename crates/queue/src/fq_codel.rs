//! FQ-CoDel: flows in turn, each with a CoDel of its own [RFC8290].

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use units::{Bytes, Rate, Seed, Time};

use crate::codel::{CodelSettings, Flow};
use crate::keys::{Field, Keyed, Keys};
use crate::settings::Settings;
use crate::stamped::Stamped;
use crate::{Backlog, BadSpec, Discipline, Drops, Limit, Packet, Reason};

/// FQ-CoDel's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FqCodelSettings {
    /// CoDel's parameters for each flow; the limit is that of all flows together.
    pub codel: CodelSettings,
    /// The number of queues over which a hash spreads the flows.
    pub queues: u16,
    /// The bytes that a flow may send in one round.
    pub quantum: Bytes,
}

impl FqCodelSettings {
    /// 1024 queues, a quantum of one of the largest frames, CoDel as usual
    /// [RFC8290 s5.2].
    pub const fn new(limit: Limit, largest: Bytes) -> Self {
        Self {
            codel: CodelSettings::new(limit, largest),
            queues: 1024,
            quantum: largest,
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where CoDel could not be, there is no queue or no quantum.
    pub fn check(&self) -> Result<(), BadSpec> {
        self.codel.check()?;
        if self.queues == 0 {
            return Err(BadSpec::Zero("queues"));
        }
        if self.quantum == Bytes::ZERO {
            return Err(BadSpec::Zero("quantum"));
        }
        Ok(())
    }
}

impl Keyed for FqCodelSettings {
    type Settings = Self;
    const NAME: &'static str = "fq_codel";
    const ABOUT: &'static str = "Of `fq_codel` [RFC8290].";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self::new(limit, largest)
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "target",
            "As of `codel`.",
            Field::Span(&mut self.codel.target),
        );
        keys.key(
            "interval",
            "As of `codel`.",
            Field::Span(&mut self.codel.interval),
        );
        keys.key(
            "ecn",
            "Whether ECN-capable packets are marked instead of dropped.",
            Field::Switch(&mut self.codel.ecn),
        );
        keys.key(
            "queues",
            "Number of queues over which flows are hashed.",
            Field::Count {
                most: u16::MAX,
                count: &mut self.queues,
            },
        );
        keys.key(
            "quantum",
            "Bytes that a queue sends in a round.",
            Field::Size(&mut self.quantum),
        );
    }

    fn settings(self) -> Result<Self, BadSpec> {
        Ok(self)
    }
}

impl Settings for FqCodelSettings {
    fn limit(&self) -> Limit {
        self.codel.limit
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.codel.limit
    }

    fn build<P: Packet + 'static>(
        &self,
        _rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        Ok(Box::new(FqCodel::new(self, seed)?))
    }
}

/// Flows in turn by deficit round robin, those that are new first. Where there
/// is no room, the longest flow loses its oldest packet.
#[derive(Debug)]
pub struct FqCodel<P> {
    limit: Limit,
    ecn: bool,
    quantum: i64,
    salt: Seed,
    queues: Vec<Queue<P>>,
    /// Flows that begin, and those that go on, in the order of their turns.
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    backlog: Backlog,
}

/// One of the queues.
#[derive(Debug)]
struct Queue<P> {
    flow: Flow<P>,
    /// The bytes that it may still send in this round; negative after an overdraft.
    credits: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

impl<P: Packet> FqCodel<P> {
    /// Empty queues.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &FqCodelSettings, seed: Seed) -> Result<Self, BadSpec> {
        settings.check()?;
        let queue = |_| Queue {
            flow: Flow::new(settings.codel.law()),
            credits: 0,
            active: false,
        };
        Ok(Self {
            limit: settings.codel.limit,
            ecn: settings.codel.ecn,
            quantum: signed(settings.quantum),
            salt: seed,
            queues: (0..settings.queues).map(queue).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }

    /// In which queue a flow waits [RFC8290 s4.1.1].
    fn queue_of(&self, flow: u64) -> u16 {
        let hash = self.salt.with(flow).get() >> 32;
        // The upper bits choose evenly: (2^32 x queues) >> 32 is below queues.
        u16::try_from((hash * self.queues.len() as u64) >> 32).unwrap_or(0)
    }

    /// Takes the oldest packet of the longest flow [RFC8290 s4.1].
    fn shorten(&mut self, drops: &mut Drops<P>) {
        let active = self.new.iter().chain(&self.old).copied();
        let longest =
            active.max_by_key(|&number| self.queues[usize::from(number)].flow.fifo.backlog().bytes);
        if let Some(number) = longest
            && let Some(victim) = self.queues[usize::from(number)].flow.fifo.pop()
        {
            self.forget(victim.view().size);
            drops.push(victim.packet, Reason::Full);
        }
    }

    fn forget(&mut self, size: Bytes) {
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - size;
    }

    /// The queue whose turn it is, and whether it is a new one.
    fn turn(&self) -> Option<(u16, bool)> {
        let new = self.new.front().map(|&number| (number, true));
        new.or_else(|| self.old.front().map(|&number| (number, false)))
    }

    /// Ends the turn of the first queue of a list.
    fn pass(&mut self, new: bool) -> Option<u16> {
        if new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        }
    }
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>) {
        let arrival = packet.view();
        if !self.limit.admits(Backlog::default(), arrival) {
            return drops.push(packet, Reason::Full);
        }
        let number = self.queue_of(arrival.flow);
        let quantum = self.quantum;
        let queue = &mut self.queues[usize::from(number)];
        queue.flow.fifo.push(Stamped::new(packet, now));
        if !queue.active {
            queue.active = true;
            queue.credits = quantum;
            self.new.push_back(number);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += arrival.size;
        while self.limit.is_exceeded(self.backlog) {
            self.shorten(drops);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        // Deficit round robin [RFC8290 s4.2].
        while let Some((number, new)) = self.turn() {
            let queue = &mut self.queues[usize::from(number)];
            if queue.credits <= 0 {
                queue.credits += self.quantum;
                self.pass(new);
                self.old.push_back(number);
                continue;
            }
            let before = queue.flow.fifo.backlog();
            let packet = queue.flow.dequeue(now, self.ecn, drops);
            let after = queue.flow.fifo.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes = self.backlog.bytes - (before.bytes - after.bytes);
            if let Some(packet) = packet {
                queue.credits -= signed(packet.view().size);
                return Some(packet);
            }
            // A new flow that is empty waits for a turn among the old ones, so
            // that it cannot starve them by coming again and again.
            queue.active = new;
            self.pass(new);
            if new {
                self.old.push_back(number);
            }
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        (self.backlog.packets > 0).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

fn signed(size: Bytes) -> i64 {
    i64::try_from(size.get()).unwrap_or(i64::MAX)
}
