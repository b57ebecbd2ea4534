//! A secret that two ends share, the keyed hashes made with it, and a sealed connection.

pub mod channel;
pub mod noise;

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

type Keyed = Hmac<Sha256>;

/// A secret of any length. It is never printed, and its bytes become zeros when the last
/// clone is dropped. The comparison is for secrets of one's own configuration: proofs of
/// others are verified in constant time.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

impl Secret {
    /// A secret from these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes)))
    }

    /// The fewest bytes of a secret in a file.
    pub const SHORTEST: usize = 8;
    /// The most bytes of a file with a secret.
    pub const LONGEST: usize = 4096;

    /// The secret in a file with these bytes: all but the final line break. `None` if it
    /// has fewer than [`Secret::SHORTEST`] bytes.
    pub fn of_file(mut bytes: Zeroizing<Vec<u8>>) -> Option<Self> {
        while bytes.last().is_some_and(|byte| b"\r\n".contains(byte)) {
            bytes.pop();
        }
        (bytes.len() >= Self::SHORTEST).then(|| Self(Arc::new(bytes)))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many clones there are, with this one.
    pub fn clones(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// The keyed hash of `pieces`, each preceded by its length: HMAC with SHA-256
    /// [RFC2104].
    pub fn hash(&self, pieces: &[&[u8]]) -> [u8; 32] {
        self.keyed(pieces).finalize().into_bytes().into()
    }

    /// Whether `tag` is a prefix of that hash, compared in constant time.
    pub fn verify(&self, pieces: &[&[u8]], tag: &[u8]) -> bool {
        self.keyed(pieces).verify_truncated_left(tag).is_ok()
    }

    fn keyed(&self, pieces: &[&[u8]]) -> Keyed {
        let mut keyed = Keyed::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for piece in pieces {
            keyed.update(&(piece.len() as u64).to_be_bytes());
            keyed.update(piece);
        }
        keyed
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // Test case 2 [RFC4231 s4.3], which hashes its data without a length.
        let mut keyed = Keyed::new_from_slice(b"Jefe").unwrap();
        keyed.update(b"what do ya want for nothing?");
        let hash: [u8; 32] = keyed.finalize().into_bytes().into();
        assert_eq!(hash[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert_eq!(hash[28..], [0x64, 0xec, 0x38, 0x43]);
    }

    #[test]
    fn a_file_holds_a_secret_and_a_line_break() {
        let of = |text: &str| Secret::of_file(Zeroizing::new(text.into()));
        assert_eq!(of("12345678\r\n"), Some(Secret::new(b"12345678".to_vec())));
        assert_eq!(of("1234567\n\n"), None);
    }

    #[test]
    fn pieces_that_are_cut_elsewhere_have_another_hash() {
        let secret = Secret::new(b"one".to_vec());
        assert_ne!(secret.hash(&[b"ab", b"c"]), secret.hash(&[b"a", b"bc"]));
        assert!(secret.verify(&[b"ab"], &secret.hash(&[b"ab"])));
        assert!(!secret.verify(&[b"ab"], &Secret::new(vec![]).hash(&[b"ab"])));
        assert_eq!(format!("{secret:?}"), "Secret", "it is never shown");
    }
}
