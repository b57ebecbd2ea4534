//! TCP_INFO and the unacknowledged rest of a socket's queue.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};

/// TCP_INFO of a connected socket [LinuxUapi tcp.h].
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<libc::tcp_info> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length =
        libc::socklen_t::try_from(size_of::<libc::tcp_info>()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `length` octets, which is the size of
    // the zeroed buffer; every bit pattern is a valid `tcp_info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed above, so initialised whatever the kernel filled.
    Ok(unsafe { info.assume_init() })
}

/// Octets written to a TCP socket that its peer has not acknowledged.
pub(crate) fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let mut octets: libc::c_int = 0;
    // SAFETY: TIOCOUTQ writes one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut octets) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(usize::try_from(octets).unwrap_or(0))
    }
}
