//! The state that a gateway keeps of its peers, and the times at which one of them needs work.

use std::collections::BTreeMap;

use queue::Reassembler;
use units::{Bytes, Time};

use super::order::Order;
use super::packet::Inner;
use super::prober::Path;
use super::seal::{self, Seal};
use super::settings::LEAST_MTU;
use super::{Gateway, Settings};
use link::edge::Exit;
use link::timers::Timers;

pub(super) struct PeerState {
    /// The largest packet toward it of which the driver or a router knows.
    pub(super) told: Bytes,
    /// The largest packet that passes.
    pub(super) mtu: Bytes,
    /// The probes of the path to it, and the answers.
    pub(super) path: Path,
    /// Number of bundles sent.
    pub(super) sent: u64,
    /// The number behind that of the last bundle that was sealed.
    pub(super) sealed: u64,
    /// The exits to it that the edge has settings for.
    pub(super) exits: Vec<Exit>,
    /// The sessions with it.
    pub(super) seal: Option<Seal>,
    /// The sequence of its bundles.
    pub(super) order: Order,
    /// The packet of which pieces are missing.
    pub(super) reassembler: Reassembler<Inner>,
    /// When something is due, as [`Due`] has it.
    bundles_due: Option<Time>,
    handshake_due: Option<Time>,
    path_due: Option<Time>,
}

/// When something is due for peers, by their numbers.
pub(super) struct Due {
    /// Bundles that waited long enough for others before them, and pieces for the next.
    pub(super) bundles: Timers<usize>,
    pub(super) handshakes: Timers<usize>,
    /// Messages about the path.
    pub(super) path: Timers<usize>,
}

impl Due {
    pub(super) fn new() -> Self {
        Self {
            bundles: Timers::default(),
            handshakes: Timers::default(),
            path: Timers::default(),
        }
    }

    /// When the first of them is due.
    pub(super) fn first(&self) -> Option<Time> {
        let all = [&self.bundles, &self.handshakes, &self.path];
        all.into_iter().filter_map(Timers::first).min()
    }
}

impl PeerState {
    /// The state of the peer with this number.
    pub(super) fn new(settings: &Settings, number: usize) -> Self {
        let peer = &settings.peers[number];
        let (least, most) = (LEAST_MTU, peer.mtu.bytes());
        let (sealing, entropy) = (peer.sealing.clone(), &settings.entropy);
        let path = Path::new(settings.probe, [least, most], seal::seed(entropy, number));
        Self {
            told: most,
            mtu: path.mtu(most, least),
            path,
            sent: 0,
            sealed: 0,
            exits: Vec::new(),
            seal: sealing.map(|sealing| Seal::new(sealing, entropy, settings.unix_nanos, number)),
            order: Order::default(),
            reassembler: Reassembler::default(),
            bundles_due: None,
            handshake_due: None,
            path_due: None,
        }
    }

    /// Enters when bundles and pieces that wait are due. To be called when they may have
    /// changed.
    pub(super) fn renew_bundles(&mut self, number: usize, due: &mut Due) {
        let pieces = self.reassembler.next_timeout();
        let at = self.order.next_timeout().into_iter().chain(pieces).min();
        due.bundles.set(number, &mut self.bundles_due, at);
    }

    /// Enters when a handshake message is due. To be called when sessions may have changed.
    pub(super) fn renew_handshake(&mut self, number: usize, due: &mut Due) {
        let at = self.seal.as_ref().and_then(Seal::next_timeout);
        due.handshakes.set(number, &mut self.handshake_due, at);
    }

    /// Enters when a message about the path is due. To be called when keys or the path may
    /// have changed: without a key nothing is told or asked.
    pub(super) fn renew_path(&mut self, number: usize, due: &mut Due) {
        let is_ready = self.seal.as_ref().is_none_or(Seal::is_ready);
        let at = self.path.next_timeout().filter(|_| is_ready);
        due.path.set(number, &mut self.path_due, at);
    }
}

impl Gateway {
    /// Continues the sequences of bundles of `old`, which this gateway replaces, with each
    /// peer of the same encapsulation: the peer would take new ones for late bundles. Sessions
    /// go on with each peer if the keys of both gateways are the same.
    pub fn succeed(&mut self, old: &mut Self) {
        let former = old.settings.peers.iter().zip(0..);
        let former: BTreeMap<_, usize> = former
            .map(|(peer, place)| (peer.encapsulation.origin(), place))
            .collect();
        let states = self.peers.iter_mut().enumerate();
        for (peer, (number, state)) in self.settings.peers.iter().zip(states) {
            let place = former.get(&peer.encapsulation.origin()).copied();
            let same =
                |place: &usize| old.settings.peers[*place].encapsulation == peer.encapsulation;
            if let Some(place) = place.filter(same) {
                let same_path = old.settings.probe == self.settings.probe
                    && old.settings.peers[place].mtu == peer.mtu
                    && old.settings.peers[place].sealing.is_some() == peer.sealing.is_some();
                let former = &mut old.peers[place];
                state.sent = former.sent;
                state.sealed = former.sealed;
                if same_path {
                    std::mem::swap(&mut state.path, &mut former.path);
                    state.mtu = former.mtu;
                }
                state.order = std::mem::take(&mut former.order);
                state.reassembler = std::mem::take(&mut former.reassembler);
                if let Some(sealing) = &peer.sealing
                    && let Some(mut seal) = former.seal.take()
                    && seal.adopt(sealing, number)
                {
                    state.seal = Some(seal);
                } else {
                    state.order.forget_sessions();
                }
            }
            state.renew_bundles(number, &mut self.due);
            state.renew_handshake(number, &mut self.due);
            state.renew_path(number, &mut self.due);
            self.held += state.order.waiting() as u64;
            self.pieces += u64::from(state.reassembler.waiting());
        }
    }
}
