//! A server of agents, for machines without `ssh`: a run that proves the secret gets an agent,
//! which is a process of this program. Others get no answer.

use std::io::{Read, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::lease::LEASE;
use os::socket::Socket;
use os::{clock, interrupt, own_executable};
use secret::Secret;
use traffic::driver::control_port::sealed::{self, HANDSHAKE, Sending, within};
use traffic::driver::control_port::{Admission, Connection, ControlPort, Sessions};
use units::Span;

use super::channel::{FrameKind, PIECE, RunId};
use super::requests::SSH_CONNECTION;

/// The interval of checks whether the server is to end.
const LOOK: Span = Span::from_millis(50);

/// The most agents at a time, all of one run.
const AGENTS: usize = 16;

/// The time for an agent to end after its input has ended.
const GRACE: Span = Span::from_secs(2);

/// The interval of checks whether it has ended.
const PAUSE: Span = Span::from_millis(5);

/// An event of a connection.
#[derive(Debug)]
pub struct Event {
    /// The other end.
    pub peer: SocketAddr,
    pub kind: EventKind,
}

/// The kind of an event.
#[derive(Debug)]
pub enum EventKind {
    /// An agent was started.
    Began,
    /// It has ended.
    Ended,
    /// There was none, for this reason.
    Rejected(String),
}

/// A server that listens.
pub struct Server {
    port: ControlPort,
    shared: Arc<Shared>,
}

struct Shared {
    secret: Secret,
    run: Mutex<Served>,
}

/// The run that is served.
#[derive(Default)]
struct Served {
    id: RunId,
    agents: usize,
}

impl Server {
    /// Listens on these addresses only.
    ///
    /// # Errors
    /// The system rejects one of them.
    pub fn open(listen: &[SocketAddr], secret: Secret) -> Result<Self> {
        let run = Mutex::default();
        Ok(Self {
            port: ControlPort::open(listen)?,
            shared: Arc::new(Shared { secret, run }),
        })
    }

    /// The addresses with their ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.port.addresses
    }

    /// Serves until the user stops it.
    ///
    /// # Errors
    /// The system rejects an ordinary call. Errors of connections are events.
    pub fn run(self, mut tell: impl FnMut(Event)) -> Result<()> {
        let (events, told) = channel();
        let sessions = Sessions::new(AGENTS);
        while !interrupt::asked() {
            for socket in self.port.accept(LOOK, &sessions)? {
                self.begin(socket, &sessions, &events);
            }
            told.try_iter().for_each(&mut tell);
        }
        // Their deadlines end with this loop.
        while sessions.is_anybody() {
            clock::sleep(PAUSE);
        }
        told.try_iter().for_each(&mut tell);
        Ok(())
    }

    /// Serves a connection in a thread.
    fn begin(&self, socket: Socket, sessions: &Arc<Sessions>, events: &Sender<Event>) {
        // The peer may have closed it already.
        let Ok(connection) = Connection::of(socket).map(Arc::new) else {
            return;
        };
        let peer = connection.peer();
        let admission = sessions.admit(peer.ip());
        let (shared, events) = (Arc::clone(&self.shared), events.clone());
        let failed = events.clone();
        let body = move || {
            let tell = |kind| {
                // Nobody listens once the server has ended.
                let _ = events.send(Event { peer, kind });
            };
            match serve(&connection, &shared, admission, || tell(EventKind::Began)) {
                Ok(()) => tell(EventKind::Ended),
                Err(error) => tell(EventKind::Rejected(error.to_string())),
            }
        };
        let thread = thread::Builder::new().name(format!("agent {peer}"));
        if let Err(error) = thread.spawn(body) {
            // A machine without threads for one connection may have some for the next.
            let kind = EventKind::Rejected(format!("starting a thread: {error}"));
            let _ = failed.send(Event { peer, kind });
        }
    }
}

/// Serves a connection from its handshake to the end of its agent.
///
/// # Errors
/// No agent was started.
fn serve(
    connection: &Arc<Connection>,
    shared: &Shared,
    mut admission: Admission,
    began: impl FnOnce(),
) -> Result<()> {
    let deadline = within(HANDSHAKE, &admission.evicted());
    let (mut sending, mut receiving) = sealed::accept(connection, &shared.secret, &deadline)?;
    // Only an end that took part in the handshake can write it.
    let first = receiving.next(&deadline)?;
    let mut reject = |why: &str| {
        // The run may be gone.
        let _ = sending.send(&FrameKind::Rejected.with(why.as_bytes()));
        Err(Error::new("starting an agent", why))
    };
    let Ok(run) = RunId::try_from(first.as_slice()) else {
        return reject("the run speaks another protocol; use the same jumbolab at both ends");
    };
    let Some(_seat) = shared.seat(run) else {
        return reject("this host serves another run; wait until it has ended");
    };
    if !admission.take_slot() {
        return reject("the run has too many agents here; end it and start it again");
    }
    let agent = match Agent::start(connection) {
        Ok(agent) => agent,
        Err(error) => return reject(&error.to_string()),
    };
    began();
    agent.attend(sending, |stop| receiving.next(&within(LEASE, stop)));
    Ok(())
}

impl Shared {
    /// A seat for an agent of the run, unless another run has agents.
    fn seat(&self, run: RunId) -> Option<Seat<'_>> {
        let mut served = self.served();
        if served.agents > 0 && served.id != run {
            return None;
        }
        served.id = run;
        served.agents += 1;
        Some(Seat(self))
    }

    fn served(&self) -> MutexGuard<'_, Served> {
        // The count is valid even if a thread that held the lock panicked.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of an agent, until it is dropped.
struct Seat<'a>(&'a Shared);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.served().agents -= 1;
    }
}

/// A process that answers the requests of a run.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
}

impl Agent {
    fn start(connection: &Connection) -> Result<Self> {
        let doing = || "starting an agent";
        let mut command = own_executable::command()?;
        command.arg("agent");
        let (peer, here) = (connection.peer(), connection.here()?);
        let ends = [peer, here].map(|end| format!("{} {}", end.ip(), end.port()));
        command.env(SSH_CONNECTION, ends.join(" "));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let mut child = command.spawn().during(doing)?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Carries frames of the run to the agent and its output to the run, until either ends.
    /// `next` is the next frame, or an error if there is none before its argument is set.
    fn attend(
        mut self,
        sending: Sending,
        mut next: impl FnMut(&Arc<AtomicBool>) -> Result<Vec<u8>>,
    ) {
        let (output, complaint) = (self.child.stdout.take(), self.child.stderr.take());
        let sending = Mutex::new(sending);
        let send = |kind: FrameKind, bytes: &[u8]| {
            let mut sending = sending.lock().unwrap_or_else(PoisonError::into_inner);
            sending.send(&kind.with(bytes)).is_ok()
        };
        let over = Arc::<AtomicBool>::default();
        thread::scope(|scope| {
            let carry = |mut from: Box<dyn Read + Send>, kind| {
                let mut room = vec![0; PIECE];
                while let Ok(count @ 1..) = from.read(&mut room) {
                    if !send(kind, &room[..count]) {
                        break;
                    }
                }
                over.store(true, Ordering::Relaxed);
            };
            let carried = [
                output.map(|it| (Box::new(it) as Box<dyn Read + Send>, FrameKind::Output)),
                complaint.map(|it| (Box::new(it) as Box<dyn Read + Send>, FrameKind::Complaint)),
            ];
            for (from, kind) in carried.into_iter().flatten() {
                let body = move || carry(from, kind);
                if thread::Builder::new().spawn_scoped(scope, body).is_err() {
                    over.store(true, Ordering::Relaxed);
                }
            }
            while let Ok(content) = next(&over) {
                let input = self.input.as_mut();
                let written = input.is_some_and(|input| input.write_all(&content).is_ok());
                if !written || !send(FrameKind::Alive, &[]) {
                    break;
                }
            }
            self.end();
        });
    }

    /// Ends the agent. What it changed is restored by its own watchdog.
    fn end(&mut self) {
        drop(self.input.take());
        let deadline = Deadline::fixed(GRACE);
        while deadline.permit().is_ok() && matches!(self.child.try_wait(), Ok(None)) {
            clock::sleep(PAUSE);
        }
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
