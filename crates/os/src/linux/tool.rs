//! The user's programs in a node: one with the terminal, and others without it, beside
//! it or as part of a trial.

pub(crate) mod stream;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use units::{Span, Time};

use crate::error::{Error, OperationContext, Result};
use crate::namespace::{self, Namespace, Terminal};
use crate::{clock, signals};
use stream::{Stream, hear};

/// The most bytes kept of a program's stdout: 16 MiB.
pub const MOST_OUTPUT: usize = 16 << 20;

/// The most bytes kept of stderr, for a message.
const MOST_COMPLAINT: usize = 1 << 16;

/// The time for a program to end after it was asked to.
const GRACE: Span = Span::from_millis(1_000);

/// The interval between checks of a program that closed its streams but still runs.
const PAUSE: Span = Span::from_millis(2);

/// Runs `command` in `namespace` with this process's terminal and streams, and waits
/// for its end. Ctrl-C goes to the child from now on.
///
/// # Errors
/// If it cannot be started: [`Error::source`] is the kernel's error.
pub fn in_foreground(namespace: &Namespace, command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().display().to_string();
    signals::leave_to_child()?;
    let _terminal = Foreground::remember();
    namespace::place(Some(namespace), Terminal::Shared, command);
    show_surroundings(command);
    let mut child = command.spawn().during(|| format!("starting `{program}`"))?;
    child.wait().during(|| format!("waiting for `{program}`"))
}

/// A program without a terminal. When this value is dropped, the program is asked to
/// end and then killed, with all processes that it started.
pub struct Tool {
    child: Child,
    /// Its exit status, once known.
    status: Option<ExitStatus>,
    output: Stream,
    complaint: Stream,
}

impl Tool {
    /// Starts `words`, a program and its arguments, in `namespace`, and captures its
    /// output.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn heard(namespace: &Namespace, words: &[String]) -> Result<Self> {
        Self::start(Some(namespace), words, |command| {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        })
    }

    /// The same in the namespaces of the caller.
    ///
    /// # Errors
    /// As [`Tool::heard`].
    pub fn heard_here(words: &[String]) -> Result<Self> {
        Self::start(None, words, |command| {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        })
    }

    /// The same, but its output goes to this process's stderr, and it sees its node's
    /// `/proc` and `/sys` if the kernel allows it.
    ///
    /// # Errors
    /// As [`Tool::heard`].
    pub fn shown(namespace: &Namespace, words: &[String]) -> Result<Self> {
        Self::start(Some(namespace), words, |command| {
            command.stdout(io::stderr());
            show_surroundings(command);
        })
    }

    fn start(
        namespace: Option<&Namespace>,
        words: &[String],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::new("starting a program", "it has no name"));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        namespace::place(namespace, Terminal::Absent, &mut command);
        prepare(&mut command);
        let mut child = command.spawn().during(|| format!("starting `{program}`"))?;
        groups(|groups| groups.push(id_of(&child)));
        let output = Stream::of(child.stdout.take(), MOST_OUTPUT);
        let complaint = Stream::of(child.stderr.take(), MOST_COMPLAINT);
        Ok(Self {
            child,
            status: None,
            output,
            complaint,
        })
    }

    /// Reads its output for at most `timeout`, or until a signal. Returns its exit
    /// status, if it has ended. Processes left in its process group are ended with it.
    ///
    /// # Errors
    /// If its output or status cannot be read.
    pub fn attend(&mut self, timeout: Span) -> Result<Option<ExitStatus>> {
        let deadline = clock::monotonic() + timeout;
        while self.status.is_none() {
            // Checked first: the pipes then hold all output from before the end.
            let ended = self.has_ended()?;
            let left = left_until(deadline);
            let timeout = if ended { Span::ZERO } else { left };
            if ended {
                self.signal_group(Signal::SIGKILL);
            }
            match hear([&mut self.output, &mut self.complaint], timeout)? {
                stream::ListenOutcome::Something if ended && left > Span::ZERO => {}
                _ if ended => {
                    self.forget_group();
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

    /// Its stdout; `None` if that exceeds [`MOST_OUTPUT`].
    pub fn output(&self) -> Option<&[u8]> {
        self.output.whole()
    }

    /// The first line of its stderr; empty if there is none.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(self.complaint.kept());
        let mut lines = text.lines().map(str::trim);
        lines
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned()
    }

    fn has_ended(&self) -> Result<bool> {
        // The entry is left, so that its process group id cannot be reused yet.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.id()), flags) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(error).during(|| "waiting for a program"),
        }
    }

    /// Sends `signal` to its process group, which may have ended already.
    fn signal_group(&self, signal: Signal) {
        let _ = killpg(self.id(), signal);
    }

    /// Its number may belong to another process from now on.
    fn forget_group(&self) {
        groups(|groups| groups.retain(|group| *group != self.id()));
    }

    fn id(&self) -> Pid {
        id_of(&self.child)
    }
}

fn id_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

/// The process groups of the programs that run.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups<T>(work: impl FnOnce(&mut Vec<Pid>) -> T) -> T {
    work(&mut GROUPS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends all programs that run, with all processes that they started, because this process
/// is about to end in another thread than theirs.
pub(crate) fn end_all() {
    let signal = |groups: &[Pid], signal| {
        for group in groups {
            // It may have ended.
            let _ = killpg(*group, signal);
        }
    };
    if groups(|groups| groups.is_empty()) {
        return;
    }
    groups(|groups| signal(groups, Signal::SIGTERM));
    clock::sleep(GRACE);
    groups(|groups| signal(groups, Signal::SIGKILL));
}

impl Drop for Tool {
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.signal_group(Signal::SIGTERM);
        // Failures do not matter here: the program may have ended already.
        let deadline = clock::monotonic() + GRACE;
        while matches!(self.attend(left_until(deadline)), Ok(None))
            && left_until(deadline) > Span::ZERO
        {}
        if self.status.is_none() {
            self.signal_group(Signal::SIGKILL);
            self.forget_group();
            let _ = self.child.wait();
        }
    }
}

fn left_until(deadline: Time) -> Span {
    deadline.since(clock::monotonic()).unwrap_or_default()
}

/// The foreground of the terminal, restored after a child took it. An interactive shell
/// takes it and, if its parent is in another process namespace, cannot return it.
struct Foreground {
    terminal: File,
}

impl Foreground {
    /// `None` without a terminal, or if this process is in its background.
    fn remember() -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        (tcgetpgrp(&terminal).ok()? == getpgrp()).then_some(Self { terminal })
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        // Without this, SIGTTOU stops a process that does this from the background.
        let mut stopping = SigSet::empty();
        stopping.add(Signal::SIGTTOU);
        // If this fails, the process that started this one takes the terminal.
        let _ = stopping.thread_block();
        let _ = tcsetpgrp(&self.terminal, getpgrp());
        let _ = stopping.thread_unblock();
    }
}

/// Makes `command` see the processes of its process namespace in `/proc` and the
/// interfaces of its network namespace in `/sys`, as `ip netns exec` does, if the
/// kernel allows it: a container may forbid both.
fn show_surroundings(command: &mut Command) {
    let settle = || {
        if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            let over = |place: &CStr, kind: &CStr, flags| {
                mount(Some(kind), place, Some(kind), flags, None::<&CStr>)
            };
            let _ = over(c"/proc", c"proc", flags);
            // If the existing mount is read-only, the new one must be, too.
            let _ = over(c"/sys", c"sysfs", flags)
                .or_else(|_| over(c"/sys", c"sysfs", flags | MsFlags::MS_RDONLY));
        }
        Ok(())
    };
    #[expect(unsafe_code, reason = "mounts must be the child's own")]
    // SAFETY: `settle` makes system calls only, with existing strings; it neither
    // allocates nor takes a lock.
    unsafe {
        command.pre_exec(settle);
    }
}
