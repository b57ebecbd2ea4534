//! A receiver: it listens on its addresses and serves several senders at the same time.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::thread;

use crate::driver::control_port::{Connection, ControlPort, Sessions};
use crate::machine::control::Limits;
use meter::clock_offset::ClockOffset;
use secret::Secret;
use units::{Rate, Span};
use wire::control::{Flow, Report};

use super::send::Sent;
use super::{Interval, Records, session};
use os::error::{OperationContext, Result};
use os::socket::{Socket, peer_of};
use os::{clock, interrupt, program_stamps};

/// Interval of checks whether the receiver is to end.
const LOOK: Span = Span::from_millis(50);

/// The settings of a receiver.
pub struct Serving {
    /// Addresses to listen on, with the control port.
    pub listen: Vec<SocketAddr>,
    /// The secret that senders must know.
    pub secret: Option<Secret>,
    /// Whether senders on other machines are served without a secret.
    pub open: bool,
    /// The limits of one session.
    pub limits: Limits,
    /// The most simultaneous sessions of authenticated senders.
    pub sessions: usize,
    /// The most flows, of all sessions together, that may poll for messages instead of
    /// sleeping. Each occupies a processor.
    pub polling: usize,
    /// The ports of flows; `None`: as the kernel chooses, or a sender asks for one from
    /// 1024 on.
    pub data_ports: Option<RangeInclusive<u16>>,
    /// Whether to end after the first session in which flows were opened.
    pub once: bool,
    /// How fast flows may be that it sends.
    pub rate: SendingRate,
    /// The length of the intervals to report while flows run, if any.
    pub interval: Option<Span>,
    /// Called when a session opens its first flow: opens its log, if any. An error ends
    /// the session.
    pub keep: KeepSession,
}

/// How fast the flows may be that a receiver sends because another end asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendingRate {
    /// It sends none.
    None,
    /// Each has this rate at most.
    Most(Rate),
    /// As fast as it can.
    #[default]
    Any,
}

/// Opens the log of a session, in the session's thread.
pub type KeepSession =
    Box<dyn Fn(&Session) -> std::result::Result<Option<Records>, String> + Send + Sync>;

/// A session of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Number of the session, from 1.
    pub number: u64,
    /// The sender's control address.
    pub peer: SocketAddr,
    /// The address at which this machine was reached.
    pub here: SocketAddr,
    /// This clock minus the sender's: measured before the flows, and at the end from
    /// before until after them.
    pub offset: ClockOffset,
    /// The sender's clock at the time from which records count, in nanoseconds.
    pub epoch: u64,
}

/// The outcome of a session.
#[derive(Clone, Debug)]
pub struct Served {
    pub session: Session,
    /// The flows that it received, and their reports.
    pub flows: Vec<ReceivedFlow>,
    /// The flows that this end sent, and its results.
    pub sent: Vec<(Flow, Sent)>,
    /// The reason if it failed.
    pub fault: Option<String>,
}

/// A flow that a receiver took.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedFlow {
    /// The requested flow.
    pub flow: Flow,
    /// Its statistics.
    pub report: Report,
    /// Messages that the sender reports to have sent after the warm-up; `None` if it ended
    /// without that.
    pub sent: Option<u64>,
}

/// An event of a receiver.
#[derive(Clone, Debug)]
pub enum Event {
    /// A flow was opened.
    Opened {
        /// Number of the session.
        session: u64,
        /// The sender's address.
        peer: SocketAddr,
        /// The requested flow.
        flow: Flow,
        /// The port that waits for it.
        port: u16,
        /// Whether this end sends it.
        reverse: bool,
    },
    /// An interval of a session's flows.
    Interval {
        /// Number of the session.
        session: u64,
        interval: Interval,
    },
    /// A session in which flows were opened has ended.
    Ended(Served),
    /// A session ended before any flow.
    Rejected {
        /// Control address of the sender.
        peer: SocketAddr,
        /// The reason.
        why: String,
    },
}

/// The events of all sessions, on their way to the owner of the receiver.
#[derive(Clone)]
pub(super) struct Events {
    to: Sender<Event>,
    /// Intervals that the owner has not taken.
    intervals: Arc<AtomicUsize>,
}

/// The most intervals that wait for the owner; further ones are left out.
const MOST_INTERVALS: usize = 1024;

impl Events {
    pub(super) fn send(&self, event: Event) {
        // The receiver has ended if the channel is closed.
        let _ = self.to.send(event);
    }

    pub(super) fn send_interval(&self, session: u64, interval: Interval) {
        if self.intervals.load(Ordering::Relaxed) < MOST_INTERVALS {
            self.intervals.fetch_add(1, Ordering::Relaxed);
            self.send(Event::Interval { session, interval });
        }
    }
}

/// A listening receiver.
pub struct Receiver {
    serving: Arc<Serving>,
    port: ControlPort,
}

impl Receiver {
    /// Listens on the given addresses only.
    ///
    /// # Errors
    /// If the kernel rejects one of them, or as [`program_stamps`].
    pub fn open(serving: Serving) -> Result<Self> {
        // Before there is traffic, which would delay the stamps.
        program_stamps()?;
        Ok(Self {
            port: ControlPort::open(&serving.listen)?,
            serving: Arc::new(serving),
        })
    }

    /// The addresses with their ports, including those chosen by the kernel.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.port.addresses
    }

    /// Serves until it is asked to stop, or, with [`Serving::once`], until the session
    /// is over, and reports events.
    ///
    /// # Errors
    /// If the kernel rejects an ordinary call. Errors of senders are reported as
    /// events.
    pub fn run(self, mut tell: impl FnMut(Event)) -> Result<()> {
        let (to, events) = channel();
        let to = Events {
            to,
            intervals: Arc::default(),
        };
        let sessions = Sessions::new(self.serving.sessions);
        let mut number = 0;
        let mut over = false;
        while !over && !interrupt::asked() {
            for socket in self.port.accept(LOOK, &sessions)? {
                number += 1;
                self.begin(socket, number, &sessions, &to);
            }
            over = drain(&events, &to, &mut tell) && self.serving.once;
        }
        // Sessions check whether they are to end, as this loop does.
        while sessions.is_anybody() && interrupt::asked() {
            clock::sleep(Span::from_millis(5));
        }
        drain(&events, &to, &mut tell);
        Ok(())
    }

    /// Serves a sender in a thread. What the kernel rejects ends this session alone.
    fn begin(&self, socket: Socket, number: u64, sessions: &Arc<Sessions>, to: &Events) {
        // The peer may have closed it already.
        let Ok(peer) = peer_of(&socket) else {
            return;
        };
        let admission = sessions.admit(peer.ip());
        let (serving, events) = (Arc::clone(&self.serving), to.clone());
        let begun = Connection::of(socket).and_then(|connection| {
            let body = move || {
                let event = session::serve(&connection, &serving, number, admission, &events);
                events.send(event);
            };
            let thread = thread::Builder::new().name(format!("session {peer}"));
            thread.spawn(body).during(|| "starting a thread")
        });
        if let Err(error) = begun {
            let why = error.to_string();
            to.send(Event::Rejected { peer, why });
        }
    }
}

/// Reports waiting events. Returns whether a session with flows has ended.
fn drain(events: &Queue<Event>, from: &Events, tell: &mut impl FnMut(Event)) -> bool {
    let mut ended = false;
    for event in events.try_iter() {
        ended |= matches!(event, Event::Ended(_));
        if matches!(event, Event::Interval { .. }) {
            from.intervals.fetch_sub(1, Ordering::Relaxed);
        }
        tell(event);
    }
    ended
}

#[cfg(test)]
mod tests;
