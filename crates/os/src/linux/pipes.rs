//! Waiting for pipes.

use std::io;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use units::Span;

/// A pipe, and what of it is waited for.
#[derive(Clone, Copy)]
pub(crate) enum Watched<'a> {
    /// Bytes to read, or the end.
    Input(BorrowedFd<'a>),
    /// The end alone.
    End(BorrowedFd<'a>),
}

/// Waits for at most `time` until one of `pipes` has what is waited for, and says which do;
/// `None` if none has, or if a signal arrived.
///
/// # Errors
/// The kernel's.
pub(crate) fn wait(pipes: &[Watched<'_>], time: Span) -> io::Result<Option<Vec<bool>>> {
    let watched = pipes.iter().map(|pipe| match *pipe {
        Watched::Input(pipe) => PollFd::new(pipe, PollFlags::POLLIN),
        Watched::End(pipe) => PollFd::new(pipe, PollFlags::empty()),
    });
    let mut watched: Vec<PollFd<'_>> = watched.collect();
    let millis = u16::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
    match poll(&mut watched, PollTimeout::from(millis)) {
        Ok(0) | Err(Errno::EINTR) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(_) => {
            let ready = watched.iter().map(|one| one.any() == Some(true));
            Ok(Some(ready.collect()))
        }
    }
}
