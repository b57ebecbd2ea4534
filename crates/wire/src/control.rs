//! What two ends of hand-made traffic say to each other over TCP before,
//! during and after it.
//!
//! A stream of frames. All numbers are big-endian:
//!
//! | offset | octets | field  | meaning                                           |
//! |-------:|-------:|--------|---------------------------------------------------|
//! |      0 |      2 | length | octets that follow, from 1 to [`LONGEST`]         |
//! |      2 |      1 | type   | which message                                     |
//! |      3 |        | body   | its fields in the order of [`Control`], no more   |
//! |        |     16 | tag    | once both ends proved a secret: its beginning, so |
//! |        |        |        | that nobody in between adds or changes a frame    |
//!
//! The first frame of either end has the version in the same place in all
//! versions to come.

mod fields;
mod flow;
mod report;

use crate::octets::array;
use crate::{Error, Field};

use fields::{Fields, Room, require};
pub use flow::{Flow, Meter, Name};
pub use report::Report;

/// The version of the protocol.
pub const VERSION: u16 = 1;

/// Octets of the length in front of a frame.
pub const PREFIX_LEN: usize = 2;

/// The most octets that may follow a length: type, body and tag.
pub const LONGEST: usize = 256;

/// Octets of a tag.
pub const TAG_LEN: usize = 16;

/// By which a stranger's stream is told from ours.
const MAGIC: [u8; 4] = *b"JLCT";

/// One message. Times are in nanoseconds, on the clock of whoever says them
/// unless it is said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sender's first: who is there?
    Hello {
        /// The version that it speaks.
        version: u16,
        /// Its contribution to what both prove.
        nonce: [u8; 16],
        /// What names its clock: two ends with the same one need no offset.
        clock: [u8; 8],
    },
    /// The receiver's first.
    Challenge {
        /// The version that it speaks.
        version: u16,
        /// Its contribution to what both prove.
        nonce: [u8; 16],
        /// What names its clock.
        clock: [u8; 8],
        /// Whether a secret is needed.
        secret: bool,
    },
    /// The sender's proof that it knows the secret; zeros without one.
    Proof([u8; 32]),
    /// The receiver's proof, and what it allows.
    Welcome {
        /// Zeros without a secret.
        proof: [u8; 32],
        /// The most flows of a session.
        flows: u16,
        /// How long a session may last, in seconds.
        longest: u32,
    },
    /// Why the session ends here.
    Refused(Reason),
    /// What does your clock show?
    Ask {
        /// When this was sent.
        sent: u64,
    },
    /// The answer to [`Control::Ask`] [RFC5905 s8].
    Tell {
        /// As it stood in the question.
        asked: u64,
        /// When the question arrived, by the clock of whoever answers.
        received: u64,
        /// When the answer left.
        answered: u64,
    },
    /// What the sender knows of the clocks.
    Clocks {
        /// What its clock showed at the instant from which messages count.
        epoch: u64,
        /// The receiver's clock less the sender's.
        offset: i64,
        /// By how much that may be wrong, either way.
        bound: u64,
    },
    /// A flow is asked for.
    Flow(Flow),
    /// It may begin.
    Ready {
        /// Its number.
        flow: u16,
        /// The port that waits for it.
        port: u16,
        /// The receive buffer as the kernel has it, in octets of its memory.
        buffer: u32,
    },
    /// A flow has ended; of this number of messages and octets.
    Ended {
        /// Its number.
        flow: u16,
        /// Messages handed to the kernel.
        messages: u64,
        /// Their octets.
        octets: u64,
    },
    /// What arrived of a flow.
    Report(Report),
    /// All is said.
    Farewell,
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Another version is spoken here.
    Version,
    /// The secret is missing or another one.
    Secret,
    /// Only this machine is served.
    Stranger,
    /// As many sessions as are allowed are open.
    Busy,
    /// More flows, longer or larger ones than are allowed.
    Limit,
    /// What was said made no sense, here or at all.
    Nonsense,
    /// It took too long.
    Late,
    /// The kernel here refused a socket.
    Kernel,
    /// Whoever runs the other end stopped it.
    Stopped,
}

const REASONS: [Reason; 9] = [
    Reason::Version,
    Reason::Secret,
    Reason::Stranger,
    Reason::Busy,
    Reason::Limit,
    Reason::Nonsense,
    Reason::Late,
    Reason::Kernel,
    Reason::Stopped,
];

mod kind {
    pub(super) const HELLO: u8 = 1;
    pub(super) const CHALLENGE: u8 = 2;
    pub(super) const PROOF: u8 = 3;
    pub(super) const WELCOME: u8 = 4;
    pub(super) const REFUSED: u8 = 5;
    pub(super) const ASK: u8 = 6;
    pub(super) const TELL: u8 = 7;
    pub(super) const CLOCKS: u8 = 8;
    pub(super) const FLOW: u8 = 9;
    pub(super) const READY: u8 = 10;
    pub(super) const ENDED: u8 = 11;
    pub(super) const REPORT: u8 = 12;
    pub(super) const FAREWELL: u8 = 13;
}

/// How many octets follow the length at the start of `octets`.
///
/// # Errors
/// [`Error::Truncated`] if the length is not there yet, [`Error::Malformed`]
/// if no frame is so long.
pub fn frame_length(octets: &[u8]) -> Result<usize, Error> {
    let length = usize::from(u16::from_be_bytes(array(octets, 0)?));
    if (1..=LONGEST).contains(&length) {
        Ok(length)
    } else {
        Err(Error::Malformed(Field::Length))
    }
}

impl Control {
    /// The message whose type and body are `octets`: a frame without its
    /// length and its tag.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::Malformed`] where the fields are not
    /// there, not allowed, or not all.
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let mut fields = Fields { octets, at: 0 };
        let message = match fields.u8()? {
            kind::HELLO => {
                require(fields.array()? == MAGIC, Field::Magic)?;
                Self::Hello {
                    version: fields.u16()?,
                    nonce: fields.array()?,
                    clock: fields.array()?,
                }
            }
            kind::CHALLENGE => {
                require(fields.array()? == MAGIC, Field::Magic)?;
                Self::Challenge {
                    version: fields.u16()?,
                    nonce: fields.array()?,
                    clock: fields.array()?,
                    secret: fields.bool()?,
                }
            }
            kind::PROOF => Self::Proof(fields.array()?),
            kind::WELCOME => Self::Welcome {
                proof: fields.array()?,
                flows: fields.u16()?,
                longest: fields.u32()?,
            },
            kind::REFUSED => {
                let code = usize::from(fields.u8()?);
                let reason = REASONS.get(code).ok_or(Error::Malformed(Field::Code))?;
                Self::Refused(*reason)
            }
            kind::ASK => Self::Ask {
                sent: fields.u64()?,
            },
            kind::TELL => Self::Tell {
                asked: fields.u64()?,
                received: fields.u64()?,
                answered: fields.u64()?,
            },
            kind::CLOCKS => Self::Clocks {
                epoch: fields.u64()?,
                offset: i64::from_be_bytes(fields.array()?),
                bound: fields.u64()?,
            },
            kind::FLOW => Self::Flow(Flow::read(&mut fields)?),
            kind::READY => Self::Ready {
                flow: fields.u16()?,
                port: fields.u16()?,
                buffer: fields.u32()?,
            },
            kind::ENDED => Self::Ended {
                flow: fields.u16()?,
                messages: fields.u64()?,
                octets: fields.u64()?,
            },
            kind::REPORT => Self::Report(Report::read(&mut fields)?),
            kind::FAREWELL => Self::Farewell,
            _ => return Err(Error::Malformed(Field::Type)),
        };
        require(fields.at == octets.len(), Field::Length)?;
        Ok(message)
    }

    /// Writes type and body to the start of `room` and says how long they are.
    pub fn emit(&self, room: &mut [u8; LONGEST]) -> usize {
        let mut fields = Room { room, at: 0 };
        match self {
            Self::Hello {
                version,
                nonce,
                clock,
            } => {
                fields.put(&[kind::HELLO]).put(&MAGIC);
                fields.u16(*version).put(nonce).put(clock);
            }
            Self::Challenge {
                version,
                nonce,
                clock,
                secret,
            } => {
                fields.put(&[kind::CHALLENGE]).put(&MAGIC);
                fields.u16(*version).put(nonce).put(clock);
                fields.put(&[u8::from(*secret)]);
            }
            Self::Proof(proof) => drop(fields.put(&[kind::PROOF]).put(proof)),
            Self::Welcome {
                proof,
                flows,
                longest,
            } => {
                fields.put(&[kind::WELCOME]).put(proof);
                fields.u16(*flows).put(&longest.to_be_bytes());
            }
            Self::Refused(reason) => drop(fields.put(&[kind::REFUSED, reason.code()])),
            Self::Ask { sent } => drop(fields.put(&[kind::ASK]).u64(*sent)),
            Self::Tell {
                asked,
                received,
                answered,
            } => {
                fields.put(&[kind::TELL]).u64(*asked);
                fields.u64(*received).u64(*answered);
            }
            Self::Clocks {
                epoch,
                offset,
                bound,
            } => {
                fields.put(&[kind::CLOCKS]).u64(*epoch);
                fields.put(&offset.to_be_bytes()).u64(*bound);
            }
            Self::Flow(flow) => flow.write(fields.put(&[kind::FLOW])),
            Self::Ready { flow, port, buffer } => {
                fields.put(&[kind::READY]).u16(*flow);
                fields.u16(*port).put(&buffer.to_be_bytes());
            }
            Self::Ended {
                flow,
                messages,
                octets,
            } => {
                fields.put(&[kind::ENDED]).u16(*flow);
                fields.u64(*messages).u64(*octets);
            }
            Self::Report(report) => report.write(fields.put(&[kind::REPORT])),
            Self::Farewell => drop(fields.put(&[kind::FAREWELL])),
        }
        fields.at
    }
}

impl Reason {
    fn code(self) -> u8 {
        let place = REASONS.iter().position(|reason| *reason == self);
        place
            .and_then(|place| u8::try_from(place).ok())
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
