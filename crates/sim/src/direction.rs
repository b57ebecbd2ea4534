//! One direction of a link in the network.

use link::{FastLink, Fate, Link, Settings};
use units::{Bytes, Framing, Seed, Time};

use crate::link_stats::{Averages, LinkStats, TraceDepth};
use crate::lookahead::Beyond;
use crate::packet::Packet;
use crate::{DirectionOutcome, InnerCounts};

/// A direction of a link and the node at its far end.
///
/// A packet that passes changes or reads the first two lines of a cache only, which are
/// in the order that is written here.
#[repr(C, align(64))]
pub(crate) struct Direction {
    pub(crate) machine: Machine,
    /// The node at the far end.
    pub(crate) to: u32,
    /// Octets of a frame around a packet, and of the smallest frame.
    around: u32,
    smallest: u32,
    /// Whether packets can enter it ahead of time.
    pub(crate) ahead: bool,
    pub(crate) beyond: Beyond,
    /// Whether its packets arrive one after the other, so that each is an event and can
    /// be in a row of `Arrivals`, and which row that is.
    pub(crate) in_rows: bool,
    pub(crate) row: u8,
    /// The direction by which acknowledgements leave the host beyond, or the segments of
    /// the sender there, if it is always the same.
    pub(crate) onward: Option<u32>,
    /// The largest IP packet that the direction carries.
    pub(crate) mtu: u32,
    /// The latest arrival at the far end that was counted as an event; not kept where
    /// every packet is one.
    pub(crate) latest: Time,
    /// The latest arrival of an acknowledgement that was not delivered ahead of time, and
    /// how many there were.
    pub(crate) held_until: Time,
    pub(crate) held: u64,
    /// The index of its link in the scenario, and its direction.
    pub(crate) place: (usize, usize),
    /// Packets in bundles beyond the first of each: those that arrived, and those that
    /// a fast link dropped. A bundle whose packets were all dropped before counts as -1.
    pub(crate) extra: (i64, i64),
    /// The mark set on packets that leave the direction.
    pub(crate) mark: u64,
}

// See [`Direction`].
const _: () = assert!(std::mem::offset_of!(Direction, onward) <= 120);

/// The link of one direction.
pub(crate) enum Machine {
    /// A link that determines the fate of a packet on arrival: the usual case.
    Fast(FastLink<Packet, Averages>),
    /// Any other link, or one that a tracer observes.
    Full(Box<Link<Packet, LinkStats>>),
}

/// The rate up to which an octet takes a picosecond, so that no two packets arrive at
/// one instant, in bits per second.
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
    /// `looks` is the detail of notes for a tracer.
    pub(crate) fn new(
        settings: &Settings,
        seed: Seed,
        end: Time,
        looks: TraceDepth,
        to: usize,
        place: (usize, usize),
    ) -> Self {
        let fast_link = match looks {
            TraceDepth::Packets | TraceDepth::Inner => None,
            TraceDepth::Off => FastLink::new(settings, seed, Averages::new(end)),
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
            [around, smallest].map(|octets| u32::try_from(octets.get()).unwrap_or(u32::MAX));
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
            beyond: Beyond::Unknown,
            onward: None,
            latest: Time::ZERO,
            held_until: Time::ZERO,
            held: 0,
            in_rows: rate.is_some_and(|rate| rate.bits_per_second() <= FASTEST),
            row: 0,
        }
    }

    /// Octets of the frame around a packet, as [`Framing::frame_size`] has it.
    #[inline]
    pub(crate) fn frame(&self, packet: u32) -> u32 {
        packet.saturating_add(self.around).max(self.smallest)
    }

    /// Whether the arrival of a packet at the far end is known on entry, and later than
    /// that: an octet takes time below 8 Tbit/s.
    pub(crate) fn is_known(&self) -> bool {
        match &self.machine {
            Machine::Fast(link) => link.takes_time(),
            Machine::Full(_) => false,
        }
    }

    /// The fast link, if it is one.
    pub(crate) const fn fast(&self) -> Option<&FastLink<Packet, Averages>> {
        match &self.machine {
            Machine::Fast(link) => Some(link),
            Machine::Full(_) => None,
        }
    }

    /// The packets that were delivered at the far end ahead of time.
    pub(crate) fn delivered_ahead(&self) -> u64 {
        let passed = self.fast().map_or(0, FastLink::passed);
        match self.beyond {
            Beyond::Unknown | Beyond::Links => 0,
            Beyond::Host => passed,
            Beyond::Sender => passed - self.held,
        }
    }

    /// The events of packets at the far end, where they are not counted one by one.
    pub(crate) fn events(&self) -> u64 {
        let fast = self.fast().filter(|_| self.in_rows);
        fast.map_or(0, FastLink::passed)
    }

    /// The packets that have entered it.
    pub(crate) fn arrived(&self) -> u64 {
        match &self.machine {
            Machine::Fast(link) => link.counters().arrived,
            Machine::Full(link) => link.counters().arrived,
        }
    }

    /// The instant at which it must be polled next.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        match &self.machine {
            Machine::Fast(link) => link.next_timeout(),
            Machine::Full(link) => link.next_timeout(),
        }
    }

    /// The outcome of the direction.
    pub(crate) fn outcome(&mut self) -> DirectionOutcome {
        let (counters, averages) = match &mut self.machine {
            Machine::Fast(link) => (link.counters(), link.observer()),
            Machine::Full(link) => (link.counters(), link.observer().averages()),
        };
        averages.outcome(counters)
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
        let (counters, beyond) = match &mut self.machine {
            Machine::Fast(link) => (link.counters(), 0),
            Machine::Full(link) => (link.counters(), link.observer().beyond()),
        };
        InnerCounts {
            arrived: counters.arrived.saturating_add_signed(self.extra.0),
            dropped: (counters.of(Fate::Dropped) + counters.inner_dropped)
                .saturating_add_signed(self.extra.1 + beyond),
            inner_dropped: counters.inner_dropped,
        }
    }
}
