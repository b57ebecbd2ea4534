//! The control protocol of generated traffic: messages that sender and receiver
//! exchange over TCP before, during and after a session.
//!
//! The stream consists of frames. All numbers are big-endian:
//!
//! | offset | bytes | field   | meaning                                           |
//! |-------:|-------:|---------|---------------------------------------------------|
//! |      0 |      2 | length  | bytes that follow, from 1 to [`LONGEST`]         |
//! |      2 |        | message | [`Control`] in the format of the crate `postcard` |
//! |        |     16 | tag     | once both ends proved a secret: the start of a    |
//! |        |        |         | MAC, which detects added and changed frames       |
//!
//! A message consists of its place in [`Control`] as one byte and its fields in their
//! order. Numbers have a variable length, with the lowest seven bits first; times and
//! what a question states have a fixed one, so that no answer is longer in proportion to
//! its question than the fields require. The first frame of either end and a rejection keep
//! their bytes in all future versions.

mod flow;
mod progress;
mod report;
mod reverse;

use core::str;

use postcard::fixint;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::bytes::array;
use crate::{Error, Field};

pub use flow::{Codec, Flow, LEAST_COVERAGE, MOST_STREAMS, Meter, Name, Protocol};
pub use progress::Progress;
pub use report::{Report, StampPrecision};
pub use reverse::{
    Distribution, LONGEST_CONGESTION, Reverse, SentReport, Traffic, congestion_name,
};

/// The protocol's version.
pub const VERSION: u16 = 7;

/// Bytes of the length in front of a frame.
pub const PREFIX_LEN: usize = 2;

/// The most bytes behind the length: message and tag.
pub const LONGEST: usize = 256;

/// Bytes of an authentication tag.
pub const TAG_LEN: usize = 16;

/// One message. Times are in nanoseconds, on the clock of the end that states them
/// unless noted otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// Ends the session regularly.
    Farewell,
    /// The sender's first message.
    Hello {
        /// The version that the sender speaks.
        #[serde(with = "greeting")]
        version: u16,
        /// The sender's random contribution to both proofs.
        nonce: [u8; 16],
        /// Identifies the sender's clock: ends with the same clock need no offset.
        clock: [u8; 8],
    },
    /// The receiver's first message.
    Challenge {
        /// The version that the receiver speaks.
        #[serde(with = "greeting")]
        version: u16,
        /// The receiver's random contribution to both proofs.
        nonce: [u8; 16],
        /// Identifies the receiver's clock.
        clock: [u8; 8],
        /// Whether the receiver demands a secret.
        secret: bool,
    },
    /// The sender's proof that it knows the secret; zeros without one.
    Proof([u8; 32]),
    /// The receiver's proof, and its limits.
    Welcome {
        /// The receiver's proof; zeros without a secret.
        proof: [u8; 32],
        /// The most flows of a session.
        flows: u16,
        /// How long a session may last, in seconds.
        longest: u32,
    },
    /// Ends the session for a reason.
    Rejected(Reason),
    /// Asks for the other end's clock.
    Ask {
        /// Instant of sending.
        #[serde(with = "fixint::be")]
        sent: u64,
    },
    /// The answer to [`Control::Ask`] [RFC5905 s8].
    Tell {
        /// `sent` of the question.
        #[serde(with = "fixint::be")]
        asked: u64,
        /// Instant of the question's arrival, on the answering end's clock.
        #[serde(with = "fixint::be")]
        received: u64,
        /// Instant of the answer's departure, on the answering end's clock.
        #[serde(with = "fixint::be")]
        answered: u64,
    },
    /// The sender's estimate of the two clocks.
    Clocks {
        /// The sender's clock at the time from which messages count.
        #[serde(with = "fixint::be")]
        epoch: u64,
        /// The receiver's clock minus the sender's.
        #[serde(with = "fixint::be")]
        offset: i64,
        /// Bound of the offset's error, in either direction.
        #[serde(with = "fixint::be")]
        bound: u64,
    },
    /// Requests a flow.
    Flow(Flow),
    /// The receiver is ready for a flow.
    Ready {
        /// Number of the flow in the session.
        flow: u16,
        /// The port on which the receiver waits for the flow.
        port: u16,
        /// The receive buffer that the kernel granted, in bytes of its memory.
        buffer: u32,
    },
    /// The end of a flow, with the totals that were sent. Stops a flow that the receiver
    /// sends, whatever the totals.
    Ended {
        /// Number of the flow in the session.
        flow: u16,
        /// Messages handed to the kernel, those of the warm-up included.
        #[serde(with = "fixint::be")]
        messages: u64,
        /// Bytes handed to the kernel.
        #[serde(with = "fixint::be")]
        bytes: u64,
        /// Messages of the warm-up.
        #[serde(with = "fixint::be")]
        warmup: u64,
    },
    /// Asks for the observations of all flows since the previous question.
    Watch {
        /// Number of the question.
        #[serde(with = "fixint::be")]
        number: u32,
    },
    /// The answer to [`Control::Watch`], one for each flow.
    Progress(Progress),
    /// Requests a flow that the receiver sends.
    Reverse(Reverse),
    /// Starts all flows that the receiver sends.
    Begin,
    /// The receiver's results of a flow that it sent.
    Sent(SentReport),
    /// The receiver's statistics of a flow.
    Report(Report),
}

/// Reasons to end a session. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// This end speaks another version.
    Version,
    /// The secret is missing or wrong.
    Secret,
    /// This end serves only its own machine.
    UnknownSender,
    /// The maximum number of sessions is open.
    Busy,
    /// The flows exceed the allowed number, duration or size.
    Limit,
    /// A message is malformed, or not allowed at this point.
    Nonsense,
    /// A deadline passed.
    Late,
    /// The kernel of this end rejected a socket.
    Kernel,
    /// The user of the other end stopped it.
    Stopped,
    /// No more flows may poll for messages.
    Polling,
    /// This end sends no flows.
    Reverse,
    /// This end cannot begin its packet log.
    Log,
    /// This end does not listen on the address that a flow asks for.
    Address,
    /// The port that a flow asks for is in use, or not among those that this end allows.
    Port,
    /// The system of this end lacks the protocol of a flow.
    Protocol,
}

/// The version of a first frame, behind what identifies a stream of this protocol.
mod greeting {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    const MAGIC: [u8; 4] = *b"JLCT";

    pub(super) fn serialize<S: Serializer>(version: &u16, to: S) -> Result<S::Ok, S::Error> {
        (MAGIC, version.to_be_bytes()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
        match Deserialize::deserialize(from)? {
            (MAGIC, version) => Ok(u16::from_be_bytes(version)),
            _ => Err(D::Error::custom("another protocol")),
        }
    }
}

/// The number of bytes that follow the length at the start of `bytes`.
///
/// # Errors
/// [`Error::Truncated`] if the length is incomplete; [`Error::Malformed`] if no frame
/// has this length.
pub fn frame_length(bytes: &[u8]) -> Result<usize, Error> {
    let length = usize::from(u16::from_be_bytes(array(bytes, 0)?));
    if (1..=LONGEST).contains(&length) {
        Ok(length)
    } else {
        Err(Error::Malformed(Field::Length))
    }
}

impl Control {
    /// Reads a message from `bytes`: a frame without its length and tag.
    ///
    /// # Errors
    /// [`Error::Malformed`] if fields are missing, not allowed, or followed by others, or if
    /// a number is longer than it needs to be: each message has one form.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = Error::Malformed(Field::Message);
        let message: Self = postcard::from_bytes(bytes).map_err(|_| malformed)?;
        let mut room = [0; LONGEST];
        let length = message.emit(&mut room);
        (room[..length] == *bytes)
            .then_some(message)
            .ok_or(malformed)
    }

    /// Writes the message to the start of `room`. Returns its length.
    pub fn emit(&self, room: &mut [u8; LONGEST]) -> usize {
        let written = postcard::to_slice(self, room);
        written.expect("a test emits the longest message").len()
    }
}

/// Reads a field of which `holds` is true.
fn valid<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
    holds: impl FnOnce(&T) -> bool,
) -> Result<T, D::Error> {
    let field = T::deserialize(from)?;
    match holds(&field) {
        true => Ok(field),
        false => Err(D::Error::custom("a value that is not allowed")),
    }
}

/// Reads a number below `BOUND`.
fn below<'de, const BOUND: u8, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    valid(from, |number| *number < BOUND)
}

/// Whether a field has letters, digits and `marks`, and zeros behind them.
fn is_text(bytes: &[u8], marks: &[u8]) -> bool {
    let (text, padding) = bytes.split_at(text(bytes).len());
    let fine = |byte: &u8| byte.is_ascii_alphanumeric() || marks.contains(byte);
    text.iter().all(fine) && padding.iter().all(|&byte| byte == 0)
}

/// The text in front of the zeros.
fn text(bytes: &[u8]) -> &str {
    let text = bytes.split(|&byte| byte == 0).next();
    str::from_utf8(text.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
