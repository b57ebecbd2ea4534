//! The thread at a listening TCP socket.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::machine::trial_token::{Admission, Decision, Number, TOKEN_LEN, Token};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::socket::{MsgFlags, SockFlag};
use units::{Span, Time};

use super::BACKLOG;
use os::clock;
use os::deadline::{Deadline, receive};
use os::error::{During, Result};
use os::socket::{accept, peer_of, reset_on_close};

/// The pause after unauthenticated peers once the sender is in, so that they take little processor
/// time from the trial. Further ones wait in the kernel, which drops those without room.
const REST: Span = Span::from_millis(10);

/// The longest time of a thread. A trial ends long before.
const LONGEST: Span = Span::from_secs(1 << 20);

/// A thread that accepts connections and passes on those that show the token.
pub(super) struct Acceptor {
    admitted: mpsc::Receiver<OwnedFd>,
    stop: Arc<Stop>,
    refused_peers: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the thread end.
struct Stop {
    flag: Arc<AtomicBool>,
    /// Wakes the thread.
    event: EventFd,
}

impl Acceptor {
    /// Starts the thread at `listener`, for at most `most` connections, which get
    /// `flags`.
    pub(super) fn begin(
        listener: OwnedFd,
        token: Token,
        most: usize,
        flags: SockFlag,
    ) -> Result<Self> {
        let doing = || "starting a thread for connections";
        // A peer may close before its connection is accepted.
        fcntl(&listener, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).during(doing)?;
        let stop = Arc::new(Stop {
            flag: Arc::default(),
            event: EventFd::new().during(doing)?,
        });
        let refused_peers = Arc::<AtomicU64>::default();
        let (to, admitted) = mpsc::channel();
        let mut state = AcceptThread {
            listener,
            flags,
            admission: Admission::new(token, most),
            deadline: Deadline::of_owner(clock::monotonic() + LONGEST, &stop.flag),
            waiting: Vec::new(),
            next: 0,
            to,
            refused_peers: Arc::clone(&refused_peers),
        };
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("connections".to_owned())
            .spawn(move || state.run(&stopped))
            .during(doing)?;
        Ok(Self {
            admitted,
            stop,
            refused_peers,
            thread: Some(thread),
        })
    }

    /// The next connection that showed the token, if there is one within `timeout`.
    pub(super) fn next(&self, timeout: Span) -> Result<Option<OwnedFd>> {
        let timeout = Duration::from_nanos(timeout.as_nanos());
        match self.admitted.recv_timeout(timeout) {
            Ok(connection) => Ok(Some(connection)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(error @ RecvTimeoutError::Disconnected) => {
                Err(std::io::Error::other(error)).during(|| "waiting for the sender")
            }
        }
    }

    /// Ends the thread, and returns the unauthenticated peers.
    pub(super) fn end(mut self) -> u64 {
        self.join();
        self.refused_peers.load(Ordering::Relaxed)
    }

    fn join(&mut self) {
        self.stop.flag.store(true, Ordering::Relaxed);
        // The thread looks at the flag when its poll ends; without the event it does so
        // at the next connection.
        let _ = self.stop.event.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.join();
    }
}

/// The state of the thread.
struct AcceptThread {
    listener: OwnedFd,
    flags: SockFlag,
    admission: Admission,
    deadline: Deadline,
    waiting: Vec<(Number, OwnedFd)>,
    next: Number,
    to: mpsc::Sender<OwnedFd>,
    refused_peers: Arc<AtomicU64>,
}

impl AcceptThread {
    fn run(&mut self, stop: &Stop) {
        while self.deadline.permit().is_ok() {
            let readable = self.wait(stop);
            for number in readable {
                self.read(number);
            }
            let came = self.accept();
            for number in self.admission.expire(clock::monotonic()) {
                self.close(number);
            }
            self.count();
            if came > 0 && self.admission.is_complete() {
                let until = clock::monotonic() + REST;
                let mut watched = [PollFd::new(stop.event.as_fd(), PollFlags::POLLIN)];
                let _ = poll(&mut watched, timeout(Some(until)));
            }
        }
        // Those that wait at this moment are unauthenticated peers, too.
        self.accept();
        let rest: Vec<Number> = self.waiting.iter().map(|(number, _)| *number).collect();
        for number in rest {
            self.admission.refuse(number);
            self.close(number);
        }
        self.count();
    }

    /// Waits for a connection, for octets of one, or for the end. Returns the readable
    /// connections.
    fn wait(&self, stop: &Stop) -> Vec<Number> {
        let first = [stop.event.as_fd(), self.listener.as_fd()];
        let waiting = self.waiting.iter().map(|(_, socket)| socket.as_fd());
        let all = first.into_iter().chain(waiting);
        let mut watched: Vec<PollFd> = all
            .map(|socket| PollFd::new(socket, PollFlags::POLLIN))
            .collect();
        // An interrupted poll is repeated by the loop.
        let _ = poll(&mut watched, timeout(self.admission.next_expiry()));
        let waiting = watched[first.len()..].iter().zip(&self.waiting);
        waiting
            .filter(|(watched, _)| watched.any() == Some(true))
            .map(|(_, (number, _))| *number)
            .collect()
    }

    /// Accepts the connections that wait, at most as many as the kernel holds. Returns
    /// their number.
    fn accept(&mut self) -> i32 {
        for count in 0..BACKLOG {
            let socket = match accept(self.listener.as_fd(), self.flags) {
                Ok(socket) => socket,
                Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EPROTO) => continue,
                Err(Errno::EAGAIN) => return count,
                // No descriptors or memory are left: others are closed meanwhile.
                Err(_) => {
                    clock::sleep(REST);
                    return count;
                }
            };
            let from = peer_of(socket.as_fd()).map(|from| from.ip());
            let number = self.next;
            self.next += 1;
            self.waiting.push((number, socket));
            let from = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            let refused = self.admission.arrive(number, from, clock::monotonic());
            if let Some(refused) = refused {
                self.close(refused);
            }
            // The token is often there already.
            self.read(number);
        }
        BACKLOG
    }

    /// Reads what is missing of a connection's token.
    fn read(&mut self, number: Number) {
        let Some(at) = self.waiting.iter().position(|(one, _)| *one == number) else {
            return;
        };
        let Ok(permit) = self.deadline.permit() else {
            return;
        };
        let mut room = [0; TOKEN_LEN];
        let room = &mut room[..self.admission.missing(number)];
        let decision = match receive(&self.waiting[at].1, room, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(count) if count > 0 => self.admission.show(number, &room[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => Decision::Wait,
            Ok(_) | Err(_) => {
                self.admission.refuse(number);
                Decision::Refuse
            }
        };
        match decision {
            Decision::Wait => {}
            Decision::Refuse => self.close(number),
            Decision::Admit => {
                let (_, socket) = self.waiting.remove(at);
                // The owner has gone if the channel is closed.
                let _ = self.to.send(socket);
            }
        }
    }

    /// Resets the connection of an unauthenticated peer: the kernel keeps nothing of it.
    fn close(&mut self, number: Number) {
        if let Some(at) = self.waiting.iter().position(|(one, _)| *one == number) {
            let (_, socket) = self.waiting.swap_remove(at);
            // Without it the connection ends in the usual way.
            let _ = reset_on_close(socket.as_fd());
        }
    }

    fn count(&self) {
        let refused_peers = self.admission.refused_peers();
        self.refused_peers.store(refused_peers, Ordering::Relaxed);
    }
}

/// The time until `deadline` for a poll, rounded up.
fn timeout(deadline: Option<Time>) -> PollTimeout {
    deadline.map_or(PollTimeout::NONE, |deadline| {
        let left = deadline.since(clock::monotonic()).unwrap_or_default();
        let millis = left.as_nanos().div_ceil(1_000_000);
        PollTimeout::from(u16::try_from(millis).unwrap_or(u16::MAX))
    })
}
