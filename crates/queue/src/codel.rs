//! CoDel: packets that waited too long for too long are dropped [RFC8289].

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Span, Time};

use crate::keys::{Field, Keyed, Keys};
use crate::law;
use crate::settings::Settings;
use crate::stamped::Stamped;
use crate::{Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason};

/// CoDel's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CodelSettings {
    /// How much may wait.
    pub limit: Limit,
    /// The standing delay that is tolerated.
    pub target: Span,
    /// For how long more is tolerated: a round trip, at worst.
    pub interval: Span,
    /// While no more than this waits nothing is dropped: the largest frame.
    pub largest: Bytes,
    /// Whether packets are marked, where they can be, instead of dropped.
    pub ecn: bool,
}

impl CodelSettings {
    /// A target of 5 ms and an interval of 100 ms [RFC8289 s4.3, s4.4].
    pub const fn new(limit: Limit, largest: Bytes) -> Self {
        Self {
            limit,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            largest,
            ecn: false,
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where it would hold nothing, or a time is none.
    pub fn check(&self) -> Result<(), BadSpec> {
        BadSpec::check_limit(self.limit, self.largest)?;
        BadSpec::check_span("target", self.target)?;
        BadSpec::check_span("interval", self.interval)
    }

    /// The law, before any packet.
    pub(crate) const fn law(&self) -> law::Codel {
        law::Codel::new(self.target, self.interval, self.largest)
    }
}

impl Keyed for CodelSettings {
    type Settings = Self;
    const NAME: &'static str = "codel";
    const ABOUT: &'static str = "Of `codel` [RFC8289].";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self::new(limit, largest)
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "target",
            "The accepted standing delay.",
            Field::Span(&mut self.target),
        );
        keys.key(
            "interval",
            "How long the delay may stay above it.",
            Field::Span(&mut self.interval),
        );
        keys.key(
            "ecn",
            "Whether ECN-capable packets are marked instead of dropped.",
            Field::Switch(&mut self.ecn),
        );
    }

    fn settings(self) -> Result<Self, BadSpec> {
        Ok(self)
    }
}

impl Settings for CodelSettings {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn build<P: Packet + 'static>(
        &self,
        _rate: Option<Rate>,
        _seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        Ok(Box::new(Codel::new(self)?))
    }
}

/// First in, first out, with CoDel at its exit; an arrival that finds no room
/// is dropped.
#[derive(Debug)]
pub struct Codel<P> {
    limit: Limit,
    ecn: bool,
    flow: Flow<P>,
}

impl<P: Packet> Codel<P> {
    /// An empty queue.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &CodelSettings) -> Result<Self, BadSpec> {
        settings.check()?;
        Ok(Self {
            limit: settings.limit,
            ecn: settings.ecn,
            flow: Flow::new(settings.law()),
        })
    }
}

impl<P: Packet> Discipline<P> for Codel<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>) {
        if self.limit.admits(self.flow.fifo.backlog(), packet.view()) {
            self.flow.fifo.push(Stamped::new(packet, now));
        } else {
            drops.push(packet, Reason::Full);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        self.flow.dequeue(now, self.ecn, drops)
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.flow.fifo.is_empty()).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.flow.fifo.backlog()
    }
}

/// Packets and the CoDel that watches them.
#[derive(Debug)]
pub(crate) struct Flow<P> {
    pub(crate) fifo: Fifo<Stamped<P>>,
    law: law::Codel,
}

impl<P: Packet> Flow<P> {
    pub(crate) const fn new(law: law::Codel) -> Self {
        Self {
            fifo: Fifo::new(),
            law,
        }
    }

    /// The next packet, after those that CoDel drops [RFC8289 s5.5].
    pub(crate) fn dequeue(&mut self, now: Time, ecn: bool, drops: &mut Drops<P>) -> Option<P> {
        let (mut packet, mut ripe) = self.take(now);
        if !self.law.is_dropping() {
            if ripe {
                let left = mark_or_drop(packet, ecn, drops);
                packet = match left {
                    Some(marked) => Some(marked),
                    None => self.take(now).0,
                };
                self.law.begin(now);
            }
            return packet;
        }
        if !ripe {
            self.law.end();
        }
        while self.law.is_due(now) {
            self.law.count();
            if let Some(marked) = mark_or_drop(packet, ecn, drops) {
                self.law.schedule();
                return Some(marked);
            }
            (packet, ripe) = self.take(now);
            if ripe {
                self.law.schedule();
            } else {
                self.law.end();
            }
        }
        packet
    }

    /// The oldest packet, and whether it may be dropped.
    fn take(&mut self, now: Time) -> (Option<P>, bool) {
        let packet = self.fifo.pop();
        let sojourn = packet.as_ref().map(|packet| packet.sojourn(now));
        let ripe = self.law.is_ripe(now, sojourn, self.fifo.backlog().bytes);
        (packet.map(|packet| packet.packet), ripe)
    }
}

/// Marks the packet, if that is wanted and possible; else drops it.
fn mark_or_drop<P: Packet>(packet: Option<P>, ecn: bool, drops: &mut Drops<P>) -> Option<P> {
    let mut packet = packet?;
    if ecn && packet.mark() {
        return Some(packet);
    }
    drops.push(packet, Reason::Late);
    None
}
