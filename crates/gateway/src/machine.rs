//! A gateway: packets from inside networks enter bundles to other gateways, and those of
//! their bundles are let out again.
//!
//! A [`Gateway`] does no I/O and has no clock. It is one [`Edge`], which decides what
//! the simulator's edges decide, between the bytes of packets on both sides. Its driver
//!
//! 1. hands it what comes: [`Gateway::receive_inside`], [`Gateway::receive_core`] and
//!    its variants for labels and sockets;
//! 2. calls [`Gateway::handle_timeout`] at the time of [`Gateway::next_timeout`];
//! 3. sends what [`Gateway::poll_transmit`] returns after each of these calls, or after
//!    a batch of them, until it returns nothing.
//!
//! The times that the driver passes never decrease. Packets are copied into buffers
//! that are used again; what is sent is lent to the driver until its next call. In the
//! steady state there is an allocation for a bundle, and none for a packet in it.

mod arrivals;
mod counts;
mod inward;
mod lost;
mod martian;
mod order;
pub mod outer;
mod outward;
mod packet;
mod path;
mod peers;
mod pool;
mod prober;
mod record;
mod seal;
mod settings;
mod table;

use std::collections::VecDeque;

use units::{Framing, Span, Time};
use zeroize::Zeroize as _;

pub use counts::{Cause, Counts, Drops, Inward, Outward, Rejection, Rejections, Traffic, Waiting};
use link::edge::{Addressing, Edge, Transmit as EdgeTransmit};
use link::{Answers, Link};
use lost::Lost;
#[cfg(target_os = "linux")]
pub(crate) use martian::is_local;
pub use order::Reorder;
use packet::{Departing, Inner};
use peers::{Due, PeerState};
use pool::Pool;
use record::Record;
pub use record::{Arrival as RecordedArrival, Decision, Event, replay};
pub use seal::{BadKey, Identity, KEY_LEN, Padding, PresharedKey, PublicKey, Sealing};
use seal::{Draws, Guard};
use settings::Origin;
pub use settings::{
    Aggregation, BadSettings, Encapsulation, Output, Peer, Settings, SinglePacketMode, Uplink,
};
pub use table::Table;

/// An output of a gateway; it keeps the bytes until the next call.
#[derive(Debug, PartialEq, Eq)]
pub enum Transmit<'a> {
    /// An IP packet to the inside.
    Inside { bytes: &'a [u8] },
    /// An ICMP error of this gateway to the sender of a packet from inside. Its source is
    /// that of [`Settings::inside`].
    Error { bytes: &'a [u8] },
    /// A packet to the core.
    Core {
        /// The number of the peer that it is for.
        peer: usize,
        /// All its bytes: an IP packet, or a label stack and what is behind it.
        bytes: &'a [u8],
        /// Where the payload of the encapsulation begins: all that a socket sends, see
        /// [`Output::Payloads`]. 0 for a packet without an encapsulation, which is sent as it
        /// is.
        payload: usize,
        /// The service byte (DSCP and ECN) of the outer header.
        service: u8,
        /// Number of packets from inside that it carries: none in handshakes and probes.
        packets: u64,
    },
}

/// A gateway, without sockets and clock.
pub struct Gateway {
    settings: Settings,
    edge: Edge<Inner>,
    table: Table,
    peers: Vec<PeerState>,
    /// When something is due for them.
    due: Due,
    /// The limits on floods of handshakes.
    guard: Guard,
    /// Bundles from them that wait for others before them.
    held: u64,
    /// Pieces from them that wait for the next one of their packet.
    pieces: u64,
    /// The number of the peer behind each origin, sorted.
    origins: Vec<(Origin, usize)>,
    uplink: Option<Link<Departing, Lost>>,
    /// Bundles and packets that are sent without an uplink.
    departing: VecDeque<Departing>,
    /// Packets for the inside that do not wait: ICMP errors.
    errors: VecDeque<Vec<u8>>,
    /// The limit of ICMP errors.
    answers: Answers,
    /// Packets that wait for the uplink, or to be polled.
    queued: u64,
    pool: Pool,
    /// Room for the packets of a bundle.
    unpacked: Vec<(Inner, Span)>,
    /// Room for a bundle that is opened.
    opened: Vec<u8>,
    /// The packet to the core that is lent to the driver.
    out: Vec<u8>,
    /// The packet to the inside that is lent to the driver, out of the pool.
    lent: Vec<u8>,
    /// The number of packets that were to be aggregated.
    forwarded: u64,
    /// The record of events, if one is kept.
    record: Option<Box<Record>>,
    counts: Counts,
}

/// The service byte of handshake messages: that of internetwork control [RFC1812 s5.3.2].
const HANDSHAKE_SERVICE: u8 = 0xc0;

/// The number of the draws of the guard: no peer has it.
const GUARD: u64 = u64::MAX / 2;

/// The number of this gateway among the edges: no peer has it.
const HERE: usize = usize::MAX;

impl Gateway {
    /// A gateway without routes.
    ///
    /// # Errors
    /// If it cannot work with these settings.
    pub fn new(mut settings: Settings) -> Result<Self, BadSettings> {
        settings.check()?;
        settings.check_entropy()?;
        let bad = |source| BadSettings::Aggregator { peer: 0, source };
        let first = settings.peers.first();
        let edge = Edge::new(link::edge::Settings {
            number: HERE,
            aggregate: first.map(|peer| settings.aggregation(peer, peer.mtu.bytes())),
            addressing: Addressing::Egress,
            shaping: settings.shaping,
        });
        let uplink = settings.uplink.as_ref().map(|uplink| {
            let link = link::Settings {
                ethernet: uplink.framing == Framing::Ethernet,
                ..link::Settings::perfect(Some(uplink.rate), uplink.queue.clone())
            };
            Link::observed(link, uplink.seed, Lost::default())
        });
        let mut due = Due::new();
        let peers = (0..settings.peers.len()).map(|number| {
            let mut state = PeerState::new(&settings, number);
            state.renew_handshake(number, &mut due);
            state.renew_path(number, &mut due);
            state
        });
        let peers = peers.collect();
        let guard = Guard::new(Draws::new(&settings.entropy, GUARD));
        // From here on nothing earlier can be computed from memory.
        settings.entropy.zeroize();
        let origins = settings.peers.iter().enumerate();
        let mut origins: Vec<_> = origins
            .map(|(number, peer)| (peer.encapsulation.origin(), number))
            .collect();
        origins.sort_unstable();
        Ok(Self {
            edge: edge.map_err(bad)?,
            table: Table::new(&[]),
            peers,
            due,
            guard,
            held: 0,
            pieces: 0,
            origins,
            uplink: uplink.transpose()?,
            departing: VecDeque::new(),
            errors: VecDeque::new(),
            answers: Answers::default(),
            queued: 0,
            pool: Pool::default(),
            unpacked: Vec::new(),
            opened: Vec::new(),
            out: Vec::new(),
            lent: Vec::new(),
            forwarded: 0,
            record: None,
            counts: Counts {
                peers: vec![Traffic::default(); settings.peers.len()],
                ..Counts::default()
            },
            settings,
        })
    }

    /// Replaces the table. Packets that were aggregated before go where they were to go.
    pub fn set_table(&mut self, table: Table) {
        self.table = table;
    }

    /// Makes [`Gateway::poll_transmit`] check all that waits.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(peer) = self.due.bundles.first_due(now) {
            self.unpack_held(now, peer);
        }
        if let Some(record) = &mut self.record {
            record.checked = Some(now);
        }
        self.edge.handle_timeout();
    }

    /// Sends what waits for company, whatever its timers say; what waits to be let out
    /// keeps its times. A gateway that ends calls it, and goes on until nothing
    /// waits.
    pub fn flush(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.events.push(Event::Flushed(now));
        }
        self.edge.flush(now);
    }

    /// The next thing to send at `now`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<'_>> {
        if let Some((peer, payload)) = self.handshake(now) {
            return Some(Transmit::Core {
                peer,
                bytes: &self.out,
                payload,
                service: HANDSHAKE_SERVICE,
                packets: 0,
            });
        }
        if let Some((peer, payload, service)) = self.ask(now) {
            return Some(Transmit::Core {
                peer,
                bytes: &self.out,
                payload,
                service,
                packets: 0,
            });
        }
        loop {
            // What waited may turn out to be too big further down.
            if let Some(error) = self.errors.pop_front() {
                self.lend(error);
                return Some(Transmit::Error { bytes: &self.lent });
            }
            if let Some(departing) = self.depart(now) {
                self.note_departure(now, &departing);
                let written = self.write(now, &departing);
                // A key may have had its time.
                self.peers[departing.peer].renew_handshake(departing.peer, &mut self.due);
                let cause = match written {
                    Ok((payload, service)) => {
                        let (peer, packets) = (departing.peer, departing.packets());
                        self.count_sent(departing);
                        return Some(Transmit::Core {
                            peer,
                            bytes: &self.out,
                            payload,
                            service,
                            packets,
                        });
                    }
                    Err(cause) => cause,
                };
                let packets = departing.packets();
                self.queued -= packets;
                let outward = &mut self.counts.of(Some(departing.peer)).outward;
                outward.drops.add(cause, packets);
                self.recycle(departing);
                continue;
            }
            let uplink = &mut self.uplink;
            // Without an uplink nothing here holds a packet up.
            let free_at = |_| {
                let link = uplink.as_mut();
                link.map_or(Time::ZERO, |link| link.free_at(now))
            };
            let transmit = self.edge.poll_transmit(now, free_at);
            self.note_lost();
            if let Some(record) = &mut self.record
                && let Some(EdgeTransmit::Bundle(_) | EdgeTransmit::Bare(_)) = &transmit
            {
                record.poll(now);
            }
            match transmit? {
                EdgeTransmit::Bundle(outgoing) => self.enqueue_bundle(now, outgoing),
                EdgeTransmit::Bare(packet) => self.enqueue_alone(now, packet),
                EdgeTransmit::Released(packet) => {
                    let inward = &mut self.counts.of(Some(packet.exit.egress)).inward;
                    inward.released += 1;
                    inward.released_bytes += packet.bytes.len() as u64;
                    self.lend(packet.bytes);
                    return Some(Transmit::Inside { bytes: &self.lent });
                }
            }
        }
    }

    /// The time of the next call of [`Gateway::handle_timeout`], valid once
    /// [`Gateway::poll_transmit`] has returned `None`.
    pub fn next_timeout(&mut self, now: Time) -> Option<Time> {
        let uplink = &mut self.uplink;
        let free = uplink.as_mut().map_or(Time::ZERO, |link| link.free_at(now));
        let edge = self.edge.next_timeout(|_| free);
        let uplink = uplink.as_ref().and_then(Link::next_timeout);
        [edge, uplink, self.due.first()].into_iter().flatten().min()
    }

    /// The counters so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The packets that wait.
    pub const fn waiting(&self) -> Waiting {
        Waiting {
            outward: self.edge.aggregation() + self.queued,
            inward: self.edge.leaving() + self.pieces,
            bundles: self.held,
        }
    }

    /// Whether bundles to `peer` can be sealed; `None` if the peer's key is not known.
    pub fn has_key(&self, peer: usize) -> Option<bool> {
        Some(self.peers.get(peer)?.seal.as_ref()?.is_ready())
    }

    /// The bundles that wait for the uplink, and their average.
    pub fn uplink(&self) -> Option<(queue::Backlog, Option<queue::AverageQueue>)> {
        let link = self.uplink.as_ref()?;
        Some((link.backlog(), link.average()))
    }

    /// Whether anything looks at the flow of a packet: the queue of an uplink, or a record.
    const fn tells_flows(&self) -> bool {
        self.uplink.is_some() || self.record.is_some()
    }

    /// Lends a packet to the inside to the driver.
    fn lend(&mut self, bytes: Vec<u8>) {
        let before = std::mem::replace(&mut self.lent, bytes);
        self.pool.give(before);
    }
}

#[cfg(test)]
mod tests;
