//! One direction of a link in the network.

use link::{Counters, Delivery, FastLink, Link, PacketOutcome, Settings};
use units::{Bytes, Framing, Seed, Time};

use crate::link_stats::{Averages, LinkStats, TraceDepth};
use crate::lookahead::Downstream;
use crate::packet::Packet;
use crate::{DirectionOutcome, InnerCounts};

/// A direction of a link and the node at its far end.
pub(crate) struct Direction {
    pub(crate) machine: Machine,
    /// The node at the far end.
    pub(crate) to: u32,
    /// Bytes of a frame around a packet, and of the smallest frame.
    around: u32,
    smallest: u32,
    /// Whether packets can enter it ahead of time.
    pub(crate) ahead: bool,
    /// Whether each arrival at the far end is known on entry, later than that, and at
    /// a time of its own: a byte takes time below 8 Tbit/s.
    pub(crate) is_known: bool,
    pub(crate) beyond: Downstream,
    /// The row of `Arrivals` for its packets.
    pub(crate) row: u8,
    /// The largest IP packet that the direction carries.
    pub(crate) mtu: u32,
    /// The latest arrival of an acknowledgement that was not delivered ahead of time.
    pub(crate) held_until: Time,
    /// The index of its link in the scenario, and its direction.
    pub(crate) place: (usize, usize),
    /// Packets in bundles beyond the first of each: those that arrived, and those that
    /// a fast link dropped. A bundle whose packets were all dropped before counts as -1.
    pub(crate) extra: (i64, i64),
    /// The mark set on packets that leave the direction.
    pub(crate) mark: u64,
}

/// The link of one direction.
pub(crate) enum Machine {
    /// A link that determines the outcome of a packet on arrival: the usual case.
    Fast(FastLink<Packet, Averages>),
    /// Any other link, or one that a tracer observes.
    Full(Box<Link<Packet, LinkStats>>),
}

/// The rate up to which a byte takes a picosecond, in bits per second.
const FASTEST: u64 = 8_000_000_000_000;

/// The largest packet of a link; `u32::MAX` if it carries any.
pub(crate) fn mtu(settings: &Settings) -> u32 {
    settings.largest_packet.map_or(u32::MAX, |largest| {
        u32::try_from(largest.get()).unwrap_or(u32::MAX)
    })
}

/// The framing of a link.
pub(crate) const fn framing(settings: &Settings) -> Framing {
    match settings.ethernet {
        true => Framing::Ethernet,
        false => Framing::None,
    }
}

impl Direction {
    /// A direction to node `to` with random streams from `seed`. Averages end at `end`;
    /// `looks` is the detail of notes for a tracer. `fast`: it may be a fast link.
    pub(crate) fn new(
        settings: &Settings,
        seed: Seed,
        end: Time,
        looks: TraceDepth,
        to: usize,
        place: (usize, usize),
        fast: bool,
    ) -> Self {
        let fast_link = match looks {
            TraceDepth::Off if fast => FastLink::new(settings, seed, Averages::new(end)),
            TraceDepth::Off | TraceDepth::Packets | TraceDepth::Inner => None,
        };
        let full = || {
            let link = Link::observed(settings.clone(), seed, LinkStats::new(end, looks));
            Box::new(link.expect("the same was built when the scenario was checked"))
        };
        let (around, smallest) = match framing(settings) {
            Framing::Ethernet => (Framing::MAC_HEADER + Framing::FCS, Framing::SMALLEST_FRAME),
            Framing::None => (Bytes::ZERO, Bytes::ZERO),
        };
        let [around, smallest] =
            [around, smallest].map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX));
        let rate = settings.rate.filter(|_| fast_link.is_some());
        Self {
            machine: fast_link.map_or_else(|| Machine::Full(full()), Machine::Fast),
            to: u32::try_from(to).expect("a scenario has fewer nodes than that"),
            mtu: mtu(settings),
            around,
            smallest,
            place,
            extra: (0, 0),
            mark: 0,
            ahead: false,
            beyond: Downstream::Unknown,
            held_until: Time::ZERO,
            is_known: rate.is_some_and(|rate| rate.bits_per_second() <= FASTEST),
            row: 0,
        }
    }

    /// Bytes of the frame around a packet, as [`Framing::frame_size`] has it.
    #[inline]
    pub(crate) fn frame(&self, packet: u32) -> u32 {
        packet.saturating_add(self.around).max(self.smallest)
    }

    /// The counters of its link.
    fn counters(&self) -> Counters {
        match &self.machine {
            Machine::Fast(link) => link.counters(),
            Machine::Full(link) => link.counters(),
        }
    }

    /// The packets that have entered it.
    pub(crate) fn arrived(&self) -> u64 {
        self.counters().arrived
    }

    /// The packets that have reached the far end, once none is under way.
    pub(crate) fn delivered(&self) -> u64 {
        let counters = self.counters();
        counters.of(PacketOutcome::Delivered) + 2 * counters.of(PacketOutcome::Duplicated)
    }

    /// When the latest packet of a fast link is delivered, which may be ahead of time.
    pub(crate) fn last_delivery(&self) -> Option<Time> {
        match &self.machine {
            Machine::Fast(link) => link.last_delivery(),
            Machine::Full(_) => None,
        }
    }

    /// The next packet that has reached the far end by `now`.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Delivery<Packet>> {
        match &mut self.machine {
            Machine::Fast(link) => link.poll_transmit(now).map(|packet| Delivery {
                at: now,
                packet,
                copies: 1,
            }),
            Machine::Full(link) => link.poll_transmit(now),
        }
    }

    /// The time at which it must be polled next.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        match &self.machine {
            Machine::Fast(link) => link.next_timeout(),
            Machine::Full(link) => link.next_timeout(),
        }
    }

    /// The outcome of the direction.
    pub(crate) fn outcome(&mut self) -> DirectionOutcome {
        let counters = self.counters();
        match &mut self.machine {
            Machine::Fast(link) => link.observer().outcome(counters),
            Machine::Full(link) => link.observer().averages().outcome(counters),
        }
    }

    /// When the wire has finished the transmissions begun by `now`, or all waiting
    /// packets.
    pub(crate) fn free_at(&mut self, now: Time) -> Time {
        match &mut self.machine {
            Machine::Fast(link) => link.free_at(),
            Machine::Full(link) => link.free_at(now),
        }
    }

    /// Counters of the senders' packets, those in bundles included.
    pub(crate) fn inner(&mut self) -> InnerCounts {
        let counters = self.counters();
        let beyond = match &mut self.machine {
            Machine::Fast(_) => 0,
            Machine::Full(link) => link.observer().beyond(),
        };
        InnerCounts {
            arrived: counters.arrived.saturating_add_signed(self.extra.0),
            dropped: (counters.of(PacketOutcome::Dropped) + counters.inner_dropped)
                .saturating_add_signed(self.extra.1 + beyond),
            inner_dropped: counters.inner_dropped,
        }
    }
}
