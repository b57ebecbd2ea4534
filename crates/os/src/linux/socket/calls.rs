//! Calls on sockets that tools of every system make: `os` has them elsewhere, too, with the
//! same names.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, Shutdown, setsockopt, sockopt};
use units::Time;

use crate::clock;
use crate::error::{OperationContext, Result};
use crate::portable::socket_parts::KeepAlive;
use crate::sys::option;

/// A socket, which closes when it is dropped.
pub type Socket = OwnedFd;

/// A socket of somebody else.
pub type SocketRef<'a> = BorrowedFd<'a>;

/// Borrows a socket.
pub fn borrowed(socket: &Socket) -> SocketRef<'_> {
    socket.as_fd()
}

/// Writes to a connected socket. Returns the bytes that the kernel took.
///
/// # Errors
/// The kernel's.
pub fn send(socket: &Socket, bytes: &[u8], flags: MsgFlags) -> nix::Result<usize> {
    nix::sys::socket::send(socket.as_raw_fd(), bytes, flags)
}

/// Ends this end of a stream: the other end reads what was written, and then the end.
///
/// # Errors
/// The kernel's.
pub fn end_stream(socket: &Socket) -> nix::Result<()> {
    nix::sys::socket::shutdown(socket.as_raw_fd(), Shutdown::Write)
}

/// Makes all further calls return at once.
///
/// # Errors
/// The kernel's.
pub fn set_non_blocking(socket: &Socket) -> io::Result<()> {
    fcntl(socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Lets the address of a listener be in use by an earlier connection.
///
/// # Errors
/// The kernel's.
pub fn reuse_address(socket: &Socket) -> Result<()> {
    setsockopt(socket, sockopt::ReuseAddr, &true).during(|| "sharing an address")
}

/// Switches Nagle's algorithm off.
///
/// # Errors
/// The kernel's.
pub fn set_no_delay(socket: &Socket) -> Result<()> {
    setsockopt(socket, sockopt::TcpNoDelay, &true).during(|| "switching Nagle's algorithm off")
}

/// Makes TCP look whether the other end lives.
///
/// # Errors
/// The kernel's.
pub fn keep_alive(socket: &Socket, wanted: KeepAlive) -> Result<()> {
    let doing = || "asking for signs of life";
    setsockopt(socket, sockopt::KeepAlive, &true).during(doing)?;
    let millis = wanted.unacknowledged.as_nanos() / 1_000_000;
    for (name, value) in [
        (libc::TCP_KEEPIDLE, wanted.idle),
        (libc::TCP_KEEPINTVL, wanted.interval),
        (libc::TCP_KEEPCNT, wanted.probes),
        (
            libc::TCP_USER_TIMEOUT,
            i32::try_from(millis).unwrap_or(i32::MAX),
        ),
    ] {
        option::set(socket.as_fd(), libc::IPPROTO_TCP, name, value).during(doing)?;
    }
    Ok(())
}

/// Datagrams that found no room in a socket since its creation, or were damaged; `None` where
/// the system does not count them.
///
/// # Errors
/// The kernel's.
pub fn stated_drops(socket: &Socket) -> io::Result<Option<u32>> {
    option::dropped(socket).map(Some)
}

/// Waits until something can be read from one of `sockets`, until `deadline` at most, or for a
/// signal. Returns of each whether something can be read, or its end.
///
/// # Errors
/// The kernel's.
pub fn readable(sockets: &[SocketRef<'_>], deadline: Option<Time>) -> Result<Vec<bool>> {
    let watched = sockets.iter();
    let mut watched: Vec<PollFd<'_>> = watched
        .map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
        .collect();
    let left = deadline.map_or(PollTimeout::NONE, |deadline| {
        let left = deadline.since(clock::monotonic()).unwrap_or_default();
        let millis = left.as_nanos().div_ceil(1_000_000);
        PollTimeout::from(u16::try_from(millis).unwrap_or(u16::MAX))
    });
    match poll(&mut watched, left) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error).during(|| "waiting for sockets"),
    }
    let is_ready = |watched: &PollFd<'_>| watched.any() == Some(true);
    Ok(watched.iter().map(is_ready).collect())
}
