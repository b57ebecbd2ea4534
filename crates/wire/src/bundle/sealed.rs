//! Sealed bundles, and the messages by which gateways agree on keys. Both stand behind
//! the same carriages as bundles. A bundle never has zero packets, so two octets of zero
//! tell them apart. All numbers are big-endian:
//!
//! | offset | octets | field   | sealed bundle                                        |
//! |-------:|-------:|---------|------------------------------------------------------|
//! |      0 |      2 | zero    | 0                                                    |
//! |      2 |      1 | kind    | 16: version 1, sealed bundle                         |
//! |      3 |      1 | zero    | 0                                                    |
//! |      4 |      4 | key     | the name of the key                                  |
//! |      8 |      8 | number  | of the bundle among those under this key, from 0     |
//! |     16 |      n | bundle  | encrypted                                            |
//! | 16 + n |     16 | tag     | authenticates all octets before it                   |
//!
//! | offset | octets | field   | greeting                                             |
//! |-------:|-------:|---------|------------------------------------------------------|
//! |      0 |      2 | zero    | 0                                                    |
//! |      2 |      1 | kind    | 17: version 1, greeting                              |
//! |      3 |      1 | answer  | 1: an answer is wanted, 0: none                      |
//! |      4 |     16 | mine    | the sender's nonce                                   |
//! |     20 |     16 | yours   | the receiver's nonce as the sender knows it, or zeros |
//! |     36 |     16 | tag     | authenticates all octets before it                   |

use crate::octets::{array, demand, demand_mut, put, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};

/// Octets in front of what is encrypted.
pub const SEALED_HEADER_LEN: usize = 16;
/// Octets of a tag.
pub const TAG_LEN: usize = 16;
/// Octets of a greeting.
pub const GREETING_LEN: usize = 52;
/// Octets of a nonce in a greeting.
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

/// The payload of a carriage between gateways that share a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed<'a> {
    /// A sealed bundle.
    Bundle {
        /// The name of its key, and its number under it.
        header: SealedHeader,
        /// The encrypted octets and the tag.
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
    /// Authenticates the octets before it.
    pub tag: [u8; TAG_LEN],
}

/// Whether a payload is no plain bundle.
pub fn is_sealed(payload: &[u8]) -> bool {
    u16_at(payload, 0) == Ok(0)
}

impl<'a> Sealed<'a> {
    /// Reads the payload of a carriage.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is cut short, [`Error::Malformed`] for a plain bundle,
    /// another version, and octets that are not zero where they must be.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        if !is_sealed(octets) {
            return Err(Error::Malformed(Field::Count));
        }
        let kind = u8_at(octets, field::KIND)?;
        let answer = u8_at(octets, field::ANSWER)?;
        if answer > u8::from(kind == GREETING) {
            return Err(Error::Malformed(Field::Reserved));
        }
        match kind {
            BUNDLE => {
                demand(octets, SEALED_HEADER_LEN + TAG_LEN)?;
                Ok(Self::Bundle {
                    header: SealedHeader {
                        key: u32_at(octets, field::KEY)?,
                        number: u64_at(octets, field::NUMBER)?,
                    },
                    rest: &octets[SEALED_HEADER_LEN..],
                })
            }
            GREETING => {
                demand(octets, GREETING_LEN)?;
                Ok(Self::Greeting(Greeting {
                    wants_answer: answer != 0,
                    mine: array(octets, field::MINE)?,
                    yours: array(octets, field::YOURS)?,
                    tag: array(octets, field::TAG)?,
                }))
            }
            _ => Err(Error::Malformed(Field::Version)),
        }
    }
}

impl SealedHeader {
    /// The octets of the header, which the tag covers.
    pub fn octets(self) -> [u8; SEALED_HEADER_LEN] {
        let mut octets = [0; SEALED_HEADER_LEN];
        octets[field::KIND] = BUNDLE;
        put(&mut octets, field::KEY, self.key.to_be_bytes());
        put(&mut octets, field::NUMBER, self.number.to_be_bytes());
        octets
    }
}

impl Greeting {
    /// The octets that the tag covers.
    pub fn covered(&self) -> [u8; GREETING_LEN - TAG_LEN] {
        let mut octets = [0; GREETING_LEN - TAG_LEN];
        octets[field::KIND] = GREETING;
        octets[field::ANSWER] = u8::from(self.wants_answer);
        put(&mut octets, field::MINE, self.mine);
        put(&mut octets, field::YOURS, self.yours);
        octets
    }

    /// Writes the message to the first [`GREETING_LEN`] of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer.
    pub fn emit(&self, octets: &mut [u8]) -> Result<(), Error> {
        let octets = demand_mut(octets, GREETING_LEN)?;
        put(octets, 0, self.covered());
        put(octets, field::TAG, self.tag);
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
        assert_eq!(header.octets(), expected);
        let greeting = Greeting {
            wants_answer: true,
            mine: [1; 16],
            yours: [2; 16],
            tag: [3; 16],
        };
        let mut octets = [0xee; GREETING_LEN + 1];
        greeting.emit(&mut octets).unwrap();
        assert_eq!(octets[..4], [0, 0, 17, 1]);
        assert_eq!(
            (octets[4], octets[20], octets[36], octets[52]),
            (1, 2, 3, 0xee)
        );
        assert_eq!(Sealed::parse(&octets), Ok(Sealed::Greeting(greeting)));
        let cut = Error::Truncated { need: 52, have: 51 };
        assert_eq!(Sealed::parse(&octets[..51]), Err(cut));
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused(mut octets in prop::collection::vec(any::<u8>(), 0..80), like in 0u8..3) {
            if let Some(start) = octets.first_chunk_mut::<4>() && like > 0 {
                *start = [0, 0, 15 + like, 0];
            }
            match Sealed::parse(&octets) {
                Ok(Sealed::Bundle { header, rest }) => {
                    prop_assert_eq!(&header.octets()[..], &octets[..SEALED_HEADER_LEN]);
                    prop_assert_eq!(rest, &octets[SEALED_HEADER_LEN..]);
                }
                Ok(Sealed::Greeting(greeting)) => {
                    let mut again = [0; GREETING_LEN];
                    greeting.emit(&mut again).unwrap();
                    prop_assert_eq!(&again[..], &octets[..GREETING_LEN]);
                }
                Err(_) => {}
            }
        }
    }
}
