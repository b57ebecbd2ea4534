//! A network namespace and the sockets that configure it.

use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::setsid;

use crate::error::{Error, OperationContext, Result};
use crate::netlink::Route;
use crate::socket;

/// An unnamed network namespace: it exists as long as this value or a process in it,
/// and leaves nothing behind.
pub struct Namespace {
    file: File,
    /// The rtnetlink socket of this namespace, usable from any other.
    pub route: Route,
    /// A socket of this namespace, for ioctls on its interfaces.
    pub control: OwnedFd,
}

impl Namespace {
    /// Creates an empty namespace and moves the calling thread into it.
    ///
    /// # Errors
    /// If the kernel rejects; the caller's [`Sandbox`](crate::Sandbox) has the
    /// privilege unless a limit is reached.
    pub fn create() -> Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET).during(|| "making a network namespace")?;
        let file =
            File::open("/proc/thread-self/ns/net").during(|| "opening /proc/thread-self/ns/net")?;
        Ok(Self {
            file,
            route: Route::open()?,
            control: socket::control()?,
        })
    }

    /// Runs `work` with the calling thread in this namespace, where it stays.
    ///
    /// # Errors
    /// If the kernel rejects to enter, and the errors of `work`.
    pub fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).during(|| "entering a network namespace")?;
        work()
    }

    /// Makes `command` start in this namespace and end with the calling thread. It
    /// ignores Ctrl-C: the caller ends it.
    pub fn place(&self, command: &mut Command) {
        place(Some(self), Terminal::Ignored, command);
    }

    /// Sets kernel parameters of this namespace: paths below `/proc/sys/net`.
    pub fn set_parameters(&self, parameters: &[(&str, &str)]) -> Result<()> {
        self.within(|| {
            parameters.iter().try_for_each(|(path, value)| {
                let file = format!("/proc/sys/net/{path}");
                fs::write(&file, value).during(|| format!("writing {value} to {file}"))
            })
        })
    }

    /// Reads a kernel parameter of this namespace as a number.
    pub fn parameter(&self, path: &str) -> Result<u64> {
        self.within(|| {
            let file = format!("/proc/sys/net/{path}");
            let text = fs::read_to_string(&file).during(|| format!("reading {file}"))?;
            text.trim().parse().map_err(|_| {
                Error::new(
                    format!("reading {file}"),
                    format!("`{}` is not a number", text.trim()),
                )
            })
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The relation of a child to the parent's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminal {
    /// The child ignores Ctrl-C and hang-ups, which a terminal sends to all its
    /// processes: the parent handles them and ends its children itself.
    Ignored,
    /// The child is the user's program: signals of the terminal have their usual
    /// effect.
    Shared,
    /// The child has no terminal: it leads its own session and process group.
    Absent,
}

/// Makes `command` start in `namespace`, or in the caller's, and die when the calling
/// thread ends for any reason.
pub(crate) fn place(namespace: Option<&Namespace>, terminal: Terminal, command: &mut Command) {
    let place = namespace.map(|namespace| namespace.as_fd().as_raw_fd());
    let settle = move || {
        match terminal {
            Terminal::Ignored => {
                set_signals(&[Signal::SIGINT, Signal::SIGHUP], SigHandler::SigIgn)?
            }
            // The parent ignores these two meanwhile.
            Terminal::Shared => {
                set_signals(&[Signal::SIGINT, Signal::SIGQUIT], SigHandler::SigDfl)?
            }
            Terminal::Absent => {
                setsid()?;
            }
        }
        set_pdeathsig(Signal::SIGKILL)?;
        if let Some(place) = place {
            #[expect(unsafe_code, reason = "a borrow cannot be moved into the closure")]
            // SAFETY: fork copied the parent's descriptor, which its owner keeps open
            // until the child runs: spawning waits for that.
            let place = unsafe { BorrowedFd::borrow_raw(place) };
            setns(place, CloneFlags::CLONE_NEWNET)?;
        }
        Ok(())
    };
    #[expect(unsafe_code, reason = "the child must be placed before it runs")]
    // SAFETY: `settle` makes system calls only; it neither allocates nor takes
    // a lock, and the parent is single-threaded.
    unsafe {
        command.pre_exec(settle);
    }
}

/// Makes `command` start in a session of its own and live on when the caller ends. It
/// ignores the signals that ask a program to end or to stop.
pub(crate) fn detach(command: &mut Command) {
    let settle = || {
        set_signals(
            &[
                Signal::SIGHUP,
                Signal::SIGINT,
                Signal::SIGQUIT,
                Signal::SIGTERM,
                Signal::SIGTSTP,
            ],
            SigHandler::SigIgn,
        )?;
        setsid()?;
        Ok(())
    };
    #[expect(unsafe_code, reason = "the child must be settled before it runs")]
    // SAFETY: `settle` makes system calls only; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(settle);
    }
}

/// Sets the disposition of `signals` to one that runs no code of this program.
fn set_signals(signals: &[Signal], disposition: SigHandler) -> nix::Result<()> {
    signals.iter().try_for_each(|&number| {
        #[expect(unsafe_code, reason = "a disposition may be a handler; these are none")]
        // SAFETY: callers pass SIG_IGN or SIG_DFL, so no handler is installed.
        unsafe { signal(number, disposition) }.map(drop)
    })
}
