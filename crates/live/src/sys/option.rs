//! Integer socket options that no crate wraps.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Opens a raw socket, which does not block, for a protocol that no crate names.
pub(crate) fn raw_socket(family: libc::c_int, protocol: u8) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the arguments are numbers.
    let socket = unsafe { libc::socket(family, kind, libc::c_int::from(protocol)) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Sets an option that is an int.
pub(crate) fn set(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads one int, which outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Packets that a socket has dropped since its creation: without room, or damaged.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u32> {
    const DROPS: usize = 8;
    Ok(memory::<{ DROPS + 1 }>(socket)?[DROPS])
}

/// Octets of kernel memory of the packets that wait in a socket to be read. Those of
/// TCP that arrived out of order are among them.
pub(crate) fn receive_memory(socket: BorrowedFd<'_>) -> io::Result<u32> {
    const RECEIVE: usize = 0;
    Ok(memory::<{ RECEIVE + 1 }>(socket)?[RECEIVE])
}

/// The first numbers that the kernel states of a socket's memory
/// [LinuxUapi sock_diag.h].
fn memory<const COUNT: usize>(socket: BorrowedFd<'_>) -> io::Result<[u32; COUNT]> {
    let mut numbers = [0_u32; COUNT];
    let mut length =
        libc::socklen_t::try_from(size_of::<[u32; COUNT]>()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes 32-bit numbers, at most as many as fit, to memory that
    // outlives the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(numbers)
    }
}

/// Reads an option that is an int.
pub(crate) fn number(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length =
        libc::socklen_t::try_from(size_of::<libc::c_int>()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes one int at most, to memory that outlives the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(value)
    }
}
