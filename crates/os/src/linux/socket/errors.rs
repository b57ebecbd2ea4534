//! The error queue of a socket: errors of the path, and timestamps of departures [ip(7)]
//! [ipv6(7)].

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};

use super::address::plain;
use crate::kernel_clock::unix_nanos;

/// An entry of the error queue.
#[derive(Default)]
pub struct QueuedError {
    /// The destination of the packet that met an error, if it is stated.
    pub to: Option<SocketAddr>,
    /// The error, and the address of the host that reported it.
    pub reported: Option<Reported>,
    /// The timestamp of a departure, in nanoseconds since 1970.
    pub stamp: Option<u64>,
}

/// An error, and the address of the host that reported it.
pub(crate) type Reported = (libc::sock_extended_err, Option<IpAddr>);

/// Takes the next entry of the error queue, if one waits.
pub fn next_error(socket: BorrowedFd<'_>) -> nix::Result<Option<QueuedError>> {
    let (mut bytes, mut control) = ([0; 64], [0; 512]);
    let mut pieces = [IoSliceMut::new(&mut bytes)];
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    let (socket, control) = (socket.as_raw_fd(), Some(&mut control[..]));
    let message = match recvmsg::<SockaddrStorage>(socket, &mut pieces, control, flags) {
        Ok(message) => message,
        Err(Errno::EAGAIN) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut queued = QueuedError {
        to: message.address.as_ref().and_then(plain),
        ..QueuedError::default()
    };
    for part in message.cmsgs()? {
        match part {
            ControlMessageOwned::ScmTimestampsns(stamps) => {
                queued.stamp = unix_nanos(stamps.system)
            }
            part => queued.reported = queued.reported.or_else(|| reported(&part)),
        }
    }
    Ok(Some(queued))
}

/// The error in control data, if it is one.
pub fn reported(part: &ControlMessageOwned) -> Option<Reported> {
    match part {
        ControlMessageOwned::Ipv4RecvErr(error, from) => {
            let from = from.map(|from| Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr)));
            Some((*error, from.map(IpAddr::V4)))
        }
        ControlMessageOwned::Ipv6RecvErr(error, from) => {
            let from = from.map(|from| Ipv6Addr::from(from.sin6_addr.s6_addr));
            Some((*error, from.map(IpAddr::V6)))
        }
        _ => None,
    }
}
