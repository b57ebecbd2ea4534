//! The way of packets from the core to the inside.

use units::{Span, Time};
use wire::bundle::Body;
use wire::frame;
use wire::ip_packet::{IpPacket, set_hop_limit};

use super::packet::Inner;
use super::{Alone, Cause, Gateway, Refusal, outer};
use crate::edge::Exit;

/// The origin of plain packets that come from behind no peer.
const NOBODY: u64 = u64::MAX;

impl Gateway {
    /// Unpacks the payload of a carriage from `peer`, whose outer header has the octet
    /// `service`.
    pub(super) fn open(
        &mut self,
        now: Time,
        peer: usize,
        service: u8,
        payload: &[u8],
        padded: bool,
    ) {
        let Ok(body) = Body::parse(payload, padded) else {
            return self.refuse(Some(peer), Refusal::Malformed);
        };
        self.unpack(now, peer, service, body);
    }

    fn unpack(&mut self, now: Time, peer: usize, service: u8, body: Body<'_>) {
        let live = body.live() as u64;
        let header = body.header();
        let mut room = self.room_inside();
        let inward = &mut self.counts.of(Some(peer)).inward;
        inward.bundles += 1;
        inward.unpacked += live;
        inward.missing += u64::from(header.count) - live;
        let mut packets = std::mem::take(&mut self.unpacked);
        for (waited, octets) in body.packets() {
            let waited = header.unit.span(waited);
            let fate = judge(octets, service).and_then(|service| {
                room = room.checked_sub(1).ok_or(Cause::Overflow)?;
                Ok(service)
            });
            let inward = &mut self.counts.of(Some(peer)).inward;
            match fate {
                Err(cause) => inward.drops.add(cause, 1),
                Ok(mark) => {
                    let mut octets = self.pool.keep(octets);
                    if let Some(service) = mark {
                        frame::set_service(&mut octets, service);
                        inward.marked += u64::from(service & outer::CE == outer::CE);
                    }
                    packets.push((Inner::arrived(octets, exit(peer)), waited));
                }
            }
        }
        self.edge
            .receive_packets(now, packets.drain(..), peer as u64);
        self.unpacked = packets;
    }

    /// Takes a packet that travelled alone and unchanged. Those from behind a peer leave
    /// in turn with its bundles.
    pub(super) fn receive_plain(&mut self, now: Time, octets: &[u8]) {
        let length = octets.len() as u64;
        let packet = IpPacket::parse_whole(octets).ok();
        let Some(packet) = packet.filter(|_| self.settings.alone == Alone::Plain) else {
            self.arrived(None, length);
            return self.refuse(
                None,
                match self.settings.alone {
                    Alone::Plain => Refusal::Malformed,
                    Alone::Bundled => Refusal::Plain,
                },
            );
        };
        let octets = &octets[..super::size(&packet)];
        let [source, _] = packet.addresses.ends();
        let peer = self.table.exit(source).map(|exit| exit.egress);
        self.arrived(peer, length);
        let room = self.room_inside();
        let inward = &mut self.counts.of(peer).inward;
        inward.plain += 1;
        if self.settings.counts_hops && packet.hop_limit <= 1 {
            return inward.drops.add(Cause::HopLimit, 1);
        }
        if room == 0 {
            return inward.drops.add(Cause::Overflow, 1);
        }
        let mut buffer = self.pool.keep(octets);
        if self.settings.counts_hops {
            let _ = set_hop_limit(&mut buffer, packet.hop_limit - 1);
        }
        let exit = exit(peer.unwrap_or(super::HERE));
        let packet = (Inner::arrived(buffer, exit), Span::ZERO);
        let origin = peer.map_or(NOBODY, |peer| peer as u64);
        self.edge.receive_packets(now, [packet].into_iter(), origin);
    }

    /// How many more packets may wait to be let out.
    fn room_inside(&self) -> u64 {
        let most = self.settings.most_waiting as u64;
        most.saturating_sub(self.edge.leaving())
    }
}

/// The mark of an unpacked packet: the service octet that it gets, `None` if it keeps
/// its own; or why it is dropped.
fn judge(octets: &[u8], outside: u8) -> Result<Option<u8>, Cause> {
    let packet = IpPacket::parse_whole(octets).map_err(|_| Cause::Malformed)?;
    let inside = frame::service_of(octets).ok_or(Cause::Malformed)?;
    if super::size(&packet) != octets.len() {
        return Err(Cause::Malformed);
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
