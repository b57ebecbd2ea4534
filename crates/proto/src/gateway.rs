//! A gateway: packets from inside networks enter bundles to other gateways, and those of
//! their bundles are let out again.
//!
//! A [`Gateway`] does no I/O and has no clock. It is one [`Edge`], which decides what
//! the simulator's edges decide, between the octets of packets on both sides. Its driver
//!
//! 1. hands it what comes: [`Gateway::receive_inside`], [`Gateway::receive_core`] and
//!    its variants for labels and sockets;
//! 2. calls [`Gateway::handle_timeout`] at the instant of [`Gateway::next_timeout`];
//! 3. sends what [`Gateway::poll_transmit`] returns after each of these calls, or after
//!    a batch of them, until it returns nothing.
//!
//! The instants that the driver passes never decrease. Packets are copied into buffers
//! that are used again; what is sent is lent to the driver until its next call. In the
//! steady state there is an allocation for a bundle, and none for a packet in it.

mod counts;
mod inward;
mod order;
pub mod outer;
mod outward;
mod packet;
mod record;
mod seal;
mod settings;
mod table;

use std::collections::VecDeque;
use std::net::IpAddr;

use queue::Reason;
use units::{Bytes, Framing, IpMtu, Span, Time};
use wire::bundle::{self, Arrival};
use wire::icmp_error::Cause as ErrorCause;
use wire::ip_packet::{IpPacket, set_hop_limit};

use crate::edge::{Addressing, Edge, Exit, Prefix, Transmit as EdgeTransmit};
use crate::link::{Answers, Entered, Link, LinkObserver};
pub use counts::{Cause, Counts, Drops, Inward, Outward, Refusal, Refusals, Traffic, Waiting};
use order::Order;
pub use order::Reorder;
use packet::{Departing, Inner, Pool};
use record::Record;
pub use record::{Arrival as RecordedArrival, Decision, Event, replay};
use seal::Seal;
pub use seal::Sealing;
use settings::Origin;
pub use settings::{Alone, BadSettings, Carriage, Gathering, Output, Peer, Settings, Uplink};
use table::Table;

/// An output of a gateway; it keeps the octets until the next call.
#[derive(Debug, PartialEq, Eq)]
pub enum Transmit<'a> {
    /// An IP packet to the inside.
    Inside {
        /// Its octets.
        octets: &'a [u8],
    },
    /// A packet to the core.
    Core {
        /// The number of the peer that it is for.
        peer: usize,
        /// All its octets: an IP packet, or a label stack and what is behind it.
        octets: &'a [u8],
        /// Where the payload of the carriage begins: all that a socket sends, see
        /// [`Output::Payloads`]. 0 for a packet without a carriage, which is sent as it
        /// is.
        payload: usize,
        /// The service octet (DSCP and ECN) of the outer header.
        service: u8,
    },
}

/// A gateway, without sockets and clock.
pub struct Gateway {
    settings: Settings,
    edge: Edge<Inner>,
    table: Table,
    peers: Vec<PeerState>,
    /// The number of the peer behind each origin, sorted.
    origins: Vec<(Origin, usize)>,
    uplink: Option<Link<Departing, Lost>>,
    /// Bundles and packets that are sent without an uplink.
    departing: VecDeque<Departing>,
    /// Packets for the inside that do not wait: ICMP errors.
    errors: VecDeque<Vec<u8>>,
    /// The limit of ICMP errors.
    answers: Answers,
    /// When the driver's link to the core is idle.
    core_free: Time,
    /// Packets that wait for the uplink, or to be polled.
    queued: u64,
    pool: Pool,
    /// Room for the packets of a bundle.
    unpacked: Vec<(Inner, Span)>,
    /// Room for a bundle that is opened.
    opened: Vec<u8>,
    /// Whether greetings may be due.
    greets: bool,
    /// The octets that are lent to the driver.
    out: Vec<u8>,
    /// The number of packets that were to be gathered.
    forwarded: u64,
    /// The record of events, if one is kept.
    record: Option<Box<Record>>,
    counts: Counts,
}

/// The state of a peer.
struct PeerState {
    /// The largest packet that passes.
    mtu: Bytes,
    /// Number of bundles sent.
    sent: u64,
    /// The exits to it that the edge has settings for.
    exits: Vec<Exit>,
    /// The keys shared with it.
    seal: Option<Seal>,
    /// The sequence of its bundles.
    order: Order,
}

/// Drops of the uplink that nobody has counted yet.
#[derive(Debug, Default)]
struct Lost(Vec<LostPackets>);

/// A drop of the uplink's queue.
#[derive(Debug)]
struct LostPackets {
    at: Time,
    peer: usize,
    reason: Reason,
    /// The numbers of the packets.
    packets: Vec<u64>,
    /// Whether their bundle went on without them.
    taken_out: bool,
}

impl Lost {
    fn note(&mut self, lost: &Departing, at: Time, reason: Option<Reason>, taken_out: bool) {
        self.0.push(LostPackets {
            at,
            peer: lost.peer,
            reason: reason.unwrap_or(Reason::Full),
            packets: lost.numbers().map(|(number, _, _)| number).collect(),
            taken_out,
        });
    }
}

impl LinkObserver<Departing> for Lost {
    fn dropped(&mut self, packet: &Departing, _: Entered, at: Time, reason: Option<Reason>) {
        self.note(packet, at, reason, false);
    }

    fn inner_dropped(&mut self, packet: &Departing, _: Entered, at: Time, reason: Reason) {
        self.note(packet, at, Some(reason), true);
    }
}

/// The service octet of greetings: that of internetwork control [RFC1812 s5.3.2].
const GREETING_SERVICE: u8 = 0xc0;

/// The number of this gateway among the edges: no peer has it.
const HERE: usize = usize::MAX;

impl Gateway {
    /// A gateway without routes.
    ///
    /// # Errors
    /// If it cannot work with these settings.
    pub fn new(settings: Settings) -> Result<Self, BadSettings> {
        settings.check()?;
        let entropy = settings.entropy()?;
        let bad = |source| BadSettings::Gather { peer: 0, source };
        let first = settings.peers.first();
        let edge = Edge::new(crate::edge::Settings {
            number: HERE,
            gather: first.and_then(|peer| settings.gathering(peer, peer.mtu.bytes())),
            addressing: Addressing::Egress,
            shaping: settings.shaping,
        });
        let uplink = settings.uplink.as_ref().map(|uplink| {
            let link = crate::link::Settings {
                ethernet: uplink.framing == Framing::Ethernet,
                ..crate::link::Settings::perfect(Some(uplink.rate), uplink.queue.clone())
            };
            Link::observed(link, uplink.seed, Lost::default())
        });
        let peers = settings.peers.iter().enumerate();
        let peers = peers.map(|(number, peer)| PeerState {
            mtu: peer.mtu.bytes(),
            sent: 0,
            exits: Vec::new(),
            seal: peer
                .sealing
                .clone()
                .map(|sealing| Seal::new(sealing, entropy, number)),
            order: Order::default(),
        });
        let origins = settings.peers.iter().enumerate();
        let mut origins: Vec<_> = origins
            .map(|(number, peer)| (peer.carriage.origin(), number))
            .collect();
        origins.sort_unstable();
        Ok(Self {
            edge: edge.map_err(bad)?,
            table: Table::new(&[]),
            peers: peers.collect(),
            origins,
            uplink: uplink.transpose()?,
            departing: VecDeque::new(),
            errors: VecDeque::new(),
            answers: Answers::new(),
            core_free: Time::ZERO,
            queued: 0,
            pool: Pool::default(),
            unpacked: Vec::new(),
            opened: Vec::new(),
            greets: true,
            out: Vec::new(),
            forwarded: 0,
            record: None,
            counts: Counts {
                peers: vec![Traffic::default(); settings.peers.len()],
                ..Counts::default()
            },
            settings,
        })
    }

    /// Replaces the table: [`Prefix::egress`] is the number of a peer; rows with other
    /// numbers lead nowhere. Packets that were gathered before go where they were to go.
    pub fn set_table(&mut self, rows: &[Prefix]) {
        let known = rows.iter().filter(|row| row.egress < self.peers.len());
        let known: Vec<Prefix> = known.copied().collect();
        self.table = Table::new(&known);
    }

    /// Sets the largest packet that passes to `peer`, found by probes or told by a
    /// router. It is never larger than configured, and never so small that a packet of
    /// 1280 octets would not fit.
    pub fn set_path_mtu(&mut self, now: Time, peer: usize, mtu: IpMtu) {
        let (Some(known), Some(state)) = (self.settings.peers.get(peer), self.peers.get_mut(peer))
        else {
            return;
        };
        if let Some(record) = &mut self.record {
            record.events.push(Event::Mtu { at: now, peer, mtu });
        }
        let least = self.settings.least_mtu(known);
        state.mtu = mtu.bytes().max(least).min(known.mtu.bytes());
        if let Some(gather) = self.settings.gathering(known, state.mtu) {
            for exit in &state.exits {
                // The smallest MTU has room for two packets.
                let _ = self.edge.set_gather(now, *exit, gather);
            }
        }
    }

    /// The largest packet that passes to `peer`, and the largest packet from inside that
    /// then fits.
    pub fn path_mtu(&self, peer: usize) -> Option<(Bytes, Bytes)> {
        let mtu = self.peers.get(peer)?.mtu;
        Some((mtu, self.settings.room(&self.settings.peers[peer], mtu)))
    }

    /// Continues the sequences of bundles of `old`, which this gateway replaces, with each
    /// peer of the same carriage: the peer would take new ones for late bundles. Keys go
    /// on with each peer whose secret is the same.
    pub fn succeed(&mut self, old: &mut Self) {
        for (peer, state) in self.settings.peers.iter().zip(&mut self.peers) {
            let same = |former: &Peer| former.carriage == peer.carriage;
            if let Some(number) = old.settings.peers.iter().position(same) {
                let former = &mut old.peers[number];
                state.sent = former.sent;
                state.order = std::mem::take(&mut former.order);
                if let Some(sealing) = &peer.sealing
                    && let Some(mut seal) = former.seal.take()
                    && seal.adopt(sealing)
                {
                    state.seal = Some(seal);
                }
            }
        }
    }

    /// Says when the driver's link to the core is idle, for gatherings that wait for
    /// this. With an uplink the gateway knows it by itself.
    pub const fn set_core_free(&mut self, at: Time) {
        self.core_free = at;
    }

    /// Takes an IP packet from an inside network. Octets behind the packet are ignored.
    pub fn receive_inside(&mut self, now: Time, octets: &[u8]) {
        let length = octets.len() as u64;
        let Ok(packet) = IpPacket::parse_whole(octets) else {
            self.came(None, length);
            self.lose(None, Cause::Malformed);
            return;
        };
        let octets = &octets[..size(&packet)];
        let [_, destination] = packet.addresses.ends();
        let exit = self.table.exit(destination);
        let peer = exit.map(|exit| exit.egress);
        self.came(peer, octets.len() as u64);
        if self.settings.counts_hops && packet.hop_limit <= 1 {
            self.tell(now, octets, ErrorCause::HopLimitExceeded);
            self.lose(peer, Cause::HopLimit);
            return;
        }
        let Some((exit, peer)) = exit.zip(peer) else {
            // No route to the network [RFC792] [RFC4443 s3.1].
            self.tell(now, octets, ErrorCause::Unreachable { code: 0 });
            self.lose(None, Cause::NoRoute);
            return;
        };
        let mut buffer = self.pool.keep(octets);
        if self.settings.counts_hops {
            // A packet that was read has a hop limit.
            let _ = set_hop_limit(&mut buffer, packet.hop_limit - 1);
        }
        let room = self.room(peer);
        if Bytes::new(octets.len() as u64) > room {
            self.divide(now, exit, octets, &buffer, room);
            self.pool.give(buffer);
        } else {
            self.forward(now, Inner::new(buffer, exit));
        }
    }

    /// Takes an IP packet from the core: a bundle of a peer, or a plain packet.
    pub fn receive_core(&mut self, now: Time, octets: &[u8]) {
        let length = octets.len() as u64;
        let Some(addresses) = bundle::addressed(octets) else {
            return self.receive_plain(now, octets);
        };
        let origin = Origin::of(addresses);
        let Some(peer) = self.peer_of(origin) else {
            if self
                .origins
                .iter()
                .all(|(known, _)| known.here() != origin.here())
            {
                return self.receive_plain(now, octets);
            }
            self.arrived(None, length);
            return self.refuse(None, Refusal::Stranger);
        };
        self.arrived(Some(peer), length);
        match Arrival::parse(octets) {
            Ok(arrival) => {
                let (bundle::Carriage::Ip { service, .. } | bundle::Carriage::Udp { service, .. }) =
                    arrival.carriage
                else {
                    return self.refuse(Some(peer), Refusal::Malformed);
                };
                self.open(now, peer, service, arrival.payload, false);
            }
            Err(_) => self.refuse(Some(peer), Refusal::Malformed),
        }
    }

    /// Takes what an MPLS frame from the core carries: labels and a bundle.
    pub fn receive_labelled(&mut self, now: Time, octets: &[u8]) {
        let length = octets.len() as u64;
        let arrival = Arrival::parse_labelled(octets);
        let Ok(Arrival {
            carriage: bundle::Carriage::Label { label, .. },
            payload,
        }) = arrival
        else {
            self.arrived(None, length);
            return self.refuse(None, Refusal::Malformed);
        };
        let peer = self.peer_of(Origin::Label(label));
        self.arrived(peer, length);
        match peer {
            Some(peer) => self.open(now, peer, outer::NOT_ECT, payload, true),
            None => self.refuse(None, Refusal::Stranger),
        }
    }

    /// Takes the payload of a datagram that a socket received: `ends` are its source and
    /// destination, `service` is the service octet, as far as the socket tells it.
    pub fn receive_payload(&mut self, now: Time, ends: [IpAddr; 2], service: u8, payload: &[u8]) {
        let [there, here] = ends;
        let peer = self.peer_of(Origin::Addresses { there, here });
        self.arrived(peer, payload.len() as u64);
        match peer {
            Some(peer) => self.open(now, peer, service, payload, false),
            None => self.refuse(None, Refusal::Stranger),
        }
    }

    /// Makes [`Gateway::poll_transmit`] check all that waits.
    pub fn handle_timeout(&mut self, now: Time) {
        for peer in 0..self.peers.len() {
            self.unpack_held(now, peer);
        }
        self.greets = true;
        if let Some(record) = &mut self.record {
            record.checked = Some(now);
        }
        self.edge.handle_timeout();
    }

    /// Sends what waits for company, whatever its timers say; what waits to be let out
    /// keeps its instants. A gateway that ends calls it, and goes on until nothing
    /// waits.
    pub fn flush(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.events.push(Event::Flushed(now));
        }
        self.edge.flush(now);
    }

    /// The next thing to send at `now`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<'_>> {
        if self.greets
            && let Some((peer, payload)) = self.greet(now)
        {
            return Some(Transmit::Core {
                peer,
                octets: &self.out,
                payload,
                service: GREETING_SERVICE,
            });
        }
        loop {
            // What waited may turn out to be too big further down.
            if let Some(error) = self.errors.pop_front() {
                self.lend(error);
                return Some(Transmit::Inside { octets: &self.out });
            }
            if let Some(departing) = self.depart(now) {
                self.note_departure(now, &departing);
                let cause = match self.write(now, &departing) {
                    Ok((payload, service)) => {
                        let peer = departing.peer;
                        self.count_sent(departing);
                        return Some(Transmit::Core {
                            peer,
                            octets: &self.out,
                            payload,
                            service,
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
            let (uplink, core_free) = (&mut self.uplink, self.core_free);
            let free_at = |_| {
                let link = uplink.as_mut();
                link.map_or(core_free, |link| link.free_at(now))
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
                    inward.released_octets += packet.octets.len() as u64;
                    self.lend(packet.octets);
                    return Some(Transmit::Inside { octets: &self.out });
                }
            }
        }
    }

    /// The instant of the next call of [`Gateway::handle_timeout`], valid once
    /// [`Gateway::poll_transmit`] has returned `None`.
    pub fn next_timeout(&mut self, now: Time) -> Option<Time> {
        let (uplink, core_free) = (&mut self.uplink, self.core_free);
        let free = uplink.as_mut().map_or(core_free, |link| link.free_at(now));
        let edge = self.edge.next_timeout(|_| free);
        let uplink = uplink.as_ref().and_then(Link::next_timeout);
        let peers = self.peers.iter().flat_map(|peer| {
            let seal = peer.seal.as_ref().and_then(Seal::next_timeout);
            [peer.order.next_timeout(), seal].into_iter().flatten()
        });
        peers.chain(edge).chain(uplink).min()
    }

    /// The counters so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The packets that wait.
    pub fn waiting(&self) -> Waiting {
        Waiting {
            outward: self.edge.gathering() + self.queued,
            inward: self.edge.leaving(),
            bundles: self
                .peers
                .iter()
                .map(|peer| peer.order.waiting() as u64)
                .sum(),
        }
    }

    /// Whether bundles to `peer` can be sealed; `None` if the two share no secret.
    pub fn has_key(&self, peer: usize) -> Option<bool> {
        Some(self.peers.get(peer)?.seal.as_ref()?.is_ready())
    }

    /// The bundles that wait for the uplink, and the average on which its queue decides.
    pub fn uplink(&self) -> Option<(queue::Backlog, Option<f64>)> {
        let link = self.uplink.as_ref()?;
        Some((link.backlog(), link.average()))
    }

    /// The largest packet from inside that fits toward `peer`.
    fn room(&self, peer: usize) -> Bytes {
        let mtu = self.peers[peer].mtu;
        self.settings.room(&self.settings.peers[peer], mtu)
    }

    fn peer_of(&self, origin: Origin) -> Option<usize> {
        let place = self
            .origins
            .binary_search_by_key(&origin, |(known, _)| *known);
        Some(self.origins[place.ok()?].1)
    }

    /// Lends `octets` to the driver.
    fn lend(&mut self, octets: Vec<u8>) {
        let before = std::mem::replace(&mut self.out, octets);
        self.pool.give(before);
    }

    fn came(&mut self, peer: Option<usize>, octets: u64) {
        let outward = &mut self.counts.of(peer).outward;
        outward.came += 1;
        outward.came_octets += octets;
    }

    fn lose(&mut self, peer: Option<usize>, cause: Cause) {
        self.counts.of(peer).outward.drops.add(cause, 1);
    }

    fn arrived(&mut self, peer: Option<usize>, octets: u64) {
        let inward = &mut self.counts.of(peer).inward;
        inward.arrived += 1;
        inward.arrived_octets += octets;
    }

    fn refuse(&mut self, peer: Option<usize>, refusal: Refusal) {
        self.counts.of(peer).inward.refusals.add(refusal);
    }
}

/// Octets of a packet that is whole.
fn size(packet: &IpPacket<'_>) -> usize {
    usize::try_from(packet.size).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
