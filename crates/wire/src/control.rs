//! The control protocol of generated traffic: messages that sender and receiver
//! exchange over TCP before, during and after a session.
//!
//! The stream consists of frames. All numbers are big-endian:
//!
//! | offset | octets | field  | meaning                                           |
//! |-------:|-------:|--------|---------------------------------------------------|
//! |      0 |      2 | length | octets that follow, from 1 to [`LONGEST`]         |
//! |      2 |      1 | type   | number of the message                             |
//! |      3 |        | body   | fields of the message in the order of [`Control`] |
//! |        |     16 | tag    | once both ends proved a secret: the start of a    |
//! |        |        |        | MAC, which detects added and changed frames       |
//!
//! The version of the first frame of either end keeps its offset in all future
//! versions.

mod fields;
mod flow;
mod progress;
mod report;
mod reverse;

use crate::octets::array;
use crate::{Error, Field};

use fields::{Fields, Room, require};
pub use flow::{Flow, Meter, Name};
pub use progress::Progress;
pub use report::Report;
pub use reverse::{LONGEST_CONGESTION, Law, Reverse, SentReport, Traffic, congestion_name};

/// The protocol's version.
pub const VERSION: u16 = 3;

/// Octets of the length in front of a frame.
pub const PREFIX_LEN: usize = 2;

/// The most octets behind the length: type, body and tag.
pub const LONGEST: usize = 256;

/// Octets of an authentication tag.
pub const TAG_LEN: usize = 16;

/// Identifies a stream of this protocol.
const MAGIC: [u8; 4] = *b"JLCT";

/// One message. Times are in nanoseconds, on the clock of the end that states them
/// unless noted otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sender's first message.
    Hello {
        /// The version that the sender speaks.
        version: u16,
        /// The sender's random contribution to both proofs.
        nonce: [u8; 16],
        /// Identifies the sender's clock: ends with the same clock need no offset.
        clock: [u8; 8],
    },
    /// The receiver's first message.
    Challenge {
        /// The version that the receiver speaks.
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
    Refused(Reason),
    /// Asks for the other end's clock.
    Ask {
        /// Instant of sending.
        sent: u64,
    },
    /// The answer to [`Control::Ask`] [RFC5905 s8].
    Tell {
        /// `sent` of the question.
        asked: u64,
        /// Instant of the question's arrival, on the answering end's clock.
        received: u64,
        /// Instant of the answer's departure, on the answering end's clock.
        answered: u64,
    },
    /// The sender's estimate of the two clocks.
    Clocks {
        /// The sender's clock at the instant from which messages count.
        epoch: u64,
        /// The receiver's clock minus the sender's.
        offset: i64,
        /// Bound of the offset's error, in either direction.
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
        /// The receive buffer that the kernel granted, in octets of its memory.
        buffer: u32,
    },
    /// The end of a flow, with the totals that were sent. Stops a flow that the receiver
    /// sends, whatever the totals.
    Ended {
        /// Number of the flow in the session.
        flow: u16,
        /// Messages handed to the kernel.
        messages: u64,
        /// Octets handed to the kernel.
        octets: u64,
    },
    /// Asks for the observations of all flows since the previous question.
    Watch {
        /// Number of the question.
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
    /// Ends the session regularly.
    Farewell,
}

/// Reasons to end a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This end speaks another version.
    Version,
    /// The secret is missing or wrong.
    Secret,
    /// This end serves only its own machine.
    Stranger,
    /// The maximum number of sessions is open.
    Busy,
    /// The flows exceed the allowed number, duration or size.
    Limit,
    /// A message is malformed, or not allowed at this point.
    Nonsense,
    /// A deadline passed.
    Late,
    /// The kernel of this end refused a socket.
    Kernel,
    /// The user of the other end stopped it.
    Stopped,
    /// No more flows may poll for messages.
    Polling,
    /// This end sends no flows.
    Reverse,
    /// This end cannot begin its packet log.
    Log,
}

const REASONS: [Reason; 12] = [
    Reason::Version,
    Reason::Secret,
    Reason::Stranger,
    Reason::Busy,
    Reason::Limit,
    Reason::Nonsense,
    Reason::Late,
    Reason::Kernel,
    Reason::Stopped,
    Reason::Polling,
    Reason::Reverse,
    Reason::Log,
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
    pub(super) const WATCH: u8 = 14;
    pub(super) const PROGRESS: u8 = 15;
    pub(super) const REVERSE: u8 = 16;
    pub(super) const BEGIN: u8 = 17;
    pub(super) const SENT: u8 = 18;
}

/// The number of octets that follow the length at the start of `octets`.
///
/// # Errors
/// [`Error::Truncated`] if the length is incomplete; [`Error::Malformed`] if no frame
/// has this length.
pub fn frame_length(octets: &[u8]) -> Result<usize, Error> {
    let length = usize::from(u16::from_be_bytes(array(octets, 0)?));
    if (1..=LONGEST).contains(&length) {
        Ok(length)
    } else {
        Err(Error::Malformed(Field::Length))
    }
}

impl Control {
    /// Reads a message from `octets`, its type and body: a frame without its length and
    /// tag.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::Malformed`] if fields are missing, not allowed,
    /// or followed by others.
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
            kind::WATCH => Self::Watch {
                number: fields.u32()?,
            },
            kind::PROGRESS => Self::Progress(Progress::read(&mut fields)?),
            kind::REVERSE => Self::Reverse(Reverse::read(&mut fields)?),
            kind::BEGIN => Self::Begin,
            kind::SENT => Self::Sent(SentReport::read(&mut fields)?),
            _ => return Err(Error::Malformed(Field::Type)),
        };
        require(fields.at == octets.len(), Field::Length)?;
        Ok(message)
    }

    /// Writes type and body to the start of `room`. Returns their length.
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
            Self::Watch { number } => {
                fields.put(&[kind::WATCH]).put(&number.to_be_bytes());
            }
            Self::Progress(progress) => progress.write(fields.put(&[kind::PROGRESS])),
            Self::Reverse(reverse) => reverse.write(fields.put(&[kind::REVERSE])),
            Self::Begin => drop(fields.put(&[kind::BEGIN])),
            Self::Sent(report) => report.write(fields.put(&[kind::SENT])),
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
mod fuzz;
#[cfg(test)]
mod tests;
