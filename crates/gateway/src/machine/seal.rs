//! Sealed bundles between gateways that know each other's public keys.
//!
//! Two messages of a handshake make a session with a key for each direction. The gateway
//! that began it seals under these keys at once, and the other one as soon as a bundle
//! under them has arrived: only then it knows that the first message was no repetition.
//! Before keys are old, one of the gateways begins the next handshake. Bundles of the
//! session before are opened for a moment more ([`GRACE`]).
//!
//! Messages that go astray are repeated by time, so it does not matter which are lost,
//! or whether both gateways begin at once.

mod cookie;
mod draws;
mod identity;
mod keys;
mod noise;
mod window;

use std::collections::VecDeque;

use link::Answers;
use units::{Seed, Span, Time};
use wire::bundle::{CookieReply, Handshake, NOTHING, SealedHeader, TAG_LEN};

pub(super) use cookie::Guard;
use cookie::{Admission, COOKIE_AGE, Cookie, Receiver};
pub(super) use draws::Draws;
pub use identity::{BadKey, Identity, KEY_LEN, Padding, PresharedKey, PublicKey, Sealing};
use keys::Key;
use noise::{Accepted, Begun, Split, TIMESTAMP_LEN, Timestamp};
use window::Window;

/// For how long bundles of a session are opened after one of a later session.
const GRACE: Span = Span::from_secs(10);
/// The interval of initiations until there is a session.
const AGAIN: Span = Span::from_secs(1);
/// Keys are erased at this multiple of the age at which they are replaced.
const LIVES: u64 = 3;
/// The most sessions whose bundles are opened.
const MOST_SESSIONS: usize = 4;
/// The most cookies that wait to be sent to a peer.
const MOST_COOKIES: usize = 64;
/// The most bundles under one key, whatever the settings say.
const MOST_BUNDLES: u64 = 1 << 48;
/// The number of the draws of first numbers: no peer has it.
const NUMBERS: u64 = u64::MAX / 4;
/// The most bundles with a wrong tag under one key, which then opens no more. At half of
/// them a handshake begins [RFC9147 s4.5.3].
const MOST_FORGED: u64 = 1 << 36;

/// The reason why a sealed bundle or a handshake message was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// No session has its name.
    UnknownKey,
    /// It is not from the peer, or not for this gateway.
    Forged,
    /// It came before, or is older than one that came.
    Replayed,
    /// More handshake messages came than are processed.
    Limited,
}

/// A sealed bundle that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// Bytes of the bundle.
    pub(super) length: usize,
    pub(super) counter: Counter,
}

/// Where a sealed bundle is among all that its sender sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    /// The number of its session with the peer, from 1.
    pub(super) session: u64,
    /// The number in its header. A sender goes on counting in its next session, but after a
    /// new start it begins anywhere.
    pub(super) number: u64,
}

/// A secret seed for other purposes than keys, for the peer with this number.
pub(super) fn seed(entropy: &[u8; 32], peer: usize) -> Seed {
    Seed::new(Draws::new(entropy, u64::MAX - peer as u64).long())
}

/// The number of the first bundle to the peer with this number: nobody can foresee it, so that a
/// gateway that started again does not seem to go on, and nobody sees how much it has sent.
fn first_number(entropy: &[u8; 32], peer: usize) -> u64 {
    Draws::new(entropy, NUMBERS + peer as u64).long() >> 2
}

/// The sessions with one peer.
pub(super) struct Seal {
    sealing: Sealing,
    /// This gateway and the peer, as receivers of handshake messages.
    here: Receiver,
    there: Receiver,
    draws: Draws,
    /// Nanoseconds since 1970 at the time 0, and in the last initiation.
    unix: u64,
    stamped: u64,
    /// The time in the last initiation of the peer.
    accepted: Option<Timestamp>,
    /// A handshake that this gateway began, with its name of the session.
    begun: Option<(u32, Begun)>,
    /// When the next initiation goes, and the earliest time of one.
    begin_at: Option<Time>,
    next_begin: Time,
    /// The number of the next bundle, in any session.
    next: u64,
    send: Option<Sending>,
    /// The latest first.
    receive: VecDeque<Receiving>,
    /// Sessions in which bundles could be received so far.
    sessions: u64,
    /// When the last bundle was opened.
    heard: Option<Time>,
    /// A response, and whether a bundle must confirm a session; both go at once.
    response: Option<Vec<u8>>,
    confirms: bool,
    /// Cookies that are to be sent.
    cookies: VecDeque<CookieReply>,
    /// The name and the first keyed hash of the last handshake message, for a cookie.
    asked: Option<(u32, Cookie)>,
    /// The peer's cookie, with its time.
    cookie: Option<(Time, Cookie)>,
    limit: Answers,
    /// The number of the peer.
    peer: usize,
}

struct Sending {
    key: Key,
    /// The number of its first bundle.
    first: u64,
    since: Time,
}

struct Receiving {
    key: Key,
    /// Its number among the sessions with the peer.
    session: u64,
    window: Window,
    /// Bundles with a wrong tag.
    forged: u64,
    /// When it is forgotten.
    until: Time,
    /// The key to seal with once a bundle of this session has arrived.
    reply: Option<Key>,
}

impl Seal {
    /// No session yet; the first initiation is due at once. `entropy` must be secret and
    /// different in each process; `unix` has the nanoseconds since 1970 at the time 0.
    pub(super) fn new(sealing: Sealing, entropy: &[u8; 32], unix: u64, peer: usize) -> Self {
        Self {
            here: Receiver::new(sealing.identity.public()),
            there: Receiver::new(&sealing.peer),
            sealing,
            draws: Draws::new(entropy, peer as u64),
            unix,
            stamped: 0,
            accepted: None,
            begun: None,
            begin_at: Some(Time::ZERO),
            next_begin: Time::ZERO,
            next: first_number(entropy, peer),
            send: None,
            receive: VecDeque::new(),
            sessions: 0,
            heard: None,
            response: None,
            confirms: false,
            cookies: VecDeque::new(),
            asked: None,
            cookie: None,
            limit: Answers::default(),
            peer,
        }
    }

    /// Goes on with another `sealing`, whose keys are the same, for the peer with this
    /// number. Returns whether they are.
    pub(super) fn adopt(&mut self, sealing: &Sealing, peer: usize) -> bool {
        let same = self.sealing.identity.public() == sealing.identity.public()
            && self.sealing.peer == sealing.peer
            && self.sealing.preshared == sealing.preshared;
        if same {
            self.sealing = sealing.clone();
            self.peer = peer;
        }
        same
    }

    /// Whether there is a key to seal with.
    pub(super) const fn is_ready(&self) -> bool {
        self.send.is_some()
    }

    /// The header of the next bundle and the key for it; `None` without a key. So many bundles
    /// before it were `skipped`, and have numbers although nobody gets them.
    pub(super) fn next(&mut self, now: Time, skipped: u64) -> Option<(SealedHeader, &Key)> {
        self.mind(now);
        let send = self.send.as_ref()?;
        let number = self.next + skipped;
        if number - send.first >= MOST_BUNDLES {
            return None;
        }
        let header = SealedHeader {
            session: send.key.session,
            number,
        };
        self.next = number + 1;
        self.confirms = false;
        Some((header, &send.key))
    }

    /// Opens a bundle in place: `bytes` are encrypted, with the tag behind them.
    pub(super) fn open(
        &mut self,
        now: Time,
        header: SealedHeader,
        bytes: &mut [u8],
    ) -> Result<Opened, Rejected> {
        self.mind(now);
        let mut known = self.receive.iter_mut().enumerate();
        let (place, receiving) = known
            .find(|(_, one)| one.key.session == header.session)
            .ok_or(Rejected::UnknownKey)?;
        // Bundles that came before cost no decryption.
        if !receiving.window.is_new(header.number) {
            return Err(Rejected::Replayed);
        }
        let split = bytes.split_last_chunk_mut::<TAG_LEN>();
        let (bundle, tag) = split.ok_or(Rejected::Forged)?;
        if !receiving.key.open(header, bundle, *tag) {
            receiving.forged += 1;
            if receiving.forged >= MOST_FORGED {
                receiving.until = now;
            }
            if receiving.forged == MOST_FORGED / 2 {
                self.begin(now);
            }
            return Err(Rejected::Forged);
        }
        receiving.window.note(header.number);
        let counter = Counter {
            session: receiving.session,
            number: header.number,
        };
        let reply = receiving.reply.take();
        self.heard = Some(now);
        if let Some(key) = reply {
            self.seal_with(now, key);
        }
        for older in self.receive.iter_mut().skip(place + 1) {
            older.until = older.until.min(now + GRACE);
        }
        let length = bundle.len();
        Ok(Opened { length, counter })
    }

    /// Takes a handshake message.
    pub(super) fn shake(
        &mut self,
        now: Time,
        message: &Handshake<'_>,
        guard: &mut Guard,
    ) -> Result<(), Rejected> {
        if !self.here.is_known_to(message) {
            return Err(Rejected::Forged);
        }
        let asked = self.begun.as_ref().map(|(name, _)| *name);
        if message.receiver.is_some() && message.receiver != asked {
            return Err(Rejected::UnknownKey);
        }
        match guard.admit(now, self.peer, &self.here, message, &mut self.limit) {
            Some(Admission::Granted) => {}
            Some(Admission::Cookie(reply)) => {
                self.cookies.truncate(MOST_COOKIES - 1);
                self.cookies.push_back(reply);
                return Err(Rejected::Limited);
            }
            Some(Admission::Limited) | None => return Err(Rejected::Limited),
        }
        match message.receiver {
            None => self.respond(now, message),
            Some(_) => self.complete(now, message),
        }
    }

    /// Answers an initiation.
    fn respond(&mut self, now: Time, message: &Handshake<'_>) -> Result<(), Rejected> {
        let ephemeral = self.draws.draw();
        let accepted = Accepted::new(&self.sealing, ephemeral, message.noise());
        let accepted = accepted.map_err(|_| Rejected::Forged)?;
        if self.accepted.is_some_and(|last| accepted.timestamp <= last) {
            // The peer's clock may have been set back before it started again. It then
            // answers this gateway, and needs no time for that.
            if self.heard.is_none_or(|heard| heard + AGAIN <= now) {
                self.begin(now);
            }
            return Err(Rejected::Replayed);
        }
        let timestamp = accepted.timestamp;
        let (noise, split) = accepted.respond().map_err(|_| Rejected::Forged)?;
        self.accepted = Some(timestamp);
        let name = self.new_name();
        // The peer has forgotten a session for which it did not wait.
        self.receive.retain(|one| one.reply.is_none());
        let reply = Key::new(&split.from_responder, message.sender);
        self.receive_with(now, Key::new(&split.from_initiator, name), Some(reply));
        let response = self.message(now, name, Some(message.sender), &noise);
        self.response = Some(response);
        // Another handshake is of use only if nothing comes of this one.
        if self.begin_at.is_some() {
            self.begin_at = Some(now + AGAIN);
        }
        Ok(())
    }

    /// Takes the response to the initiation that was sent last.
    fn complete(&mut self, now: Time, message: &Handshake<'_>) -> Result<(), Rejected> {
        let (name, begun) = self.begun.as_mut().ok_or(Rejected::UnknownKey)?;
        let split = begun.complete(message.noise());
        let Split {
            from_initiator,
            from_responder,
        } = split.map_err(|_| Rejected::Forged)?;
        let key = Key::new(&from_responder, *name);
        self.receive_with(now, key, None);
        self.seal_with(now, Key::new(&from_initiator, message.sender));
        self.confirms = true;
        Ok(())
    }

    /// Takes a cookie.
    pub(super) fn take_cookie(&mut self, now: Time, reply: &CookieReply) -> Result<(), Rejected> {
        let asked = self.asked.filter(|(name, _)| *name == reply.receiver);
        let (_, first) = asked.ok_or(Rejected::UnknownKey)?;
        let cookie = self.there.open(reply, &first).ok_or(Rejected::Forged)?;
        self.cookie = Some((now, cookie));
        self.asked = None;
        Ok(())
    }

    /// The message that is due by `now`: one of a handshake, a cookie, or the confirmation
    /// of a session.
    pub(super) fn poll_message(&mut self, now: Time) -> Option<Vec<u8>> {
        self.mind(now);
        if let Some(response) = self.response.take() {
            return Some(response);
        }
        if self.confirms {
            let (header, key) = self.next(now, 0)?;
            let mut nothing = NOTHING;
            let tag = key.seal(header, &mut nothing)?;
            return Some([&header.bytes()[..], &nothing, &tag].concat());
        }
        if let Some(cookie) = self.cookies.pop_front() {
            return Some(cookie.bytes().to_vec());
        }
        if self.begin_at? > now {
            return None;
        }
        self.begin_at = Some(now + AGAIN);
        self.next_begin = now + AGAIN;
        let timestamp = self.timestamp(now);
        let ephemeral = self.draws.draw();
        let (begun, noise) = Begun::new(&self.sealing, ephemeral, &timestamp).ok()?;
        let name = self.new_name();
        self.begun = Some((name, begun));
        Some(self.message(now, name, None, &noise))
    }

    /// When something is due.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let waits = self.response.is_some() || self.confirms || !self.cookies.is_empty();
        let at_once = waits.then_some(Time::ZERO);
        let rekey = self.rekey_at().filter(|_| self.begin_at.is_none());
        let erase = self.receive.iter().map(|one| one.until);
        let erase = erase.chain(self.send.as_ref().map(|send| self.end_of(send)));
        let others = [at_once, self.begin_at, rekey].into_iter().flatten();
        others.chain(erase).min()
    }

    /// Begins a handshake, unless one began a moment ago.
    fn begin(&mut self, now: Time) {
        if self.begin_at.is_none() {
            self.begin_at = Some(now.max(self.next_begin));
        }
    }

    /// Begins a handshake at once.
    #[cfg(test)]
    pub(super) const fn rekey(&mut self, now: Time) {
        self.begin_at = Some(now);
    }

    /// A handshake message to the peer. It can be answered by a cookie.
    fn message(&mut self, now: Time, name: u32, to: Option<u32>, noise: &[u8]) -> Vec<u8> {
        let cookie = self.cookie.filter(|(since, _)| now < *since + COOKIE_AGE);
        let cookie = cookie.as_ref().map(|(_, cookie)| cookie);
        let (bytes, first) = self.there.message(name, to, noise, cookie);
        self.asked = Some((name, first));
        bytes
    }

    /// Seals under `key` from now on. No other handshake is needed.
    fn seal_with(&mut self, now: Time, key: Key) {
        self.send = Some(Sending {
            key,
            first: self.next,
            since: now,
        });
        self.begun = None;
        self.begin_at = None;
        self.confirms = false;
    }

    /// Opens bundles under `key`, too.
    fn receive_with(&mut self, now: Time, key: Key, reply: Option<Key>) {
        self.receive.truncate(MOST_SESSIONS - 1);
        self.sessions += 1;
        self.receive.push_front(Receiving {
            key,
            session: self.sessions,
            window: Window::new(),
            forged: 0,
            until: now + self.sealing.rekey_after * LIVES + GRACE,
            reply,
        });
    }

    /// A name of a session that no other one has.
    fn new_name(&mut self) -> u32 {
        loop {
            let name = self.draws.number();
            let begun = self.begun.as_ref().is_some_and(|(other, _)| *other == name);
            if !begun && self.receive.iter().all(|one| one.key.session != name) {
                return name;
            }
        }
    }

    /// The time for an initiation, which is later than that of the one before
    /// [Donenfeld2017 s5.4.2]: seconds from an origin of TAI64, and nanoseconds.
    fn timestamp(&mut self, now: Time) -> Timestamp {
        const ORIGIN: u64 = (1 << 62) + 10;
        const SECOND: u64 = 1_000_000_000;
        let unix = self.unix.saturating_add(now.as_nanos());
        self.stamped = unix.max(self.stamped.saturating_add(1));
        let mut timestamp = [0; TIMESTAMP_LEN];
        let (seconds, nanos) = timestamp.split_at_mut(8);
        seconds.copy_from_slice(&(ORIGIN + self.stamped / SECOND).to_be_bytes());
        let [.., a, b, c, d] = (self.stamped % SECOND).to_be_bytes();
        nanos.copy_from_slice(&[a, b, c, d]);
        timestamp
    }

    /// Begins the next handshake where keys have had their time, and erases old ones.
    fn mind(&mut self, now: Time) {
        if self.rekey_at().is_some_and(|at| at <= now) {
            self.begin(now);
        }
        if self.receive.iter().any(|one| one.until <= now) {
            self.receive.retain(|one| one.until > now);
        }
        if self
            .send
            .as_ref()
            .is_some_and(|send| self.end_of(send) <= now)
        {
            self.send = None;
        }
    }

    /// When the keys are to be replaced. Of both gateways the one with the smaller public
    /// key does it, and the other one only if nothing comes of it.
    fn rekey_at(&self) -> Option<Time> {
        let send = self.send.as_ref()?;
        let is_first = *self.sealing.identity.public() < self.sealing.peer;
        let turns = if is_first { 1 } else { 2 };
        if self.next - send.first >= self.sealing.rekey_bundles.saturating_mul(turns) {
            return Some(Time::ZERO);
        }
        Some(send.since + self.sealing.rekey_after * turns)
    }

    fn end_of(&self, send: &Sending) -> Time {
        send.since + self.sealing.rekey_after * LIVES
    }
}

#[cfg(test)]
mod tests;
