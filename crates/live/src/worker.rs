//! Processes of our own inside the sandbox.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use units::Time;

use crate::clock;
use crate::error::{During, Error, Result};
use crate::interrupt;
use crate::namespace::{self, Namespace, Terminal};

/// The first argument that makes the program a worker; the second is its role.
pub const ARGUMENT: &str = "--worker";

/// The role this process was started in, if it is a worker: every program that
/// uses namespaces asks this first.
pub fn role() -> Option<String> {
    let mut words = std::env::args().skip(1);
    (words.next()? == ARGUMENT).then(|| words.next().unwrap_or_default())
}

/// The role of the sandbox's first process.
pub const ANCHOR: &str = "anchor";

/// The longest answer that is read: a worker that says more is broken.
const LONGEST_LINE: usize = 16 << 20;

/// This program again, as a process of its own, spoken to in lines.
///
/// It dies when its parent dies, and leaves when its input ends.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    unread: Vec<u8>,
}

impl Worker {
    /// Starts a worker in `role`, inside `namespace` or in the caller's.
    ///
    /// # Errors
    /// Where the kernel refuses to start or place it.
    pub fn spawn(namespace: Option<&Namespace>, role: &str) -> Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("jumbolab")
            .args([ARGUMENT, role])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        namespace::place(namespace, Terminal::Ignored, &mut command);
        let mut child = command
            .spawn()
            .during(|| format!("starting the worker `{role}`"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(
                format!("starting the worker `{role}`"),
                "it has no pipes",
            ));
        };
        Ok(Self {
            child,
            input: Some(input),
            output,
            unread: Vec::new(),
        })
    }

    /// Sends one line.
    ///
    /// # Errors
    /// When the worker is gone.
    pub fn send_line(&mut self, line: &str) -> Result<()> {
        let input = self
            .input
            .as_mut()
            .expect("the input is closed only by drop");
        writeln!(input, "{line}").during(|| "speaking to a worker")
    }

    /// Waits for one line until the monotonic clock shows `deadline`, or a
    /// signal comes; `None` when either was first.
    ///
    /// # Errors
    /// When the worker is gone, or says more than a line may hold.
    pub fn receive_line(&mut self, deadline: Time) -> Result<Option<String>> {
        loop {
            if let Some(end) = self.unread.iter().position(|&octet| octet == b'\n') {
                let rest = self.unread.split_off(end + 1);
                let line = std::mem::replace(&mut self.unread, rest);
                return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            let left = deadline.since(clock::monotonic()).unwrap_or_default();
            let millis = u16::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
            let mut watched = [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, PollTimeout::from(millis)) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(None),
                result => result.during(|| "waiting for a worker")?,
            };
            let mut octets = [0; 65_536];
            let count = self
                .output
                .read(&mut octets)
                .during(|| "hearing a worker")?;
            if count == 0 || self.unread.len() > LONGEST_LINE {
                return Err(Error::new("hearing a worker", self.epitaph()));
            }
            self.unread.extend_from_slice(&octets[..count]);
        }
    }

    fn epitaph(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => format!("it ended early ({status})"),
            Err(_) => "it ended early".to_owned(),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing its input asks it to leave; killing it makes sure. Neither
        // can fail in a way that matters: it may be gone already.
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the anchor does: nothing, until its parent is gone. As the first
/// process of its namespace it inherits the orphans of users' programs
/// [pid_namespaces(7)]; those that end vanish without being waited for.
pub fn anchor() {
    interrupt::forget_children();
    let mut sink = [0; 64];
    while !matches!(std::io::stdin().read(&mut sink), Ok(0) | Err(_)) {}
}
