//! The handshake of the Noise protocol by which two gateways prove their keys and agree on
//! those of a session, with the pattern that WireGuard has [Perrin2018 s9.4]
//! [Donenfeld2017 s5.4].

use secret::noise::{Ephemeral, Functions, KEY_LEN};
use snow::params::NoiseParams;
use snow::{Builder, Error, HandshakeState};
use zeroize::Zeroizing;

use super::identity::{PublicKey, Sealing};

/// The pattern and its functions. SHA-256 stands for WireGuard's BLAKE2s.
const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_SHA256";

/// Both ends must have the same; it names the version of this protocol.
const PROLOGUE: &[u8] = b"jumbolab gateway 2";

/// Bytes of an encrypted payload that the payload has not.
const TAG_LEN: usize = 16;
/// Bytes of a time in the first message.
pub(super) const TIMESTAMP_LEN: usize = 12;
/// Bytes of the first message: a public key, an encrypted one, an encrypted time.
const FIRST_LEN: usize = 2 * (KEY_LEN + TAG_LEN) + TIMESTAMP_LEN;
/// Bytes of the second message: a public key, and a tag over nothing.
const SECOND_LEN: usize = KEY_LEN + TAG_LEN;

/// A time since 1970, which orders the first messages of a gateway.
pub(super) type Timestamp = [u8; TIMESTAMP_LEN];

/// The keys of a session.
pub(super) struct Split {
    /// From the gateway that began the handshake.
    pub(super) from_initiator: Zeroizing<[u8; KEY_LEN]>,
    /// From the other one.
    pub(super) from_responder: Zeroizing<[u8; KEY_LEN]>,
}

/// A handshake whose first message was sent.
pub(super) struct Begun(Box<HandshakeState>);

/// A handshake whose first message is in order.
pub(super) struct Accepted {
    state: Box<HandshakeState>,
    /// The time in the message.
    pub(super) timestamp: Timestamp,
}

impl Begun {
    /// Begins a handshake with the peer. Returns the first message, too.
    pub(super) fn new(
        sealing: &Sealing,
        ephemeral: Ephemeral,
        timestamp: &Timestamp,
    ) -> Result<(Self, [u8; FIRST_LEN]), Error> {
        let builder = builder(sealing, PROLOGUE, ephemeral)?;
        let builder = builder.remote_public_key(sealing.peer.bytes())?;
        let mut state = builder.build_initiator()?;
        let mut message = [0; FIRST_LEN];
        state.write_message(timestamp, &mut message)?;
        Ok((Self(Box::new(state)), message))
    }

    /// Takes the second message. After a wrong one the right one may still come.
    pub(super) fn complete(&mut self, message: &[u8]) -> Result<Split, Error> {
        match self.0.read_message(message, &mut [])? {
            0 => Ok(split(&mut self.0)),
            _ => Err(Error::Input),
        }
    }
}

impl Accepted {
    /// Takes the first message of the peer; those of others are rejected.
    pub(super) fn new(
        sealing: &Sealing,
        ephemeral: Ephemeral,
        message: &[u8],
    ) -> Result<Self, Error> {
        let mut state = builder(sealing, PROLOGUE, ephemeral)?.build_responder()?;
        let mut timestamp = Timestamp::default();
        let length = state.read_message(message, &mut timestamp)?;
        if length != TIMESTAMP_LEN || !is_of(&state, &sealing.peer) {
            return Err(Error::Input);
        }
        let state = Box::new(state);
        Ok(Self { state, timestamp })
    }

    /// The second message, and the keys.
    pub(super) fn respond(mut self) -> Result<([u8; SECOND_LEN], Split), Error> {
        let mut message = [0; SECOND_LEN];
        self.state.write_message(&[], &mut message)?;
        Ok((message, split(&mut self.state)))
    }
}

fn is_of(state: &HandshakeState, peer: &PublicKey) -> bool {
    state.get_remote_static() == Some(peer.bytes())
}

fn split(state: &mut HandshakeState) -> Split {
    let (from_initiator, from_responder) = state.dangerously_get_raw_split();
    Split {
        from_initiator: Zeroizing::new(from_initiator),
        from_responder: Zeroizing::new(from_responder),
    }
}

fn builder<'a>(
    sealing: &'a Sealing,
    prologue: &'a [u8],
    ephemeral: Ephemeral,
) -> Result<Builder<'a>, Error> {
    let pattern: NoiseParams = PATTERN.parse()?;
    Builder::with_resolver(pattern, Box::new(Functions::new(ephemeral)))
        .prologue(prologue)?
        .local_private_key(sealing.identity.private())?
        .psk(2, sealing.preshared.bytes())
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::aead::AeadInPlace as _;
    use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};

    use super::super::identity::{Identity, PresharedKey};
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        let digits = text.as_bytes().chunks(2);
        let byte = |digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    fn key(text: &str) -> Zeroizing<[u8; KEY_LEN]> {
        Zeroizing::new(bytes(text).try_into().unwrap())
    }

    fn sealing(private: &str, peer: &Identity, preshared: &str) -> Sealing {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(bytes(preshared));
        Sealing {
            preshared: PresharedKey::parse(&text).unwrap(),
            ..Sealing::new(Identity::new(key(private)), *peer.public())
        }
    }

    #[test]
    fn the_handshake_and_its_keys_are_those_of_the_published_vector() {
        // [Cacophony], Noise_IKpsk2_25519_ChaChaPoly_SHA256.
        let prologue = bytes("4a6f686e2047616c74");
        let preshared = "54686973206973206d7920417573747269616e20706572737065637469766521";
        let initiator = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1";
        let responder = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893";
        let [one, other] = [initiator, responder].map(|private| Identity::new(key(private)));
        let public = "31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62";
        assert_eq!(other.public().bytes()[..], bytes(public));
        let [one, other] = [
            sealing(initiator, &other, preshared),
            sealing(responder, &one, preshared),
        ];
        let ephemeral = key("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a");
        let begun = builder(&one, &prologue, ephemeral).unwrap();
        let begun = begun.remote_public_key(one.peer.bytes()).unwrap();
        let mut begun = begun.build_initiator().unwrap();
        let mut room = [0; 200];
        let length = begun.write_message(&bytes("4c756477696720766f6e204d69736573"), &mut room);
        let first = "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79442ec9b09893d0f510791784c10cbc959f25b1766e0def6e301d14fbca1c7790ac829b8b3674f5f649a5f0e98479662cbfbf2b2c47cd4b09fcd266cd29d7cb675f1808849707847840f6d178ec4d3733aa";
        assert_eq!(room[..length.unwrap()], bytes(first));
        let ephemeral = key("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b");
        let mut accepted = builder(&other, &prologue, ephemeral)
            .unwrap()
            .build_responder()
            .unwrap();
        let length = accepted.read_message(&bytes(first), &mut room).unwrap();
        assert_eq!(room[..length], bytes("4c756477696720766f6e204d69736573"));
        assert!(is_of(&accepted, &other.peer));
        let length = accepted.write_message(&bytes("4d757272617920526f746862617264"), &mut room);
        let second = "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088439a1b3cebf680b2c74217fcb5eba4ff58a9468cd90c4aca6194f57479b379a7";
        assert_eq!(room[..length.unwrap()], bytes(second));
        begun.read_message(&bytes(second), &mut room).unwrap();
        // The next messages are the first ones under the keys of the session.
        let next = [
            (
                "462e20412e20486179656b",
                "a8fde7a0accec190cd306c5950d4fd8e04a205ec288aa747d8b347",
            ),
            (
                "4361726c204d656e676572",
                "59caddd9984a3bbe24c4fb31a2bd455b7eba3fa0980674b1a3a5f9",
            ),
        ];
        for mut state in [begun, accepted] {
            let Split {
                from_initiator,
                from_responder,
            } = split(&mut state);
            for (key, (text, sealed)) in [from_initiator, from_responder].iter().zip(next) {
                let mut text = bytes(text);
                let cipher = ChaCha20Poly1305::new((&**key).into());
                let nonce = [0; 12].into();
                let tag = cipher.encrypt_in_place_detached(&nonce, &[], &mut text);
                text.extend(tag.unwrap());
                assert_eq!(text, bytes(sealed));
            }
        }
    }
}
