//! Messages that are shorter than the header: they have what fits of it.
//!
//! The low seven bits of the first byte are the length of the message, 1 to 27, and the
//! highest bit marks the warm-up. No header begins so, because `J` is 74. All numbers are
//! big-endian and cut: only their low bytes are sent, and the receiver takes the nearest
//! number to what it expects, as RTP's receivers extend sequence numbers [RFC3550 A.1].
//!
//! | offset | bytes | field    | in messages of                                       |
//! |-------:|-------:|----------|------------------------------------------------------|
//! |      0 |      1 | length   | 2 bytes or more                                      |
//! |      1 | 1 to 4 | sequence | 2 bytes or more; as many bytes as there are, up to 4 |
//! |      5 |      5 | sent     | 10 bytes or more; nanoseconds                        |
//!
//! The bytes behind are zero. A message of one byte has the low seven bits of its sequence
//! number in a datagram, whose length is known; in a stream, where order is certain, it has
//! its length.

use crate::bytes::array;
use crate::{Error, Field};

use super::{HEADER_LEN, Message};

/// Bytes of the shortest message with a time of sending.
pub const TIMED: usize = SENT + SENT_BYTES;

const SEQUENCE: usize = 1;
const SEQUENCE_BYTES: usize = 4;
const SENT: usize = SEQUENCE + SEQUENCE_BYTES;
const SENT_BYTES: usize = 5;
const SENT_BITS: u32 = 40;

/// The bit of the first byte that marks the warm-up, and the number of those below.
const WARMUP: u8 = 1 << 7;
const LOW_BITS: u32 = 7;

/// What a message says that is shorter than a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Bytes of the message, 1 to 27.
    pub length: u8,
    /// Whether the message belongs to the warm-up, which no metric counts.
    pub warmup: bool,
    /// The low bits of the sequence number, and how many; none in a stream of single bytes.
    sequence: (u32, u32),
    /// The low bits of the time of sending, in nanoseconds.
    sent: Option<u64>,
}

/// The kind of the traffic that has a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A datagram has one message.
    Datagram,
    /// A stream has messages one after the other.
    Stream,
}

impl Short {
    /// Whether a message that begins with the byte `first` in a stream is shorter than a
    /// header.
    pub fn begins(first: u8) -> bool {
        (1..HEADER_LEN).contains(&Self::length_of(first))
    }

    /// The length of a message in a stream that begins with the byte `first`.
    pub fn length_of(first: u8) -> usize {
        usize::from(first & !WARMUP)
    }

    /// Reads a message that has all of `bytes`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if no such message has these bytes.
    pub fn parse(bytes: &[u8], carrier: Carrier) -> Result<Self, Error> {
        let length = match u8::try_from(bytes.len()) {
            Ok(length) if Self::begins(length) => length,
            _ => return Err(Error::Malformed(Field::Length)),
        };
        if let ([number], Carrier::Datagram) = (bytes, carrier) {
            return Ok(Self {
                length,
                warmup: number & WARMUP != 0,
                sequence: (u32::from(number & !WARMUP), LOW_BITS),
                sent: None,
            });
        }
        if bytes[0] & !WARMUP != length {
            return Err(Error::Malformed(Field::Length));
        }
        let numbered = &bytes[SEQUENCE..bytes.len().min(SENT)];
        let low = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |low, byte| low << 8 | u64::from(*byte))
        };
        let sent = bytes.get(SENT..TIMED);
        let rest = &bytes[sent.map_or(SENT, |_| TIMED).min(bytes.len())..];
        if rest.iter().any(|byte| *byte != 0) {
            return Err(Error::Malformed(Field::Reserved));
        }
        #[expect(clippy::cast_possible_truncation, reason = "of four bytes at most")]
        let sequence = (low(numbered) as u32, 8 * numbered.len() as u32);
        Ok(Self {
            length,
            warmup: bytes[0] & WARMUP != 0,
            sequence,
            sent: sent.map(low),
        })
    }

    /// The sequence number, if the next one was expected to be `expected`.
    pub fn sequence(&self, expected: u64) -> u64 {
        let (low, bits) = self.sequence;
        nearest(low.into(), bits, expected)
    }

    /// The time of sending in nanoseconds, if it is near `received`; `None` if the message
    /// does not have it.
    pub fn sent(&self, received: u64) -> Option<u64> {
        Some(nearest(self.sent?, SENT_BITS, received))
    }
}

impl Message {
    /// Writes what fits of the header to all of `bytes`, which are fewer than a header has.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there are none, or as many.
    pub fn emit_short(&self, bytes: &mut [u8], carrier: Carrier) -> Result<(), Error> {
        let length = match u8::try_from(bytes.len()) {
            Ok(length) if Short::begins(length) => length,
            _ => return Err(Error::Malformed(Field::Length)),
        };
        bytes.fill(0);
        let warmup = if self.warmup { WARMUP } else { 0 };
        let sequence = self.sequence.to_be_bytes();
        if let ([number], Carrier::Datagram) = (&mut *bytes, carrier) {
            *number = sequence[7] & !WARMUP | warmup;
            return Ok(());
        }
        bytes[0] = length | warmup;
        let count = (bytes.len() - SEQUENCE).min(SEQUENCE_BYTES);
        bytes[SEQUENCE..SEQUENCE + count].copy_from_slice(&sequence[8 - count..]);
        if let Some(place) = bytes.get_mut(SENT..TIMED) {
            place.copy_from_slice(&array::<SENT_BYTES>(
                &self.sent.as_nanos().to_be_bytes(),
                3,
            )?);
        }
        Ok(())
    }
}

/// The number with these low bits that is nearest to `expected`, and not below zero.
fn nearest(low: u64, bits: u32, expected: u64) -> u64 {
    let Some(period) = 1_u64.checked_shl(bits).filter(|_| bits > 0) else {
        return expected;
    };
    let ahead = low.wrapping_sub(expected) & (period - 1);
    let back = period - ahead;
    match ahead > period / 2 && back <= expected {
        true => expected - back,
        false => expected.saturating_add(ahead),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use units::Time;

    fn message(sequence: u64, nanos: u64) -> Message {
        Message {
            echo: Echo::Unwanted,
            warmup: false,
            tag: 0,
            length: 0,
            sequence,
            sent: Time::from_nanos(nanos),
        }
    }

    #[test]
    fn the_table_is_what_travels() {
        let one = message(0x0102_0304_0506, 0xa1a2_a3a4_a5a6);
        let mut bytes = [0xff; 12];
        for (length, carrier, wire) in [
            (
                12,
                Carrier::Datagram,
                &[12, 3, 4, 5, 6, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0, 0][..],
            ),
            (9, Carrier::Datagram, &[9, 3, 4, 5, 6, 0, 0, 0, 0]),
            (4, Carrier::Stream, &[4, 4, 5, 6]),
            (2, Carrier::Datagram, &[2, 6]),
            (1, Carrier::Datagram, &[6]),
            (1, Carrier::Stream, &[1]),
        ] {
            one.emit_short(&mut bytes[..length], carrier).unwrap();
            assert_eq!(&bytes[..length], wire);
            let warmup = Message {
                warmup: true,
                ..one
            };
            warmup.emit_short(&mut bytes[..length], carrier).unwrap();
            assert_eq!((bytes[0], &bytes[1..length]), (wire[0] | 0x80, &wire[1..]));
        }
        for length in [0, 28] {
            let mut bytes = vec![0; length];
            assert!(one.emit_short(&mut bytes, Carrier::Datagram).is_err());
            assert!(Short::parse(&bytes, Carrier::Datagram).is_err());
        }
    }

    #[test]
    fn what_does_not_fit_is_the_nearest_to_what_is_expected() {
        for (low, bits, expected, nearest_one) in [
            (0xff, 8, 0x200, 0x1ff),
            (0x01, 8, 0x1fe, 0x201),
            (0xff, 8, 0, 0xff),
            (0, 0, 7, 7),
            (5, 32, u64::MAX, u64::MAX),
        ] {
            assert_eq!(nearest(low, bits, expected), nearest_one);
        }
    }

    #[test]
    fn a_wrong_length_and_bytes_that_are_not_zero_are_rejected_by_name() {
        let length = Err(Error::Malformed(Field::Length));
        let reserved = Err(Error::Malformed(Field::Reserved));
        let parse = |bytes: &[u8]| Short::parse(bytes, Carrier::Stream).map(drop);
        assert_eq!(parse(&[3, 0]), length);
        assert_eq!(parse(&[2]), length);
        assert_eq!(parse(&[7, 0, 0, 0, 0, 0, 1]), reserved);
        assert_eq!(parse(&[11, 0, 0, 0, 0, 9, 9, 9, 9, 9, 1]), reserved);
    }

    proptest! {
        #[test]
        fn numbers_and_times_near_the_expected_ones_are_whole_again(
            length in 1_usize..HEADER_LEN, expected in 200_u64..1 << 60, off in -60_i64..60,
            received in (1_u64 << 40)..1 << 50, delay in -(1_i64 << 38)..1 << 38, stream: bool,
            warmup: bool,
        ) {
            let carrier = if stream { Carrier::Stream } else { Carrier::Datagram };
            let sequence = expected.saturating_add_signed(off);
            let sent = received.saturating_add_signed(-delay);
            let mut bytes = vec![0xff; length];
            let one = Message { warmup, ..message(sequence, sent) };
            one.emit_short(&mut bytes, carrier).unwrap();
            let short = Short::parse(&bytes, carrier).unwrap();
            prop_assert_eq!((short.warmup, usize::from(short.length)), (warmup, length));
            let alone = length == 1 && stream;
            prop_assert_eq!(short.sequence(expected), if alone { expected } else { sequence });
            prop_assert_eq!(short.sent(received), (length >= TIMED).then_some(sent));
        }
    }

    mod fuzz {
        use super::*;

        proptest! {
            #[test]
            fn hostile_bytes_are_what_they_were_or_rejected(
                mut bytes in prop::collection::vec(any::<u8>(), 0..32), honest: bool,
                expected: u64, received: u64, stream: bool,
            ) {
                let carrier = if stream { Carrier::Stream } else { Carrier::Datagram };
                let length = bytes.len();
                if let Some(first) = bytes.first_mut().filter(|_| honest) {
                    *first = u8::try_from(length).unwrap();
                }
                if let Ok(short) = Short::parse(&bytes, carrier) {
                    prop_assert!(length < HEADER_LEN && usize::from(short.length) == length);
                    let again = Message {
                        warmup: short.warmup,
                        ..message(short.sequence(expected), 0)
                    };
                    let mut emitted = vec![0; length];
                    again.emit_short(&mut emitted, carrier).unwrap();
                    let numbered = length.min(SENT);
                    // A number saturates only at the end of all numbers.
                    if expected < u64::MAX - (1 << 32) {
                        prop_assert_eq!(&emitted[..numbered], &bytes[..numbered]);
                    }
                    short.sent(received);
                }
            }
        }
    }
}
