//! The watchdog: the process that makes a run's changes and puts them back.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

use serde::{Deserialize, Serialize};
use units::{Span, Time};

use super::Wanted;
use super::former_values::FormerValues;
use super::kernel::{self, Kernel};
use super::lock::HostLock;
use crate::clock;
use crate::error::{Error, OperationContext, Result};
use crate::lease::{LEASE, next_line};
use crate::lines::Lines;

/// The role of the watchdog's process.
pub const ROLE: &str = "watchdog";

/// The time in which a value that cannot be put back is tried again, and the interval.
const TIMEOUT: Span = Span::from_secs(3);
const PAUSE: Span = Span::from_millis(100);

/// A line to the watchdog.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Lock the host for the run of this name, and put back what an earlier run left.
    Begin(String),
    /// Change an interface.
    Apply(Wanted),
    /// The controller is alive.
    Beat,
    /// Put everything back and end.
    Restore,
}

/// A line of the watchdog. A heartbeat has none.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The host is locked; remarks about what an earlier run left.
    Begun(Vec<String>),
    Applied,
    /// Everything is back but what these sentences name.
    Restored(Vec<String>),
    /// The request failed: the operation and the problem.
    Failed(String, String),
}

/// The watchdog's process: serves the agent until the pipe closes, the lease ends or
/// everything is to be put back; puts everything back, and returns.
///
/// It makes the changes itself. No change can therefore follow the restoration, at
/// whatever time the agent is killed or stopped.
///
/// # Errors
/// If its standard input is no pipe of an agent.
pub fn serve() -> Result<()> {
    kernel::survive_lack_of_memory();
    let input = io::stdin().as_fd().try_clone_to_owned();
    let mut requests = Lines::new(File::from(input.during(|| "opening the agent's pipe")?));
    let Some(Request::Begin(run)) = next(&mut requests) else {
        return Err(Error::new("starting a watchdog", "no agent asks for it"));
    };
    let (mut host, notes) = match Host::begin(&run) {
        Ok(begun) => begun,
        Err(error) => {
            answer(&failed(&error));
            return Ok(());
        }
    };
    answer(&Reply::Begun(notes));
    loop {
        match next(&mut requests) {
            Some(Request::Beat) => {}
            Some(Request::Apply(wanted)) => answer(&match host.apply(&wanted) {
                Ok(()) => Reply::Applied,
                Err(error) => failed(&error),
            }),
            Some(Request::Begin(_)) => {
                let error = Error::new("locking this host", "the run has locked it already");
                answer(&failed(&error));
            }
            Some(Request::Restore) | None => break,
        }
    }
    let notes = host.restore();
    // The agent may start again as soon as it reads the reply.
    drop(host);
    answer(&Reply::Restored(notes));
    Ok(())
}

fn failed(error: &Error) -> Reply {
    Reply::Failed(error.operation.clone(), error.source.to_string())
}

/// The next request; `None` if the lease has ended or the agent is gone.
fn next(requests: &mut Lines<File>) -> Option<Request> {
    serde_json::from_str(&next_line(requests, LEASE)?).ok()
}

/// The agent may be gone: nobody hears an answer then.
fn answer(reply: &Reply) {
    let mut output = io::stdout().lock();
    if let Ok(line) = serde_json::to_string(reply) {
        let _ = writeln!(output, "{line}").and_then(|()| output.flush());
    }
}

/// The locked host.
struct Host {
    kernel: Kernel,
    lock: HostLock,
    former_values: FormerValues,
}

impl Host {
    fn begin(run: &str) -> Result<(Self, Vec<String>)> {
        let lock = HostLock::take(run)?;
        let left = lock.left_behind();
        let mut host = Self {
            kernel: Kernel::open()?,
            lock,
            former_values: FormerValues::default(),
        };
        let mut notes = Vec::new();
        if let Some(former_values) = left {
            notes.push(
                "the changes of an earlier run were put back, which ended with its watchdog"
                    .to_owned(),
            );
            host.former_values = former_values;
            notes.extend(host.restore());
        }
        Ok((host, notes))
    }

    fn apply(&mut self, wanted: &Wanted) -> Result<()> {
        let lock = &self.lock;
        self.former_values
            .apply(&self.kernel, wanted, |former_values| {
                lock.keep(former_values)
            })
    }

    /// Puts everything back. Returns a sentence for each setting that is not as before.
    /// The record of settings that the kernel rejects to put back stays for the next
    /// run.
    fn restore(&mut self) -> Vec<String> {
        let mut notes = match self.former_values.give_up_foreign_values(&self.kernel) {
            Ok(notes) => notes,
            Err(error) => vec![error.to_string()],
        };
        let end: Time = clock::monotonic() + TIMEOUT;
        let failures = loop {
            let failures = self.former_values.restore(&self.kernel);
            if failures.is_empty() || clock::monotonic() >= end {
                break failures;
            }
            clock::sleep(PAUSE);
        };
        notes.extend(failures);
        if let Err(error) = self.lock.keep(&self.former_values) {
            notes.push(error.to_string());
        }
        notes
    }
}
