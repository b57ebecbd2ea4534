//! Records of a gateway's arrivals and decisions toward the core. A record has all that
//! the decisions depend on, so that a replay under the same settings makes each of them
//! again, and a replay under other settings tells what would have been.

use queue::Reason;
use units::{Bytes, Time};

use super::packet::{Departing, Inner};
use super::{BadSettings, Gateway, Settings};
use link::edge::Exit;

/// An event of a record, in the order of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet was to be aggregated.
    Arrived(Arrival),
    /// Timers were looked at, and something was sent because of it.
    Checked(Time),
    /// All that was due then went to the uplink, or was sent.
    Polled(Time),
    /// Packets that waited for company were sent on demand.
    Flushed(Time),
    /// The path MTU to a peer changed.
    Mtu {
        /// The time.
        at: Time,
        /// The number of the peer.
        peer: usize,
        /// The largest packet that passes.
        mtu: Bytes,
    },
    Decided(Decision),
}

/// A packet that was to be aggregated, as the aggregation and the queue see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time.
    pub at: Time,
    /// Its number among all that were to be aggregated, from 0.
    pub number: u64,
    /// Where it leaves the domain.
    pub exit: Exit,
    /// Bytes of its IP packet.
    pub size: Bytes,
    /// A hash of its flow.
    pub flow: u64,
    /// Its service byte.
    pub service: u8,
}

/// A decision about packets, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They left together, or one alone. Without a key they are dropped then.
    Sent {
        /// The time.
        at: Time,
        /// The number of the peer.
        peer: usize,
        /// The number of the bundle among those to the peer since the record began.
        bundle: u64,
        /// The packets, each with its waiting time in ticks and whether the queue marked
        /// it. A piece has the number of its packet.
        packets: Vec<(u64, u16, bool)>,
    },
    /// The queue dropped them.
    Dropped {
        /// The time.
        at: Time,
        /// The number of the peer.
        peer: usize,
        reason: Reason,
        /// Whether their bundle went on without them.
        taken_out: bool,
        packets: Vec<u64>,
    },
}

/// A record in progress.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) events: Vec<Event>,
    /// The number of bundles to each peer before.
    pub(super) before: Vec<u64>,
    /// When timers were looked at since the latest decision.
    pub(super) checked: Option<Time>,
}

impl Record {
    pub(super) fn poll(&mut self, now: Time) {
        self.events.extend(self.checked.take().map(Event::Checked));
        if self.events.last() != Some(&Event::Polled(now)) {
            self.events.push(Event::Polled(now));
        }
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        self.events.extend(self.checked.take().map(Event::Checked));
        self.events.push(Event::Decided(decision));
    }
}

impl Gateway {
    /// Starts a record for [`Gateway::take_events`]. It must be started before the first
    /// packet comes, because a replay begins with nothing.
    pub fn record(&mut self) {
        // What is less than configured before the first packet.
        let configured = self.settings.peers.iter().map(|peer| peer.mtu.bytes());
        let known = self.peers.iter().map(|state| state.mtu);
        let smaller = configured.zip(known).enumerate();
        let smaller = smaller.filter(|(_, (configured, mtu))| mtu < configured);
        let events = smaller.map(|(peer, (_, mtu))| Event::Mtu {
            at: Time::ZERO,
            peer,
            mtu,
        });
        let events = events.collect();
        self.record = Some(Box::new(Record {
            events,
            before: self.peers.iter().map(|peer| peer.sent).collect(),
            ..Record::default()
        }));
    }

    /// Ends the record.
    pub fn stop_record(&mut self) {
        self.record = None;
    }

    /// The number of events since [`Gateway::take_events`].
    pub fn events(&self) -> usize {
        let record = self.record.as_ref();
        record.map_or(0, |record| record.events.len())
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        let record = self.record.as_mut();
        record.map_or_else(Vec::new, |record| std::mem::take(&mut record.events))
    }

    /// Records what departs.
    pub(super) fn note_departure(&mut self, now: Time, departing: &Departing) {
        let Some(record) = &mut self.record else {
            return;
        };
        let before = record.before.get(departing.peer).copied().unwrap_or(0);
        record.decide(Decision::Sent {
            at: now,
            peer: departing.peer,
            bundle: departing.number.saturating_sub(before),
            packets: departing.numbers().collect(),
        });
    }
}

/// The decisions that a gateway with `settings` makes when the arrivals of a record come.
/// With `follow`, timers are looked at when the recorded gateway did, as for the same
/// settings; without it, at their times.
///
/// # Errors
/// If a gateway cannot work with these settings.
pub fn replay(
    settings: Settings,
    events: &[Event],
    follow: bool,
) -> Result<Vec<Decision>, BadSettings> {
    let settings = Settings {
        probe: None,
        ..settings
    };
    let mut gateway = Gateway::new(settings)?;
    // Sealing is of no account but for its headers, which the settings have.
    for peer in &mut gateway.peers {
        peer.seal = None;
    }
    gateway.record();
    let mut decisions = Vec::new();
    let mut now = Time::ZERO;
    for event in events {
        let at = match event {
            Event::Arrived(arrival) => arrival.at,
            Event::Checked(at) | Event::Polled(at) | Event::Flushed(at) | Event::Mtu { at, .. } => {
                *at
            }
            Event::Decided(Decision::Sent { at, .. } | Decision::Dropped { at, .. }) => *at,
        };
        if !follow {
            run_until(&mut gateway, &mut now, Some(at));
        }
        now = now.max(at);
        match event {
            Event::Arrived(arrival) => {
                if arrival.exit.egress < gateway.peers.len() {
                    let packet = Inner::replayed(arrival);
                    gateway.forward(now, packet);
                }
                if !follow {
                    drain(&mut gateway, now);
                }
            }
            Event::Checked(_) if follow => gateway.handle_timeout(now),
            Event::Flushed(_) => gateway.flush(now),
            Event::Mtu { peer, mtu, .. } => {
                if *peer < gateway.peers.len() {
                    gateway.set_mtu(now, *peer, *mtu);
                }
            }
            Event::Polled(_) | Event::Decided(Decision::Sent { .. }) if follow => {
                drain(&mut gateway, now);
            }
            Event::Checked(_) | Event::Polled(_) | Event::Decided(_) => {}
        }
        collect(&mut gateway, &mut decisions);
    }
    if !follow {
        run_until(&mut gateway, &mut now, None);
    }
    collect(&mut gateway, &mut decisions);
    Ok(decisions)
}

/// Calls `gateway` at the times of its timers before `end`.
fn run_until(gateway: &mut Gateway, now: &mut Time, end: Option<Time>) {
    while let Some(timeout) = gateway.next_timeout(*now) {
        if end.is_some_and(|end| timeout >= end) {
            return;
        }
        *now = timeout.max(*now);
        gateway.handle_timeout(*now);
        drain(gateway, *now);
    }
}

fn drain(gateway: &mut Gateway, now: Time) {
    while gateway.poll_transmit(now).is_some() {}
}

fn collect(gateway: &mut Gateway, decisions: &mut Vec<Decision>) {
    let events = gateway.take_events().into_iter();
    decisions.extend(events.filter_map(|event| match event {
        Event::Decided(decision) => Some(decision),
        _ => None,
    }));
}
