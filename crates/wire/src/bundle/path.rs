//! Messages by which gateways find the largest packet that passes between them. They
//! stand where a bundle stands: behind an encapsulation, or encrypted in place of a bundle.
//! Two bytes of zero tell them from bundles. All numbers are big-endian:
//!
//! | offset | bytes | field | meaning                                                     |
//! |-------:|-------:|-------|-------------------------------------------------------------|
//! |      0 |      2 | zero  | 0                                                           |
//! |      2 |      1 | kind  | 18: version 1, probe; 19: answer to a probe; 20: bundles are missed |
//! |      3 |      1 | zero  | 0                                                           |
//! |      4 |      4 | size  | bytes of the probe as a whole packet; 0 of kind 20         |
//! |      8 |      8 | id    | chosen by the prober, repeated by the answer; 0 of kind 20  |
//! |     16 |      n | rest  | of a probe: zeros, up to its size                           |

use crate::bytes::{demand, demand_mut, put, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};

/// Bytes of a message, without what fills a probe.
pub const PATH_MESSAGE_LEN: usize = 16;

mod field {
    pub(super) const KIND: usize = 2;
    pub(super) const ZERO: usize = 3;
    pub(super) const SIZE: usize = 4;
    pub(super) const ID: usize = 8;
}

const PROBE: u8 = 0x12;
const ANSWER: u8 = 0x13;
const MISSED: u8 = 0x14;

/// A message about the path between two gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMessage {
    /// A packet of a size that may pass.
    Probe(PathProbe),
    /// It came.
    Answer(PathProbe),
    /// Numbers of bundles are missing.
    Missed,
}

/// The marks of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProbe {
    /// Bytes of the whole packet, all headers included.
    pub size: u32,
    /// Chosen by the prober.
    pub id: u64,
}

impl PathMessage {
    /// Reads the message at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is cut short, [`Error::Malformed`] for a bundle, another
    /// kind, and bytes that are not zero where they must be.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if u16_at(bytes, 0)? != 0 {
            return Err(Error::Malformed(Field::Count));
        }
        let bytes = demand(bytes, PATH_MESSAGE_LEN)?;
        let probe = PathProbe {
            size: u32_at(bytes, field::SIZE)?,
            id: u64_at(bytes, field::ID)?,
        };
        let message = match u8_at(bytes, field::KIND)? {
            PROBE => Self::Probe(probe),
            ANSWER => Self::Answer(probe),
            MISSED => Self::Missed,
            _ => return Err(Error::Malformed(Field::Version)),
        };
        match message.bytes() == bytes[..PATH_MESSAGE_LEN] {
            true => Ok(message),
            false => Err(Error::Malformed(Field::Reserved)),
        }
    }

    /// Writes the message to the start of `bytes`, and zeros to the rest.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`PATH_MESSAGE_LEN`].
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        demand_mut(bytes, PATH_MESSAGE_LEN)?.fill(0);
        bytes.fill(0);
        put(bytes, 0, self.bytes());
        Ok(())
    }

    fn bytes(self) -> [u8; PATH_MESSAGE_LEN] {
        let none = PathProbe { size: 0, id: 0 };
        let (kind, probe) = match self {
            Self::Probe(probe) => (PROBE, probe),
            Self::Answer(probe) => (ANSWER, probe),
            Self::Missed => (MISSED, none),
        };
        let mut bytes = [0; PATH_MESSAGE_LEN];
        bytes[field::KIND] = kind;
        bytes[field::ZERO] = 0;
        put(&mut bytes, field::SIZE, probe.size.to_be_bytes());
        put(&mut bytes, field::ID, probe.id.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_laid_out_as_in_the_table() {
        let probe = PathProbe {
            size: 0x0001_0203,
            id: 0x1112_1314_1516_1718,
        };
        let mut bytes = [0xee; 20];
        PathMessage::Probe(probe).emit(&mut bytes).unwrap();
        let expected = [
            0, 0, 18, 0, 0, 1, 2, 3, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0, 0, 0, 0,
        ];
        assert_eq!(bytes, expected);
        PathMessage::Answer(probe).emit(&mut bytes).unwrap();
        assert_eq!(bytes[2], 19);
        PathMessage::Missed.emit(&mut bytes).unwrap();
        assert_eq!((bytes[2], &bytes[3..]), (20, &[0; 17][..]));
        let cut = Error::Truncated { need: 16, have: 15 };
        assert_eq!(PathMessage::parse(&bytes[..15]), Err(cut));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_rejected(mut bytes in prop::collection::vec(any::<u8>(), 0..40), like in 0u8..4) {
            if let Some(start) = bytes.first_chunk_mut::<4>() && like > 0 {
                *start = [0, 0, 17 + like, 0];
            }
            if let Ok(message) = PathMessage::parse(&bytes) {
                let mut again = [0; PATH_MESSAGE_LEN];
                message.emit(&mut again).unwrap();
                prop_assert_eq!(&again[..], &bytes[..PATH_MESSAGE_LEN]);
            }
        }
    }
}
