//! Records of a link's events, complete enough, random seeds included, to replay the
//! link with the same outcome.

use std::collections::BTreeMap;

use queue::{Packet, Reason};
use units::{Seed, Time};

use super::{Link, LinkObserver, PacketOutcome};

/// A packet that arrived at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Instant of arrival at the queue.
    pub at: Time,
    /// Bytes of its frame.
    pub size: u64,
    /// Hash of the packet's flow.
    pub flow: u64,
    /// Further properties that queues may look at.
    pub header: Header,
}

/// Properties that a queue may look at besides size and flow, and the packet's place
/// among the arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// Number of packets that had arrived at the link, this one included.
    pub number: u64,
    /// The latest time for which the link was served between the previous arrival
    /// and this one, if it was. A driver that reads a packet late may have served the
    /// link beyond the packet's arrival.
    pub served: Time,
    /// Class of the packet, from 0 to 7 [RFC2474 s4.2.2.2].
    pub class: u8,
    /// Drop precedence of the packet.
    pub precedence: u8,
    /// Whether the packet can be marked for congestion (ECN).
    pub markable: bool,
    /// Bytes of the packet's VLAN tags.
    pub tags: u64,
    /// Number of senders' packets that it carries, if it is a bundle.
    pub live: u32,
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// Instant of arrival at the queue.
    pub arrival: Time,
    /// Instant of the decision: the packet left the queue, or was rejected.
    pub at: Time,
    /// Bytes of its frame.
    pub size: u64,
    /// Hash of the packet's flow.
    pub flow: u64,
    /// The outcome of the packet.
    pub outcome: PacketOutcome,
    /// The reason of a drop by the queue.
    pub reason: Option<Reason>,
    /// Whether the queue set its congestion mark.
    pub marked: bool,
    /// Further properties that queues may look at.
    pub header: Header,
}

/// A restart of a link's random streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reseed {
    /// Number of packets that had arrived at the link before.
    pub after: u64,
    /// Instant of the restart.
    pub at: Time,
    /// The new seed.
    pub seed: Seed,
}

impl Event {
    /// The same event with times relative to `begun`; `None` if the packet arrived
    /// before that.
    pub fn since(self, begun: Time) -> Option<Self> {
        let count = |at: Time| Some(Time::ZERO + at.since(begun)?);
        let served = count(self.header.served).unwrap_or(Time::ZERO);
        Some(Self {
            arrival: count(self.arrival)?,
            at: count(self.at)?,
            header: Header {
                served,
                ..self.header
            },
            ..self
        })
    }
}

impl<P: Packet + 'static, W: LinkObserver<P>> Link<P, W> {
    /// Starts a record of every packet for [`Link::take_events`], [`Link::waiting`] and
    /// [`Link::reseeds`].
    pub fn record(&mut self) {
        self.record = Some(Box::new(Record::new(Reseed {
            after: self.counters.arrived,
            at: self.now,
            seed: self.seed,
        })));
    }

    /// The events since the last call, in the order of decision. Empty unless
    /// [`Link::record`] was called.
    pub fn take_events(&mut self) -> Vec<Event> {
        let record = self.record.as_mut();
        record
            .map(|record| std::mem::take(&mut record.sealed))
            .unwrap_or_default()
    }

    /// The packets that arrived since [`Link::record`] and still wait, in the order of
    /// arrival.
    pub fn waiting(&self) -> impl Iterator<Item = Arrival> {
        let record = self.record.iter();
        record.flat_map(|record| record.waiting.values().copied())
    }

    /// The restarts of the random streams since [`Link::record`]; the first entry is
    /// the state at that moment.
    pub fn reseeds(&self) -> &[Reseed] {
        self.record.as_ref().map_or(&[], |record| &record.reseeds)
    }

    /// A replay needs to know which arrivals the link was served beyond.
    pub(super) fn note_service(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.served = record.served.max(now);
        }
    }
}

/// A record in progress.
pub(super) struct Record {
    /// Events that were not taken yet.
    pub(super) sealed: Vec<Event>,
    /// Undecided packets, by number.
    pub(super) waiting: BTreeMap<u64, Arrival>,
    pub(super) reseeds: Vec<Reseed>,
    /// The latest time for which the link was served since the last arrival.
    pub(super) served: Time,
}

impl Record {
    pub(super) fn new(chance: Reseed) -> Self {
        Self {
            sealed: Vec::new(),
            waiting: BTreeMap::new(),
            reseeds: vec![chance],
            served: Time::ZERO,
        }
    }

    pub(super) fn arrive(&mut self, mut arrival: Arrival) {
        arrival.header.served = std::mem::take(&mut self.served);
        self.waiting.insert(arrival.header.number, arrival);
    }

    pub(super) fn seal(
        &mut self,
        arrival: Arrival,
        at: Time,
        outcome: PacketOutcome,
        reason: Option<Reason>,
        marked: bool,
    ) {
        // A packet that arrived before the record began is recorded without `served`.
        let known = self.waiting.remove(&arrival.header.number);
        let arrival = known.unwrap_or(arrival);
        self.sealed.push(Event {
            arrival: arrival.at,
            at,
            size: arrival.size,
            flow: arrival.flow,
            outcome,
            reason,
            marked,
            header: arrival.header,
        });
    }
}
