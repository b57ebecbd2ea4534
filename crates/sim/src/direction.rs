//! One direction of a link in the network.

use proto::link::{FastLink, Fate, Link, Settings};
use units::{Bytes, Framing, Seed, Time};

use crate::link_stats::{Averages, LinkStats, TraceDepth};
use crate::packet::Packet;
use crate::{DirectionOutcome, InnerCounts};

/// A direction of a link and the node at its far end.
pub(crate) struct Direction {
    pub(crate) machine: Machine,
    /// The node at the far end.
    pub(crate) to: usize,
    /// The largest IP packet that it carries.
    pub(crate) mtu: u32,
    framing: Framing,
    /// Its link's place in the scenario, and its direction.
    pub(crate) place: (usize, usize),
    /// Packets in bundles beyond the first of each: those that came, and those
    /// that a fast link dropped.
    pub(crate) beyond: (u64, u64),
    /// What the packets keep that come out of it.
    pub(crate) mark: u64,
}

/// What carries packets in one direction.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are of the large one, and one look less for each packet counts"
)]
pub(crate) enum Machine {
    /// A link that knows at once what becomes of a packet: nearly all.
    Fast(FastLink<Packet, Averages>),
    /// Any other, or one that is watched from moment to moment.
    Full(Box<Link<Packet, LinkStats>>),
}

/// The largest packet of a link; `u32::MAX` where it carries any.
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
    /// A direction to node `to` with chance from `seed`, whose averages go until
    /// `end`, with notes for a tracer as it `looks`.
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
        Self {
            machine: fast_link.map_or_else(|| Machine::Full(full()), Machine::Fast),
            to,
            mtu: mtu(settings),
            framing: framing(settings),
            place,
            beyond: (0, 0),
            mark: 0,
        }
    }

    /// The octets of the frame around a packet.
    pub(crate) fn frame(&self, packet: u32) -> u32 {
        let frame = self.framing.frame_size(Bytes::new(packet.into()));
        u32::try_from(frame.get()).unwrap_or(u32::MAX)
    }

    /// When it is to be asked next.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        match &self.machine {
            Machine::Fast(link) => link.next_timeout(),
            Machine::Full(link) => link.next_timeout(),
        }
    }

    /// What it carried.
    pub(crate) fn outcome(&mut self) -> DirectionOutcome {
        let (counters, averages) = match &mut self.machine {
            Machine::Fast(link) => (link.counters(), link.observer()),
            Machine::Full(link) => (link.counters(), link.observer().averages()),
        };
        averages.outcome(counters)
    }

    /// When the wire is free of what has begun by `now`, or of all that waits.
    pub(crate) fn free_at(&mut self, now: Time) -> Time {
        match &mut self.machine {
            Machine::Fast(link) => link.free_at(),
            Machine::Full(link) => link.free_at(now),
        }
    }

    /// The packets of senders among what it carried.
    pub(crate) fn inner(&mut self) -> InnerCounts {
        let (counters, beyond) = match &mut self.machine {
            Machine::Fast(link) => (link.counters(), 0),
            Machine::Full(link) => (link.counters(), link.observer().beyond()),
        };
        InnerCounts {
            arrived: counters.arrived + self.beyond.0,
            dropped: counters.of(Fate::Dropped) + self.beyond.1 + beyond + counters.inner_dropped,
            inner_dropped: counters.inner_dropped,
        }
    }
}
