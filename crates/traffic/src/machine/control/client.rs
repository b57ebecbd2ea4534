//! The sender's end of the control protocol.

use units::Span;
use wire::control::{Control, Flow, Progress, Report, Reverse, SentReport, VERSION};

use super::Fault;
use super::channel::{Channel, End};
use super::handshake::{Contributions, purpose};
use meter::clock_offset::ClockExchange;
use secret::Secret;

/// A message from the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverMessage {
    /// The handshake is complete.
    Welcome {
        /// Maximum number of flows in the session.
        flows: u16,
        /// Maximum duration of the session.
        longest: Span,
        /// Whether both ends read the same clock.
        same_clock: bool,
    },
    /// A clock comparison is complete.
    Compared(ClockExchange),
    /// The receiver is ready for a flow.
    Ready {
        /// Number of the flow in the session.
        flow: u16,
        /// The port on which the receiver waits for the flow.
        port: u16,
        /// The receive buffer, in bytes of kernel memory.
        buffer: u32,
    },
    /// The receiver's observations of a flow since the previous question.
    Progress(Progress),
    /// The receiver's results of a flow that it sent.
    Sent(SentReport),
    /// The receiver's statistics of a flow.
    Report(Report),
}

/// The sender's side of a session.
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
    /// Begins a session; [`Client::output`] holds the first message. `nonce` must never
    /// repeat, `clock` identifies this end's clock.
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

    /// Takes bytes received when this end's clock showed `clock` nanoseconds.
    ///
    /// # Errors
    /// The reason for which the session failed.
    pub fn receive(&mut self, clock: u64, bytes: &[u8]) -> Result<Vec<ReceiverMessage>, Fault> {
        self.channel.receive(bytes);
        let mut news = Vec::new();
        while let Some(message) = self.channel.next()? {
            news.extend(self.take(clock, message)?);
        }
        Ok(news)
    }

    /// Asks for the receiver's clock; `clock` is this end's, in nanoseconds.
    pub fn compare(&mut self, clock: u64) {
        self.channel.send(&Control::Ask { sent: clock });
    }

    /// Sends the result of the clock comparisons in nanoseconds: this clock at the
    /// start of the traffic, the receiver's clock minus this one, and the error's
    /// bound.
    pub fn clocks(&mut self, epoch: u64, offset: i64, bound: u64) {
        self.channel.send(&Control::Clocks {
            epoch,
            offset,
            bound,
        });
    }

    /// Requests a flow.
    pub fn open(&mut self, flow: Flow) {
        self.channel.send(&Control::Flow(flow));
    }

    /// Requests a flow that the receiver sends. [`Client::ended`] stops it.
    pub fn reverse(&mut self, reverse: Reverse) {
        self.channel.send(&Control::Reverse(reverse));
    }

    /// Starts all flows that the receiver sends.
    pub fn begin(&mut self) {
        self.channel.send(&Control::Begin);
    }

    /// Asks for the receiver's observations of all flows, as question `number`. The
    /// receiver ignores a question that follows another one too soon.
    pub fn watch(&mut self, number: u32) {
        self.channel.send(&Control::Watch { number });
    }

    /// Reports the end of a flow and the totals sent, and the messages of its warm-up.
    pub fn ended(&mut self, flow: u16, [messages, bytes, warmup]: [u64; 3]) {
        self.channel.send(&Control::Ended {
            flow,
            messages,
            bytes,
            warmup,
        });
    }

    /// Ends the session.
    pub fn farewell(&mut self) {
        self.channel.send(&Control::Farewell);
    }

    /// The bytes to send; the driver removes them.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.channel.output()
    }

    fn take(&mut self, clock: u64, message: Control) -> Result<Option<ReceiverMessage>, Fault> {
        match (self.stage, message) {
            (_, Control::Rejected(reason)) => Err(Fault::Rejected(reason)),
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
                    // A receiver without a secret cannot be the intended one.
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
                // It is needed no more.
                if let Some(secret) = self.secret.take() {
                    if !self.with.verify(&secret, purpose::RECEIVER_PROOF, &proof) {
                        return Err(Fault::Unproven);
                    }
                    self.channel.seal(End::Sender, &secret, &self.with);
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
            (Stage::Open, Control::Progress(progress)) => {
                Ok(Some(ReceiverMessage::Progress(progress)))
            }
            (Stage::Open, Control::Sent(report)) => Ok(Some(ReceiverMessage::Sent(report))),
            (Stage::Open, Control::Report(report)) => Ok(Some(ReceiverMessage::Report(report))),
            _ => Err(Fault::Unexpected),
        }
    }
}
