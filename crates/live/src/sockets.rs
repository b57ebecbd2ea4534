//! Waiting for sockets of any kind, and their addresses.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{SockaddrStorage, getsockname};
use units::{Span, Time};

use crate::clock;
use crate::error::{During, Error, Result};

/// Waits for one of `events` until `deadline` on the monotonic clock; empty at the
/// deadline.
pub(crate) fn wait(socket: BorrowedFd<'_>, events: PollFlags, deadline: Time) -> Result<PollFlags> {
    loop {
        let left = deadline.since(clock::monotonic()).unwrap_or_default();
        let millis = u16::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(60_000);
        let mut watched = [PollFd::new(socket.as_fd(), events)];
        match poll(&mut watched, PollTimeout::from(millis)) {
            Ok(0) if deadline <= clock::monotonic() => return Ok(PollFlags::empty()),
            Ok(0) | Err(Errno::EINTR) => {}
            result => {
                result.during(|| "waiting for a socket")?;
                return Ok(watched[0].revents().unwrap_or_else(PollFlags::empty));
            }
        }
    }
}

/// Whether something can be read from `file` at once, or its end.
///
/// # Errors
/// If the kernel does not tell.
pub fn is_readable(file: BorrowedFd<'_>) -> Result<bool> {
    let events = wait(file, PollFlags::POLLIN, clock::monotonic())?;
    Ok(!events.is_empty())
}

/// The error for an end without progress.
pub(crate) fn stalled(operation: &str, timeout: Span) -> Error {
    Error {
        operation: operation.to_owned(),
        source: io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no progress within {timeout}"),
        ),
    }
}

/// The local address of a socket.
pub(crate) fn address_of(socket: BorrowedFd<'_>) -> Result<SocketAddr> {
    let address: SockaddrStorage =
        getsockname(socket.as_raw_fd()).during(|| "reading a socket's address")?;
    plain(&address).ok_or_else(|| Error::new("reading a socket's address", "it is no IP address"))
}

/// Converts a socket address to the type of the standard library.
pub(crate) fn plain(address: &SockaddrStorage) -> Option<SocketAddr> {
    let four = address
        .as_sockaddr_in()
        .map(|four| SocketAddr::V4((*four).into()));
    four.or_else(|| {
        address
            .as_sockaddr_in6()
            .map(|six| SocketAddr::V6((*six).into()))
    })
}
