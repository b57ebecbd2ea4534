//! The thread at a listening TCP socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use units::Span;

use super::wake::Wake;
use crate::driver::callers::{Callers, REST};
use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::Socket;

/// The longest time of a thread. A trial ends long before.
const LONGEST: Span = Span::from_secs(1 << 20);

/// A thread that accepts connections and passes on those that show the token.
pub(super) struct Acceptor {
    admitted: mpsc::Receiver<Socket>,
    stop: Arc<Stop>,
    rejected_peers: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the thread end.
struct Stop {
    flag: Arc<AtomicBool>,
    /// Wakes the thread.
    wake: Wake,
}

impl Acceptor {
    /// Starts the thread.
    pub(super) fn begin(callers: Callers<Socket>) -> Result<Self> {
        let doing = || "starting a thread for connections";
        let stop = Arc::new(Stop {
            flag: Arc::default(),
            wake: Wake::new().during(doing)?,
        });
        let rejected_peers = Arc::<AtomicU64>::default();
        let (to, admitted) = mpsc::channel();
        let (stopped, rejected) = (Arc::clone(&stop), Arc::clone(&rejected_peers));
        let thread = thread::Builder::new()
            .name("connections".to_owned())
            .spawn(move || run(callers, &stopped, &to, &rejected))
            .during(doing)?;
        Ok(Self {
            admitted,
            stop,
            rejected_peers,
            thread: Some(thread),
        })
    }

    /// The next connection that showed the token, if there is one within `timeout`.
    pub(super) fn next(&self, timeout: Span) -> Result<Option<Socket>> {
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
        self.rejected_peers.load(Ordering::Relaxed)
    }

    fn join(&mut self) {
        self.stop.flag.store(true, Ordering::Relaxed);
        self.stop.wake.wake();
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

fn run(
    mut callers: Callers<Socket>,
    stop: &Stop,
    to: &mpsc::Sender<Socket>,
    rejected_peers: &AtomicU64,
) {
    let deadline = Deadline::of_owner(clock::monotonic() + LONGEST, &stop.flag);
    while deadline.permit().is_ok() {
        // The owner has gone if the channel is closed.
        let enter = |socket| drop(to.send(socket));
        let came = callers.hear(stop.wake.socket(), stop.wake.look(), &deadline, enter);
        if came > 0 && callers.is_complete() {
            stop.wake.rest(REST);
        }
    }
    callers.turn_away(&deadline);
    rejected_peers.store(callers.rejected_peers(), Ordering::Relaxed);
}
