//! The receiver's end of the control protocol.

use std::collections::BTreeMap;

use units::{Span, Time};
use wire::control::{Control, Flow, Progress, Reason, Report, Reverse, SentReport, VERSION};

use super::channel::{Channel, End};
use super::handshake::{Contributions, purpose};
use super::{Fault, Limits};
use secret::Secret;

/// The shortest time between two questions for observations that are answered; earlier
/// ones are ignored. The answers take some microseconds for each flow.
const LEAST_BETWEEN: Span = Span::from_millis(50);

/// The most estimates of the clocks in a session: each is written to the log. A sender has two.
const MOST_ESTIMATES: u32 = 8;

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The secret that the sender must know, if any.
    pub secret: Option<Secret>,
    /// The limits of the session.
    pub limits: Limits,
    /// Unpredictable bytes that no other session had.
    pub nonce: [u8; 16],
    /// Identifies this end's clock.
    pub clock: [u8; 8],
}

/// An action that the sender requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The sender has authenticated itself. The driver answers with [`Server::admit`],
    /// or with [`Server::reject`] if there is no room.
    Admit,
    /// The sender's estimate of the clocks, in nanoseconds.
    Clocks {
        /// The sender's clock at the time from which its messages count.
        epoch: u64,
        /// This clock minus the sender's.
        offset: i64,
        /// Bound of the offset's error, in either direction.
        bound: u64,
    },
    /// Open a port for a flow, then call [`Server::ready`].
    Open(Flow),
    /// Open a port for a flow that this end sends, then call [`Server::ready`].
    Reverse(Reverse),
    /// Start the flows that this end sends, and report each with [`Server::sent`].
    Begin,
    /// A flow has ended. The driver waits for its remaining messages, then calls
    /// [`Server::report`]. A flow that this end sends is to be stopped.
    Ended {
        /// Number of the flow in the session.
        flow: u16,
        /// Messages that were sent.
        messages: u64,
        /// Bytes that were sent.
        bytes: u64,
        /// Messages of the warm-up.
        warmup: u64,
    },
    /// The sender asks for the observations of all flows since its previous question:
    /// the driver calls [`Server::progress`] for each.
    Watch {
        /// Number of the question.
        number: u32,
    },
    /// The sender has ended the session; close the connection.
    Farewell,
}

/// The receiver's side of a session.
#[derive(Debug)]
pub struct Server {
    channel: Channel,
    settings: Settings,
    stage: Stage,
    with: Contributions,
    /// The requested flows and their states.
    flows: BTreeMap<u16, FlowState>,
    deadline: Time,
    /// This clock at the latest [`Control::Watch`] that was answered, in nanoseconds.
    watched: Option<u64>,
    /// Whether the flows that this end sends were started.
    begun: bool,
    /// The estimates of the clocks so far.
    estimates: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has arrived.
    Silent,
    /// The challenge was sent; the proof is outstanding.
    Challenged,
    /// The proof was right; the driver looks for room.
    Proven,
    /// The handshake is complete.
    Open,
    /// The session is over.
    Closed,
}

/// The state of a flow. A stream may be reported before its sender announces the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FlowState {
    ready: bool,
    ended: bool,
}

impl Server {
    /// Begins a session at `now`.
    pub fn new(now: Time, settings: Settings) -> Self {
        let with = Contributions {
            receiver_nonce: settings.nonce,
            receiver_clock: settings.clock,
            ..Contributions::default()
        };
        Self {
            channel: Channel::default(),
            deadline: now + settings.limits.handshake,
            settings,
            stage: Stage::Silent,
            with,
            flows: BTreeMap::new(),
            watched: None,
            begun: false,
            estimates: 0,
        }
    }

    /// Takes bytes received when this end's clock showed `clock` nanoseconds, and
    /// returns the actions that they request. After an error the driver only sends the
    /// content of [`Server::output`].
    ///
    /// # Errors
    /// The fault in the received bytes; the output notifies the sender.
    pub fn receive(&mut self, clock: u64, bytes: &[u8]) -> Result<Vec<Request>, Fault> {
        self.channel.receive(bytes);
        let mut requests = Vec::new();
        loop {
            let taken = match self.channel.next() {
                Ok(None) => return Ok(requests),
                Ok(Some(message)) => self.take(clock, message),
                Err(fault) => Err((fault, Reason::Nonsense)),
            };
            match taken {
                Ok(request) => requests.extend(request),
                Err((fault, reason)) => {
                    self.reject(reason);
                    return Err(fault);
                }
            }
        }
    }

    /// Admits, at `now`, a sender that has authenticated itself ([`Request::Admit`]).
    /// Does nothing in other states.
    pub fn admit(&mut self, now: Time) {
        if self.stage != Stage::Proven {
            return;
        }
        let secret = self.settings.secret.as_ref();
        self.channel.send(&Control::Welcome {
            proof: secret.map_or([0; 32], |secret| {
                self.with.hash(secret, purpose::RECEIVER_PROOF)
            }),
            flows: self.settings.limits.flows,
            longest: seconds(self.settings.limits.longest),
        });
        if let Some(secret) = secret {
            self.channel.seal(End::Receiver, secret, &self.with);
        }
        self.deadline = now + self.settings.limits.longest;
        self.stage = Stage::Open;
    }

    /// Announces the open port of a flow.
    pub fn ready(&mut self, flow: u16, port: u16, buffer: u32) {
        self.flows.entry(flow).or_default().ready = true;
        let ready = Control::Ready { flow, port, buffer };
        self.channel.send(&ready);
    }

    /// Sends the results of a flow that this end sent.
    pub fn sent(&mut self, report: SentReport) {
        self.channel.send(&Control::Sent(report));
    }

    /// Sends the observations of a flow.
    pub fn progress(&mut self, progress: Progress) {
        self.channel.send(&Control::Progress(progress));
    }

    /// Sends the statistics of a flow.
    pub fn report(&mut self, report: Report) {
        self.channel.send(&Control::Report(report));
    }

    /// Ends the session with a reason.
    pub fn reject(&mut self, reason: Reason) {
        if self.stage != Stage::Closed {
            self.channel.send(&Control::Rejected(reason));
            self.stage = Stage::Closed;
        }
    }

    /// The time at which the session times out: first the handshake's limit, then
    /// that of the session.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether the handshake is complete.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The bytes to send; the driver removes them.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.channel.output()
    }

    fn take(&mut self, clock: u64, message: Control) -> Result<Option<Request>, (Fault, Reason)> {
        const UNEXPECTED: (Fault, Reason) = (Fault::Unexpected, Reason::Nonsense);
        let request = match (self.stage, message) {
            (
                Stage::Silent,
                Control::Hello {
                    version,
                    nonce,
                    clock,
                },
            ) => {
                if version != VERSION {
                    return Err((Fault::Version(version), Reason::Version));
                }
                self.challenge(nonce, clock);
                return Ok(None);
            }
            (Stage::Challenged, Control::Proof(proof)) => {
                self.check(&proof)
                    .map_err(|fault| (fault, Reason::Secret))?;
                Request::Admit
            }
            (Stage::Open, Control::Ask { sent }) => {
                self.channel.send(&Control::Tell {
                    asked: sent,
                    received: clock,
                    answered: clock,
                });
                return Ok(None);
            }
            (
                Stage::Open,
                Control::Clocks {
                    epoch,
                    offset,
                    bound,
                },
            ) => {
                self.estimates += 1;
                if self.estimates > MOST_ESTIMATES {
                    return Err(UNEXPECTED);
                }
                Request::Clocks {
                    epoch,
                    offset,
                    bound,
                }
            }
            (Stage::Open, Control::Flow(flow)) => {
                self.add(flow.flow)?;
                Request::Open(flow)
            }
            (Stage::Open, Control::Reverse(reverse)) => {
                if self.begun {
                    return Err(UNEXPECTED);
                }
                self.add(reverse.flow.flow)?;
                Request::Reverse(reverse)
            }
            (Stage::Open, Control::Begin) if !self.begun => {
                self.begun = true;
                Request::Begin
            }
            (
                Stage::Open,
                Control::Ended {
                    flow,
                    messages,
                    bytes,
                    warmup,
                },
            ) => {
                match self.flows.get_mut(&flow) {
                    Some(progress) if progress.ready && !progress.ended => progress.ended = true,
                    _ => return Err(UNEXPECTED),
                }
                Request::Ended {
                    flow,
                    messages,
                    bytes,
                    warmup,
                }
            }
            (Stage::Open, Control::Watch { number }) => {
                let since = self.watched.map(|watched| clock.saturating_sub(watched));
                if since.is_some_and(|since| since < LEAST_BETWEEN.as_nanos()) {
                    return Ok(None);
                }
                self.watched = Some(clock);
                Request::Watch { number }
            }
            (Stage::Open, Control::Farewell) => {
                self.stage = Stage::Closed;
                Request::Farewell
            }
            _ => return Err(UNEXPECTED),
        };
        Ok(Some(request))
    }

    /// Adds a flow, if the limits allow it.
    fn add(&mut self, flow: u16) -> Result<(), (Fault, Reason)> {
        let many = self.flows.len() >= usize::from(self.settings.limits.flows);
        if many || self.flows.contains_key(&flow) {
            return Err((Fault::Unexpected, Reason::Limit));
        }
        self.flows.insert(flow, FlowState::default());
        Ok(())
    }

    fn challenge(&mut self, nonce: [u8; 16], clock: [u8; 8]) {
        self.with.sender_nonce = nonce;
        self.with.sender_clock = clock;
        self.channel.send(&Control::Challenge {
            version: VERSION,
            nonce: self.settings.nonce,
            clock: self.settings.clock,
            secret: self.settings.secret.is_some(),
        });
        self.stage = Stage::Challenged;
    }

    fn check(&mut self, proof: &[u8; 32]) -> Result<(), Fault> {
        if let Some(secret) = &self.settings.secret
            && !self.with.verify(secret, purpose::SENDER_PROOF, proof)
        {
            return Err(Fault::Unproven);
        }
        self.stage = Stage::Proven;
        Ok(())
    }
}

fn seconds(span: Span) -> u32 {
    u32::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(u32::MAX)
}
