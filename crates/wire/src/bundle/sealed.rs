//! Sealed bundles, and the messages by which gateways agree on keys. Both stand behind
//! the same encapsulations as bundles. A bundle never has zero packets, so two bytes of zero
//! tell them apart. All numbers are big-endian:
//!
//! | offset | bytes | field   | sealed bundle                                        |
//! |-------:|-------:|---------|------------------------------------------------------|
//! |      0 |      2 | zero    | 0                                                    |
//! |      2 |      1 | kind    | 16: version 1, sealed bundle                         |
//! |      3 |      1 | zero    | 0                                                    |
//! |      4 |      4 | key     | the name of the key                                  |
//! |      8 |      8 | number  | of the bundle among those under this key, from 0     |
//! |     16 |      n | bundle  | encrypted                                            |
//! | 16 + n |     16 | tag     | authenticates all bytes before it                   |
//!
//! | offset | bytes | field   | greeting                                             |
//! |-------:|-------:|---------|------------------------------------------------------|
//! |      0 |      2 | zero    | 0                                                    |
//! |      2 |      1 | kind    | 17: version 1, greeting                              |
//! |      3 |      1 | answer  | 1: an answer is wanted, 0: none                      |
//! |      4 |     16 | mine    | the sender's nonce                                   |
//! |     20 |     16 | yours   | the receiver's nonce as the sender knows it, or zeros |
//! |     36 |     16 | tag     | authenticates all bytes before it                   |

use crate::bytes::{array, demand, demand_mut, put, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};

/// Bytes in front of what is encrypted.
pub const SEALED_HEADER_LEN: usize = 16;
/// Bytes of a tag.
pub const TAG_LEN: usize = 16;
/// Bytes of a greeting.
pub const GREETING_LEN: usize = 52;
/// Bytes of a nonce in a greeting.
pub const NONCE_LEN: usize = 16;

mod field {
    pub(super) const KIND: usize = 2;
    /// Zero, or whether an answer is wanted.
    pub(super) const ANSWER: usize = 3;
    pub(super) const KEY: usize = 4;
    pub(super) const NUMBER: usize = 8;
    pub(super) const MINE: usize = 4;
    pub(super) const YOURS: usize = 20;
    pub(super) const TAG: usize = 36;
}

const BUNDLE: u8 = 0x10;
const GREETING: u8 = 0x11;

/// The payload of an encapsulation between gateways that share a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed<'a> {
    /// A sealed bundle.
    Bundle {
        /// The name of its key, and its number under it.
        header: SealedHeader,
        /// The encrypted bytes and the tag.
        rest: &'a [u8],
    },
    /// A greeting.
    Greeting(Greeting),
}

/// The header of a sealed bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedHeader {
    /// The name of the key.
    pub key: u32,
    /// The number of the bundle under this key.
    pub number: u64,
}

/// A message by which a gateway tells its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Whether the sender wants an answer.
    pub wants_answer: bool,
    /// The sender's nonce.
    pub mine: [u8; NONCE_LEN],
    /// The receiver's nonce as the sender knows it; zeros if it does not.
    pub yours: [u8; NONCE_LEN],
    /// Authenticates the bytes before it.
    pub tag: [u8; TAG_LEN],
}

/// Whether a payload is no plain bundle.
pub fn is_sealed(payload: &[u8]) -> bool {
    u16_at(payload, 0) == Ok(0)
}

impl<'a> Sealed<'a> {
    /// Reads the payload of an encapsulation.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is cut short, [`Error::Malformed`] for a plain bundle,
    /// another version, and bytes that are not zero where they must be.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if !is_sealed(bytes) {
            return Err(Error::Malformed(Field::Count));
        }
        let kind = u8_at(bytes, field::KIND)?;
        let answer = u8_at(bytes, field::ANSWER)?;
        if answer > u8::from(kind == GREETING) {
            return Err(Error::Malformed(Field::Reserved));
        }
        match kind {
            BUNDLE => {
                demand(bytes, SEALED_HEADER_LEN + TAG_LEN)?;
                Ok(Self::Bundle {
                    header: SealedHeader {
                        key: u32_at(bytes, field::KEY)?,
                        number: u64_at(bytes, field::NUMBER)?,
                    },
                    rest: &bytes[SEALED_HEADER_LEN..],
                })
            }
            GREETING => {
                demand(bytes, GREETING_LEN)?;
                Ok(Self::Greeting(Greeting {
                    wants_answer: answer != 0,
                    mine: array(bytes, field::MINE)?,
                    yours: array(bytes, field::YOURS)?,
                    tag: array(bytes, field::TAG)?,
                }))
            }
            _ => Err(Error::Malformed(Field::Version)),
        }
    }
}

impl SealedHeader {
    /// The bytes of the header, which the tag covers.
    pub fn bytes(self) -> [u8; SEALED_HEADER_LEN] {
        let mut bytes = [0; SEALED_HEADER_LEN];
        bytes[field::KIND] = BUNDLE;
        put(&mut bytes, field::KEY, self.key.to_be_bytes());
        put(&mut bytes, field::NUMBER, self.number.to_be_bytes());
        bytes
    }
}

impl Greeting {
    /// The bytes that the tag covers.
    pub fn covered(&self) -> [u8; GREETING_LEN - TAG_LEN] {
        let mut bytes = [0; GREETING_LEN - TAG_LEN];
        bytes[field::KIND] = GREETING;
        bytes[field::ANSWER] = u8::from(self.wants_answer);
        put(&mut bytes, field::MINE, self.mine);
        put(&mut bytes, field::YOURS, self.yours);
        bytes
    }

    /// Writes the message to the first [`GREETING_LEN`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, GREETING_LEN)?;
        put(bytes, 0, self.covered());
        put(bytes, field::TAG, self.tag);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_laid_out_as_in_the_tables() {
        let header = SealedHeader {
            key: 0x0102_0304,
            number: 0x1112_1314_1516_1718,
        };
        let expected = [
            0, 0, 16, 0, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
        ];
        assert_eq!(header.bytes(), expected);
        let greeting = Greeting {
            wants_answer: true,
            mine: [1; 16],
            yours: [2; 16],
            tag: [3; 16],
        };
        let mut bytes = [0xee; GREETING_LEN + 1];
        greeting.emit(&mut bytes).unwrap();
        assert_eq!(bytes[..4], [0, 0, 17, 1]);
        assert_eq!((bytes[4], bytes[20], bytes[36], bytes[52]), (1, 2, 3, 0xee));
        assert_eq!(Sealed::parse(&bytes), Ok(Sealed::Greeting(greeting)));
        let cut = Error::Truncated { need: 52, have: 51 };
        assert_eq!(Sealed::parse(&bytes[..51]), Err(cut));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_rejected(mut bytes in prop::collection::vec(any::<u8>(), 0..80), like in 0u8..3) {
            if let Some(start) = bytes.first_chunk_mut::<4>() && like > 0 {
                *start = [0, 0, 15 + like, 0];
            }
            match Sealed::parse(&bytes) {
                Ok(Sealed::Bundle { header, rest }) => {
                    prop_assert_eq!(&header.bytes()[..], &bytes[..SEALED_HEADER_LEN]);
                    prop_assert_eq!(rest, &bytes[SEALED_HEADER_LEN..]);
                }
                Ok(Sealed::Greeting(greeting)) => {
                    let mut again = [0; GREETING_LEN];
                    greeting.emit(&mut again).unwrap();
                    prop_assert_eq!(&again[..], &bytes[..GREETING_LEN]);
                }
                Err(_) => {}
            }
        }
    }
}
