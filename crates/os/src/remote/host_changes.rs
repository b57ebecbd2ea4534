//! Changes of a real host's interfaces for the time of a run, put back whatever happens.
//!
//! [`HostChanges`] locks the host and starts a watchdog: a process in a session of its
//! own that makes the changes. It enters every former value in a record first, in memory
//! and in a file. It puts everything back when it is asked to, when its pipe closes
//! because the agent ended for any reason, and when no heartbeat came for [`LEASE`]. If
//! the watchdog itself is killed, the next run on this host puts back what the file
//! holds. A reboot resets interfaces by itself, and the file is not valid after it.

mod former_values;
mod kernel;
mod lock;
mod management;
mod setting;
mod watchdog;

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use units::{Span, Time};

use crate::error::{Error, OperationContext, Result};
use crate::lease::LEASE;
use crate::lines::{Lines, ReadOutcome};
use crate::netlink::Route;
pub use crate::portable::wanted::{
    Wanted, WantedCoalescing, WantedRings, mtu_command, offloads_command,
};
use crate::{clock, namespace, own_executable, worker};
pub use management::management_interface;
pub use watchdog::{ROLE, serve};
use watchdog::{Reply, Request};

/// The time in which the watchdog answers. A driver may reset its hardware for a change.
const ANSWER: Span = Span::from_secs(60);

/// The time in which the watchdog answers a host that gives up, and in which it ends after
/// its last reply. A driver may hold it for ever: no signal ends it then.
const LAST_ANSWER: Span = Span::from_secs(5);
const ENDING: Span = Span::from_secs(1);

/// The time in which a link comes up again after a change: negotiation between two
/// interfaces takes seconds.
const LINK_UP: Span = Span::from_secs(15);

/// The interval between looks at a link.
const PAUSE: Span = Span::from_millis(10);

/// A host that is locked for a run, and its changes.
///
/// Dropping it puts everything back, and takes seconds at most: a watchdog that a driver
/// holds for longer goes on alone. [`HostChanges::restore`] also tells the outcome.
pub struct HostChanges {
    watchdog: Child,
    requests: Arc<Mutex<ChildStdin>>,
    replies: Lines<ChildStdout>,
    notes: Vec<String>,
    /// Whether the watchdog was asked to put everything back.
    restored: bool,
}

/// Tells the watchdog that the controller is alive. It can be sent to another thread.
#[derive(Clone)]
pub struct Heartbeat {
    requests: Arc<Mutex<ChildStdin>>,
}

impl HostChanges {
    /// Locks this host for the run of this name, and puts back what an earlier run left
    /// because its watchdog was killed. [`Heartbeat::beat`] must be called at least every
    /// [`LEASE`] from now on.
    ///
    /// # Errors
    /// If another run has locked the host: one line that names it. If no watchdog can be
    /// started.
    pub fn begin(run: &str) -> Result<Self> {
        let operation = || "starting the watchdog of this host";
        let mut command = Command::new(own_executable::FILE);
        command
            .arg0("jumbolab")
            .args([worker::ARGUMENT, ROLE])
            // It must not keep a file system from being unmounted.
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        namespace::detach(&mut command);
        let mut watchdog = command.spawn().during(operation)?;
        let (Some(input), Some(output)) = (watchdog.stdin.take(), watchdog.stdout.take()) else {
            return Err(Error::new(operation(), "it has no pipes"));
        };
        let mut changes = Self {
            watchdog,
            requests: Arc::new(Mutex::new(input)),
            replies: Lines::new(output),
            notes: Vec::new(),
            restored: false,
        };
        match changes.ask(&Request::Begin(run.to_owned()))? {
            Reply::Begun(notes) => changes.notes = notes,
            other => return Err(unexpected(&other)),
        }
        Ok(changes)
    }

    /// Sentences about changes of an earlier run, for the report of this one.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The heartbeat that keeps the changes alive.
    pub fn heartbeat(&self) -> Heartbeat {
        Heartbeat {
            requests: Arc::clone(&self.requests),
        }
    }

    /// Changes an interface and waits until its link is up again, if it was up.
    ///
    /// # Errors
    /// If the interface carries the ssh connection and this is not allowed; if the kernel
    /// or the driver rejects a setting; if another program changed one meanwhile; if the
    /// link stays down. Settings changed before the error are put back at the end, too.
    pub fn apply(&mut self, wanted: &Wanted) -> Result<()> {
        management::reject(wanted)?;
        let route = Route::open()?;
        let carrier = || -> Result<bool> {
            let interfaces = route.interfaces()?;
            Ok(interfaces
                .iter()
                .any(|one| one.name == wanted.interface && one.carrier))
        };
        let linked = carrier()?;
        match self.ask(&Request::Apply(wanted.clone()))? {
            Reply::Applied => {}
            other => return Err(unexpected(&other)),
        }
        let end = clock::monotonic() + LINK_UP;
        while linked && !carrier()? {
            if clock::monotonic() > end {
                return Err(Error::new(
                    format!("changing {}", wanted.interface),
                    format!(
                        "its link has been down for {} s since; look at the other end of its cable",
                        LINK_UP.as_secs_f64()
                    ),
                ));
            }
            clock::sleep(PAUSE);
        }
        Ok(())
    }

    /// Puts everything back and unlocks the host. Returns a sentence for each setting
    /// that is not as before the run: another program changed it, or the kernel rejects.
    ///
    /// # Errors
    /// If the watchdog is gone.
    pub fn restore(mut self) -> Result<Vec<String>> {
        self.restored = true;
        match self.ask(&Request::Restore)? {
            Reply::Restored(notes) => Ok(notes),
            other => Err(unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        self.ask_within(request, ANSWER)
    }

    fn ask_within(&mut self, request: &Request, time: Span) -> Result<Reply> {
        send(&self.requests, request)?;
        let end: Time = clock::monotonic() + time;
        loop {
            match self.replies.receive(end)? {
                ReadOutcome::Line(line) => {
                    return match serde_json::from_str(&line) {
                        Ok(Reply::Failed(operation, problem)) => {
                            Err(Error::new(operation, problem))
                        }
                        Ok(reply) => Ok(reply),
                        Err(error) => Err(Error::new("hearing the watchdog", error.to_string())),
                    };
                }
                ReadOutcome::End => return Err(gone()),
                ReadOutcome::Nothing if clock::monotonic() < end => {}
                ReadOutcome::Nothing => {
                    return Err(Error::new(
                        "hearing the watchdog",
                        format!("it has not answered for {} s", time.as_secs_f64()),
                    ));
                }
            }
        }
    }
}

impl Drop for HostChanges {
    fn drop(&mut self) {
        if !self.restored {
            let _ = self.ask_within(&Request::Restore, LAST_ANSWER);
        }
        let end = clock::monotonic() + ENDING;
        while matches!(self.watchdog.try_wait(), Ok(None)) && clock::monotonic() < end {
            clock::sleep(PAUSE);
        }
    }
}

impl Heartbeat {
    /// Extends the lease.
    ///
    /// # Errors
    /// If the watchdog has ended: everything is back, and the run must end.
    pub fn beat(&self) -> Result<()> {
        send(&self.requests, &Request::Beat)
    }
}

fn send(requests: &Mutex<ChildStdin>, request: &Request) -> Result<()> {
    let line = serde_json::to_string(request)
        .map_err(|error| Error::new("writing to the watchdog", error.to_string()))?;
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(requests, "{line}").map_err(|_| gone())
}

fn gone() -> Error {
    Error::new(
        "changing this host",
        format!(
            "its watchdog has ended; it puts everything back after {} s without a heartbeat",
            LEASE.as_secs_f64()
        ),
    )
}

fn unexpected(reply: &Reply) -> Error {
    Error::new("hearing the watchdog", format!("unexpected: {reply:?}"))
}
