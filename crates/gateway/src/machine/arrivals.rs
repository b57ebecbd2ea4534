//! Arrivals: packets from inside, and packets, frames and datagrams from the core.

use std::net::IpAddr;

use units::Time;
use wire::bundle::{self, Arrival};
use wire::icmp_error::Cause as ErrorCause;
use wire::ip_packet::{IpPacket, set_hop_limit};

use super::martian::is_martian;
use super::packet::Inner;
use super::settings::Origin;
use super::{Cause, Gateway, Rejection, outer};

/// The largest packet that is taken from inside: a jumbogram has no length in its IP header
/// by which its pieces could be joined.
const LARGEST_PACKET: usize = u16::MAX as usize;

impl Gateway {
    /// Takes an IP packet from an inside network. Bytes behind the packet are ignored.
    pub fn receive_inside(&mut self, now: Time, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let Ok(packet) = IpPacket::parse_whole(bytes) else {
            self.came(None, length);
            self.lose(None, Cause::Malformed);
            return;
        };
        let bytes = &bytes[..size(&packet)];
        let [_, destination] = packet.addresses.ends();
        // A row with another number leads nowhere.
        let exit = self.table.exit(destination);
        let exit = exit.filter(|exit| exit.egress < self.peers.len());
        let peer = exit.map(|exit| exit.egress);
        self.came(peer, bytes.len() as u64);
        if is_martian(packet.addresses) {
            return self.lose(peer, Cause::Martian);
        }
        if self.settings.counts_hops && packet.hop_limit <= 1 {
            self.tell(now, bytes, ErrorCause::HopLimitExceeded);
            self.lose(peer, Cause::HopLimit);
            return;
        }
        let Some((exit, peer)) = exit.zip(peer) else {
            // No route to the network [RFC792] [RFC4443 s3.1].
            self.tell(now, bytes, ErrorCause::Unreachable { code: 0 });
            self.lose(None, Cause::NoRoute);
            return;
        };
        if bytes.len() > LARGEST_PACKET {
            let mtu = u32::try_from(LARGEST_PACKET).unwrap_or(u32::MAX);
            self.tell(now, bytes, ErrorCause::TooBig { mtu });
            self.lose(Some(peer), Cause::TooBig);
            return;
        }
        let mut buffer = self.pool.keep(bytes);
        if self.settings.counts_hops {
            // A packet that was read has a hop limit.
            let _ = set_hop_limit(&mut buffer, packet.hop_limit - 1);
        }
        let packet = Inner::new(buffer, exit, self.tells_flows());
        self.forward(now, packet);
    }

    /// Takes an IP packet from the core: a bundle of a peer, or a plain packet.
    pub fn receive_core(&mut self, now: Time, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let Some(addresses) = bundle::addressed(bytes) else {
            return self.receive_plain(now, bytes);
        };
        let origin = Origin::of(addresses);
        let Some(peer) = self.peer_of(origin) else {
            if self
                .origins
                .iter()
                .all(|(known, _)| known.here() != origin.here())
            {
                return self.receive_plain(now, bytes);
            }
            self.arrived(None, length);
            return self.reject(None, Rejection::UnknownSender);
        };
        self.arrived(Some(peer), length);
        match Arrival::parse(bytes) {
            Ok(arrival) => {
                let (bundle::Encapsulation::Ip { service, .. }
                | bundle::Encapsulation::Udp { service, .. }) = arrival.encapsulation
                else {
                    return self.reject(Some(peer), Rejection::Malformed);
                };
                self.open(now, peer, service, arrival.payload, false);
            }
            Err(_) => self.reject(Some(peer), Rejection::Malformed),
        }
    }

    /// Takes what an MPLS frame from the core carries: labels and a bundle.
    pub fn receive_labelled(&mut self, now: Time, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let arrival = Arrival::parse_labelled(bytes);
        let Ok(Arrival {
            encapsulation: bundle::Encapsulation::Label { label, .. },
            payload,
        }) = arrival
        else {
            self.arrived(None, length);
            return self.reject(None, Rejection::Malformed);
        };
        let peer = self.peer_of(Origin::Label(label));
        self.arrived(peer, length);
        match peer {
            Some(peer) => self.open(now, peer, outer::NOT_ECT, payload, true),
            None => self.reject(None, Rejection::UnknownSender),
        }
    }

    /// Takes the payload of a datagram that a socket received: `ends` are its source and
    /// destination, `service` is the service byte, as far as the socket tells it.
    pub fn receive_payload(&mut self, now: Time, ends: [IpAddr; 2], service: u8, payload: &[u8]) {
        let [there, here] = ends;
        let peer = self.peer_of(Origin::Addresses { there, here });
        self.arrived(peer, payload.len() as u64);
        match peer {
            Some(peer) => self.open(now, peer, service, payload, false),
            None => self.reject(None, Rejection::UnknownSender),
        }
    }

    pub(super) fn peer_of(&self, origin: Origin) -> Option<usize> {
        let place = self
            .origins
            .binary_search_by_key(&origin, |(known, _)| *known);
        Some(self.origins[place.ok()?].1)
    }

    fn came(&mut self, peer: Option<usize>, bytes: u64) {
        let outward = &mut self.counts.of(peer).outward;
        outward.came += 1;
        outward.came_bytes += bytes;
    }

    pub(super) fn lose(&mut self, peer: Option<usize>, cause: Cause) {
        self.counts.of(peer).outward.drops.add(cause, 1);
    }

    pub(super) fn arrived(&mut self, peer: Option<usize>, bytes: u64) {
        let inward = &mut self.counts.of(peer).inward;
        inward.arrived += 1;
        inward.arrived_bytes += bytes;
    }

    pub(super) fn reject(&mut self, peer: Option<usize>, rejection: Rejection) {
        self.counts.of(peer).inward.rejections.add(rejection);
    }
}

/// Bytes of a packet that is whole.
pub(super) fn size(packet: &IpPacket<'_>) -> usize {
    usize::try_from(packet.size).unwrap_or(usize::MAX)
}
