//! Sealed bundles between gateways that share a secret.
//!
//! Each gateway has a nonce that it tells the other in greetings, and both nonces make
//! the keys, one for each direction. A greeting that repeats the receiver's nonce is
//! fresh; any other is only answered. Therefore neither recorded greetings nor recorded
//! bundles are of use to anybody, though the gateways keep nothing over a restart.
//! A new nonce makes new keys. Bundles under the previous keys are opened for a moment
//! more ([`GRACE`]).

mod keys;
mod window;

use std::collections::VecDeque;

use units::{Seed, Span, Time};
use wire::bundle::{Greeting, NONCE_LEN, SealedHeader, TAG_LEN};

use keys::{Key, Keys, Nonces};
use link::Answers;
use secret::Secret;
use window::Window;

/// For how long bundles under previous keys are opened.
const GRACE: Span = Span::from_secs(10);
/// The interval of greetings until one is answered.
const AGAIN: Span = Span::from_secs(1);
/// The most keys that bundles are opened with.
const MOST_KEYS: usize = 6;
/// The most nonces of the peer that are known as used under one nonce of this gateway.
/// Then it chooses a new one.
const MOST_USED: usize = 32;
/// The most bundles under one key, whatever the settings say. The numbers of bundles would
/// wrap before the cipher's own limit is reached [RFC8446 s5.5].
const MOST_BUNDLES: u64 = 1 << 48;
/// The most bundles with a wrong tag under one key, which then opens no more. At half of
/// them new keys are proposed [RFC9147 s4.5.3].
const MOST_FORGED: u64 = 1 << 36;

/// The secret that a gateway shares with a peer, and when its keys change.
#[derive(Clone, Debug)]
pub struct Sealing {
    pub secret: Secret,
    /// The age at which keys are replaced.
    pub rekey_after: Span,
    /// The number of sent bundles after which keys are replaced.
    pub rekey_bundles: u64,
}

impl Sealing {
    /// Keys that change every two minutes, or every 2^32 bundles.
    pub const fn new(secret: Secret) -> Self {
        Self {
            secret,
            rekey_after: Span::from_secs(120),
            rekey_bundles: 1 << 32,
        }
    }
}

/// The reason why a sealed bundle or a greeting was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// No key has its name.
    UnknownKey,
    /// Its tag is wrong.
    Forged,
    /// It came before.
    Replayed,
    /// More greetings came than are looked at.
    Limited,
}

/// A secret seed for other purposes than nonces, for the peer with this number.
pub(super) fn seed(entropy: [u8; 32], peer: usize) -> Seed {
    let [a, b, c, d, e, f, g, h, ..] = Nonces::new(entropy, u64::MAX - peer as u64).draw();
    Seed::new(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// The keys shared with one peer.
pub(super) struct Seal {
    sealing: Sealing,
    keys: Keys,
    nonces: Nonces,
    /// This gateway's nonce, and the one that is to replace it.
    mine: [u8; NONCE_LEN],
    proposed: Option<[u8; NONCE_LEN]>,
    /// The peer's nonce of the current keys.
    theirs: Option<[u8; NONCE_LEN]>,
    /// Nonces of the peer that made keys with `mine`.
    used: Vec<[u8; NONCE_LEN]>,
    send: Option<Sending>,
    /// The latest first.
    receive: VecDeque<Receiving>,
    /// When the next greeting goes without being asked for.
    greet_at: Option<Time>,
    /// A greeting that goes at once.
    greeting: Option<Greeting>,
    limit: Answers,
}

struct Sending {
    key: Key,
    next: u64,
    since: Time,
}

struct Receiving {
    key: Key,
    window: Window,
    /// Bundles with a wrong tag.
    forged: u64,
    /// When it is forgotten.
    until: Option<Time>,
}

impl Seal {
    /// No keys yet; the first greeting is due at once. `entropy` must be secret and
    /// different in each process.
    pub(super) fn new(sealing: Sealing, entropy: [u8; 32], peer: usize) -> Self {
        let mut nonces = Nonces::new(entropy, peer as u64);
        Self {
            keys: Keys::new(&sealing.secret),
            sealing,
            mine: nonces.draw(),
            nonces,
            proposed: None,
            theirs: None,
            used: Vec::new(),
            send: None,
            receive: VecDeque::new(),
            greet_at: Some(Time::ZERO),
            greeting: None,
            limit: Answers::default(),
        }
    }

    /// Goes on with another `sealing`, whose secret is the same. Returns whether it is.
    pub(super) fn adopt(&mut self, sealing: &Sealing) -> bool {
        let same = self.sealing.secret == sealing.secret;
        if same {
            self.sealing = sealing.clone();
        }
        same
    }

    /// Whether there is a key to seal with.
    pub(super) const fn is_ready(&self) -> bool {
        self.send.is_some()
    }

    /// The header of the next bundle and the key for it; `None` without a key.
    pub(super) fn next(&mut self, now: Time) -> Option<(SealedHeader, &Key)> {
        self.mind(now);
        let send = self.send.as_mut()?;
        if send.next >= MOST_BUNDLES {
            return None;
        }
        let header = SealedHeader {
            key: send.key.name,
            number: send.next,
        };
        send.next += 1;
        Some((header, &send.key))
    }

    /// Opens a bundle in place: `bytes` are encrypted, with the tag behind them.
    /// Returns the length of the bundle.
    pub(super) fn open(
        &mut self,
        now: Time,
        header: SealedHeader,
        bytes: &mut [u8],
    ) -> Result<usize, Rejected> {
        self.forget(now);
        let known = self.receive.iter_mut();
        let Some(receiving) = known.into_iter().find(|one| one.key.name == header.key) else {
            // The peer may have lost what it knew of this gateway, or the other way
            // around.
            if self.greet_at.is_none() {
                self.greet_at = Some(now + AGAIN);
            }
            return Err(Rejected::UnknownKey);
        };
        // Bundles that came before cost no decryption.
        if !receiving.window.is_new(header.number) {
            return Err(Rejected::Replayed);
        }
        let split = bytes.split_last_chunk_mut::<TAG_LEN>();
        let Some((bundle, tag)) = split else {
            return Err(Rejected::Forged);
        };
        if !receiving.key.open(header, bundle, *tag) {
            receiving.forged += 1;
            let forged = receiving.forged;
            if forged >= MOST_FORGED {
                receiving.until = Some(now);
            }
            if forged == MOST_FORGED / 2 && self.proposed.is_none() {
                self.propose(now);
            }
            return Err(Rejected::Forged);
        }
        receiving.window.note(header.number);
        Ok(bundle.len())
    }

    /// Takes a greeting. Returns whether it made new keys.
    pub(super) fn greeted(&mut self, now: Time, greeting: &Greeting) -> Result<bool, Rejected> {
        if !self.limit.take(now) {
            return Err(Rejected::Limited);
        }
        if !self.keys.verify(greeting) {
            return Err(Rejected::Forged);
        }
        let Greeting {
            mine: theirs,
            yours,
            wants_answer,
            ..
        } = *greeting;
        // One's own greeting, sent back by somebody.
        if theirs == self.mine || self.proposed == Some(theirs) {
            return Err(Rejected::Replayed);
        }
        if Some(yours) == self.proposed {
            self.proposed = None;
            self.mine = yours;
            self.used.clear();
        } else if yours != self.mine {
            // Not known to be fresh, but a reason to tell one's own nonce.
            self.greeting = Some(self.keys.greeting(self.mine, theirs, false));
            return Ok(false);
        }
        if self.theirs == Some(theirs) && self.used.contains(&theirs) {
            self.greet_at = self.proposed.and(self.greet_at);
            if wants_answer {
                // The one before was lost.
                self.greeting = Some(self.keys.greeting(self.mine, theirs, false));
            }
            return Ok(false);
        }
        // It would bring a key back whose numbers were used.
        if self.used.contains(&theirs) {
            return Err(Rejected::Replayed);
        }
        if self.used.len() >= MOST_USED {
            if self.proposed.is_none() {
                self.propose(now);
            }
            return Err(Rejected::Limited);
        }
        self.install(now, theirs);
        self.greeting = Some(self.keys.greeting(self.mine, theirs, false));
        Ok(true)
    }

    /// The greeting that is due by `now`.
    pub(super) fn poll_greeting(&mut self, now: Time) -> Option<Greeting> {
        self.mind(now);
        if let Some(greeting) = self.greeting.take() {
            return Some(greeting);
        }
        if self.greet_at? > now {
            return None;
        }
        // Without keys, or with a nonce to be confirmed, it is repeated.
        let waits = self.send.is_none() || self.proposed.is_some();
        self.greet_at = waits.then_some(now + AGAIN);
        let mine = self.proposed.unwrap_or(self.mine);
        let theirs = self.theirs.unwrap_or_default();
        Some(self.keys.greeting(mine, theirs, true))
    }

    /// When something is due.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let rekey = self.rekey_at();
        let at_once = self.greeting.as_ref().map(|_| Time::ZERO);
        [at_once, self.greet_at, rekey].into_iter().flatten().min()
    }

    /// Replaces the keys by those of this gateway's nonce and `theirs`.
    fn install(&mut self, now: Time, theirs: [u8; NONCE_LEN]) {
        self.theirs = Some(theirs);
        self.used.push(theirs);
        let name = self.receive_with(self.mine, theirs);
        for one in self.receive.iter_mut().filter(|one| one.key.name != name) {
            one.until = one.until.or(Some(now + GRACE));
        }
        self.send = Some(Sending {
            key: self.keys.key(&self.mine, &theirs),
            next: 0,
            since: now,
        });
        self.greet_at = self.proposed.and(self.greet_at);
    }

    /// Opens bundles that the peer seals with its nonce `theirs` for `mine`. Returns the
    /// name of the key.
    fn receive_with(&mut self, mine: [u8; NONCE_LEN], theirs: [u8; NONCE_LEN]) -> u32 {
        let key = self.keys.key(&theirs, &mine);
        let name = key.name;
        // A key that was proposed has a window already.
        if self.receive.iter().all(|one| one.key.name != name) {
            self.receive.push_front(Receiving {
                key,
                window: Window::new(),
                forged: 0,
                until: None,
            });
            self.receive.truncate(MOST_KEYS);
        }
        name
    }

    /// Proposes new keys where the present ones have had their time. Of both gateways
    /// the one with the smaller nonce does, and the other only if nothing comes of it.
    fn mind(&mut self, now: Time) {
        if self.rekey_at().is_some_and(|at| at <= now) {
            self.propose(now);
        }
    }

    fn rekey_at(&self) -> Option<Time> {
        let (send, theirs) = (self.send.as_ref()?, self.theirs?);
        if self.proposed.is_some() {
            return None;
        }
        let turns = if self.mine < theirs { 1 } else { 2 };
        if send.next >= self.sealing.rekey_bundles.saturating_mul(turns) {
            return Some(Time::ZERO);
        }
        Some(send.since + self.sealing.rekey_after * turns)
    }

    fn propose(&mut self, now: Time) {
        let proposed = self.nonces.draw();
        self.proposed = Some(proposed);
        self.greet_at = Some(now);
        if let Some(theirs) = self.theirs {
            // The peer may use the key before its greeting is here.
            self.receive_with(proposed, theirs);
        }
    }

    /// Forgets previous keys whose moment is over.
    fn forget(&mut self, now: Time) {
        let over = |until: Option<Time>| until.is_some_and(|until| until <= now);
        if self.receive.iter().any(|one| over(one.until)) {
            self.receive.retain(|one| !over(one.until));
        }
    }
}

#[cfg(test)]
mod tests;
