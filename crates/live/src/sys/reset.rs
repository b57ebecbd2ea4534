//! Resets of connections.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Ends a connection at once, for all descriptors of its socket: data on their way are
/// dropped, and the other end is told [tcp(7)].
pub(crate) fn reset(socket: BorrowedFd<'_>) -> io::Result<()> {
    let nowhere = libc::sockaddr {
        sa_family: libc::sa_family_t::try_from(libc::AF_UNSPEC).unwrap_or_default(),
        sa_data: [0; 14],
    };
    let length =
        libc::socklen_t::try_from(size_of::<libc::sockaddr>()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `length` octets, which is the size of the address.
    let result = unsafe { libc::connect(socket.as_raw_fd(), &raw const nowhere, length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
