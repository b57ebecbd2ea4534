//! The way of packets from inside to the core.

use std::net::IpAddr;

use queue::{Bundle, Packet as _, Part};
use units::{Bytes, Framing, Seed, Time};
use wire::bundle::{self, ENTRY_LEN, HEADER_LEN, Header, Piece, SEALED_HEADER_LEN, TAG_LEN, Unit};
use wire::icmp_error::{Cause as ErrorCause, IcmpError};

use super::packet::{Departing, Inner, Load};
use super::peers::PeerState;
use super::{Cause, Decision, Event, Gateway, Padding, SinglePacketMode, outer};
use link::Link;
use link::edge::Outgoing;

impl Gateway {
    /// Hands a packet to the edge, which aggregates it or sends it alone.
    pub(super) fn forward(&mut self, now: Time, mut packet: Inner) {
        let exit = packet.exit;
        packet.number = self.forwarded;
        self.forwarded += 1;
        if let Some(record) = &mut self.record {
            record.events.push(Event::Arrived(packet.arrival(now)));
        }
        let state = &mut self.peers[exit.egress];
        if !state.exits.contains(&exit) {
            state.exits.push(exit);
            let peer = &self.settings.peers[exit.egress];
            let aggregate = self.settings.aggregation(peer, state.mtu);
            // See `Gateway::set_mtu`.
            let _ = self.edge.set_aggregate(now, exit, aggregate);
        }
        let before = self.edge.counts().pieces;
        if let Some(packet) = self.edge.receive(now, packet, Some(exit)) {
            self.enqueue_alone(now, packet);
        }
        let pieces = self.edge.counts().pieces - before;
        self.counts.of(Some(exit.egress)).outward.pieces += pieces;
    }

    /// Tells the source of the packet in `bytes` why it was dropped, if the rules allow
    /// it and the limit has room [RFC1812 s4.3.2] [RFC4443 s2.4].
    pub(super) fn tell(&mut self, now: Time, bytes: &[u8], cause: ErrorCause) {
        let [four, six] = self.settings.inside;
        let from = match bytes.first().map(|first| first >> 4) {
            Some(4) => four,
            _ => six,
        };
        if let Some(error) = self.error(now, bytes, cause, from) {
            self.counts.errors += 1;
            self.errors.push_back(error);
        }
    }

    /// Tells the source of a packet that came from the core that the link to its host takes
    /// no more than `mtu` bytes. The error is from `from`, and goes through the core like a
    /// packet from inside.
    pub fn tell_sender(&mut self, now: Time, bytes: &[u8], mtu: u32, from: IpAddr) {
        if let Some(error) = self.error(now, bytes, ErrorCause::TooBig { mtu }, Some(from)) {
            self.receive_inside(now, &error);
            self.pool.give(error);
        }
    }

    /// An ICMP error about the packet in `bytes`, if it is allowed.
    fn error(
        &mut self,
        now: Time,
        bytes: &[u8],
        cause: ErrorCause,
        from: Option<IpAddr>,
    ) -> Option<Vec<u8>> {
        let error = from.and_then(|from| IcmpError::about(bytes, cause, from));
        let Some(error) = error.filter(|_| self.answers.take(now)) else {
            self.counts.errors_withheld += 1;
            return None;
        };
        let mut buffer = self.pool.zeros(error.buffer_len());
        error.emit(&mut buffer).is_ok().then_some(buffer)
    }

    /// Queues a bundle of the edge.
    pub(super) fn enqueue_bundle(&mut self, now: Time, outgoing: Outgoing<Inner>) {
        let load = Load::Bundle(outgoing.bundle);
        self.enqueue(now, outgoing.exit.egress, load, Bytes::ZERO);
    }

    /// Queues a packet without company.
    pub(super) fn enqueue_alone(&mut self, now: Time, packet: Inner) {
        let peer = packet.exit.egress;
        let around = match self.settings.alone {
            SinglePacketMode::Plain => Bytes::ZERO,
            SinglePacketMode::Bundled => {
                let overhead = self.settings.overhead(&self.settings.peers[peer]);
                overhead + Bytes::new(ENTRY_LEN as u64)
            }
        };
        self.enqueue(now, peer, Load::Alone(packet), around);
    }

    fn enqueue(&mut self, now: Time, peer: usize, load: Load, around: Bytes) {
        let state = &mut self.peers[peer];
        let number = state.sent;
        let plain =
            matches!(load, Load::Alone(_)) && self.settings.alone == SinglePacketMode::Plain;
        state.sent += u64::from(!plain);
        let uplink = self.settings.uplink.as_ref();
        let sealing = self.settings.peers[peer].sealing.as_ref();
        let padding = sealing.map_or(Padding::NONE, |sealing| sealing.padding);
        let departing = Departing {
            peer,
            number,
            load,
            around,
            padding: (padding, state.mtu),
            framing: uplink.map_or(Framing::None, |uplink| uplink.framing),
            // A flow of its own, as in the simulator.
            flow: Seed::new(0).with(peer as u64).get(),
        };
        self.queued += departing.packets();
        match &mut self.uplink {
            Some(link) => {
                // The link takes packets of any size.
                let rejected = link.receive(now, departing);
                self.note_lost();
                if let Some(rejected) = rejected {
                    self.recycle(rejected);
                }
            }
            None => self.departing.push_back(departing),
        }
    }

    /// The next thing that leaves for the core by `now`.
    pub(super) fn depart(&mut self, now: Time) -> Option<Departing> {
        match &mut self.uplink {
            Some(link) => {
                let delivery = link.poll_transmit(now);
                self.note_lost();
                Some(delivery?.packet)
            }
            None => self.departing.pop_front(),
        }
    }

    /// Counts what the uplink's queue dropped.
    pub(super) fn note_lost(&mut self) {
        let Some(link) = &mut self.uplink else { return };
        let lost = &mut Link::observer(link).0;
        if lost.is_empty() {
            return;
        }
        let mut lost = std::mem::take(lost);
        for lost in lost.drain(..) {
            let packets = lost.packets.len() as u64;
            self.queued -= packets;
            let outward = &mut self.counts.of(Some(lost.peer)).outward;
            outward.drops.add(Cause::of(lost.reason), packets);
            outward.taken_out += if lost.taken_out { packets } else { 0 };
            if let Some(record) = &mut self.record {
                record.decide(Decision::Dropped {
                    at: lost.at,
                    peer: lost.peer,
                    reason: lost.reason,
                    taken_out: lost.taken_out,
                    packets: lost.packets,
                });
            }
        }
        if let Some(link) = &mut self.uplink {
            link.observer().0 = lost;
        }
    }

    /// Writes what departs to the bytes that are lent. Returns where the payload of its
    /// encapsulation begins, and its service byte; or why it cannot be written.
    pub(super) fn write(&mut self, now: Time, departing: &Departing) -> Result<(usize, u8), Cause> {
        let PeerState { seal, sealed, .. } = &mut self.peers[departing.peer];
        let key = match seal {
            Some(seal) => {
                // A queue dropped those between.
                let skipped = departing.number.saturating_sub(*sealed);
                let key = seal.next(now, skipped).ok_or(Cause::NoKey)?;
                *sealed = departing.number + 1;
                Some(key)
            }
            None => None,
        };
        let peer = &self.settings.peers[departing.peer];
        let out = &mut self.out;
        out.clear();
        let alone = match &departing.load {
            Load::Alone(packet) if departing.around == Bytes::ZERO => {
                out.extend_from_slice(&packet.bytes);
                return Ok((0, packet.service()));
            }
            Load::Alone(packet) => Some(packet),
            Load::Bundle(_) => None,
        };
        let bundle = match &departing.load {
            Load::Bundle(bundle) => Some(bundle),
            Load::Alone(_) => None,
        };
        let inside = || bundled(bundle).chain(alone);
        let first = inside().next().map_or(0, Inner::service);
        let dscp = peer.dscp.map_or(first & !outer::CE, |dscp| dscp << 2);
        let service = dscp | outer::outer_ecn(inside().map(Inner::service));
        let encapsulation = peer.encapsulation.emitted(service);
        let advertised = departing.advertised();
        let average = alone.map_or(advertised.average, |packet| packet.view().size);
        let short = |number: u64| u16::try_from(number).map_err(|_| Cause::Unwritten);
        let (begins_within, ends_within) = bundle.map_or((false, false), within);
        let header = Header {
            count: short(advertised.packets.into())?,
            average: short(average.get())?,
            begins_within,
            ends_within,
            unit: match self.settings.aggregate.tick {
                queue::Tick::TenMicros => Unit::TenMicroseconds,
                queue::Tick::Micro => Unit::Microsecond,
            },
            sequence: sequence(departing.number),
        };
        let bytes: usize = inside().map(|packet| packet.content().len()).sum();
        let (payload, tag) = (
            encapsulation.header_len(),
            key.as_ref().map_or(0, |_| TAG_LEN),
        );
        let begin = payload + key.as_ref().map_or(0, |_| SEALED_HEADER_LEN);
        let body = begin..begin + HEADER_LEN + ENTRY_LEN * usize::from(header.count) + bytes;
        let size = departing.padded(Bytes::new((body.end + tag) as u64));
        out.resize(
            usize::try_from(size.get()).map_err(|_| Cause::Unwritten)?,
            0,
        );
        let end = out.len() - tag;
        let alone = alone.map(|packet| Piece {
            bytes: &packet.bytes,
            waited: 0,
        });
        let pieces = bundle.into_iter().flat_map(pieces).chain(alone);
        bundle::emit_body(header, pieces, &mut out[body]).map_err(|_| Cause::Unwritten)?;
        if let Some((header, key)) = key {
            let sealed = &mut out[begin..end];
            let tag = key.seal(header, sealed).ok_or(Cause::Unwritten)?;
            out[payload..begin].copy_from_slice(&header.bytes());
            out[end..].copy_from_slice(&tag);
        }
        if self.settings.encloses(&encapsulation) {
            encapsulation.enclose(out).map_err(|_| Cause::Unwritten)?;
        }
        Ok((payload, service))
    }

    /// Writes a handshake message that is due. Returns the number of its receiver, and where
    /// the payload of the encapsulation begins.
    pub(super) fn handshake(&mut self, now: Time) -> Option<(usize, usize)> {
        let peer = self.due.handshakes.first_due(now)?;
        let state = &mut self.peers[peer];
        let message = state.seal.as_mut().and_then(|seal| seal.poll_message(now));
        state.renew_handshake(peer, &mut self.due);
        // A session may have begun or ended.
        state.renew_path(peer, &mut self.due);
        let message = message?;
        let encapsulation = self.settings.peers[peer].encapsulation;
        let encapsulation = encapsulation.emitted(super::HANDSHAKE_SERVICE);
        let payload = encapsulation.header_len();
        self.out.clear();
        self.out.resize(payload, 0);
        self.out.extend(message);
        if self.settings.encloses(&encapsulation) {
            encapsulation.enclose(&mut self.out).ok()?;
        }
        self.counts.of(Some(peer)).outward.handshakes += 1;
        Some((peer, payload))
    }

    /// Counts what was sent, and takes its buffers back.
    pub(super) fn count_sent(&mut self, departing: Departing) {
        let packets = departing.packets();
        self.queued -= packets;
        let sent_bytes = self.out.len() as u64;
        let outward = &mut self.counts.of(Some(departing.peer)).outward;
        outward.sent_bytes += sent_bytes;
        let marked = match &departing.load {
            Load::Bundle(bundle) => {
                outward.bundles += 1;
                outward.bundled += packets;
                bundled(Some(bundle)).filter(|packet| packet.marked).count() as u64
            }
            Load::Alone(packet) => {
                outward.alone += 1;
                u64::from(packet.marked)
            }
        };
        outward.marked += marked;
        self.recycle(departing);
    }

    /// Takes the buffers of what departed back.
    pub(super) fn recycle(&mut self, departing: Departing) {
        match departing.load {
            Load::Bundle(bundle) => {
                for (packet, _) in bundle.unpack() {
                    self.pool.give(packet.bytes);
                }
            }
            Load::Alone(packet) => self.pool.give(packet.bytes),
        }
    }
}

/// The number of a bundle as its header states it.
fn sequence(number: u64) -> u16 {
    u16::try_from(number % u64::from(bundle::SEQUENCES)).unwrap_or(0)
}

/// Whether a bundle begins within a packet, and whether it ends within one.
fn within(bundle: &Bundle<Inner>) -> (bool, bool) {
    let entries = bundle.entries();
    let part = |entry: Option<&queue::Entry<Inner>>| Some(entry?.packet()?.part());
    let (first, last) = (part(entries.first()), part(entries.last()));
    let begins = matches!(first, Some(Part::Rest { .. }));
    let ends = matches!(last, Some(Part::First { .. } | Part::Rest { last: false }));
    (begins, ends)
}

/// The packets that are left in a bundle.
fn bundled(bundle: Option<&Bundle<Inner>>) -> impl Iterator<Item = &Inner> {
    let entries = bundle.map(Bundle::entries).unwrap_or_default().iter();
    entries.filter_map(queue::Entry::packet)
}

/// The pieces of a bundle; those of dropped packets have no bytes.
fn pieces(bundle: &Bundle<Inner>) -> impl Iterator<Item = Piece<'_>> {
    bundle.entries().iter().map(|entry| Piece {
        bytes: entry.packet().map_or(&[], Inner::content),
        waited: entry.waited(),
    })
}
