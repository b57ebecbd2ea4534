//! The header of a datagram between hosts that share a clock and trust each other.
//!
//! It is shorter than that of [`crate::message`], so that the smallest packets of a
//! network can carry it. All numbers are big-endian:
//!
//! | offset | bytes | field  | meaning                                            |
//! |-------:|-------:|--------|----------------------------------------------------|
//! |      0 |      4 | flow   | number of the flow in the trial                    |
//! |      4 |      4 | number | from 0, plus one for each datagram of the flow     |
//! |      8 |      8 | sent   | time of sending, in nanoseconds since the beginning of the trial |
//!
//! The bytes behind it have no meaning.

use crate::Error;
use crate::bytes::{demand_mut, put, u32_at, u64_at};

/// Bytes of the header, and so of the shortest datagram.
pub const LEN: usize = 16;

mod field {
    pub(super) const FLOW: usize = 0;
    pub(super) const NUMBER: usize = 4;
    pub(super) const SENT: usize = 8;
}

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The number of the flow.
    pub flow: u32,
    /// The number of the datagram in its flow.
    pub number: u32,
    /// The time of sending, in nanoseconds.
    pub sent: u64,
}

impl Numbered {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            sent: u64_at(bytes, field::SENT)?,
            flow: u32_at(bytes, field::FLOW)?,
            number: u32_at(bytes, field::NUMBER)?,
        })
    }

    /// Writes the header to the first [`LEN`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, LEN)?;
        put(bytes, field::FLOW, self.flow.to_be_bytes());
        put(bytes, field::NUMBER, self.number.to_be_bytes());
        put(bytes, field::SENT, self.sent.to_be_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_is_what_travels() {
        let numbered = Numbered {
            flow: 0x0102_0304,
            number: 0x1112_1314,
            sent: 0x2122_2324_2526_2728,
        };
        let mut bytes = [0xff; LEN + 1];
        numbered.emit(&mut bytes).unwrap();
        let expected = [
            1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
            0xff,
        ];
        assert_eq!(bytes, expected);
        let short = Error::Truncated { need: 16, have: 15 };
        assert_eq!(Numbered::parse(&bytes[..15]), Err(short));
        assert_eq!(numbered.emit(&mut bytes[..15]), Err(short));
    }

    proptest! {
        #[test]
        fn what_was_emitted_parses_back(flow: u32, number: u32, sent: u64) {
            let numbered = Numbered { flow, number, sent };
            let mut bytes = [0; LEN];
            numbered.emit(&mut bytes).unwrap();
            prop_assert_eq!(Numbered::parse(&bytes), Ok(numbered));
        }
    }
}
