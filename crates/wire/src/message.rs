//! The header of every message of generated traffic.
//!
//! A message is the data of one `send` to UDP, or one record of a TCP stream.
//! All numbers are big-endian:
//!
//! | offset | bytes | field    | meaning                                            |
//! |-------:|-------:|----------|----------------------------------------------------|
//! |      0 |      4 | magic    | `JLAB`                                             |
//! |      4 |      1 | version  | 1                                                  |
//! |      5 |      1 | flags    | bit 0: an echo is wanted; bit 1: this is an echo; bit 2: warm-up, not counted; the others zero |
//! |      6 |      2 | tag      | chosen by the sender; an echo has it too           |
//! |      8 |      4 | length   | bytes of the whole message, this header included  |
//! |     12 |      8 | sequence | from 0, plus one for each message of a flow        |
//! |     20 |      8 | sent     | time of sending, in nanoseconds since the start of the run |
//!
//! The bytes behind the header, up to `length`, have no meaning. One-way messages may be
//! shorter than the header ([`Short`]).

use units::{Bytes, Time};

use crate::bytes::{array, demand, demand_mut, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};

mod short;

pub use short::{Carrier, Short, TIMED};

/// Bytes of the header, and so of the shortest message with all of it.
pub const HEADER_LEN: usize = 28;

/// [`HEADER_LEN`] as the length field counts it.
const SHORTEST: u32 = 28;
const MAGIC: [u8; 4] = *b"JLAB";
const VERSION: u8 = 1;

mod field {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 4;
    pub(super) const FLAGS: usize = 5;
    pub(super) const TAG: usize = 6;
    pub(super) const LENGTH: usize = 8;
    pub(super) const SEQUENCE: usize = 12;
    pub(super) const SENT: usize = 20;
}

mod flag {
    pub(super) const ECHO_WANTED: u8 = 1;
    pub(super) const ECHO: u8 = 1 << 1;
    pub(super) const WARMUP: u8 = 1 << 2;
}

/// The role of a message with respect to echoes. An echo of an echo would loop forever,
/// so no message both is one and requests one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// The message requests no echo.
    #[default]
    Unwanted,
    /// The message asks the receiver to send the header back.
    Wanted,
    /// The message is an echo.
    Reply,
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whether the message requests an echo or is one.
    pub echo: Echo,
    /// Whether the message belongs to the warm-up, which no metric counts.
    pub warmup: bool,
    /// A number without meaning for the receiver, by which the sender recognizes echoes
    /// of its own messages.
    pub tag: u16,
    /// Bytes of the whole message, the header included.
    pub length: u32,
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    /// Instant of sending, on the sender's clock. The wire format has whole
    /// nanoseconds; fractions are cut off.
    pub sent: Time,
}

impl Message {
    /// Reads the header at the start of `bytes`, which may hold more or less than the
    /// whole message.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`HEADER_LEN`] bytes; [`Error::Malformed`]
    /// if a field violates the table of this module.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, HEADER_LEN)?;
        let require = |holds, field| match holds {
            true => Ok(()),
            false => Err(Error::Malformed(field)),
        };
        require(array(bytes, field::MAGIC)? == MAGIC, Field::Magic)?;
        require(u8_at(bytes, field::VERSION)? == VERSION, Field::Version)?;
        let flags = u8_at(bytes, field::FLAGS)?;
        let echo = match flags & !flag::WARMUP {
            0 => Echo::Unwanted,
            flag::ECHO_WANTED => Echo::Wanted,
            flag::ECHO => Echo::Reply,
            _ => return Err(Error::Malformed(Field::Flags)),
        };
        let length = u32_at(bytes, field::LENGTH)?;
        require(length >= SHORTEST, Field::Length)?;
        let nanos = u64_at(bytes, field::SENT)?;
        let sent = Time::from_nanos(nanos);
        require(sent.as_nanos() == nanos, Field::Sent)?;
        Ok(Self {
            echo,
            warmup: flags & flag::WARMUP != 0,
            tag: u16_at(bytes, field::TAG)?,
            length,
            sequence: u64_at(bytes, field::SEQUENCE)?,
            sent,
        })
    }

    /// Writes the header to the first [`HEADER_LEN`] of `bytes`; the other bytes are
    /// unchanged.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the header has no room; [`Error::Malformed`] if the
    /// message is shorter than its header.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        if self.length < SHORTEST {
            return Err(Error::Malformed(Field::Length));
        }
        let bytes = demand_mut(bytes, HEADER_LEN)?;
        let echo = match self.echo {
            Echo::Unwanted => 0,
            Echo::Wanted => flag::ECHO_WANTED,
            Echo::Reply => flag::ECHO,
        };
        let warmup = if self.warmup { flag::WARMUP } else { 0 };
        bytes[field::MAGIC..field::VERSION].copy_from_slice(&MAGIC);
        bytes[field::VERSION] = VERSION;
        bytes[field::FLAGS] = echo | warmup;
        bytes[field::TAG..field::LENGTH].copy_from_slice(&self.tag.to_be_bytes());
        bytes[field::LENGTH..field::SEQUENCE].copy_from_slice(&self.length.to_be_bytes());
        bytes[field::SEQUENCE..field::SENT].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[field::SENT..HEADER_LEN].copy_from_slice(&self.sent.as_nanos().to_be_bytes());
        Ok(())
    }

    /// The length of the message as a size.
    pub fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.length))
    }

    /// The echo of this message, if it requests one. The echo is a header alone, so it
    /// never amplifies. It has the original's sequence number, tag and time of
    /// sending, so the sender computes the round-trip time from its own clock alone.
    pub fn reply(&self) -> Option<Self> {
        (self.echo == Echo::Wanted).then_some(Self {
            echo: Echo::Reply,
            length: SHORTEST,
            ..*self
        })
    }

    /// Whether this is the echo of `message`, of whatever length.
    pub fn is_echo_of(&self, message: &Self) -> bool {
        message.reply()
            == Some(Self {
                length: SHORTEST,
                ..*self
            })
    }

    /// The echo with all bytes of the original behind the header: both directions
    /// carry the same load.
    pub fn reply_in_full(&self) -> Option<Self> {
        Some(Self {
            length: self.length,
            ..self.reply()?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MESSAGE: Message = Message {
        echo: Echo::Wanted,
        warmup: true,
        tag: 0x0506,
        length: 0x0001_0203,
        sequence: 0x1112_1314_1516_1718,
        sent: Time::from_nanos(0x0000_0000_2122_2324),
    };

    const BYTES: [u8; HEADER_LEN] = [
        b'J', b'L', b'A', b'B', 1, 0b101, 5, 6, // magic, version, flags, tag
        0x00, 0x01, 0x02, 0x03, // length
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // sequence
        0x00, 0x00, 0x00, 0x00, 0x21, 0x22, 0x23, 0x24, // sent
    ];

    #[test]
    fn the_table_is_what_travels() {
        let mut bytes = [0xff; HEADER_LEN + 2];
        MESSAGE.emit(&mut bytes).unwrap();
        assert_eq!(bytes[..HEADER_LEN], BYTES);
        assert_eq!(bytes[HEADER_LEN..], [0xff, 0xff], "the rest is untouched");
        assert_eq!(Message::parse(&bytes), Ok(MESSAGE));
    }

    #[test]
    fn one_wrong_byte_is_rejected_by_name() {
        for (at, value, field) in [
            (0, b'j', Field::Magic),
            (4, 2, Field::Version),
            (5, 0b011, Field::Flags),
            (5, 0b1000, Field::Flags),
            (5, 0b1000_0000, Field::Flags),
            (20, 0xff, Field::Sent),
        ] {
            let mut bytes = BYTES;
            bytes[at] = value;
            assert_eq!(Message::parse(&bytes), Err(Error::Malformed(field)));
        }
    }

    #[test]
    fn a_message_is_no_shorter_than_its_header() {
        for (length, fine) in [(0, false), (27, false), (28, true)] {
            let message = Message { length, ..MESSAGE };
            assert_eq!(message.emit(&mut [0; HEADER_LEN]).is_ok(), fine);
            let mut bytes = BYTES;
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
            assert_eq!(Message::parse(&bytes).is_ok(), fine);
        }
        let truncated = Err(Error::Truncated { need: 28, have: 27 });
        assert_eq!(MESSAGE.emit(&mut [0; 27]), truncated);
        assert_eq!(Message::parse(&BYTES[..27]).map(drop), truncated);
    }

    #[test]
    fn only_a_message_that_wants_an_echo_has_one() {
        let reply = MESSAGE.reply().unwrap();
        assert_eq!(
            reply,
            Message {
                echo: Echo::Reply,
                length: SHORTEST,
                ..MESSAGE
            }
        );
        assert_eq!(reply.reply(), None);
        assert!(reply.is_echo_of(&MESSAGE));
        assert!(MESSAGE.reply_in_full().unwrap().is_echo_of(&MESSAGE));
        assert!(!MESSAGE.is_echo_of(&MESSAGE));
        let (tag, sent) = (0x0507, Time::from_nanos(0x2122_2325));
        assert!(!Message { tag, ..reply }.is_echo_of(&MESSAGE));
        assert!(!Message { sent, ..reply }.is_echo_of(&MESSAGE));
    }

    proptest! {
        #[test]
        fn what_was_emitted_parses_back(
            echo in prop::sample::select(&[Echo::Unwanted, Echo::Wanted, Echo::Reply][..]),
            warmup: bool, tag: u16, length in SHORTEST.., sequence: u64, nanos in 0..=u64::MAX / 1000,
        ) {
            let sent = Time::from_nanos(nanos);
            let message = Message { echo, warmup, tag, length, sequence, sent };
            let mut bytes = [0; HEADER_LEN];
            message.emit(&mut bytes).unwrap();
            prop_assert_eq!(Message::parse(&bytes), Ok(message));
        }
    }

    mod fuzz {
        use super::*;

        proptest! {
            #[test]
            fn hostile_bytes_parse_to_what_they_were_or_not_at_all(
                length: u32, damages in prop::collection::vec((0..HEADER_LEN, any::<u8>()), 0..4),
                cut in 0..=HEADER_LEN, noise in prop::collection::vec(any::<u8>(), 0..40),
            ) {
                let mut bytes = BYTES;
                bytes[8..12].copy_from_slice(&length.to_be_bytes());
                for (place, value) in damages {
                    bytes[place] = value;
                }
                // A valid beginning lets the noise reach the later checks.
                let mut cut = bytes[..HEADER_LEN - cut / 2].to_vec();
                cut.extend(noise);
                for bytes in [&bytes[..], &cut] {
                    let Ok(message) = Message::parse(bytes) else {
                        continue;
                    };
                    let mut again = [0; HEADER_LEN];
                    message.emit(&mut again).unwrap();
                    prop_assert_eq!(&again[..], &bytes[..HEADER_LEN]);
                    prop_assert!(message.length >= SHORTEST);
                    // An echo is never longer, and none has an echo of its own.
                    for echo in [message.reply(), message.reply_in_full()].into_iter().flatten() {
                        prop_assert!(echo.length <= message.length && echo.reply().is_none());
                    }
                }
            }
        }
    }
}
