//! The keys of sealed bundles.

use chacha20poly1305::aead::AeadInPlace as _;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, Nonce, Tag};
use wire::bundle::{SealedHeader, TAG_LEN};

/// The key of a session for bundles in one direction. It is erased when it is dropped.
pub(in crate::machine) struct Key {
    cipher: ChaCha20Poly1305,
    /// The receiver's name of the session.
    pub(super) session: u32,
}

impl Key {
    pub(super) fn new(bytes: &[u8; 32], session: u32) -> Self {
        Self {
            cipher: ChaCha20Poly1305::new(bytes.into()),
            session,
        }
    }

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

/// A nonce that no other bundle under the key has [Perrin2018 s12.3].
fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    nonce.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_bundle_opens_under_its_key_and_header_alone() {
        let header = SealedHeader {
            session: 7,
            number: 0x0102_0304_0506_0708,
        };
        let key = Key::new(&[1; 32], 7);
        let mut bytes = *b"a bundle";
        let tag = key.seal(header, &mut bytes).unwrap();
        // ChaCha20-Poly1305 of another implementation, with the nonce
        // 00000000 0807060504030201 and the header as additional data.
        let known = (
            [0x3c, 0x6f, 0xac, 0xbb, 0xf6, 0x4c, 0x63, 0x86],
            [
                0x19, 0x52, 0xdd, 0xc9, 0x7c, 0xcf, 0x3d, 0xe9, 0xf8, 0x89, 0x9d, 0xaf, 0xa3, 0x09,
                0x73, 0x7e,
            ],
        );
        assert_eq!((bytes, tag), known);
        let opens = |key: &Key, header, tag| {
            let mut bytes = bytes;
            key.open(header, &mut bytes, tag) && &bytes == b"a bundle"
        };
        assert!(opens(&key, header, tag));
        assert!(!opens(&Key::new(&[2; 32], 7), header, tag));
        assert!(!opens(
            &key,
            SealedHeader {
                number: 4,
                ..header
            },
            tag
        ));
        assert!(!opens(
            &key,
            SealedHeader {
                session: 8,
                ..header
            },
            tag
        ));
        assert!(!opens(&key, header, [0; 16]));
    }
}
