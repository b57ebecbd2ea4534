//! Keyed hashes, and bytes that nobody can foresee.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

type Keyed = Hmac<Sha256>;

fn keyed(key: &[u8], pieces: &[&[u8]]) -> Keyed {
    let mut keyed = Keyed::new_from_slice(key).expect("HMAC takes keys of any length");
    for piece in pieces {
        keyed.update(piece);
    }
    keyed
}

/// The keyed hash of pieces one after the other [RFC2104].
pub(super) fn hash(key: &[u8], pieces: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(keyed(key, pieces).finalize().into_bytes().into())
}

/// The first bytes of the keyed hash of `bytes`.
pub(super) fn mac<const N: usize>(key: &[u8], bytes: &[u8]) -> [u8; N] {
    let mut mac = [0; N];
    mac.copy_from_slice(&hash(key, &[bytes])[..N]);
    mac
}

/// Whether `mac` is the beginning of the keyed hash of `bytes`, in constant time.
pub(super) fn verify(key: &[u8], bytes: &[u8], mac: &[u8]) -> bool {
    keyed(key, &[bytes]).verify_truncated_left(mac).is_ok()
}

/// Bytes that nobody can foresee. A draw replaces the state by a hash of it, so that
/// earlier draws cannot be computed from the memory of the process.
pub(in crate::machine) struct Draws(Zeroizing<[u8; 32]>);

impl Draws {
    /// Those for the use with this number.
    pub(in crate::machine) fn new(entropy: &[u8; 32], purpose: u64) -> Self {
        Self(hash(entropy, &[&purpose.to_be_bytes()]))
    }

    pub(in crate::machine) fn draw(&mut self) -> Zeroizing<[u8; 32]> {
        let drawn = hash(&*self.0, &[b"drawn"]);
        self.0 = hash(&*self.0, &[b"next"]);
        drawn
    }

    /// A number of 64 bits.
    pub(super) fn long(&mut self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *self.draw();
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// A number of 32 bits.
    pub(super) fn number(&mut self) -> u32 {
        let [a, b, c, d, ..] = *self.draw();
        u32::from_be_bytes([a, b, c, d])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // Test case 2 [RFC4231 s4.3].
        let expected = [0x5b, 0xdc, 0xc1, 0x46];
        let text = b"what do ya want for nothing?";
        assert_eq!(mac(b"Jefe", text), expected);
        assert!(verify(b"Jefe", text, &expected));
        assert!(!verify(b"jefe", text, &expected));
    }

    #[test]
    fn draws_differ_and_their_order_is_that_of_the_entropy() {
        let drawn = |entropy: u8, purpose| {
            let mut draws = Draws::new(&[entropy; 32], purpose);
            [0; 3].map(|_| *draws.draw())
        };
        assert_eq!(drawn(1, 0), drawn(1, 0));
        let all = [drawn(1, 0), drawn(1, 1), drawn(2, 0)].concat();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), 9);
    }
}
