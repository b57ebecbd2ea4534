//! The limits on floods of handshakes: keyed hashes that cost little to verify, and cookies
//! that prove where a sender is [Donenfeld2017 s5.3].

use chacha20poly1305::aead::AeadInPlace as _;
use chacha20poly1305::{KeyInit as _, Tag, XChaCha20Poly1305};
use link::Answers;
use sha2::{Digest as _, Sha256};
use units::{Span, Time};
use wire::bundle::{COOKIE_NONCE_LEN, CookieReply, Handshake, MAC_LEN, TAG_LEN};
use zeroize::Zeroizing;

use super::draws::{Draws, mac, verify};
use super::identity::PublicKey;

/// For how long a cookie is used, and the secret that makes cookies.
pub(super) const COOKIE_AGE: Span = Span::from_secs(120);

/// A cookie.
pub(super) type Cookie = [u8; MAC_LEN];

/// The keys made of the public key of a receiver.
pub(super) struct Receiver {
    /// Of the first keyed hash in handshake messages to it.
    first: [u8; 32],
    /// Of the cookies that it sends.
    cookies: [u8; 32],
}

impl Receiver {
    pub(super) fn new(key: &PublicKey) -> Self {
        let of = |label: &[u8]| {
            let hash = Sha256::new_with_prefix(label).chain_update(key.bytes());
            hash.finalize().into()
        };
        Self {
            first: of(b"mac1----"),
            cookies: of(b"cookie--"),
        }
    }

    /// A handshake message to the receiver, with `cookie` if there is one. Returns its
    /// first keyed hash, too.
    pub(super) fn message(
        &self,
        sender: u32,
        receiver: Option<u32>,
        noise: &[u8],
        cookie: Option<&Cookie>,
    ) -> (Vec<u8>, Cookie) {
        let mut first = None;
        let bytes = Handshake::build(sender, receiver, noise, |covered| match (first, cookie) {
            (None, _) => *first.insert(mac(&self.first, covered)),
            (Some(_), Some(cookie)) => mac(cookie, covered),
            (Some(_), None) => Cookie::default(),
        });
        (bytes, first.unwrap_or_default())
    }

    /// Whether the sender of a message knows the receiver's public key.
    pub(super) fn is_known_to(&self, message: &Handshake<'_>) -> bool {
        let (covered, mac) = message.first_mac();
        verify(&self.first, covered, &mac)
    }

    /// Encrypts `cookie` for the sender of `message`.
    fn reply(
        &self,
        message: &Handshake<'_>,
        mut cookie: Cookie,
        nonce: [u8; COOKIE_NONCE_LEN],
    ) -> Option<CookieReply> {
        let (_, first) = message.first_mac();
        let cipher = XChaCha20Poly1305::new(&self.cookies.into());
        let tag = cipher.encrypt_in_place_detached(&nonce.into(), &first, &mut cookie);
        let mut sealed = [0; MAC_LEN + TAG_LEN];
        sealed[..MAC_LEN].copy_from_slice(&cookie);
        sealed[MAC_LEN..].copy_from_slice(&tag.ok()?);
        Some(CookieReply {
            receiver: message.sender,
            nonce,
            sealed,
        })
    }

    /// Decrypts the cookie in a reply to the message whose first keyed hash is `first`.
    pub(super) fn open(&self, reply: &CookieReply, first: &Cookie) -> Option<Cookie> {
        let (cookie, tag) = reply.sealed.split_at(MAC_LEN);
        let mut cookie: Cookie = cookie.try_into().ok()?;
        let cipher = XChaCha20Poly1305::new(&self.cookies.into());
        let tag = Tag::from_slice(tag);
        let nonce = reply.nonce.into();
        let opened = cipher.decrypt_in_place_detached(&nonce, first, &mut cookie, tag);
        opened.is_ok().then_some(cookie)
    }
}

/// The decision about a handshake message before any computation with keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is processed.
    Granted,
    /// It proves where it is from, but its sender sends too many.
    Limited,
    /// Too many came; its sender gets a cookie.
    Cookie(CookieReply),
}

/// The guard of a gateway, for all peers together: so many handshake messages are processed
/// as a token bucket grants. Beyond that, their senders must return a cookie.
pub(in crate::machine) struct Guard {
    draws: Draws,
    /// What makes cookies, and since when.
    secret: Zeroizing<[u8; 32]>,
    since: Time,
    /// The beginning of nonces, and the number of the next one.
    nonces: [u8; 16],
    next: u64,
    limit: Answers,
}

impl Guard {
    pub(in crate::machine) fn new(mut draws: Draws) -> Self {
        Self {
            secret: draws.draw(),
            nonces: first_half(&draws.draw()),
            next: 0,
            draws,
            since: Time::ZERO,
            limit: Answers::default(),
        }
    }

    /// A nonce that no other cookie has.
    fn nonce(&mut self) -> [u8; COOKIE_NONCE_LEN] {
        let mut nonce = [0; COOKIE_NONCE_LEN];
        nonce[..16].copy_from_slice(&self.nonces);
        nonce[16..].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        nonce
    }

    /// Judges a message from the address of the peer with this number, to `receiver`.
    /// `limit` is that of the peer.
    pub(super) fn admit(
        &mut self,
        now: Time,
        peer: usize,
        receiver: &Receiver,
        message: &Handshake<'_>,
        limit: &mut Answers,
    ) -> Option<Admission> {
        if self.limit.take(now) {
            return Some(Admission::Granted);
        }
        if self.since + COOKIE_AGE <= now {
            self.secret = self.draws.draw();
            self.since = now;
        }
        // Whoever gets what is sent to the peer's address is there.
        let cookie: Cookie = mac(&*self.secret, &(peer as u64).to_be_bytes());
        let (covered, second) = message.second_mac();
        if !verify(&cookie, covered, &second) {
            let reply = receiver.reply(message, cookie, self.nonce())?;
            return Some(Admission::Cookie(reply));
        }
        Some(match limit.take(now) {
            true => Admission::Granted,
            false => Admission::Limited,
        })
    }
}

fn first_half(bytes: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&bytes[..16]);
    half
}
