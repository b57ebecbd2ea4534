//! A receiver: it listens on its addresses and serves several senders at the same time.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::thread;

use crate::machine::control::Limits;
use meter::clock_offset::ClockOffset;
use secret::Secret;
use units::{Rate, Span};
use wire::control::{Flow, Report};

use super::admission::Sessions;
use super::connection::Connection;
use super::send::Sent;
use super::{Interval, Records, session};
use os::error::{Error, OperationContext, Result};
use os::socket::{self, Errno, Kind, Options, Socket};
use os::socket::{address_of, borrowed, is_of_connection, listen, open, peer_of, readable};
use os::{clock, interrupt};

/// Interval of checks whether the receiver is to end.
const LOOK: Span = Span::from_millis(50);

/// The wait when many connections are about to end.
const LEAVE: Span = Span::from_millis(1);

/// Connections that may wait to be accepted.
const WAITING: i32 = 64;

/// Number of attempts to find a port that is free at all addresses.
const MOST_PORTS: u32 = 20;

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
    pub flows: Vec<(Flow, Report)>,
    /// The flows that this end sent, and its results.
    pub sent: Vec<(Flow, Sent)>,
    /// The reason if it failed.
    pub fault: Option<String>,
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
    listeners: Vec<Socket>,
    /// The addresses with their ports, including those chosen by the kernel.
    pub addresses: Vec<SocketAddr>,
}

impl Receiver {
    /// Listens on the given addresses only.
    ///
    /// # Errors
    /// If the kernel rejects one of them.
    pub fn open(serving: Serving) -> Result<Self> {
        let (listeners, addresses) = listeners(&serving.listen)?;
        Ok(Self {
            serving: Arc::new(serving),
            listeners,
            addresses,
        })
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
            for listener in self.ready()? {
                if !sessions.has_room() {
                    clock::sleep(LEAVE);
                    break;
                }
                if let Some(socket) = accept(listener)? {
                    number += 1;
                    self.begin(socket, number, &sessions, &to);
                }
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

    /// The listeners with waiting connections.
    fn ready(&self) -> Result<Vec<&Socket>> {
        let sockets: Vec<_> = self.listeners.iter().map(borrowed).collect();
        let ready = readable(&sockets, Some(clock::monotonic() + LOOK))?;
        let ready = ready.into_iter().zip(&self.listeners);
        Ok(ready
            .filter(|(is_ready, _)| *is_ready)
            .map(|(_, listener)| listener)
            .collect())
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

/// Listeners at all addresses, and their addresses. If the kernel chooses the port, it
/// is the same for all; if a port chosen for the first address is in use at another,
/// the kernel chooses again.
fn listeners(wanted: &[SocketAddr]) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let mut tries = 0;
    loop {
        tries += 1;
        match listeners_once(wanted) {
            Err(error) if tries < MOST_PORTS && is_taken(&error, wanted) => {}
            done => return done,
        }
    }
}

/// Whether a port chosen by the kernel is in use at another address.
fn is_taken(error: &Error, wanted: &[SocketAddr]) -> bool {
    let is_chosen = wanted.iter().any(|address| address.port() == 0);
    is_chosen && error.source.kind() == ErrorKind::AddrInUse
}

fn listeners_once(wanted: &[SocketAddr]) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let mut listeners: Vec<Socket> = Vec::new();
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in wanted {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), addresses.first()) {
            address.set_port(first.port());
        }
        let listener = listener(address)?;
        addresses.push(address_of(&listener)?);
        listeners.push(listener);
    }
    Ok((listeners, addresses))
}

fn listener(address: SocketAddr) -> Result<Socket> {
    let options = Options {
        bind: Some(address),
        v6_only: true,
        // The peer may close before its connection is accepted, so accepting must not
        // block.
        non_blocking: true,
        reuse_address: true,
        ..Options::default()
    };
    let socket = open(Kind::Stream, address.ip(), &options)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}

/// The next connection, if it is still open.
fn accept(listener: &Socket) -> Result<Option<Socket>> {
    match socket::accept(listener, true) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if is_of_connection(error) => Ok(None),
        // No descriptors are left: waits until other connections release theirs.
        Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM) => {
            clock::sleep(Span::from_millis(50));
            Ok(None)
        }
        Err(error) => Err(error).during(|| "accepting a sender"),
    }
}

#[cfg(test)]
mod tests;
