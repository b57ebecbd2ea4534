//! The receiver's end.

use std::collections::BTreeMap;

use units::{Span, Time};
use wire::control::{Control, Flow, Reason, Report, VERSION};

use super::channel::{Channel, End};
use super::secret::{Contributions, Secret, purpose};
use super::{Fault, Limits};

/// What a session begins with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the sender must know, if anything.
    pub secret: Option<Secret>,
    /// What it may have.
    pub limits: Limits,
    /// Octets that no other session had, and that nobody could foretell.
    pub nonce: [u8; 16],
    /// What names the clock of this end.
    pub clock: [u8; 8],
}

/// What the sender wants to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The sender has proved what it must know: [`Server::admit`], or
    /// [`Server::refuse`] where there is no room for it.
    Admit,
    /// What is known of the clocks: the sender's at the beginning, the
    /// difference of this one's from it, and how wrong that may be, in
    /// nanoseconds.
    Clocks {
        /// The sender's clock at the instant from which its messages count.
        epoch: u64,
        /// This clock less the sender's.
        offset: i64,
        /// By how much that may be wrong.
        bound: u64,
    },
    /// Open a port for a flow; then [`Server::ready`].
    Open(Flow),
    /// A flow has ended: wait for the rest of it; then [`Server::report`].
    Ended {
        /// The flow's number.
        flow: u16,
        /// Messages that were sent.
        messages: u64,
        /// Their octets.
        octets: u64,
    },
    /// All is said; close.
    Farewell,
}

/// One session of a receiver.
#[derive(Debug)]
pub struct Server {
    channel: Channel,
    settings: Settings,
    stage: Stage,
    with: Contributions,
    /// The flows that were asked for, and how far each is.
    flows: BTreeMap<u16, Progress>,
    deadline: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing came yet.
    Silent,
    /// A proof is due.
    Challenged,
    /// It was right, and room is looked for.
    Proven,
    /// Both know each other.
    Open,
    /// It is over.
    Closed,
}

/// How far a flow is. A stream may be reported before its sender has said
/// that it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    ready: bool,
    ended: bool,
}

impl Server {
    /// A session that begins at `now`.
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
        }
    }

    /// Takes what arrived when this end's clock showed `clock` nanoseconds, and says what is to be done. After an error only
    /// [`Server::output`] is left to be sent.
    ///
    /// # Errors
    /// What is wrong with it; the sender is notified.
    pub fn receive(&mut self, clock: u64, octets: &[u8]) -> Result<Vec<Request>, Fault> {
        self.channel.receive(octets);
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
                    self.refuse(reason);
                    return Err(fault);
                }
            }
        }
    }

    /// There is room, at `now`, for a sender that proved itself
    /// ([`Request::Admit`]): it is welcome. For any other this does nothing.
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

    /// A flow's port is open.
    pub fn ready(&mut self, flow: u16, port: u16, buffer: u32) {
        self.flows.entry(flow).or_default().ready = true;
        let ready = Control::Ready { flow, port, buffer };
        self.channel.send(&ready);
    }

    /// What arrived of a flow.
    pub fn report(&mut self, report: Report) {
        self.channel.send(&Control::Report(report));
    }

    /// Ends the session and says why.
    pub fn refuse(&mut self, reason: Reason) {
        if self.stage != Stage::Closed {
            self.channel.send(&Control::Refused(reason));
            self.stage = Stage::Closed;
        }
    }

    /// When the session has taken too long: the handshake first, then all.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether both ends know each other.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// What is to be sent; the driver takes it out.
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
            ) => Request::Clocks {
                epoch,
                offset,
                bound,
            },
            (Stage::Open, Control::Flow(flow)) => {
                let many = self.flows.len() >= usize::from(self.settings.limits.flows);
                if many || self.flows.contains_key(&flow.flow) {
                    return Err((Fault::Unexpected, Reason::Limit));
                }
                self.flows.insert(flow.flow, Progress::default());
                Request::Open(flow)
            }
            (
                Stage::Open,
                Control::Ended {
                    flow,
                    messages,
                    octets,
                },
            ) => {
                match self.flows.get_mut(&flow) {
                    Some(progress) if progress.ready && !progress.ended => progress.ended = true,
                    _ => return Err(UNEXPECTED),
                }
                Request::Ended {
                    flow,
                    messages,
                    octets,
                }
            }
            (Stage::Open, Control::Farewell) => {
                self.stage = Stage::Closed;
                Request::Farewell
            }
            _ => return Err(UNEXPECTED),
        };
        Ok(Some(request))
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
