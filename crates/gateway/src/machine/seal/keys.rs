//! Keys of sealed bundles, derived from a secret that both gateways share
//! [RFC5869 s2].

use chacha20poly1305::aead::AeadInPlace as _;
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use wire::bundle::{Greeting, NONCE_LEN, SealedHeader, TAG_LEN};
use zeroize::Zeroizing;

use secret::Secret;

type Keyed = Hmac<Sha256>;

/// Separates these keys from all others that are made of the secret.
const SALT: &[u8] = b"jumbolab gateway 1";
/// Uses of derived bytes.
const GREETINGS: &[u8] = b"greetings";
const BUNDLES: &[u8] = b"bundles";

/// The keyed hash of pieces one after the other [RFC2104].
fn hash(key: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    let mut keyed = Keyed::new_from_slice(key).expect("HMAC takes keys of any length");
    for piece in pieces {
        keyed.update(piece);
    }
    keyed.finalize().into_bytes().into()
}

/// Two blocks of bytes for a use [RFC5869 s2.3].
fn expand(key: &[u8; 32], info: &[&[u8]]) -> [[u8; 32]; 2] {
    let first = hash(key, &[info, &[&[1][..]]].concat());
    let second = hash(key, &[&[&first[..]], info, &[&[2][..]]].concat());
    [first, second]
}

/// Keys derived from the secret of a peer.
pub(super) struct Keys {
    root: Zeroizing<[u8; 32]>,
    greetings: Zeroizing<[u8; 32]>,
}

/// The key of bundles in one direction.
pub(in crate::machine) struct Key {
    cipher: ChaCha20Poly1305,
    /// Its name in bundles.
    pub(super) name: u32,
}

impl Keys {
    pub(super) fn new(secret: &Secret) -> Self {
        // [RFC5869 s2.2].
        let root = Zeroizing::new(hash(SALT, &[secret.bytes()]));
        let [greetings, _] = expand(&root, &[GREETINGS]);
        Self {
            root,
            greetings: Zeroizing::new(greetings),
        }
    }

    /// The key of bundles from the gateway that chose the nonce `from` to the one that
    /// chose `to`. The order of the nonces separates the directions, as both ends'
    /// nonces make the keys of IKE [RFC7296 s2.17].
    pub(super) fn key(&self, from: &[u8; NONCE_LEN], to: &[u8; NONCE_LEN]) -> Key {
        let [key, name] = expand(&self.root, &[BUNDLES, from, to]);
        let [a, b, c, d, ..] = name;
        Key {
            cipher: <ChaCha20Poly1305 as chacha20poly1305::KeyInit>::new(&key.into()),
            name: u32::from_be_bytes([a, b, c, d]),
        }
    }

    /// A greeting with its tag.
    pub(super) fn greeting(
        &self,
        mine: [u8; NONCE_LEN],
        yours: [u8; NONCE_LEN],
        wants_answer: bool,
    ) -> Greeting {
        let mut greeting = Greeting {
            wants_answer,
            mine,
            yours,
            tag: [0; TAG_LEN],
        };
        let hash = hash(&*self.greetings, &[&greeting.covered()]);
        greeting.tag.copy_from_slice(&hash[..TAG_LEN]);
        greeting
    }

    /// Whether a greeting is from somebody who knows the secret, in constant time.
    pub(super) fn verify(&self, greeting: &Greeting) -> bool {
        let mut keyed =
            Keyed::new_from_slice(&*self.greetings).expect("HMAC takes keys of any length");
        keyed.update(&greeting.covered());
        keyed.verify_truncated_left(&greeting.tag).is_ok()
    }
}

impl Key {
    /// Encrypts `bundle` in place. Returns the tag over header and bundle
    /// [RFC8439 s2.8].
    pub(in crate::machine) fn seal(
        &self,
        header: SealedHeader,
        bundle: &mut [u8],
    ) -> Option<[u8; TAG_LEN]> {
        let tag =
            self.cipher
                .encrypt_in_place_detached(&nonce(header.number), &header.bytes(), bundle);
        Some(tag.ok()?.into())
    }

    /// Decrypts `bundle` in place, if its tag is right.
    pub(super) fn open(&self, header: SealedHeader, bundle: &mut [u8], tag: [u8; TAG_LEN]) -> bool {
        let (nonce, tag) = (nonce(header.number), Tag::from(tag));
        let opened = self
            .cipher
            .decrypt_in_place_detached(&nonce, &header.bytes(), bundle, &tag);
        opened.is_ok()
    }
}

/// A nonce that no other bundle under the key has [RFC8439 s2.8].
fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    nonce.into()
}

/// Nonces that nobody can foresee, and that do not repeat.
pub(super) struct Nonces {
    entropy: [u8; 32],
    peer: u64,
    drawn: u64,
}

impl Nonces {
    /// Those for the peer with this number.
    pub(super) const fn new(entropy: [u8; 32], peer: u64) -> Self {
        Self {
            entropy,
            peer,
            drawn: 0,
        }
    }

    pub(super) fn draw(&mut self) -> [u8; NONCE_LEN] {
        self.drawn += 1;
        let pieces = [self.peer, self.drawn].map(u64::to_be_bytes);
        let hash = hash(&self.entropy, &[pieces.as_flattened()]);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&hash[..NONCE_LEN]);
        nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_derived_as_in_the_standards_example() {
        // Test case 1 [RFC5869 App A.1].
        let root = hash(&(0..=0x0c).collect::<Vec<u8>>(), &[&[0x0b; 22]]);
        assert_eq!(root[..4], [0x07, 0x77, 0x09, 0x36]);
        assert_eq!(root[28..], [0xd7, 0xc2, 0xb3, 0xe5]);
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let [first, second] = expand(&root, &[&info]);
        assert_eq!(first[..4], [0x3c, 0xb2, 0x5f, 0x25]);
        assert_eq!(
            second[..10],
            [0x34, 0x00, 0x72, 0x08, 0xd5, 0xb8, 0x87, 0x18, 0x58, 0x65]
        );
    }

    #[test]
    fn a_sealed_bundle_opens_under_its_key_and_number_alone() {
        let keys = Keys::new(&Secret::new(b"secret".to_vec()));
        let (one, other) = ([1; 16], [2; 16]);
        let header = SealedHeader { key: 7, number: 3 };
        let mut bytes = *b"a bundle";
        let tag = keys.key(&one, &other).seal(header, &mut bytes).unwrap();
        assert_ne!(&bytes, b"a bundle");
        let opens = |key: Key, header, tag| {
            let mut bytes = bytes;
            key.open(header, &mut bytes, tag) && &bytes == b"a bundle"
        };
        assert!(opens(keys.key(&one, &other), header, tag));
        assert!(!opens(keys.key(&other, &one), header, tag));
        assert!(!opens(
            keys.key(&one, &other),
            SealedHeader {
                number: 4,
                ..header
            },
            tag
        ));
        assert!(!opens(
            keys.key(&one, &other),
            SealedHeader { key: 8, ..header },
            tag
        ));
        assert!(!opens(keys.key(&one, &other), header, [0; 16]));
        let others = Keys::new(&Secret::new(b"other".to_vec()));
        assert!(!opens(others.key(&one, &other), header, tag));
        assert!(keys.verify(&keys.greeting(one, other, true)));
        assert!(!others.verify(&keys.greeting(one, other, true)));
    }
}
