//! What became of packets, for those who keep a record: enough of each, and of
//! chance, that the same link can be driven once more with the same outcome.

use std::collections::BTreeMap;

use queue::{Packet, Reason};
use units::{Seed, Time};

use super::{Fate, Link, LinkObserver};

/// A packet that came to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it came to the queue.
    pub at: Time,
    /// Octets of its frame.
    pub size: u64,
    /// Its flow.
    pub flow: u64,
    /// What else queues may look at.
    pub header: Header,
}

/// What a queue may look at besides size and flow, and where among the other
/// arrivals the packet stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// How many packets had come to the link by then, itself counted.
    pub number: u64,
    /// Until when the link had put packets on the wire between the one before
    /// and this one, if it had. A driver that reads a packet late may have gone
    /// beyond its arrival.
    pub served: Time,
    /// Its class.
    pub class: u8,
    /// Its drop precedence.
    pub precedence: u8,
    /// Whether it can be marked as having met congestion.
    pub markable: bool,
    /// Octets of its VLAN tags.
    pub tags: u64,
    /// How many packets of senders it carries.
    pub live: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// When it came to the queue.
    pub arrival: Time,
    /// When its fate was sealed: it left the queue, or was refused.
    pub at: Time,
    /// Octets of its frame.
    pub size: u64,
    /// Its flow.
    pub flow: u64,
    /// What became of it.
    pub fate: Fate,
    /// Why, if the queue dropped it.
    pub reason: Option<Reason>,
    /// Whether the queue marked it as having met congestion.
    pub marked: bool,
    /// What else queues may look at.
    pub header: Header,
}

/// That all chance of a link began anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reseed {
    /// How many packets had come to the link.
    pub after: u64,
    /// When.
    pub at: Time,
    /// What it follows from.
    pub seed: Seed,
}

impl Event {
    /// The same with instants counted from `begun`; nothing if the packet came
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
    /// Keeps a record of every packet from here on, for [`Link::take_events`],
    /// [`Link::waiting`] and [`Link::reseeds`].
    pub fn record(&mut self) {
        self.record = Some(Box::new(Record::new(Reseed {
            after: self.counters.arrived,
            at: self.now,
            seed: self.seed,
        })));
    }

    /// What became of packets since it was last asked, in the order in which
    /// their fates were sealed. Nothing unless [`Link::record`] was called.
    pub fn take_events(&mut self) -> Vec<Event> {
        let record = self.record.as_mut();
        record
            .map(|record| std::mem::take(&mut record.sealed))
            .unwrap_or_default()
    }

    /// The packets that came since [`Link::record`] and still wait, in the
    /// order of their arrival.
    pub fn waiting(&self) -> impl Iterator<Item = Arrival> {
        let record = self.record.iter();
        record.flat_map(|record| record.waiting.values().copied())
    }

    /// When chance began anew since [`Link::record`], what it went on from at
    /// that moment first.
    pub fn reseeds(&self) -> &[Reseed] {
        self.record.as_ref().map_or(&[], |record| &record.reseeds)
    }

    /// Whoever replays a record must know what it was too late for.
    pub(super) fn note_service(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.served = record.served.max(now);
        }
    }
}

/// A record that is being kept.
pub(super) struct Record {
    /// What became of packets, until somebody takes it.
    pub(super) sealed: Vec<Event>,
    /// Packets whose fates are open, by number.
    pub(super) waiting: BTreeMap<u64, Arrival>,
    pub(super) reseeds: Vec<Reseed>,
    /// The latest instant that the link was served for since the last arrival.
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
        fate: Fate,
        reason: Option<Reason>,
        marked: bool,
    ) {
        // One that came before the record began is in it without that.
        let known = self.waiting.remove(&arrival.header.number);
        let arrival = known.unwrap_or(arrival);
        self.sealed.push(Event {
            arrival: arrival.at,
            at,
            size: arrival.size,
            flow: arrival.flow,
            fate,
            reason,
            marked,
            header: arrival.header,
        });
    }
}
