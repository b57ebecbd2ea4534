//! Data in the queues of a socket.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Octets that have arrived and were not read: all of a stream, those of the next
/// datagram.
pub fn unread(socket: BorrowedFd<'_>) -> io::Result<usize> {
    octets(socket, libc::FIONREAD)
}

/// Octets written to a TCP socket that its peer has not acknowledged.
pub fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<usize> {
    octets(socket, libc::TIOCOUTQ)
}

fn octets(socket: BorrowedFd<'_>, queue: libc::Ioctl) -> io::Result<usize> {
    let mut octets: libc::c_int = 0;
    // SAFETY: both requests write one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), queue, &raw mut octets) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(usize::try_from(octets).unwrap_or(0))
    }
}
