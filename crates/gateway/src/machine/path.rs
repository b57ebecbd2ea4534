//! The largest packets that pass to peers, and the messages by which they are found.

use units::{Bytes, IpMtu, Time};
use wire::bundle::{PATH_MESSAGE_LEN, PathMessage, SEALED_HEADER_LEN, TAG_LEN};

use super::settings::LEAST_MTU;
use super::{Event, Gateway, Rejection};

impl Gateway {
    /// Sets the largest packet toward `peer` of which the driver or a router knows. It is
    /// never larger than configured, and never below 1280 bytes. Probes may find less.
    pub fn set_path_mtu(&mut self, now: Time, peer: usize, mtu: IpMtu) {
        let (Some(known), Some(state)) = (self.settings.peers.get(peer), self.peers.get_mut(peer))
        else {
            return;
        };
        let told = mtu.bytes().max(LEAST_MTU).min(known.mtu.bytes());
        if told > state.told {
            state.path.may_have_grown(now);
        }
        state.told = told;
        self.adopt_mtu(now, peer);
    }

    /// Notes that somebody reports packets toward `peer` as too big. Anybody may have sent the
    /// report: where probes run, it only has the size confirmed, and they decide.
    pub fn doubt_path(&mut self, now: Time, peer: usize) {
        if let Some(state) = self.peers.get_mut(peer) {
            state.path.doubt(now);
            state.renew_path(peer, &mut self.due);
        }
    }

    /// Adopts what is known of the path to `peer`.
    fn adopt_mtu(&mut self, now: Time, peer: usize) {
        let state = &mut self.peers[peer];
        let mtu = state.path.mtu(state.told, LEAST_MTU);
        state.renew_path(peer, &mut self.due);
        if state.mtu == mtu {
            return;
        }
        if let Some(record) = &mut self.record {
            record.events.push(Event::Mtu { at: now, peer, mtu });
        }
        self.set_mtu(now, peer, mtu);
    }

    /// Sets the largest packet that passes to `peer`, within what it is configured with.
    pub(super) fn set_mtu(&mut self, now: Time, peer: usize, mtu: Bytes) {
        let (known, state) = (&self.settings.peers[peer], &mut self.peers[peer]);
        state.mtu = mtu.max(LEAST_MTU).min(known.mtu.bytes());
        let aggregate = self.settings.aggregation(known, state.mtu);
        let before = self.edge.counts().pieces;
        for exit in &state.exits {
            // The smallest MTU has room for two packets.
            let _ = self.edge.set_aggregate(now, *exit, aggregate);
        }
        let pieces = self.edge.counts().pieces - before;
        self.counts.of(Some(peer)).outward.pieces += pieces;
    }

    /// The largest packet that passes to `peer`.
    pub fn path_mtu(&self, peer: usize) -> Option<Bytes> {
        Some(self.peers.get(peer)?.mtu)
    }

    /// Takes a message about the path to `peer`, in a payload of `length` bytes.
    pub(super) fn heed(&mut self, now: Time, peer: usize, message: PathMessage, length: usize) {
        let around = self.around(peer);
        let state = &mut self.peers[peer];
        if let PathMessage::Probe(probe) = message
            && usize::try_from(probe.size).is_ok_and(|size| length + around < size)
        {
            return self.reject(Some(peer), Rejection::Malformed);
        }
        match state.path.heard(now, message) {
            true => self.counts.of(Some(peer)).inward.probes += 1,
            false => self.reject(Some(peer), Rejection::Limited),
        }
        self.adopt_mtu(now, peer);
    }

    /// Writes a message about a path that is due. Returns the number of its receiver, where
    /// the payload of the encapsulation begins, and the service byte.
    pub(super) fn ask(&mut self, now: Time) -> Option<(usize, usize, u8)> {
        let peer = self.due.path.first_due(now)?;
        let state = &mut self.peers[peer];
        let message = state.path.poll(now, state.told);
        self.adopt_mtu(now, peer);
        let message = message?;
        let around = self.around(peer);
        let size = match message {
            PathMessage::Probe(probe) => usize::try_from(probe.size).ok()?,
            _ => around + PATH_MESSAGE_LEN,
        };
        let settings = &self.settings.peers[peer];
        let service = settings.dscp.unwrap_or(0) << 2;
        let encapsulation = settings.encapsulation.emitted(service);
        let payload = encapsulation.header_len();
        self.out.clear();
        self.out.resize(size, 0);
        match &mut self.peers[peer].seal {
            None => message.emit(&mut self.out[payload..]).ok()?,
            Some(seal) => {
                let (header, key) = seal.next(now, 0)?;
                let begin = payload + SEALED_HEADER_LEN;
                let body = self.out.get_mut(begin..size - TAG_LEN)?;
                message.emit(body).ok()?;
                let tag = key.seal(header, body)?;
                self.out[payload..begin].copy_from_slice(&header.bytes());
                self.out[size - TAG_LEN..].copy_from_slice(&tag);
            }
        }
        self.peers[peer].renew_handshake(peer, &mut self.due);
        if self.settings.encloses(&encapsulation) {
            encapsulation.enclose(&mut self.out).ok()?;
        }
        self.counts.of(Some(peer)).outward.probes += 1;
        Some((peer, payload, service))
    }

    /// Notes that bundles of `peer` are missed.
    pub(super) fn miss(&mut self, now: Time, peer: usize) {
        let state = &mut self.peers[peer];
        state.path.miss(now);
        state.renew_path(peer, &mut self.due);
    }

    /// Bytes around a message about the path to `peer`.
    fn around(&self, peer: usize) -> usize {
        let peer = &self.settings.peers[peer];
        let sealed = peer
            .sealing
            .as_ref()
            .map_or(0, |_| SEALED_HEADER_LEN + TAG_LEN);
        peer.encapsulation.emitted(0).header_len() + sealed
    }
}
