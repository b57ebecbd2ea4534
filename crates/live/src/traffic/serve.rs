//! A receiver: it listens on its address, and serves whoever may ask,
//! several at a time.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{Backlog, SockFlag, SockType, accept4, listen, setsockopt, socket, sockopt};
use proto::clock_offset::ClockOffset;
use proto::control::{Limits, Secret};
use units::Span;
use wire::control::{Flow, Report};

use super::admission::Sessions;
use super::connection::Connection;
use super::options::{address_of, bind_to, family};
use super::{Records, session};
use crate::error::{During, Error, Result};
use crate::sys::option;
use crate::{clock, interrupt};

/// How often the receiver looks whether it is to end, in milliseconds.
const LOOK_MILLIS: u16 = 50;

/// How long it waits where many are about to go.
const LEAVE: Span = Span::from_millis(1);

/// How many ports are tried that the kernel chooses.
const MOST_PORTS: u32 = 20;

/// Where a receiver listens, and for whom.
pub struct Serving {
    /// Addresses and the control port.
    pub listen: Vec<SocketAddr>,
    /// What senders must know.
    pub secret: Option<Secret>,
    /// Whether others than this machine are served without a secret.
    pub open: bool,
    /// What one session may have.
    pub limits: Limits,
    /// How many sessions there may be at a time, of senders that proved what
    /// they must know.
    pub sessions: usize,
    /// Whether it ends with the first session in which flows were opened.
    pub once: bool,
    /// Called when a session opens its first flow: where its records go, if
    /// anywhere; an error ends the session.
    pub keep: KeepSession,
}

/// Opens the log of a session, in the session's thread.
pub type KeepSession =
    Box<dyn Fn(&Session) -> std::result::Result<Option<Records>, String> + Send + Sync>;

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its number, from 1.
    pub number: u64,
    /// The sender's control address.
    pub peer: SocketAddr,
    /// This machine's.
    pub here: SocketAddr,
    /// This clock less the sender's, as it was measured before the flows, and
    /// in the end from before them until after them.
    pub offset: ClockOffset,
    /// The sender's clock at the instant from which records count, in nanoseconds.
    pub epoch: u64,
}

/// What became of a session.
#[derive(Clone, Debug)]
pub struct Served {
    /// The session.
    pub session: Session,
    /// Its flows and what arrived of them.
    pub flows: Vec<(Flow, Report)>,
    /// Why it ended before its end, if it did.
    pub fault: Option<String>,
}

/// What happens at a receiver.
#[derive(Clone, Debug)]
pub enum Event {
    /// A flow was opened.
    Opened {
        /// The session's number.
        session: u64,
        /// The sender's address.
        peer: SocketAddr,
        /// What was asked for.
        flow: Flow,
        /// The port that waits.
        port: u16,
    },
    /// A session in which flows were opened has ended.
    Ended(Served),
    /// A session ended before any flow.
    Refused {
        /// Whose it was.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
}

/// A receiver that listens.
pub struct Receiver {
    serving: Arc<Serving>,
    listeners: Vec<OwnedFd>,
    /// Where it listens, ports that the kernel chose among them.
    pub addresses: Vec<SocketAddr>,
}

impl Receiver {
    /// Listens on the addresses that were named, and nowhere else.
    ///
    /// # Errors
    /// When the kernel refuses one of them.
    pub fn open(serving: Serving) -> Result<Self> {
        let (listeners, addresses) = listeners(&serving.listen)?;
        Ok(Self {
            serving: Arc::new(serving),
            listeners,
            addresses,
        })
    }

    /// Serves until somebody asks to stop, or the one session is over that was
    /// asked for, and reports what happens.
    ///
    /// # Errors
    /// When the kernel refuses what it grants as a rule. What senders do is no
    /// error.
    pub fn run(self, mut tell: impl FnMut(Event)) -> Result<()> {
        let (to, events) = channel();
        let sessions = Sessions::new(self.serving.sessions);
        let mut number = 0;
        let mut over = false;
        while !over && !interrupt::asked() {
            for listener in self.ready()? {
                if !sessions.has_room() {
                    clock::sleep(LEAVE);
                    break;
                }
                if let Some(connection) = accept(listener)? {
                    number += 1;
                    self.begin(connection, number, &sessions, &to);
                }
            }
            over = drain(&events, &mut tell) && self.serving.once;
        }
        // Sessions look whether they are to end, as this loop does.
        while sessions.is_anybody() && interrupt::asked() {
            clock::sleep(Span::from_millis(5));
        }
        drain(&events, &mut tell);
        Ok(())
    }

    /// The listeners at which somebody waits.
    fn ready(&self) -> Result<Vec<&OwnedFd>> {
        let mut watched: Vec<PollFd> = self
            .listeners
            .iter()
            .map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN))
            .collect();
        match poll(&mut watched, PollTimeout::from(LOOK_MILLIS)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).during(|| "waiting for senders"),
        }
        let ready = watched.iter().zip(&self.listeners);
        Ok(ready
            .filter(|(watched, _)| watched.any() == Some(true))
            .map(|(_, listener)| listener)
            .collect())
    }

    fn begin(
        &self,
        connection: Connection,
        number: u64,
        sessions: &Arc<Sessions>,
        to: &Sender<Event>,
    ) {
        let admission = sessions.admit(connection.peer().ip());
        let (serving, to) = (Arc::clone(&self.serving), to.clone());
        let peer = connection.peer();
        let body = move || {
            let event = session::serve(&connection, &serving, number, admission, &to);
            // The receiver has ended if nobody takes it.
            let _ = to.send(event);
        };
        // Too many threads, say: the connection is closed, and others go on.
        let _ = thread::Builder::new()
            .name(format!("session {peer}"))
            .spawn(body);
    }
}

/// Tells what has happened; whether a session with flows has ended.
fn drain(events: &Queue<Event>, tell: &mut impl FnMut(Event)) -> bool {
    let mut ended = false;
    for event in events.try_iter() {
        ended |= matches!(event, Event::Ended(_));
        tell(event);
    }
    ended
}

/// Listeners at all addresses, and where they listen. Where the kernel chooses
/// the port it is the same at each; one that is free at the first address may
/// be taken at another, and the kernel chooses again.
fn listeners(wanted: &[SocketAddr]) -> Result<(Vec<OwnedFd>, Vec<SocketAddr>)> {
    let mut tries = 0;
    loop {
        tries += 1;
        match listeners_once(wanted) {
            Err(error) if tries < MOST_PORTS && is_taken(&error, wanted) => {}
            done => return done,
        }
    }
}

/// Whether a port that the kernel chose is taken at another address.
fn is_taken(error: &Error, wanted: &[SocketAddr]) -> bool {
    let is_chosen = wanted.iter().any(|address| address.port() == 0);
    is_chosen && error.source.kind() == ErrorKind::AddrInUse
}

fn listeners_once(wanted: &[SocketAddr]) -> Result<(Vec<OwnedFd>, Vec<SocketAddr>)> {
    let mut listeners: Vec<OwnedFd> = Vec::new();
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in wanted {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), addresses.first()) {
            address.set_port(first.port());
        }
        let listener = listener(address)?;
        addresses.push(address_of(listener.as_fd())?);
        listeners.push(listener);
    }
    Ok((listeners, addresses))
}

fn listener(address: SocketAddr) -> Result<OwnedFd> {
    let doing = || format!("listening on {} port {}", address.ip(), address.port());
    // Whoever connected may be gone when he is accepted: nobody waits for the next.
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family(address.ip()), SockType::Stream, flags, None).during(doing)?;
    setsockopt(&socket, sockopt::ReuseAddr, &true).during(doing)?;
    if matches!(address.ip(), IpAddr::V6(_)) {
        option::set(socket.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, 1).during(doing)?;
    }
    bind_to(&socket, address)?;
    listen(&socket, Backlog::new(64).during(doing)?).during(doing)?;
    Ok(socket)
}

/// The next connection, if it is still there.
fn accept(listener: &OwnedFd) -> Result<Option<Connection>> {
    let socket = match accept4(
        listener.as_raw_fd(),
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
    ) {
        Ok(socket) => socket,
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNABORTED | Errno::EPROTO) => return Ok(None),
        // No descriptors are left: others give theirs back.
        Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM) => {
            clock::sleep(Span::from_millis(50));
            return Ok(None);
        }
        Err(error) => return Err(error).during(|| "accepting a sender"),
    };
    #[expect(unsafe_code, reason = "nix returns a raw descriptor")]
    // SAFETY: accept4 just made it, nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // It may be gone already.
    Ok(Connection::of(socket).ok())
}
