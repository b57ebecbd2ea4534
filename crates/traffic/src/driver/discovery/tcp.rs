//! The kernel's TCP: a stream, and the size of its segments.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, send};
use units::{Bytes, Time};

use super::{SILENCE, Settled, SizeHistory, Task, ip_header, wait};
use os::clock;
use os::deadline::{Deadline, receive};
use os::error::{During, Result};
use os::socket::{TCP_HEADER, full_segment, reset_on_close};
use os::sys::{option, tcp_info};

/// The pace of the stream in octets a second: 50 Mbit/s, a hundred segments of 1280
/// octets in a round trip of 20 ms. The kernel probes with ten segments in flight or
/// more.
const PACE: libc::c_int = 6_250_000;

/// Octets of one write.
const WRITE: usize = 1 << 16;

/// Writes on a connection that began at `began` until the size of its segments has settled.
pub(super) fn settle(socket: &OwnedFd, task: &Task, began: Time) -> Result<Settled> {
    option::set(
        socket.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        PACE,
    )
    .during(|| "limiting the rate of a socket")?;
    let end = began + task.timeout;
    let deadline = Deadline::new(end, &Arc::default());
    let mut sizes = SizeHistory::new(began);
    let data = [0; WRITE];
    let mut is_late = true;
    while deadline.permit().is_ok() {
        wait(socket, PollFlags::POLLOUT, end)?;
        match send(socket.as_raw_fd(), &data, MsgFlags::MSG_NOSIGNAL) {
            Ok(_) | Err(Errno::EAGAIN) => {}
            // The connection failed, or the kernel has given it up.
            Err(_) => break,
        }
        if let Some(size) = packet_size(socket.as_fd(), task)?
            && sizes.take(clock::monotonic(), size)
        {
            is_late = false;
            break;
        }
    }
    // What is not sent is dropped.
    reset_on_close(socket.as_fd())?;
    Ok(sizes.settled(is_late))
}

/// The IP packet of a full segment; `None` unless the connection is established.
fn packet_size(socket: BorrowedFd<'_>, task: &Task) -> Result<Option<Bytes>> {
    let info = tcp_info::tcp_info(socket).during(|| "reading TCP_INFO")?;
    let size = full_segment(&info).map(|segment| Bytes::new((TCP_HEADER + segment).into()));
    Ok(size.map(|size| size + ip_header(task.to)))
}

/// Reads a connection to its end.
pub(super) fn serve(connection: &OwnedFd, end: Time) -> Result<()> {
    let deadline = Deadline::new(end, &Arc::default());
    let mut room = vec![0; WRITE];
    let mut silent = deadline.within(SILENCE);
    while let Ok(permit) = silent.permit() {
        wait(connection, PollFlags::POLLIN, end)?;
        match receive(connection, &mut room, MsgFlags::empty(), permit) {
            Err(Errno::EAGAIN) => {}
            Ok(0) | Err(_) => break,
            Ok(_) => silent = deadline.within(SILENCE),
        }
    }
    Ok(())
}
