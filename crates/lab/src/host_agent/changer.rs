//! Changes of a machine's interface for a trial, through an agent of their own that a
//! thread keeps alive: without heartbeats the machine puts everything back.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use live::host_changes::Wanted;
use live::worker::Command;
use live::{Worker, clock, interrupt};
use units::Span;

use super::{Reply, Request};
use crate::interrupted;

/// The interval of heartbeats, well within the lease of the watchdog there.
const BEAT: Span = Span::from_secs(1);

/// The time for a change: a driver may reset its hardware, and a link comes up again.
const CHANGING: Span = Span::from_secs(90);

/// The interval of looks whether the user asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A request with the channel of its reply.
struct Job {
    request: Request,
    reply: Sender<Result<Reply>>,
}

/// The agent that changes the interfaces of a host. When this value is dropped, the host
/// is as it was before.
pub(crate) struct Changer {
    /// `None` only while it is dropped.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    host: String,
}

impl Changer {
    /// Starts the agent of `host` and locks the host for the run of this name. Returns
    /// sentences about what an earlier run left there as well.
    ///
    /// # Errors
    /// Another run has locked it: one line with its name. Or the agent cannot be started.
    pub(crate) fn begin(
        command: Command<'_>,
        host: &str,
        run: &str,
    ) -> Result<(Self, Vec<String>)> {
        // The worker ends with the thread that starts it.
        let worker = Worker::spawn(command)?;
        let (jobs, received) = mpsc::channel();
        let thread = thread::spawn(move || keep_alive(worker, &received));
        let changer = Self {
            jobs: Some(jobs),
            thread: Some(thread),
            host: host.to_owned(),
        };
        let notes = changer.noted(Request::BeginChanges(run.to_owned()))?;
        Ok((changer, notes))
    }

    /// Changes an interface, and waits until its link is up again.
    ///
    /// # Errors
    /// It carries the `ssh` connection, or the kernel refuses; or the machine is lost.
    pub(crate) fn apply(&self, wanted: Wanted) -> Result<()> {
        self.noted(Request::Change(wanted)).map(drop)
    }

    /// Puts everything back. Returns a sentence for each setting that is not as before.
    ///
    /// # Errors
    /// The machine is lost; it puts everything back by itself.
    pub(crate) fn restore(&self) -> Result<Vec<String>> {
        self.noted(Request::Restore)
    }

    fn noted(&self, request: Request) -> Result<Vec<String>> {
        let place = || format!("host {}", self.host);
        let gone = || anyhow!("the agent that changes it has ended").context(place());
        let (reply, replies) = mpsc::channel();
        let jobs = self.jobs.as_ref().with_context(gone_words)?;
        jobs.send(Job { request, reply }).map_err(|_| gone())?;
        loop {
            match replies.recv_timeout(LOOK) {
                Ok(reply) => match reply.with_context(place)? {
                    Reply::Noted(notes) => return Ok(notes),
                    Reply::Refused(why) => return Err(anyhow!(why).context(place())),
                    other => bail!("host {}: unexpected reply: {other:?}", self.host),
                },
                Err(RecvTimeoutError::Timeout) if interrupt::asked() => return Err(interrupted()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
    }
}

fn gone_words() -> String {
    "the agent that changes the host has ended".to_owned()
}

impl Drop for Changer {
    fn drop(&mut self) {
        // The end of the agent's input makes its machine put everything back.
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // Its panic would have been printed.
            let _ = thread.join();
        }
    }
}

/// Passes jobs to the agent, with heartbeats in between.
fn keep_alive(mut worker: Worker, jobs: &Receiver<Job>) {
    let beat = Duration::from_nanos(BEAT.as_nanos());
    loop {
        match jobs.recv_timeout(beat) {
            Ok(Job { request, reply }) => {
                let answer = exchange(&mut worker, &request);
                // Nobody waits for it after Ctrl-C.
                let _ = reply.send(answer);
            }
            Err(RecvTimeoutError::Timeout) => {
                if heartbeat(&mut worker).is_err() {
                    return;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn exchange(worker: &mut Worker, request: &Request) -> Result<Reply> {
    worker.send_line(&serde_json::to_string(request)?)?;
    let deadline = clock::monotonic() + CHANGING;
    while clock::monotonic() < deadline {
        if let Some(line) = worker.receive_line(clock::monotonic() + BEAT)? {
            return serde_json::from_str(&line).context("reading a reply");
        }
        heartbeat(worker)?;
    }
    bail!("no change within {:.0} s", CHANGING.as_secs_f64())
}

fn heartbeat(worker: &mut Worker) -> Result<()> {
    Ok(worker.send_line(&serde_json::to_string(&Request::Beat)?)?)
}
