//! Data in the queues of a socket.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes that have arrived and were not read: all of a stream, those of the next
/// datagram.
pub fn unread(socket: BorrowedFd<'_>) -> io::Result<usize> {
    bytes(socket, libc::FIONREAD)
}

/// Bytes written to a TCP socket that its peer has not acknowledged.
pub fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<usize> {
    bytes(socket, libc::TIOCOUTQ)
}

fn bytes(socket: BorrowedFd<'_>, queue: libc::Ioctl) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), queue, &raw mut bytes) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(usize::try_from(bytes).unwrap_or(0))
    }
}
