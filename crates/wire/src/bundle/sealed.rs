//! Sealed bundles, and the messages by which gateways agree on keys. Both stand behind
//! the same encapsulations as bundles. A bundle never has zero packets, so two bytes of zero
//! tell them apart. The lengths and the order of the fields are those of WireGuard
//! [Donenfeld2017 s5.4]; the numbers of this table are big-endian:
//!
//! | offset | bytes | field   | sealed bundle                                        |
//! |-------:|-------:|---------|------------------------------------------------------|
//! |      0 |      2 | zero    | 0                                                    |
//! |      2 |      1 | kind    | 32: version 2, sealed bundle                         |
//! |      3 |      1 | zero    | 0                                                    |
//! |      4 |      4 | session | the receiver's name of the session                   |
//! |      8 |      8 | number  | of the bundle in this session and direction, from 0  |
//! |     16 |      n | bundle  | encrypted; [`NOTHING`] where there is none           |
//! | 16 + n |     16 | tag     | authenticates all bytes before it                    |
//!
//! | offset | bytes | field    | initiation                                          |
//! |-------:|-------:|----------|-----------------------------------------------------|
//! |      0 |      4 | kind     | 0, 0, 33, 0                                         |
//! |      4 |      4 | sender   | the sender's name of the session                    |
//! |      8 |    108 | noise    | the first message of the handshake, with a timestamp |
//! |    116 |     16 | mac1     | proves that the sender knows the receiver's public key |
//! |    132 |     16 | mac2     | proves that it got a cookie; zeros without one      |
//!
//! | offset | bytes | field    | response                                            |
//! |-------:|-------:|----------|-----------------------------------------------------|
//! |      0 |      4 | kind     | 0, 0, 34, 0                                         |
//! |      4 |      4 | sender   | the sender's name of the session                    |
//! |      8 |      4 | receiver | the receiver's name of the session                  |
//! |     12 |     48 | noise    | the second message of the handshake                 |
//! |     60 |     16 | mac1     | as above                                            |
//! |     76 |     16 | mac2     | as above                                            |
//!
//! | offset | bytes | field    | cookie                                              |
//! |-------:|-------:|----------|-----------------------------------------------------|
//! |      0 |      4 | kind     | 0, 0, 35, 0                                         |
//! |      4 |      4 | receiver | the name in the message that is answered            |
//! |      8 |     24 | nonce    | drawn for this cookie                               |
//! |     32 |     32 | cookie   | encrypted, with its tag                             |

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::{array, demand, put, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};

/// Bytes in front of what is encrypted.
pub const SEALED_HEADER_LEN: usize = 16;
/// Bytes of a tag.
pub const TAG_LEN: usize = 16;
/// Bytes of a keyed hash in a handshake message, and of a cookie.
pub const MAC_LEN: usize = 16;
/// Bytes of the first handshake message.
pub const INITIATION_LEN: usize = 148;
/// Bytes of the second handshake message.
pub const RESPONSE_LEN: usize = 92;
/// Bytes of a message with a cookie. It is shorter than any message that it answers.
pub const COOKIE_LEN: usize = 64;
/// Bytes of the nonce with which a cookie is encrypted.
pub const COOKIE_NONCE_LEN: usize = 24;
/// What is sealed by a gateway that confirms a session and has no bundle. With it the
/// message fills the smallest frame of Ethernet behind a label.
pub const NOTHING: [u8; 16] = [0; 16];

mod field {
    pub(super) const KIND: usize = 2;
    pub(super) const ZERO: usize = 3;
    /// The session of a sealed bundle; the sender of an initiation and a response; the
    /// receiver of a cookie.
    pub(super) const NAME: usize = 4;
    pub(super) const NUMBER: usize = 8;
    pub(super) const RECEIVER: usize = 8;
    pub(super) const INITIATION: usize = 8;
    pub(super) const RESPONSE: usize = 12;
    pub(super) const NONCE: usize = 8;
    pub(super) const COOKIE: usize = 32;
}

const BUNDLE: u8 = 0x20;
const INITIATION: u8 = 0x21;
const RESPONSE: u8 = 0x22;
const COOKIE: u8 = 0x23;

/// The payload of an encapsulation between gateways that know each other's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed<'a> {
    /// A sealed bundle.
    Bundle {
        /// The name of its session, and its number in it.
        header: SealedHeader,
        /// The encrypted bytes and the tag.
        rest: &'a [u8],
    },
    /// The first or the second message of a handshake.
    Handshake(Handshake<'a>),
    /// The answer of a gateway that has no time for a handshake message without a cookie.
    Cookie(CookieReply),
}

/// The header of a sealed bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedHeader {
    /// The receiver's name of the session.
    pub session: u32,
    /// The number of the bundle in this direction, which grows over all sessions.
    pub number: u64,
}

/// A message of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// The sender's name of the session.
    pub sender: u32,
    /// The receiver's name of the session; `None` in an initiation.
    pub receiver: Option<u32>,
    bytes: &'a [u8],
}

/// A message with a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieReply {
    /// The sender's name in the message that is answered.
    pub receiver: u32,
    /// The nonce with which the cookie is encrypted.
    pub nonce: [u8; COOKIE_NONCE_LEN],
    /// The encrypted cookie and the tag.
    pub sealed: [u8; MAC_LEN + TAG_LEN],
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
    /// another version, handshake messages of another length, and bytes that are not zero
    /// where they must be.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if !is_sealed(bytes) {
            return Err(Error::Malformed(Field::Count));
        }
        let kind = u8_at(bytes, field::KIND)?;
        if u8_at(bytes, field::ZERO)? != 0 {
            return Err(Error::Malformed(Field::Reserved));
        }
        let name = || u32_at(bytes, field::NAME);
        match kind {
            BUNDLE => {
                demand(bytes, SEALED_HEADER_LEN + TAG_LEN)?;
                Ok(Self::Bundle {
                    header: SealedHeader {
                        session: name()?,
                        number: u64_at(bytes, field::NUMBER)?,
                    },
                    rest: &bytes[SEALED_HEADER_LEN..],
                })
            }
            INITIATION => Ok(Self::Handshake(Handshake {
                sender: name()?,
                receiver: None,
                bytes: exactly(bytes, INITIATION_LEN)?,
            })),
            RESPONSE => Ok(Self::Handshake(Handshake {
                sender: name()?,
                receiver: Some(u32_at(bytes, field::RECEIVER)?),
                bytes: exactly(bytes, RESPONSE_LEN)?,
            })),
            COOKIE => {
                exactly(bytes, COOKIE_LEN)?;
                Ok(Self::Cookie(CookieReply {
                    receiver: name()?,
                    nonce: array(bytes, field::NONCE)?,
                    sealed: array(bytes, field::COOKIE)?,
                }))
            }
            _ => Err(Error::Malformed(Field::Version)),
        }
    }
}

/// `bytes`, if there are so many.
fn exactly(bytes: &[u8], length: usize) -> Result<&[u8], Error> {
    match demand(bytes, length)?.len() == bytes.len() {
        true => Ok(bytes),
        false => Err(Error::Malformed(Field::Length)),
    }
}

impl SealedHeader {
    /// The bytes of the header, which the tag covers.
    pub fn bytes(self) -> [u8; SEALED_HEADER_LEN] {
        let mut bytes = [0; SEALED_HEADER_LEN];
        bytes[field::KIND] = BUNDLE;
        put(&mut bytes, field::NAME, self.session.to_be_bytes());
        put(&mut bytes, field::NUMBER, self.number.to_be_bytes());
        bytes
    }
}

impl<'a> Handshake<'a> {
    /// The message of the handshake proper.
    pub fn noise(&self) -> &'a [u8] {
        let begin = match self.receiver {
            None => field::INITIATION,
            Some(_) => field::RESPONSE,
        };
        &self.bytes[begin..self.bytes.len() - 2 * MAC_LEN]
    }

    /// The bytes that the first keyed hash covers, and the hash.
    pub fn first_mac(&self) -> (&'a [u8], [u8; MAC_LEN]) {
        self.mac(2 * MAC_LEN)
    }

    /// The bytes that the second keyed hash covers, and the hash.
    pub fn second_mac(&self) -> (&'a [u8], [u8; MAC_LEN]) {
        self.mac(MAC_LEN)
    }

    fn mac(&self, from_end: usize) -> (&'a [u8], [u8; MAC_LEN]) {
        let (covered, mac) = self.bytes.split_at(self.bytes.len() - from_end);
        (covered, array(mac, 0).unwrap_or_default())
    }

    /// A message around `noise`, whose keyed hashes `macs` computes from the bytes that
    /// each covers: the first one, and then the second one.
    pub fn build(
        sender: u32,
        receiver: Option<u32>,
        noise: &[u8],
        mut mac: impl FnMut(&[u8]) -> [u8; MAC_LEN],
    ) -> Vec<u8> {
        let kind = if receiver.is_none() {
            INITIATION
        } else {
            RESPONSE
        };
        let mut bytes = vec![0, 0, kind, 0];
        bytes.extend(sender.to_be_bytes());
        bytes.extend(receiver.into_iter().flat_map(u32::to_be_bytes));
        bytes.extend(noise);
        for _ in 0..2 {
            let mac = mac(&bytes);
            bytes.extend(mac);
        }
        bytes
    }
}

impl CookieReply {
    /// The bytes of the message.
    pub fn bytes(&self) -> [u8; COOKIE_LEN] {
        let mut bytes = [0; COOKIE_LEN];
        bytes[field::KIND] = COOKIE;
        put(&mut bytes, field::NAME, self.receiver.to_be_bytes());
        put(&mut bytes, field::NONCE, self.nonce);
        put(&mut bytes, field::COOKIE, self.sealed);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_laid_out_as_in_the_tables() {
        let header = SealedHeader {
            session: 0x0102_0304,
            number: 0x1112_1314_1516_1718,
        };
        let expected = [
            0, 0, 32, 0, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
        ];
        assert_eq!(header.bytes(), expected);
        let mut lengths = Vec::new();
        let mut mac = |covered: &[u8]| {
            lengths.push(covered.len());
            [u8::try_from(lengths.len()).unwrap(); MAC_LEN]
        };
        let initiation = Handshake::build(7, None, &[9; 108], &mut mac);
        let response = Handshake::build(8, Some(7), &[9; 48], &mut mac);
        assert_eq!(lengths, [116, 132, 60, 76]);
        assert_eq!(
            (initiation.len(), response.len()),
            (INITIATION_LEN, RESPONSE_LEN)
        );
        assert_eq!(initiation[..9], [0, 0, 33, 0, 0, 0, 0, 7, 9]);
        assert_eq!(response[..13], [0, 0, 34, 0, 0, 0, 0, 8, 0, 0, 0, 7, 9]);
        let Ok(Sealed::Handshake(read)) = Sealed::parse(&response) else {
            panic!()
        };
        assert_eq!((read.sender, read.receiver), (8, Some(7)));
        assert_eq!(read.noise(), [9; 48]);
        assert_eq!(read.first_mac(), (&response[..60], [3; 16]));
        assert_eq!(read.second_mac(), (&response[..76], [4; 16]));
        let cookie = CookieReply {
            receiver: 7,
            nonce: [1; 24],
            sealed: [2; 32],
        };
        let bytes = cookie.bytes();
        assert_eq!(bytes[..9], [0, 0, 35, 0, 0, 0, 0, 7, 1]);
        assert_eq!((bytes[31], bytes[32], bytes[63]), (1, 2, 2));
        assert_eq!(Sealed::parse(&bytes), Ok(Sealed::Cookie(cookie)));
    }

    #[test]
    fn a_handshake_message_of_another_length_is_rejected() {
        let whole = Handshake::build(7, None, &[9; 108], |_| [0; 16]);
        let cut = Error::Truncated {
            need: 148,
            have: 147,
        };
        assert_eq!(Sealed::parse(&whole[..147]), Err(cut));
        let longer = [&whole[..], &[0]].concat();
        let length = Error::Malformed(Field::Length);
        assert_eq!(Sealed::parse(&longer), Err(length));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_rejected(mut bytes in prop::collection::vec(any::<u8>(), 0..160), like in 0u8..5, exact: bool) {
            if exact {
                let length = [148, 92, 64].get(usize::from(like).wrapping_sub(2));
                bytes.resize(*length.unwrap_or(&40), 7);
            }
            if let Some(start) = bytes.first_chunk_mut::<4>() && like > 0 {
                *start = [0, 0, 31 + like, 0];
            }
            match Sealed::parse(&bytes) {
                Ok(Sealed::Bundle { header, rest }) => {
                    prop_assert_eq!(&header.bytes()[..], &bytes[..SEALED_HEADER_LEN]);
                    prop_assert_eq!(rest, &bytes[SEALED_HEADER_LEN..]);
                }
                Ok(Sealed::Handshake(read)) => {
                    let macs = [read.first_mac().1, read.second_mac().1];
                    let mut macs = macs.into_iter();
                    let again = Handshake::build(read.sender, read.receiver, read.noise(), |_| macs.next().unwrap());
                    prop_assert_eq!(again, bytes);
                }
                Ok(Sealed::Cookie(cookie)) => prop_assert_eq!(&cookie.bytes()[..], &bytes),
                Err(_) => prop_assert!(!exact || like == 0),
            }
        }
    }
}
