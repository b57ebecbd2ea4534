//! Aggregation packets into bundles, for one place at which they are unpacked
//! [Salyers2007].

use alloc::vec::Vec;

use units::{Bytes, Span, Time};

use crate::{Bundle, Encapsulation, Packet, Part, Tick};

/// The smallest IP packet there is: a header of IPv4 [RFC791 s3.1].
const SMALLEST: Bytes = Bytes::new(20);
/// The largest packet whose length an entry can tell in its 16 bits.
const LARGEST: Bytes = Bytes::new(0xffff);
/// The smallest piece in front of another one: the header of IPv6, so that the first piece
/// states the length of the packet [RFC8200 s3].
const LEAST_PIECE: Bytes = Bytes::new(40);

/// When a bundle goes, if it is not full before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Trigger {
    /// So long after its first packet came (MAX_WAIT) [Mulahuwaish s2].
    Timer(Span),
    /// As soon as the link can take it, so that only what waits anyway is
    /// aggregated; this long after its first packet came at the latest.
    EgressBusy(Span),
    /// Never: only what is full goes.
    Full,
}

/// How packets are aggregated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AggregatorSettings {
    /// The bytes of IP that a bundle may have.
    pub mtu: Bytes,
    /// The largest packet that stays whole, in bytes of IP. A larger one fills the open
    /// bundle, and continues in those behind it [RFC9347 s2.2].
    pub whole: Bytes,
    /// When a bundle goes.
    pub trigger: Trigger,
    /// The bytes that the format of bundles adds.
    pub encapsulation: Encapsulation,
    /// The unit in which a bundle states the waiting time of its packets.
    pub tick: Tick,
    /// The share of sent frames that may be bundles, above 0 and at most 1: of the
    /// packets that find no open bundle this share opens one, evenly spread, and
    /// the others are sent bare at once.
    pub share: f64,
}

/// Settings with which nothing can be aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAggregator {
    /// No two packets would ever fit.
    #[error(
        "an MTU of {mtu} B has no room for two packets beside the headers of a bundle; \
         give it {least} B at least"
    )]
    Mtu {
        /// The MTU asked for, in bytes.
        mtu: u64,
        /// The bytes of a bundle of two packets of the smallest size.
        least: u64,
    },
    /// A share that there cannot be.
    #[error(
        "a share of bundles is above 0 and at most 1; write such a number, or switch aggregation off"
    )]
    Share,
    /// A timer that has expired when it is started.
    #[error("a timer of 0 aggregates nothing; give it a time, or aggregate while the link is busy")]
    Timer,
}

impl AggregatorSettings {
    /// Whether packets can be aggregated so.
    ///
    /// # Errors
    /// Where a bundle could not hold two packets, or the timer is none.
    pub fn check(&self) -> Result<(), BadAggregator> {
        let least = self.encapsulation.header + (self.encapsulation.entry + SMALLEST) * 2;
        if self.mtu < least {
            return Err(BadAggregator::Mtu {
                mtu: self.mtu.get(),
                least: least.get(),
            });
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(BadAggregator::Share);
        }
        if self.trigger == Trigger::Timer(Span::ZERO) {
            return Err(BadAggregator::Timer);
        }
        Ok(())
    }
}

/// Packets that wait for more with the same destination.
///
/// They keep their order. Whoever drives it asks after every call when the
/// bundle must go, [`Aggregator::due`], or may go, [`Aggregator::due_on_idle_link`], and
/// takes it at that time with [`Aggregator::flush`].
#[derive(Debug)]
pub struct Aggregator<P> {
    settings: AggregatorSettings,
    /// In the order in which they came, each with the time.
    waiting: Vec<(P, Time)>,
    /// The bytes of IP of a bundle of them.
    bytes: Bytes,
    /// Nothing that comes can fit any more, or is to.
    full: bool,
    /// The part of the next bundle that is due by [`AggregatorSettings::share`].
    credit: f64,
}

impl<P: Packet> Aggregator<P> {
    /// Nothing waits yet.
    ///
    /// # Errors
    /// Where packets cannot be aggregated so.
    pub fn new(settings: AggregatorSettings) -> Result<Self, BadAggregator> {
        settings.check()?;
        Ok(Self {
            settings,
            waiting: Vec::new(),
            bytes: settings.encapsulation.header,
            full: false,
            credit: 0.0,
        })
    }

    /// Takes a packet in. Hands the bundles that have no more room for it to `gone`: they
    /// go at once, and the packet, or its last piece, begins the next one.
    pub fn push(&mut self, now: Time, packet: P, gone: impl FnMut(Bundle<P>)) {
        self.push_late(now, packet, now, gone);
    }

    /// The same for a packet that came before, and has waited elsewhere since.
    pub fn push_late(
        &mut self,
        now: Time,
        mut packet: P,
        came: Time,
        mut gone: impl FnMut(Bundle<P>),
    ) {
        let AggregatorSettings {
            encapsulation,
            whole,
            ..
        } = self.settings;
        let size = encapsulation.inside(&packet);
        let stays = packet.part() == Part::Whole && size <= whole;
        if !stays && size <= LARGEST {
            while self.full || encapsulation.inside(&packet) > self.room() {
                if !self.full && self.room() >= LEAST_PIECE {
                    let Some(piece) = packet.cut(self.room()) else {
                        break;
                    };
                    self.wait(piece, came);
                }
                self.flush(now).into_iter().for_each(&mut gone);
            }
        }
        let size = encapsulation.inside(&packet);
        if size > self.room() || size > LARGEST || self.full {
            self.flush(now).into_iter().for_each(gone);
        }
        self.wait(packet, came);
    }

    /// The bytes of IP of the largest packet for which the open bundle has room.
    fn room(&self) -> Bytes {
        self.settings.mtu - self.bytes - self.settings.encapsulation.entry
    }

    /// Lets a packet or a piece wait in the open bundle.
    fn wait(&mut self, packet: P, came: Time) {
        let entry = self.settings.encapsulation.entry;
        let size = self.settings.encapsulation.inside(&packet);
        self.bytes += entry + size;
        let opens = !self.waiting.is_empty() || packet.part() != Part::Whole || self.may_open();
        let room = self.bytes + entry + SMALLEST <= self.settings.mtu;
        self.full = size > LARGEST || !room || !opens;
        self.waiting.push((packet, came));
    }

    /// Whether the packet that comes may open a bundle.
    fn may_open(&mut self) -> bool {
        self.credit += self.settings.share;
        let opens = self.credit >= 1.0;
        if opens {
            self.credit -= 1.0;
        }
        opens
    }

    /// When the bundle must go: at once, in the past, if it is full; `None`
    /// where nothing waits, or what waits is to wait until more comes.
    pub fn due(&self) -> Option<Time> {
        let since = self.since()?;
        if self.full {
            return Some(since);
        }
        match self.settings.trigger {
            Trigger::Timer(span) | Trigger::EgressBusy(span) => Some(since + span),
            Trigger::Full => None,
        }
    }

    /// When it must go while the link has nothing else to do.
    pub fn due_on_idle_link(&self) -> Option<Time> {
        match self.settings.trigger {
            Trigger::EgressBusy(_) => self.since(),
            Trigger::Timer(_) | Trigger::Full => self.due(),
        }
    }

    /// Releases the waiting packets at `now`, a single packet without a bundle;
    /// `None` if no packet waits.
    pub fn flush(&mut self, now: Time) -> Option<Bundle<P>> {
        self.bytes = self.settings.encapsulation.header;
        self.full = false;
        let packets = self.waiting.drain(..).map(|(packet, came)| {
            let waited = now.since(came).unwrap_or_default();
            (packet, waited)
        });
        let AggregatorSettings {
            encapsulation,
            tick,
            ..
        } = self.settings;
        Bundle::pack(packets, encapsulation, tick, None)
    }

    /// The waiting packets in order, each with the time at which it came.
    pub fn into_waiting(self) -> impl Iterator<Item = (P, Time)> {
        self.waiting.into_iter()
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the oldest packet that waits came.
    fn since(&self) -> Option<Time> {
        Some(self.waiting.first()?.1)
    }
}

#[cfg(test)]
mod tests;
