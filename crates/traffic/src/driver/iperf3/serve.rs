//! A server of iperf3: it listens, and runs one test at a time.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket, peer_of, receive, send};
use os::{clock, interrupt};
use units::{Span, Time};

use super::outcome::Outcome;
use super::test::{self, Accepted};
use crate::driver::control_port::ControlPort;
use crate::driver::sessions::{Interval, SendingRate};
use crate::machine::iperf3::{COOKIE_LEN, Cookie, MOST_STREAMS, Request, State};

/// The longest time for a cookie.
const COOKIE: Span = Span::from_secs(10);

/// How long a client waits for the end of a test before it reads that there is one: a client
/// that follows another at once finds the server free.
const PATIENCE: Span = Span::from_secs(1);

/// Connections without a cookie that may wait; more push out the oldest.
const WAITING: usize = 64;

/// Interval between looks at connections that wait, and without any.
const SOON: Span = Span::from_millis(2);
const LOOK: Span = Span::from_millis(50);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Addresses to listen on, with the port.
    pub listen: Vec<SocketAddr>,
    /// Whether clients on other machines are served.
    pub open: bool,
    /// The longest test.
    pub longest: Span,
    /// How fast streams may be that it sends.
    pub rate: SendingRate,
    /// Whether to end after the first test.
    pub once: bool,
    /// The length of the intervals to report, if any.
    pub interval: Option<Span>,
}

/// An event of a server.
#[derive(Clone, Debug)]
pub enum Event {
    /// A test begins.
    Began {
        /// Its number, from 1.
        session: u64,
        peer: SocketAddr,
        request: Arc<Request>,
    },
    /// An interval of a test.
    Interval { session: u64, interval: Interval },
    /// A client was rejected.
    Rejected { peer: SocketAddr, why: String },
    /// A test has ended.
    Ended { session: u64, outcome: Outcome },
}

/// A server.
pub struct Server {
    port: ControlPort,
    serving: Arc<Serving>,
}

/// A connection whose cookie has not arrived.
struct Waiting {
    socket: Socket,
    peer: IpAddr,
    cookie: Vec<u8>,
    since: Time,
}

/// The test under way.
struct Running {
    cookie: Cookie,
    peer: IpAddr,
    streams: SyncSender<Socket>,
    thread: JoinHandle<()>,
}

/// The loop of a server.
struct Loop {
    serving: Arc<Serving>,
    waiting: Vec<Waiting>,
    running: Option<Running>,
    stop: Arc<AtomicBool>,
    to: Sender<Event>,
    events: Queue<Event>,
    tests: u64,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// The kernel rejects an address.
    pub fn open(serving: Serving) -> Result<Self> {
        Ok(Self {
            port: ControlPort::open(&serving.listen)?,
            serving: Arc::new(serving),
        })
    }

    /// The addresses with their ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.port.addresses
    }

    /// Serves until a signal of the user, or the end of the only test.
    ///
    /// # Errors
    /// The kernel rejects an ordinary call.
    pub fn run(self, mut tell: impl FnMut(Event)) -> Result<()> {
        let (to, events) = channel();
        let mut state = Loop {
            serving: Arc::clone(&self.serving),
            waiting: Vec::new(),
            running: None,
            stop: Arc::default(),
            to,
            events,
            tests: 0,
        };
        while !interrupt::asked() {
            let wait = if state.waiting.is_empty() { LOOK } else { SOON };
            for socket in self.port.accept_all(wait)? {
                state.add(socket);
            }
            state.look()?;
            let ended = state.tell(&mut tell);
            if ended && self.serving.once {
                return Ok(());
            }
        }
        state.stop.store(true, Ordering::Relaxed);
        if let Some(running) = state.running.take() {
            // The thread tells of its own errors.
            let _ = running.thread.join();
        }
        state.tell(&mut tell);
        Ok(())
    }
}

impl Loop {
    fn add(&mut self, socket: Socket) {
        // A connection that is gone already has no peer.
        let Ok(peer) = peer_of(&socket) else { return };
        if !peer.ip().is_loopback() && !self.serving.open {
            let why = "it is another machine, and --open is not given".to_owned();
            let _ = self.to.send(Event::Rejected { peer, why });
            return;
        }
        if self.waiting.len() >= WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(Waiting {
            socket,
            peer: peer.ip(),
            cookie: Vec::new(),
            since: clock::monotonic(),
        });
    }

    /// Reads cookies, and forgets connections that send none.
    fn look(&mut self) -> Result<()> {
        if self
            .running
            .as_ref()
            .is_some_and(|running| running.thread.is_finished())
        {
            self.running = None;
        }
        let now = clock::monotonic();
        for mut waiting in std::mem::take(&mut self.waiting) {
            match waiting.read() {
                Some(Some(cookie))
                    if self.is_of_another(&waiting, &cookie)
                        && now.since(waiting.since) < Some(PATIENCE) =>
                {
                    self.waiting.push(waiting);
                }
                Some(Some(cookie)) => self.route(waiting, cookie)?,
                Some(None) if now.since(waiting.since) < Some(COOKIE) => self.waiting.push(waiting),
                Some(None) | None => {}
            }
        }
        Ok(())
    }

    /// Whether there is a test, and a connection is none of its streams.
    fn is_of_another(&self, waiting: &Waiting, cookie: &Cookie) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| running.cookie != *cookie || running.peer != waiting.peer)
    }

    /// Gives a connection to the test under way, answers that there is one, or begins another.
    fn route(&mut self, waiting: Waiting, cookie: Cookie) -> Result<()> {
        match &self.running {
            Some(running) if !self.is_of_another(&waiting, &cookie) => {
                // A test that waits for no stream drops it.
                let _ = running.streams.try_send(waiting.socket);
            }
            Some(_) => {
                let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
                // It tries again later, with or without the answer.
                let _ = send(&waiting.socket, &[State::Busy.byte()], flags);
            }
            None => self.running = Some(self.begin(waiting, cookie)?),
        }
        Ok(())
    }

    fn begin(&mut self, waiting: Waiting, cookie: Cookie) -> Result<Running> {
        self.tests += 1;
        let most = usize::try_from(2 * MOST_STREAMS).unwrap_or(usize::MAX);
        let (streams, accepted) = sync_channel(most);
        let accepted = Accepted {
            session: self.tests,
            control: waiting.socket,
            streams: accepted,
            serving: Arc::clone(&self.serving),
            stop: Arc::clone(&self.stop),
            to: self.to.clone(),
        };
        let thread = thread::Builder::new().name("iperf3 test".to_owned());
        let thread = thread
            .spawn(move || test::run(accepted))
            .during(|| "starting a thread")?;
        Ok(Running {
            cookie,
            peer: waiting.peer,
            streams,
            thread,
        })
    }

    /// Passes on what happened. Returns whether a test has ended.
    fn tell(&self, tell: &mut impl FnMut(Event)) -> bool {
        let mut ended = false;
        while let Ok(event) = self.events.try_recv() {
            ended |= matches!(event, Event::Ended { .. });
            tell(event);
        }
        ended
    }
}

impl Waiting {
    /// Reads what has arrived of the cookie, and nothing behind it; `None`: the connection is
    /// lost.
    fn read(&mut self) -> Option<Option<Cookie>> {
        let mut room = [0; COOKIE_LEN];
        let room = &mut room[..COOKIE_LEN - self.cookie.len()];
        if room.is_empty() {
            return Some(self.cookie.as_slice().try_into().ok());
        }
        let permit = Deadline::fixed(COOKIE).permit().ok()?;
        match receive(&self.socket, room, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(0) => return None,
            Ok(count) => self.cookie.extend_from_slice(&room[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => return None,
        }
        Some(self.cookie.as_slice().try_into().ok())
    }
}
