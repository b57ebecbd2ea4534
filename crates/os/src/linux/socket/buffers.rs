//! Sizes of the buffers of sockets.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::socket::{getsockopt, sockopt};
use units::Bytes;

use crate::error::{OperationContext, Result};
use crate::sys::option;

/// Requests a send buffer, beyond the machine's limit if the kernel allows it.
pub(crate) fn set_send_buffer(socket: BorrowedFd<'_>, size: Bytes) -> Result<()> {
    set(socket, [libc::SO_SNDBUFFORCE, libc::SO_SNDBUF], size)
        .during(|| format!("setting a send buffer of {size}"))
}

/// Requests a receive buffer likewise.
pub fn set_receive_buffer(socket: BorrowedFd<'_>, size: Bytes) -> Result<()> {
    set(socket, [libc::SO_RCVBUFFORCE, libc::SO_RCVBUF], size)
        .during(|| format!("setting a receive buffer of {size}"))
}

/// The real root may exceed the machine's limit; others get what it allows.
fn set(
    socket: BorrowedFd<'_>,
    [forced, ordinary]: [libc::c_int; 2],
    size: Bytes,
) -> io::Result<()> {
    // The kernel itself takes a larger size for the largest.
    let size = libc::c_int::try_from(size.get()).unwrap_or(libc::c_int::MAX);
    let set = |name| option::set(socket, libc::SOL_SOCKET, name, size);
    set(forced).or_else(|_| set(ordinary))
}

/// The current SO_SNDBUF.
pub fn send_buffer(socket: impl AsFd) -> Result<u64> {
    Ok(getsockopt(&socket, sockopt::SndBuf).during(|| "reading the send buffer")? as u64)
}

/// The current SO_RCVBUF.
pub fn receive_buffer(socket: impl AsFd) -> Result<u64> {
    Ok(getsockopt(&socket, sockopt::RcvBuf).during(|| "reading the receive buffer")? as u64)
}
