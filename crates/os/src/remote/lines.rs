//! Lines of text from a pipe, each until a deadline.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

use units::Time;

use crate::clock;
use crate::error::{Error, OperationContext, Result};
use crate::linux::pipes::{self, Watched};

/// The longest line that is read; who sends more is broken.
const LONGEST: usize = 16 << 20;

/// A pipe that is read line by line.
pub(crate) struct Lines<R> {
    pipe: R,
    unread: Vec<u8>,
}

/// The outcome of waiting for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// A line without its end.
    Line(String),
    /// Nothing until the deadline, or until a signal.
    Nothing,
    /// The other end was closed.
    End,
}

impl<R: Read + AsFd> Lines<R> {
    pub(crate) const fn new(pipe: R) -> Self {
        Self {
            pipe,
            unread: Vec::new(),
        }
    }

    /// The next line without its end, if all of it has been read.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        let end = self.unread.iter().position(|&byte| byte == b'\n')?;
        let rest = self.unread.split_off(end + 1);
        let line = std::mem::replace(&mut self.unread, rest);
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// Reads what there is, or waits for something; `false` at the end.
    ///
    /// # Errors
    /// If the pipe cannot be read, or its line is too long.
    pub(crate) fn fill(&mut self) -> Result<bool> {
        let operation = || "hearing a process";
        if self.unread.len() > LONGEST {
            return Err(Error::new(operation(), "its line is too long"));
        }
        let mut bytes = [0; 65_536];
        let count = self.pipe.read(&mut bytes).during(operation)?;
        self.unread.extend_from_slice(&bytes[..count]);
        Ok(count > 0)
    }

    /// Waits for one line until the monotonic clock shows `deadline`, or a signal
    /// arrives. A line that is there already is read after the deadline, too.
    ///
    /// # Errors
    /// As [`Lines::fill`].
    pub(crate) fn receive(&mut self, deadline: Time) -> Result<ReadOutcome> {
        loop {
            if let Some(line) = self.next_line() {
                return Ok(ReadOutcome::Line(line));
            }
            let left = deadline.since(clock::monotonic()).unwrap_or_default();
            let ready = pipes::wait(&[Watched::Input(self.pipe.as_fd())], left);
            if ready.during(|| "waiting for a process")?.is_none() {
                return Ok(ReadOutcome::Nothing);
            }
            if !self.fill()? {
                return Ok(ReadOutcome::End);
            }
        }
    }
}

impl<R: AsFd> AsFd for Lines<R> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
