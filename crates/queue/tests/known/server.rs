//! A link that serves one packet after the other, and packets for it.

use jumbolab_queue::{Discipline, Drops, Packet, Reason, Spec, View};
use units::{Bytes, Rate, Seed, Time};

/// A packet that is only what a queue may see of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiny {
    pub(crate) number: u64,
    pub(crate) view: View,
    pub(crate) live: u32,
    /// Whether it can be marked.
    pub(crate) capable: bool,
    pub(crate) marked: bool,
}

impl Tiny {
    /// A packet of a sender, of this many bytes.
    pub(crate) fn new(number: u64, size: u64) -> Self {
        Self {
            number,
            view: View {
                size: Bytes::new(size),
                ..View::default()
            },
            live: 1,
            capable: false,
            marked: false,
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.view.size.get()
    }
}

impl Packet for Tiny {
    fn view(&self) -> View {
        self.view
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.capable;
        self.capable
    }
}

/// The outcome of a packet, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketOutcome {
    /// Its transmission began.
    Sent(Time, Tiny),
    /// It was dropped.
    Dropped(Time, Tiny, Reason),
}

/// A queue and the link behind it.
pub(crate) struct Server<Q: ?Sized = dyn Discipline<Tiny>> {
    pub(crate) queue: Box<Q>,
    rate: Rate,
    free: Time,
    now: Time,
    drops: Drops<Tiny>,
    pub(crate) outcomes: Vec<PacketOutcome>,
}

impl Server {
    pub(crate) fn new(spec: &Spec, rate: Rate, seed: u64) -> Self {
        Self::with(spec.build(Some(rate), Seed::new(seed)).unwrap(), rate)
    }
}

impl<Q: Discipline<Tiny> + ?Sized> Server<Q> {
    pub(crate) fn with(queue: Box<Q>, rate: Rate) -> Self {
        Self {
            queue,
            rate,
            free: Time::ZERO,
            now: Time::ZERO,
            drops: Drops::new(),
            outcomes: Vec::new(),
        }
    }

    /// Begins every transmission that can begin by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(ready) = self.queue.ready_at() {
            let start = self.free.max(self.now).max(ready);
            if start > now {
                break;
            }
            let packet = self.queue.dequeue(start, &mut self.drops);
            self.take_drops(start);
            if let Some(packet) = packet {
                self.outcomes.push(PacketOutcome::Sent(start, packet));
                self.free = start + self.rate.serialise(packet.view.size);
            }
        }
        if self.queue.ready_at().is_none() && self.free <= now {
            self.queue.rest(self.free);
        }
    }

    /// A packet comes at `now`.
    pub(crate) fn arrive(&mut self, now: Time, packet: Tiny) {
        self.advance(now);
        self.now = now;
        self.queue.enqueue(now, packet, &mut self.drops);
        self.take_drops(now);
        self.advance(now);
    }

    /// Serves until nothing waits.
    pub(crate) fn finish(&mut self) {
        self.advance(Time::from_picos(u64::MAX));
    }

    /// The numbers of the packets that were dropped, in that order.
    pub(crate) fn dropped(&self) -> Vec<u64> {
        let dropped = |outcome: &PacketOutcome| match outcome {
            PacketOutcome::Dropped(_, packet, _) => Some(packet.number),
            PacketOutcome::Sent(..) => None,
        };
        self.outcomes.iter().filter_map(dropped).collect()
    }

    /// The numbers of the packets that were sent, in that order.
    pub(crate) fn sent(&self) -> Vec<u64> {
        let sent = |outcome: &PacketOutcome| match outcome {
            PacketOutcome::Sent(_, packet) => Some(packet.number),
            PacketOutcome::Dropped(..) => None,
        };
        self.outcomes.iter().filter_map(sent).collect()
    }

    fn take_drops(&mut self, now: Time) {
        for (packet, reason) in self.drops.drain() {
            self.outcomes
                .push(PacketOutcome::Dropped(now, packet, reason));
        }
    }
}

pub(crate) fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).unwrap()
}
