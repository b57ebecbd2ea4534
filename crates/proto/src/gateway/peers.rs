//! What a gateway knows of its peers, and when something is due for one of them.

use units::{Bytes, Time};

use super::order::Order;
use super::seal::Seal;
use super::{Gateway, Peer};
use crate::edge::Exit;
use crate::timers::Timers;

/// The state of a peer.
pub(super) struct PeerState {
    /// The largest packet that passes.
    pub(super) mtu: Bytes,
    /// Number of bundles sent.
    pub(super) sent: u64,
    /// The exits to it that the edge has settings for.
    pub(super) exits: Vec<Exit>,
    /// The keys shared with it.
    pub(super) seal: Option<Seal>,
    /// The sequence of its bundles.
    pub(super) order: Order,
    /// When something is due, as [`Due`] has it.
    bundles_due: Option<Time>,
    greeting_due: Option<Time>,
}

/// When something is due for peers, by their numbers.
pub(super) struct Due {
    /// Bundles that waited long enough for others before them.
    pub(super) bundles: Timers<usize>,
    /// Greetings.
    pub(super) greetings: Timers<usize>,
}

impl Due {
    pub(super) const fn new() -> Self {
        Self {
            bundles: Timers::new(),
            greetings: Timers::new(),
        }
    }

    /// When the first of them is due.
    pub(super) fn first(&self) -> Option<Time> {
        let all = [self.bundles.first(), self.greetings.first()];
        all.into_iter().flatten().min()
    }
}

impl PeerState {
    pub(super) fn new(peer: &Peer, number: usize, entropy: [u8; 32]) -> Self {
        let sealing = peer.sealing.clone();
        Self {
            mtu: peer.mtu.bytes(),
            sent: 0,
            exits: Vec::new(),
            seal: sealing.map(|sealing| Seal::new(sealing, entropy, number)),
            order: Order::default(),
            bundles_due: None,
            greeting_due: None,
        }
    }

    /// Enters when bundles that wait are due. To be called when they may have changed.
    pub(super) fn renew_bundles(&mut self, number: usize, due: &mut Due) {
        let at = self.order.next_timeout();
        due.bundles.set(number, &mut self.bundles_due, at);
    }

    /// Enters when a greeting is due. To be called when keys may have changed.
    pub(super) fn renew_greeting(&mut self, number: usize, due: &mut Due) {
        let at = self.seal.as_ref().and_then(Seal::next_timeout);
        due.greetings.set(number, &mut self.greeting_due, at);
    }
}

impl Gateway {
    /// Continues the sequences of bundles of `old`, which this gateway replaces, with each
    /// peer of the same carriage: the peer would take new ones for late bundles. Keys go
    /// on with each peer whose secret is the same.
    pub fn succeed(&mut self, old: &mut Self) {
        let states = self.peers.iter_mut().enumerate();
        for (peer, (number, state)) in self.settings.peers.iter().zip(states) {
            let same = |former: &Peer| former.carriage == peer.carriage;
            if let Some(place) = old.settings.peers.iter().position(same) {
                let former = &mut old.peers[place];
                state.sent = former.sent;
                state.order = std::mem::take(&mut former.order);
                if let Some(sealing) = &peer.sealing
                    && let Some(mut seal) = former.seal.take()
                    && seal.adopt(sealing)
                {
                    state.seal = Some(seal);
                }
            }
            state.renew_bundles(number, &mut self.due);
            state.renew_greeting(number, &mut self.due);
            self.held += state.order.waiting() as u64;
        }
    }
}
