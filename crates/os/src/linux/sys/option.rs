//! Socket options that no crate wraps.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Sets an option that is an int.
pub fn set(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    set_data(socket, level, option, &value)
}

/// Sets an option that is plain data, which the kernel reads as bytes.
pub(super) fn set_data<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: the pointer and the length are those of `value`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Reads an option that is plain data; what the kernel does not write is zero.
///
/// # Safety
/// Every pattern of bits must be a value of `T`.
pub(super) unsafe fn data<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `length` bytes, the size of the zeroed buffer,
    // of which the caller promises that every bit pattern is valid.
    unsafe {
        let result = libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_mut_ptr().cast(),
            &raw mut length,
        );
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(value.assume_init())
    }
}

/// Packets that a socket has dropped since its creation: without room, or damaged.
pub fn dropped(socket: impl AsFd) -> io::Result<u32> {
    const DROPS: usize = 8;
    Ok(memory::<{ DROPS + 1 }>(socket.as_fd())?[DROPS])
}

/// Bytes of kernel memory of the packets that wait in a socket to be read. Those of
/// TCP that arrived out of order are among them.
pub(crate) fn receive_memory(socket: BorrowedFd<'_>) -> io::Result<u32> {
    const RECEIVE: usize = 0;
    Ok(memory::<{ RECEIVE + 1 }>(socket)?[RECEIVE])
}

/// The first numbers that the kernel states of a socket's memory
/// [LinuxUapi sock_diag.h].
fn memory<const COUNT: usize>(socket: BorrowedFd<'_>) -> io::Result<[u32; COUNT]> {
    // SAFETY: numbers.
    unsafe { data(socket, libc::SOL_SOCKET, libc::SO_MEMINFO) }
}

/// Reads an option that is an int.
pub(crate) fn number(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<libc::c_int> {
    // SAFETY: a number.
    unsafe { data(socket, level, option) }
}
