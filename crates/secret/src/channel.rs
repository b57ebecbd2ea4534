//! A connection between two ends that share a secret, without I/O: a handshake of the Noise
//! protocol, and then frames that nobody else reads, changes, repeats or adds.
//!
//! ```text
//!     bytes 48   first message: an ephemeral key, and a proof of the secret
//!     bytes 48   second message: the other one's
//!     u16        bytes that follow, from 16 to 65535; numbers are big-endian
//!                a frame: its content, and a tag of 16 bytes
//! ```
//!
//! Who listens to a connection can try secrets against the first message, so a secret should be
//! random. It does not help to learn the secret later: the keys of a connection come from
//! ephemeral ones.

use std::sync::Arc;

use snow::params::NoiseParams;
use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::Secret;
use crate::noise::{Ephemeral, Functions, KEY_LEN};

/// Two ephemeral keys, and a secret before the first [Perrin2018 s9.4].
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";

/// Both ends must have the same; it names the version of this protocol.
const PROLOGUE: &[u8] = b"jumbolab channel 1";

/// Bytes of a tag.
const TAG_LEN: usize = 16;

/// Bytes of each message of the handshake: a key, and a tag over nothing.
pub const HANDSHAKE_LEN: usize = KEY_LEN + TAG_LEN;

/// Bytes of the length before a frame.
const PREFIX_LEN: usize = 2;

/// The most bytes of a frame behind its length.
const LONGEST: usize = u16::MAX as usize;

/// The most bytes of a frame's content.
pub const LONGEST_CONTENT: usize = LONGEST - TAG_LEN;

/// What came is not of an end that knows the secret, or was changed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secrets differ, or bytes were changed on their way")]
pub struct Forged;

/// A handshake whose first message was written.
pub struct Begun(Box<HandshakeState>);

/// Writes frames.
pub struct Sealer {
    keys: Arc<StatelessTransportState>,
    /// Frames written so far.
    number: u64,
}

/// Reads frames.
pub struct Opener {
    keys: Arc<StatelessTransportState>,
    /// Frames read so far.
    number: u64,
    /// Bytes that are no whole frame yet.
    unread: Vec<u8>,
}

impl Begun {
    /// Begins a handshake. Returns the first message, too.
    pub fn new(secret: &Secret, ephemeral: Ephemeral) -> (Self, [u8; HANDSHAKE_LEN]) {
        let state = builder(secret, ephemeral, |builder| builder.build_initiator());
        let mut state = state.expect("the pattern is supported");
        let mut message = [0; HANDSHAKE_LEN];
        let written = state.write_message(&[], &mut message);
        assert_eq!(written, Ok(HANDSHAKE_LEN), "a key and a tag");
        (Self(Box::new(state)), message)
    }

    /// Takes the second message.
    ///
    /// # Errors
    /// It is not of an end that knows the secret.
    pub fn complete(mut self, second: &[u8; HANDSHAKE_LEN]) -> Result<(Sealer, Opener), Forged> {
        let read = self.0.read_message(second, &mut []);
        read.map_err(|_| Forged)?;
        keys(*self.0)
    }
}

/// Takes the first message. Returns the second one, too. Only the first frame proves that the
/// message was not recorded earlier.
///
/// # Errors
/// It is not of an end that knows the secret.
pub fn accept(
    secret: &Secret,
    ephemeral: Ephemeral,
    first: &[u8; HANDSHAKE_LEN],
) -> Result<(Sealer, Opener, [u8; HANDSHAKE_LEN]), Forged> {
    let state = builder(secret, ephemeral, |builder| builder.build_responder());
    let mut state = state.expect("the pattern is supported");
    state.read_message(first, &mut []).map_err(|_| Forged)?;
    let mut message = [0; HANDSHAKE_LEN];
    state.write_message(&[], &mut message).map_err(|_| Forged)?;
    let (sealer, opener) = keys(state)?;
    Ok((sealer, opener, message))
}

fn builder(
    secret: &Secret,
    ephemeral: Ephemeral,
    build: impl FnOnce(Builder<'_>) -> Result<HandshakeState, snow::Error>,
) -> Result<HandshakeState, snow::Error> {
    let pattern: NoiseParams = PATTERN.parse()?;
    let shared = secret.hash(&[PROLOGUE]);
    let functions = Box::new(Functions::new(ephemeral));
    let builder = Builder::with_resolver(pattern, functions);
    build(builder.prologue(PROLOGUE)?.psk(0, &shared)?)
}

fn keys(state: HandshakeState) -> Result<(Sealer, Opener), Forged> {
    let keys = state.into_stateless_transport_mode().map_err(|_| Forged)?;
    let keys = Arc::new(keys);
    let sealer = Sealer {
        keys: Arc::clone(&keys),
        number: 0,
    };
    let opener = Opener {
        keys,
        number: 0,
        unread: Vec::new(),
    };
    Ok((sealer, opener))
}

impl Sealer {
    /// The bytes of a frame.
    ///
    /// # Panics
    /// If the content is longer than [`LONGEST_CONTENT`].
    pub fn seal(&mut self, content: &[u8]) -> Vec<u8> {
        let length = content.len() + TAG_LEN;
        let prefix = u16::try_from(length).expect("a frame has less than 64 KiB");
        let mut frame = vec![0; PREFIX_LEN + length];
        frame[..PREFIX_LEN].copy_from_slice(&prefix.to_be_bytes());
        let room = &mut frame[PREFIX_LEN..];
        let written = self.keys.write_message(self.number, content, room);
        assert_eq!(written, Ok(length), "the content and a tag");
        self.number += 1;
        frame
    }
}

impl Opener {
    /// Takes bytes that arrived, in any pieces.
    pub fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// The content of the next frame, if all of it has arrived.
    ///
    /// # Errors
    /// It is no frame of the other end, or not the next one. No later one can be read.
    pub fn open(&mut self) -> Result<Option<Vec<u8>>, Forged> {
        let Some((prefix, rest)) = self.unread.split_first_chunk() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*prefix));
        let size = length.checked_sub(TAG_LEN).ok_or(Forged)?;
        let Some(frame) = rest.get(..length) else {
            return Ok(None);
        };
        let mut content = vec![0; size];
        let read = self.keys.read_message(self.number, frame, &mut content);
        if read != Ok(size) {
            return Err(Forged);
        }
        self.unread.drain(..PREFIX_LEN + length);
        self.number += 1;
        Ok(Some(content))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.into())
    }

    fn key(byte: u8) -> Ephemeral {
        [byte; KEY_LEN].into()
    }

    /// Both ends of a connection, the one that began it first.
    fn connected() -> [(Sealer, Opener); 2] {
        let ours = secret("a secret");
        let (begun, first) = Begun::new(&ours, key(1));
        let (sealer, opener, second) = accept(&ours, key(2), &first).unwrap();
        [begun.complete(&second).unwrap(), (sealer, opener)]
    }

    /// The contents of frames that arrive in pieces of `step` bytes.
    fn opened(opener: &mut Opener, bytes: &[u8], step: usize) -> Result<Vec<Vec<u8>>, Forged> {
        let mut contents = Vec::new();
        for piece in bytes.chunks(step) {
            opener.push(piece);
            while let Some(content) = opener.open()? {
                contents.push(content);
            }
        }
        Ok(contents)
    }

    #[test]
    fn an_end_with_another_secret_is_rejected_by_the_first_message() {
        let (_, first) = Begun::new(&secret("a secret"), key(1));
        assert!(matches!(
            accept(&secret("another secret"), key(2), &first),
            Err(Forged)
        ));
    }

    #[test]
    fn a_recorded_first_message_opens_no_frame() {
        let ours = secret("a secret");
        let (begun, first) = Begun::new(&ours, key(1));
        let (_, _, second) = accept(&ours, key(2), &first).unwrap();
        let (mut sealer, _) = begun.complete(&second).unwrap();
        let frame = sealer.seal(b"request");
        // The same bytes again: the listener has another ephemeral key.
        let (_, mut opener, _) = accept(&ours, key(3), &first).unwrap();
        opener.push(&frame);
        assert_eq!(opener.open(), Err(Forged));
    }

    #[test]
    fn repeated_missing_and_returned_frames_are_rejected() {
        let [(mut sealer, mut own), (_, mut opener)] = connected();
        let frames = [b"one", b"two"].map(|content| sealer.seal(content));
        own.push(&frames[0]);
        assert_eq!(own.open(), Err(Forged), "its own");
        opener.push(&frames[0]);
        assert_eq!(opener.open(), Ok(Some(b"one".to_vec())));
        opener.push(&frames[0]);
        assert_eq!(opener.open(), Err(Forged), "the same again");
        let [(mut sealer, _), (_, mut opener)] = connected();
        let frames = [b"one", b"two"].map(|content| sealer.seal(content));
        opener.push(&frames[1]);
        assert_eq!(opener.open(), Err(Forged), "one is missing");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn contents_arrive_as_they_were_sent_in_any_pieces(
            contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
            step in 1_usize..400,
        ) {
            for from in 0..2 {
                let mut ends = connected();
                let sent: Vec<u8> = contents.iter().flat_map(|it| ends[from].0.seal(it)).collect();
                let to = &mut ends[1 - from].1;
                prop_assert_eq!(opened(to, &sent, step).unwrap(), contents.clone());
            }
        }
    }

    #[test]
    fn the_longest_content_fits() {
        let [(mut sealer, _), (_, mut opener)] = connected();
        let content = vec![7; LONGEST_CONTENT];
        opener.push(&sealer.seal(&content));
        assert_eq!(opener.open(), Ok(Some(content)));
    }

    /// A handshake and two frames of which one byte, one length or one piece is another, and
    /// bytes of chance. `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-secret
    /// changed` tries more.
    #[test]
    fn changed_messages_are_rejected_and_keep_what_came_before() {
        let cases = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
        let cases: u64 = cases.map_or(20_000, |text| text.parse().unwrap());
        let ours = secret("a secret");
        let (_, first) = Begun::new(&ours, key(1));
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            // [Steele2014].
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
        };
        let byte = |drawn: usize| u8::try_from(drawn).unwrap();
        let [(mut sealer, _), (_, mut opener)] = connected();
        let sent = [b"the first".to_vec(), vec![5; 900]];
        let frames = sent.each_ref().map(|content| sealer.seal(content));
        let whole = frames.concat();
        for _ in 0..cases {
            let mut message = first;
            let place = draw(message.len());
            message[place] ^= 1 << draw(8);
            assert!(accept(&ours, key(2), &message).is_err(), "byte {place}");
            let mut bytes = whole.clone();
            let place = draw(bytes.len());
            match draw(4) {
                0 => drop(bytes.splice(place.., (0..draw(80)).map(|_| byte(draw(256))))),
                1 => bytes.insert(place, byte(draw(256))),
                2 => drop(bytes.remove(place)),
                _ => bytes[place] ^= 1 << draw(8),
            }
            opener.number = 0;
            opener.unread.clear();
            let step = 1 + draw(bytes.len().max(1));
            match opened(&mut opener, &bytes, step) {
                // Some changes leave the first one, or both, as they were.
                Ok(contents) => assert_eq!(contents, sent[..contents.len()]),
                Err(Forged) => assert!(bytes != whole),
            }
            assert!(opener.number <= 1 || bytes.starts_with(&whole));
        }
    }
}
