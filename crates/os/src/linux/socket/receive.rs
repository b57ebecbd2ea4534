//! Reads from a peer, each with a permit.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::MsgFlags;

use super::address::plain;
use crate::deadline::Permit;

/// Reads once from a socket.
///
/// # Errors
/// The kernel's.
#[expect(clippy::disallowed_methods, reason = "this call has a permit")]
pub fn receive(
    socket: &OwnedFd,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> nix::Result<usize> {
    nix::sys::socket::recv(socket.as_raw_fd(), room, flags)
}

/// Reads a datagram and its source.
///
/// # Errors
/// The kernel's.
#[expect(clippy::disallowed_methods, reason = "this call has a permit")]
pub fn receive_from(
    socket: &OwnedFd,
    room: &mut [u8],
    _permit: Permit,
) -> nix::Result<(usize, Option<SocketAddr>)> {
    let (length, from) = nix::sys::socket::recvfrom(socket.as_raw_fd(), room)?;
    Ok((length, from.as_ref().and_then(plain)))
}
