//! The sender's end.

use units::Span;
use wire::control::{Control, Flow, Report, VERSION};

use super::Fault;
use super::channel::{Channel, End};
use super::secret::{Contributions, Secret, purpose};
use crate::clock_offset::ClockExchange;

/// A message of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverMessage {
    /// Both know each other.
    Welcome {
        /// The most flows that may be asked for.
        flows: u16,
        /// How long the session may last.
        longest: Span,
        /// Whether both ends read one and the same clock.
        same_clock: bool,
    },
    /// A comparison of the clocks is back.
    Compared(ClockExchange),
    /// A flow may begin.
    Ready {
        /// Its number.
        flow: u16,
        /// The port that waits for it.
        port: u16,
        /// The receive buffer, in octets of the kernel's memory.
        buffer: u32,
    },
    /// What arrived of a flow.
    Report(Report),
}

/// One session of a sender.
#[derive(Debug)]
pub struct Client {
    channel: Channel,
    secret: Option<Secret>,
    with: Contributions,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Greeted,
    Proved,
    Open,
}

impl Client {
    /// A session that begins: its first message is in [`Client::output`].
    /// `nonce` is of octets that no other session had, `clock` names this
    /// end's clock.
    pub fn new(secret: Option<Secret>, nonce: [u8; 16], clock: [u8; 8]) -> Self {
        let mut channel = Channel::default();
        channel.send(&Control::Hello {
            version: VERSION,
            nonce,
            clock,
        });
        Self {
            channel,
            secret,
            with: Contributions {
                sender_nonce: nonce,
                sender_clock: clock,
                ..Contributions::default()
            },
            stage: Stage::Greeted,
        }
    }

    /// Takes what arrived when this end's clock showed `clock` nanoseconds.
    ///
    /// # Errors
    /// Why the session is over.
    pub fn receive(&mut self, clock: u64, octets: &[u8]) -> Result<Vec<ReceiverMessage>, Fault> {
        self.channel.receive(octets);
        let mut news = Vec::new();
        while let Some(message) = self.channel.next()? {
            news.extend(self.take(clock, message)?);
        }
        Ok(news)
    }

    /// Asks what the receiver's clock shows; `clock` is what this one shows.
    pub fn compare(&mut self, clock: u64) {
        self.channel.send(&Control::Ask { sent: clock });
    }

    /// Says what the comparisons came to, in nanoseconds: this clock at the
    /// beginning, the receiver's less this one, and how wrong that may be.
    pub fn clocks(&mut self, epoch: u64, offset: i64, bound: u64) {
        self.channel.send(&Control::Clocks {
            epoch,
            offset,
            bound,
        });
    }

    /// Asks for a flow.
    pub fn open(&mut self, flow: Flow) {
        self.channel.send(&Control::Flow(flow));
    }

    /// Says that a flow has ended, and what was sent.
    pub fn ended(&mut self, flow: u16, messages: u64, octets: u64) {
        self.channel.send(&Control::Ended {
            flow,
            messages,
            octets,
        });
    }

    /// Says that nothing more follows.
    pub fn farewell(&mut self) {
        self.channel.send(&Control::Farewell);
    }

    /// What is to be sent; the driver takes it out.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.channel.output()
    }

    fn take(&mut self, clock: u64, message: Control) -> Result<Option<ReceiverMessage>, Fault> {
        match (self.stage, message) {
            (_, Control::Refused(reason)) => Err(Fault::Refused(reason)),
            (
                Stage::Greeted,
                Control::Challenge {
                    version,
                    nonce,
                    clock,
                    secret,
                },
            ) => {
                if version != VERSION {
                    return Err(Fault::Version(version));
                }
                self.with.receiver_nonce = nonce;
                self.with.receiver_clock = clock;
                let proof = match (&self.secret, secret) {
                    (None, true) => return Err(Fault::SecretNeeded),
                    // A receiver that knows no secret cannot be the one that is meant.
                    (Some(_), false) => return Err(Fault::Unproven),
                    (None, false) => [0; 32],
                    (Some(secret), true) => self.with.hash(secret, purpose::SENDER_PROOF),
                };
                self.channel.send(&Control::Proof(proof));
                self.stage = Stage::Proved;
                Ok(None)
            }
            (
                Stage::Proved,
                Control::Welcome {
                    proof,
                    flows,
                    longest,
                },
            ) => {
                if let Some(secret) = &self.secret {
                    if !self.with.verify(secret, purpose::RECEIVER_PROOF, &proof) {
                        return Err(Fault::Unproven);
                    }
                    self.channel.seal(End::Sender, secret, &self.with);
                }
                self.stage = Stage::Open;
                Ok(Some(ReceiverMessage::Welcome {
                    flows,
                    longest: Span::from_secs(longest.into()),
                    same_clock: self.with.sender_clock == self.with.receiver_clock,
                }))
            }
            (
                Stage::Open,
                Control::Tell {
                    asked,
                    received,
                    answered,
                },
            ) => Ok(Some(ReceiverMessage::Compared(ClockExchange {
                asked,
                received,
                answered,
                back: clock,
            }))),
            (Stage::Open, Control::Ready { flow, port, buffer }) => {
                Ok(Some(ReceiverMessage::Ready { flow, port, buffer }))
            }
            (Stage::Open, Control::Report(report)) => Ok(Some(ReceiverMessage::Report(report))),
            _ => Err(Fault::Unexpected),
        }
    }
}
