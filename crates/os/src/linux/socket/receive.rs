//! Reads from a peer, each with a permit.

use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{MsgFlags, SockaddrStorage, recvmsg};

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

/// Reads a datagram and its source. One that is longer than the room is cut.
///
/// # Errors
/// The kernel's.
pub fn receive_from(
    socket: &OwnedFd,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> nix::Result<(usize, Option<SocketAddr>)> {
    let mut pieces = [IoSliceMut::new(room)];
    let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, None, flags)?;
    Ok((message.bytes, message.address.as_ref().and_then(plain)))
}
