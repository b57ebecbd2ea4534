//! The largest packets that pass to peers.

use units::{Bytes, IpMtu, Time};

use super::{Event, Gateway};

impl Gateway {
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

    /// The largest packet from inside that fits toward `peer`.
    pub(super) fn room(&self, peer: usize) -> Bytes {
        let mtu = self.peers[peer].mtu;
        self.settings.room(&self.settings.peers[peer], mtu)
    }
}
