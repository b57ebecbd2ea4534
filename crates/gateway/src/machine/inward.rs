//! The way of packets from the core to the inside.

use queue::{Part, Reassembled};
use units::{Bytes, IpMtu, Span, Time};
use wire::bundle::{self, Body, NOTHING, PathMessage, Sealed, is_sealed};
use wire::frame;
use wire::ip_packet::{IpPacket, set_hop_limit, stated_length};

use super::martian::is_martian;
use super::order::Verdict;
use super::packet::Inner;
use super::seal::{Counter, Opened, Rejected};
use super::settings::Origin;
use super::{Cause, Gateway, Rejection, SinglePacketMode, outer};
use link::edge::Exit;

/// The origin of plain packets that come from behind no peer.
const NOBODY: u64 = u64::MAX;

impl Gateway {
    /// Takes the payload of an encapsulation from `peer`, whose outer header has the byte
    /// `service`.
    pub(super) fn open(
        &mut self,
        now: Time,
        peer: usize,
        service: u8,
        payload: &[u8],
        padded: bool,
    ) {
        let Some(seal) = &mut self.peers[peer].seal else {
            return match is_sealed(payload) {
                false => self.take(now, peer, (service, None), payload, padded),
                true => match PathMessage::parse(payload) {
                    Ok(message) => self.heed(now, peer, message, payload.len()),
                    Err(_) => self.reject(Some(peer), Rejection::UnknownKey),
                },
            };
        };
        if !is_sealed(payload) || PathMessage::parse(payload).is_ok() {
            return self.reject(Some(peer), Rejection::Unsealed);
        }
        match Sealed::parse(payload) {
            Err(_) => self.reject(Some(peer), Rejection::Malformed),
            Ok(Sealed::Handshake(message)) => {
                let shaken = seal.shake(now, &message, &mut self.guard);
                self.shaken(peer, shaken);
            }
            Ok(Sealed::Cookie(reply)) => {
                let taken = seal.take_cookie(now, &reply);
                self.shaken(peer, taken);
            }
            Ok(Sealed::Bundle { header, rest }) => {
                let mut opened = std::mem::take(&mut self.opened);
                opened.clear();
                opened.extend_from_slice(rest);
                match seal.open(now, header, &mut opened) {
                    Ok(Opened { length, counter }) => {
                        self.take_opened(now, peer, (service, counter), &opened[..length]);
                    }
                    Err(rejected) => self.reject(Some(peer), rejected.into()),
                }
                self.opened = opened;
            }
        }
        self.peers[peer].renew_handshake(peer, &mut self.due);
        self.peers[peer].renew_path(peer, &mut self.due);
    }

    /// Counts a handshake message that was accepted, or the reason of its rejection.
    fn shaken(&mut self, peer: usize, shaken: Result<(), Rejected>) {
        match shaken {
            Ok(()) => self.counts.of(Some(peer)).inward.handshakes += 1,
            Err(rejected) => self.reject(Some(peer), rejected.into()),
        }
    }

    /// Takes what was sealed by `peer`.
    fn take_opened(
        &mut self,
        now: Time,
        peer: usize,
        (service, counter): (u8, Counter),
        bytes: &[u8],
    ) {
        if !is_sealed(bytes) {
            return self.take(now, peer, (service, Some(counter)), bytes, true);
        }
        match PathMessage::parse(bytes) {
            Ok(message) => self.heed(now, peer, message, bytes.len()),
            Err(_) if bytes == NOTHING => self.shaken(peer, Ok(())),
            Err(_) => self.reject(Some(peer), Rejection::Malformed),
        }
    }

    /// Takes a bundle that is known to be from `peer`, in its turn.
    fn take(
        &mut self,
        now: Time,
        peer: usize,
        (service, counter): (u8, Option<Counter>),
        bytes: &[u8],
        padded: bool,
    ) {
        let Ok(body) = Body::parse(bytes, padded) else {
            return self.reject(Some(peer), Rejection::Malformed);
        };
        let reorder = self.settings.reorder;
        let order = &mut self.peers[peer].order;
        let sequence = body.header().sequence;
        match order.judge(now, (sequence, counter), reorder) {
            Verdict::Next { follows } => self.unpack(now, peer, (service, follows), body),
            Verdict::Early { number } => {
                let kept = self.pool.keep(&bytes[..body.size()]);
                self.held += 1;
                order.hold(now, (number, service), kept, reorder);
            }
            Verdict::Duplicate => self.reject(Some(peer), Rejection::Duplicate),
            Verdict::Late => self.reject(Some(peer), Rejection::Late),
        }
        self.unpack_held(now, peer);
    }

    /// Unpacks bundles of `peer` that need not wait for others any more, and gives up a
    /// packet whose next piece did not come.
    pub(super) fn unpack_held(&mut self, now: Time, peer: usize) {
        let reorder = self.settings.reorder;
        let mut misses = false;
        while let Some(held) = self.peers[peer].order.pop(now, reorder) {
            self.held -= 1;
            misses |= !held.follows;
            match Body::parse(&held.bytes, false) {
                Ok(body) => self.unpack(now, peer, (held.service, held.follows), body),
                Err(_) => self.reject(Some(peer), Rejection::Malformed),
            }
            self.pool.give(held.bytes);
        }
        let lost = self.peers[peer].order.take_lost();
        self.counts.of(Some(peer)).inward.lost_bundles += lost;
        self.expire(now, peer);
        self.peers[peer].renew_bundles(peer, &mut self.due);
        if misses {
            self.miss(now, peer);
        }
    }

    /// Takes an IP packet for one of the addresses of this gateway's own tunnels: a
    /// router may say that bundles are too big. It is believed if it quotes a packet of
    /// a tunnel, and no probes run that show the truth [RFC8201 s4].
    fn receive_own(&mut self, now: Time, bytes: &[u8]) {
        let told = IpPacket::parse_whole(bytes).ok().and_then(|packet| {
            let Some(wire::icmp_error::Cause::TooBig { mtu }) = wire::icmp_error::cause(bytes)
            else {
                return None;
            };
            let quoted = packet.payload.get(QUOTE..)?;
            let [here, there] = bundle::addressed(quoted)?.ends();
            let peer = self.peer_of(Origin::Addresses { there, here })?;
            let mtu = IpMtu::new(mtu.into(), packet.version()).ok()?;
            Some((peer, mtu))
        });
        self.arrived(told.map(|(peer, _)| peer), bytes.len() as u64);
        match told {
            Some((peer, mtu)) => {
                self.counts.of(Some(peer)).inward.notices += 1;
                if self.peers[peer].path.is_searched() {
                    self.doubt_path(now, peer);
                } else if mtu.bytes() < self.peers[peer].told {
                    self.set_path_mtu(now, peer, mtu);
                }
            }
            None => self.reject(None, Rejection::Plain),
        }
    }

    /// Unpacks a bundle; `follows`: it is the next one behind the latest that was unpacked.
    fn unpack(&mut self, now: Time, peer: usize, (service, follows): (u8, bool), body: Body<'_>) {
        let live = body.live() as u64;
        let header = body.header();
        let room = self.room_inside();
        let mut packets = std::mem::take(&mut self.unpacked);
        let reassembler = &mut self.peers[peer].reassembler;
        let inward = &mut self.counts.of(Some(peer)).inward;
        inward.bundles += 1;
        inward.unpacked += live;
        inward.missing += u64::from(header.count) - live;
        self.pieces -= u64::from(reassembler.waiting());
        let pool = &mut self.pool;
        let entries = body.packets().map(|(part, waited, bytes)| {
            let part = part_of(part, bytes);
            let missing = match part {
                Part::First { missing } => usize::try_from(missing.get()).unwrap_or(0),
                Part::Whole | Part::Rest { .. } => 0,
            };
            let bytes = pool.keep_with_room(bytes, missing);
            let packet = Inner::arrived(bytes, exit(peer), part, service);
            (packet, header.unit.span(waited))
        });
        reassembler.receive(now, follows, entries, |out| match out {
            Reassembled::Whole {
                packet,
                waited,
                pieces,
            } => {
                inward.joined += u64::from(pieces) - 1;
                packets.push((packet, waited));
            }
            Reassembled::Lost { pieces, .. } => {
                inward.drops.add(Cause::Incomplete, pieces.into());
            }
        });
        self.pieces += u64::from(reassembler.waiting());
        let mut left = room;
        packets.retain_mut(|(packet, _)| {
            let outcome = judge(&packet.bytes, packet.service()).and_then(|service| {
                left = left.checked_sub(1).ok_or(Cause::Overflow)?;
                Ok(service)
            });
            match outcome {
                Err(cause) => {
                    inward.drops.add(cause, 1);
                    self.pool.give(std::mem::take(&mut packet.bytes));
                    return false;
                }
                Ok(Some(service)) => {
                    frame::set_service(&mut packet.bytes, service);
                    inward.marked += u64::from(service & outer::CE == outer::CE);
                }
                Ok(None) => {}
            }
            true
        });
        self.edge
            .receive_packets(now, packets.drain(..), peer as u64);
        self.unpacked = packets;
        self.peers[peer].renew_bundles(peer, &mut self.due);
    }

    /// Gives up the packet of `peer` whose next piece did not come in time.
    fn expire(&mut self, now: Time, peer: usize) {
        let inward = &mut self.counts.of(Some(peer)).inward;
        self.peers[peer].reassembler.expire(now, |out| {
            if let Reassembled::Lost { pieces, .. } = out {
                inward.drops.add(Cause::Incomplete, pieces.into());
                self.pieces -= u64::from(pieces);
            }
        });
    }

    /// Takes a packet that travelled alone and unchanged. Those from behind a peer leave
    /// in turn with its bundles.
    pub(super) fn receive_plain(&mut self, now: Time, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let packet = IpPacket::parse_whole(bytes).ok();
        if let Some(packet) = &packet {
            let [_, destination] = packet.addresses.ends();
            let mut here = self.origins.iter().filter_map(|(origin, _)| origin.here());
            if here.any(|here| here == destination) {
                return self.receive_own(now, bytes);
            }
        }
        let Some(packet) = packet.filter(|_| self.settings.alone == SinglePacketMode::Plain) else {
            self.arrived(None, length);
            return self.reject(
                None,
                match self.settings.alone {
                    SinglePacketMode::Plain => Rejection::Malformed,
                    SinglePacketMode::Bundled => Rejection::Plain,
                },
            );
        };
        let bytes = &bytes[..super::arrivals::size(&packet)];
        let [source, _] = packet.addresses.ends();
        let peer = self.table.exit(source).map(|exit| exit.egress);
        let peer = peer.filter(|peer| *peer < self.peers.len());
        self.arrived(peer, length);
        let room = self.room_inside();
        let inward = &mut self.counts.of(peer).inward;
        inward.plain += 1;
        if is_martian(packet.addresses) {
            return inward.drops.add(Cause::Martian, 1);
        }
        if packet.hop_limit <= u8::from(self.settings.counts_hops) {
            return inward.drops.add(Cause::HopLimit, 1);
        }
        if room == 0 {
            return inward.drops.add(Cause::Overflow, 1);
        }
        let mut buffer = self.pool.keep(bytes);
        if self.settings.counts_hops {
            let _ = set_hop_limit(&mut buffer, packet.hop_limit - 1);
        }
        let exit = exit(peer.unwrap_or(super::HERE));
        let packet = Inner::arrived(buffer, exit, Part::Whole, outer::NOT_ECT);
        let packet = (packet, Span::ZERO);
        let origin = peer.map_or(NOBODY, |peer| peer as u64);
        self.edge.receive_packets(now, [packet].into_iter(), origin);
    }

    /// How many more packets may wait to be let out.
    fn room_inside(&self) -> u64 {
        let most = self.settings.most_waiting as u64;
        most.saturating_sub(self.edge.leaving())
    }
}

/// Bytes of an ICMP message in front of the packet that it quotes [RFC792].
const QUOTE: usize = 8;

impl From<Rejected> for Rejection {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::UnknownKey => Self::UnknownKey,
            Rejected::Forged => Self::Forged,
            Rejected::Replayed => Self::Replayed,
            Rejected::Limited => Self::Limited,
        }
    }
}

/// The part of a packet that an entry of a bundle has. Its IP header states the bytes that
/// are missing behind its first piece.
fn part_of(part: bundle::Part, bytes: &[u8]) -> Part {
    match part {
        bundle::Part::Whole => Part::Whole,
        bundle::Part::Rest { last } => Part::Rest { last },
        bundle::Part::First => {
            let whole = stated_length(bytes).unwrap_or(0);
            match whole.checked_sub(bytes.len()) {
                Some(missing) if missing > 0 => Part::First {
                    missing: Bytes::new(missing as u64),
                },
                // The packet is malformed, as it contradicts its bundle.
                _ => Part::Whole,
            }
        }
    }
}

/// The mark of an unpacked packet: the service byte that it gets, `None` if it keeps
/// its own; or why it is dropped.
fn judge(bytes: &[u8], outside: u8) -> Result<Option<u8>, Cause> {
    let packet = IpPacket::parse_whole(bytes).map_err(|_| Cause::Malformed)?;
    let inside = frame::service_of(bytes).ok_or(Cause::Malformed)?;
    if super::arrivals::size(&packet) != bytes.len() {
        return Err(Cause::Malformed);
    }
    // The sender of an unsealed bundle may be anybody.
    if is_martian(packet.addresses) {
        return Err(Cause::Martian);
    }
    if packet.hop_limit == 0 {
        return Err(Cause::HopLimit);
    }
    let ecn = outer::inner_ecn(inside, outside).ok_or(Cause::Congestion)?;
    let service = inside & !outer::CE | ecn;
    Ok((service != inside).then_some(service))
}

/// The place that a packet from `peer` came from.
const fn exit(peer: usize) -> Exit {
    Exit {
        next_as: 0,
        egress: peer,
    }
}
