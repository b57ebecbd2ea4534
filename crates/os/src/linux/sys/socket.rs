//! Sockets from the kernel, and the end of connections.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{SockFlag, accept4};

/// Opens a socket of any family, kind and protocol.
pub(crate) fn open(
    family: libc::c_int,
    kind: libc::c_int,
    protocol: libc::c_int,
) -> nix::Result<OwnedFd> {
    // SAFETY: the arguments are numbers.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    Ok(owned(Errno::result(socket)?))
}

/// Accepts a connection. Whether no call on it waits is in `non_blocking`.
pub fn accept(listener: impl AsFd, non_blocking: bool) -> nix::Result<OwnedFd> {
    let mut flags = SockFlag::SOCK_CLOEXEC;
    flags.set(SockFlag::SOCK_NONBLOCK, non_blocking);
    let socket = accept4(listener.as_fd().as_raw_fd(), flags)?;
    Ok(owned(socket))
}

/// Takes a descriptor that the kernel has just made.
fn owned(socket: RawFd) -> OwnedFd {
    // SAFETY: both callers have just got it from the kernel, and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(socket) }
}

/// Ends a connection at once, for all descriptors of its socket: data on their way are
/// dropped, and the other end is told [tcp(7)].
pub fn reset(socket: impl AsFd) -> io::Result<()> {
    let nowhere = libc::sockaddr {
        sa_family: libc::sa_family_t::try_from(libc::AF_UNSPEC).unwrap_or_default(),
        sa_data: [0; 14],
    };
    let length =
        libc::socklen_t::try_from(size_of::<libc::sockaddr>()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `length` bytes, which is the size of the address.
    let result = unsafe { libc::connect(socket.as_fd().as_raw_fd(), &raw const nowhere, length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
