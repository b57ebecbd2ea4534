//! The input of a worker: requests, and heartbeats of a thread in between.

use std::io::{self, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use crate::lease::{HEARTBEAT, HEARTBEAT_INTERVAL};

/// The pipe, which is closed when it is `None`.
type Pipe = Mutex<Option<ChildStdin>>;

/// The input of a worker.
pub(super) struct Input {
    pipe: Arc<Pipe>,
    /// The thread of heartbeats ends when this is dropped.
    heart: Option<Sender<()>>,
}

impl Input {
    /// The input through `pipe`, with heartbeats if the worker has a lease.
    pub(super) fn new(pipe: ChildStdin, has_lease: bool) -> io::Result<Self> {
        let pipe = Arc::new(Mutex::new(Some(pipe)));
        let (sender, receiver) = mpsc::channel();
        let beaten = Arc::clone(&pipe);
        let beat = move || {
            let pause = Duration::from_nanos(HEARTBEAT_INTERVAL.as_nanos());
            while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // Who hears the worker learns that it has ended.
                if write_line(&beaten, HEARTBEAT).is_err() {
                    return;
                }
            }
        };
        if has_lease {
            let thread = thread::Builder::new().name("heartbeat".to_owned());
            thread.spawn(beat)?;
        }
        let heart = Some(sender);
        Ok(Self { pipe, heart })
    }

    pub(super) fn write_line(&self, line: &str) -> io::Result<()> {
        write_line(&self.pipe, line)
    }

    /// Closes the pipe. Returns whether it is closed: a heartbeat may wait in a pipe that
    /// nobody reads.
    pub(super) fn close(&mut self) -> bool {
        self.heart = None;
        let mut pipe: MutexGuard<'_, _> = match self.pipe.try_lock() {
            Ok(pipe) => pipe,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        *pipe = None;
        true
    }
}

fn write_line(pipe: &Pipe, line: &str) -> io::Result<()> {
    let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
    match pipe.as_mut() {
        // In one write: a reader never sees a part of a line for long.
        Some(pipe) => pipe.write_all(format!("{line}\n").as_bytes()),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
