//! Programs of the user's own in a node: one that has the terminal, and others
//! without one beside it or as part of a trial.

mod stream;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use units::{Span, Time};

use crate::error::{During, Error, Result};
use crate::namespace::{self, Namespace, Terminal};
use crate::{clock, interrupt};
use stream::{Stream, hear};

/// The most that is kept of what a program says on stdout: 16 MiB.
pub const MOST_OUTPUT: usize = 16 << 20;

/// The most that is kept of stderr, for a message.
const MOST_COMPLAINT: usize = 1 << 16;

/// How long a program has to leave by itself once it is asked to.
const GRACE: Span = Span::from_millis(1_000);

/// How long nothing is done where a program has closed its streams and stays.
const PAUSE: Span = Span::from_millis(2);

/// Runs `command` in `namespace` with this process's terminal and streams, and
/// waits for its end. Ctrl-C is the child's from now on.
///
/// # Errors
/// Where it cannot be started: [`Error::source`] is what the kernel said.
pub fn in_foreground(namespace: &Namespace, command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().display().to_string();
    interrupt::leave_to_child()?;
    let _terminal = Foreground::remember();
    namespace::place(Some(namespace), Terminal::Shared, command);
    show_surroundings(command);
    let mut child = command.spawn().during(|| format!("starting `{program}`"))?;
    child.wait().during(|| format!("waiting for `{program}`"))
}

/// A program without a terminal, asked to leave and then killed with all that
/// it started when this value goes.
pub struct Tool {
    child: Child,
    /// Set once it has been waited for.
    status: Option<ExitStatus>,
    output: Stream,
    complaint: Stream,
}

impl Tool {
    /// Starts `words`, a program and its arguments, in `namespace`, and hears
    /// what it says.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn heard(namespace: &Namespace, words: &[String]) -> Result<Self> {
        Self::start(namespace, words, |command| {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        })
    }

    /// Likewise, but what it says goes to this process's stderr, and it sees
    /// its node's `/proc` and `/sys` where the kernel lets it.
    ///
    /// # Errors
    /// As [`Tool::heard`].
    pub fn shown(namespace: &Namespace, words: &[String]) -> Result<Self> {
        Self::start(namespace, words, |command| {
            command.stdout(io::stderr());
            show_surroundings(command);
        })
    }

    fn start(
        namespace: &Namespace,
        words: &[String],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::new("starting a program", "it has no name"));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        namespace::place(Some(namespace), Terminal::Absent, &mut command);
        prepare(&mut command);
        let mut child = command.spawn().during(|| format!("starting `{program}`"))?;
        let output = Stream::of(child.stdout.take(), MOST_OUTPUT);
        let complaint = Stream::of(child.stderr.take(), MOST_COMPLAINT);
        Ok(Self {
            child,
            status: None,
            output,
            complaint,
        })
    }

    /// Hears it for at most `timeout`, or until a signal comes; how it ended,
    /// if it has. What it leaves running in its process group ends with it.
    ///
    /// # Errors
    /// Where it cannot be heard or waited for.
    pub fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>> {
        let deadline = clock::monotonic() + timeout;
        while self.status.is_none() {
            // Asked first: what was said before the end is in the pipes then.
            let ended = self.has_ended()?;
            let left = left_until(deadline);
            let timeout = if ended { Span::ZERO } else { left };
            if ended {
                self.signal_group(Signal::SIGKILL);
            }
            match hear([&mut self.output, &mut self.complaint], timeout)? {
                stream::ListenOutcome::Something if ended && left > Span::ZERO => {}
                _ if ended => {
                    self.status = Some(self.child.wait().during(|| "waiting for a program")?);
                }
                stream::ListenOutcome::Signal => return Ok(None),
                _ if left == Span::ZERO => return Ok(None),
                stream::ListenOutcome::AllClosed => clock::sleep(PAUSE.min(left)),
                stream::ListenOutcome::Something | stream::ListenOutcome::Nothing => {}
            }
        }
        Ok(self.status)
    }

    /// What it said on stdout; `None` if that is more than [`MOST_OUTPUT`].
    pub fn output(&self) -> Option<&[u8]> {
        self.output.whole()
    }

    /// The first line that it wrote to stderr; empty if there was none.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(self.complaint.kept());
        let mut lines = text.lines().map(str::trim);
        lines
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned()
    }

    fn has_ended(&self) -> Result<bool> {
        // Its entry is left, so that its process group cannot be another's yet.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.id()), flags) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(error).during(|| "waiting for a program"),
        }
    }

    /// Sends `signal` to all of its process group. It may be gone already.
    fn signal_group(&self, signal: Signal) {
        let _ = killpg(self.id(), signal);
    }

    fn id(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX))
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.signal_group(Signal::SIGTERM);
        // None of it can fail in a way that matters: it may be gone already.
        let deadline = clock::monotonic() + GRACE;
        while matches!(self.attend(left_until(deadline)), Ok(None))
            && left_until(deadline) > Span::ZERO
        {}
        if self.status.is_none() {
            self.signal_group(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

fn left_until(deadline: Time) -> Span {
    deadline.since(clock::monotonic()).unwrap_or_default()
}

/// The terminal of a process in its foreground, given back when a child that
/// took it is gone: an interactive shell takes it and, where its parent is in
/// another process namespace, cannot name whom to give it back to.
struct Foreground {
    terminal: File,
}

impl Foreground {
    /// `None` without a terminal, or in its background.
    fn remember() -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        (tcgetpgrp(&terminal).ok()? == getpgrp()).then_some(Self { terminal })
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        // Who does this from the background is stopped by SIGTTOU otherwise.
        let mut stopping = SigSet::empty();
        stopping.add(Signal::SIGTTOU);
        // Whoever started us takes the terminal where this fails.
        let _ = stopping.thread_block();
        let _ = tcsetpgrp(&self.terminal, getpgrp());
        let _ = stopping.thread_unblock();
    }
}

/// Has `command` see the processes of its process namespace in `/proc` and the
/// interfaces of its network namespace in `/sys`, as `ip netns exec` does,
/// where the kernel lets it: a container may forbid both.
fn show_surroundings(command: &mut Command) {
    let settle = || {
        if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            let over = |place: &CStr, kind: &CStr, flags| {
                mount(Some(kind), place, Some(kind), flags, None::<&CStr>)
            };
            let _ = over(c"/proc", c"proc", flags);
            // Where the one that is there is read-only, so must be the new one.
            let _ = over(c"/sys", c"sysfs", flags)
                .or_else(|_| over(c"/sys", c"sysfs", flags | MsFlags::MS_RDONLY));
        }
        Ok(())
    };
    #[expect(unsafe_code, reason = "mounts must be the child's own")]
    // SAFETY: `settle` makes system calls only, with strings that are there
    // already; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(settle);
    }
}
