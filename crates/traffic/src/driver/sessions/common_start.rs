//! The common start of one sender's sessions with several receivers.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use units::Time;

use super::connect::HEAD_START;
use os::error::{Error, Result};
use os::{clock, interrupt};

/// Interval of checks whether the user has stopped this end.
const LOOK: Duration = Duration::from_millis(50);

const NO_PANIC: &str = "nobody panics with the state in hand";

/// One session's part in a common start. If it is dropped before its session is ready, the
/// others do not begin.
pub struct CommonStart {
    shared: Arc<Shared>,
    is_ready: bool,
}

struct Shared {
    sessions: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: usize,
    has_failed: bool,
    begin: Option<Time>,
}

impl CommonStart {
    /// The parts of as many sessions.
    pub fn of(sessions: usize) -> Vec<Self> {
        let shared = Arc::new(Shared {
            sessions,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let part = || Self {
            shared: Arc::clone(&shared),
            is_ready: false,
        };
        (0..sessions).map(|_| part()).collect()
    }

    /// Waits until all sessions are ready. Returns the time at which their flows begin.
    ///
    /// # Errors
    /// Another session failed before (of kind [`ErrorKind::ConnectionAborted`]), or the user
    /// stopped this end.
    pub(super) fn wait(mut self) -> Result<Time> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock().expect(NO_PANIC);
        self.is_ready = true;
        state.ready += 1;
        if state.ready == shared.sessions {
            state.begin = Some(clock::monotonic() + HEAD_START);
            shared.changed.notify_all();
        }
        loop {
            let why = match state.begin {
                Some(begin) => return Ok(begin),
                None if state.has_failed => "the flows to another receiver could not begin",
                None if interrupt::asked() => "this end was interrupted",
                None => {
                    let waited = shared.changed.wait_timeout(state, LOOK);
                    state = waited.expect(NO_PANIC).0;
                    continue;
                }
            };
            let source = io::Error::new(ErrorKind::ConnectionAborted, why);
            let operation = "starting the flows".to_owned();
            return Err(Error { operation, source });
        }
    }
}

impl Drop for CommonStart {
    fn drop(&mut self) {
        if !self.is_ready {
            self.shared.state.lock().expect(NO_PANIC).has_failed = true;
            self.shared.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn all_sessions_begin_at_the_same_time() {
        let begins: Vec<_> = thread::scope(|scope| {
            let parts = CommonStart::of(3).into_iter();
            let waiting = parts.map(|part| {
                let thread = thread::Builder::new();
                thread.spawn_scoped(scope, || part.wait()).unwrap()
            });
            let waiting: Vec<_> = waiting.collect();
            let begins = waiting.into_iter().map(|one| one.join().unwrap());
            begins.collect::<Result<_>>().unwrap()
        });
        assert!(begins.iter().all(|begin| *begin == begins[0]), "{begins:?}");
    }

    #[test]
    fn no_session_begins_if_one_fails_before() {
        let mut parts = CommonStart::of(2);
        let (failing, waiting) = (parts.pop(), parts.pop().unwrap());
        let waited = thread::scope(|scope| {
            let thread = thread::Builder::new();
            let waiting = thread.spawn_scoped(scope, || waiting.wait()).unwrap();
            drop(failing);
            waiting.join().unwrap()
        });
        let error = waited.unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::ConnectionAborted);
    }
}
