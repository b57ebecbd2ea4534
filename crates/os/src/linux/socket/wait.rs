//! Waiting for sockets of any kind.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use units::Time;

use super::calls::Socket;
use crate::clock;
use crate::error::{OperationContext, Result};

/// Waits for one of `events` until `deadline` on the monotonic clock; empty at the
/// deadline.
pub fn wait(socket: impl AsFd, events: PollFlags, deadline: Time) -> Result<PollFlags> {
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

/// Waits until something can be read from `socket`, or its end. Returns whether that was before
/// `deadline` on the monotonic clock.
///
/// # Errors
/// If the kernel does not tell.
pub fn wait_to_read(socket: &Socket, deadline: Time) -> Result<bool> {
    Ok(!wait(socket, PollFlags::POLLIN, deadline)?.is_empty())
}

/// Waits likewise until a stream takes more.
///
/// # Errors
/// If the kernel does not tell.
pub fn wait_to_write(socket: &Socket, deadline: Time) -> Result<bool> {
    Ok(!wait(socket, PollFlags::POLLOUT, deadline)?.is_empty())
}

/// Waits likewise until something can be read or a stream takes more.
///
/// # Errors
/// The kernel's.
pub fn wait_to_read_or_write(socket: &Socket, deadline: Time) -> Result<bool> {
    let events = PollFlags::POLLIN | PollFlags::POLLOUT;
    Ok(!wait(socket, events, deadline)?.is_empty())
}

/// Whether something can be read from `file` at once, or its end.
///
/// # Errors
/// If the kernel does not tell.
pub fn is_readable(file: BorrowedFd<'_>) -> Result<bool> {
    let events = wait(file, PollFlags::POLLIN, clock::monotonic())?;
    Ok(!events.is_empty())
}

/// Whether accept(2) failed because of the connection alone, or there is none. Linux passes
/// on errors of the network that wait for the new socket, and firewalls forbid it [accept(2)].
pub fn is_of_connection(error: Errno) -> bool {
    matches!(
        error,
        Errno::EAGAIN
            | Errno::EINTR
            | Errno::ECONNABORTED
            | Errno::EPERM
            | Errno::EPROTO
            | Errno::ENOPROTOOPT
            | Errno::EOPNOTSUPP
            | Errno::ENETDOWN
            | Errno::ENETUNREACH
            | Errno::EHOSTDOWN
            | Errno::EHOSTUNREACH
            | Errno::ENONET
            | Errno::ETIMEDOUT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_network_end_no_listener() {
        // As accept(2) lists them.
        let network = [
            libc::ENETDOWN,
            libc::EPROTO,
            libc::ENOPROTOOPT,
            libc::EHOSTDOWN,
            libc::ENONET,
            libc::EHOSTUNREACH,
            libc::EOPNOTSUPP,
            libc::ENETUNREACH,
        ];
        for code in network {
            assert!(is_of_connection(Errno::from_raw(code)), "{code}");
        }
        for code in [libc::EBADF, libc::EINVAL, libc::ENOTSOCK, libc::EMFILE] {
            assert!(!is_of_connection(Errno::from_raw(code)), "{code}");
        }
    }
}
