//! Many messages per call [sendmmsg(2)] [recvmmsg(2)].
//!
//! The calls go to the kernel directly, because musl's library sends one message per call.
//! Where its lengths are narrower than the kernel's, they stand beside padding: headers must
//! be made from zeroes, on a machine with the low byte first.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

#[cfg(not(target_endian = "little"))]
compile_error!("the kernel would read the padding of musl's lengths as their value");

/// Sends the first `count` of the messages. Returns the number of those that were sent; the
/// error is that of the first.
///
/// # Safety
/// That many headers point to buffers that outlive the call and have the stated lengths.
pub(super) unsafe fn send(
    socket: BorrowedFd<'_>,
    messages: *mut libc::mmsghdr,
    count: usize,
    flags: libc::c_int,
) -> io::Result<usize> {
    // SAFETY: the caller's promise; the kernel only reads the buffers.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_sendmmsg,
            socket.as_raw_fd(),
            messages,
            count,
            flags,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives at most `count` messages. Returns their number.
///
/// # Safety
/// That many headers point to buffers of their own, which outlive the call and have the stated
/// lengths.
pub(super) unsafe fn receive(
    socket: BorrowedFd<'_>,
    messages: *mut libc::mmsghdr,
    count: usize,
    flags: libc::c_int,
) -> io::Result<usize> {
    let forever: *mut libc::timespec = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    let received = unsafe {
        libc::syscall(
            libc::SYS_recvmmsg,
            socket.as_raw_fd(),
            messages,
            count,
            flags,
            forever,
        )
    };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

/// The length of control data in the C library's type for it.
pub(super) fn length<T: TryFrom<usize> + Default>(bytes: usize) -> T {
    bytes.try_into().unwrap_or_default()
}
