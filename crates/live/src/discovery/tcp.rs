//! The kernel's TCP: a stream, and the size of its segments.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{
    MsgFlags, SockFlag, SockaddrStorage, accept4, connect, send, setsockopt, sockopt,
};
use units::{Bytes, Span};

use super::{SILENCE, Settled, SizeHistory, Task, ip_header, wait};
use crate::clock;
use crate::deadline::{Deadline, receive};
use crate::error::{During, Result};
use crate::sys::{option, tcp_info};

/// Octets of a TCP header without options [RFC9293 s3.1].
const TCP_HEADER: u32 = 20;

/// Octets of the timestamps option with its padding [RFC7323 App A].
const TIMESTAMPS: u32 = 12;

/// TCPI_OPT_TIMESTAMPS [LinuxUapi tcp.h].
const HAS_TIMESTAMPS: u8 = 1;

/// TCP_ESTABLISHED [LinuxUapi tcp.h].
const ESTABLISHED: u8 = 1;

/// The pace of the stream in octets a second: 50 Mbit/s, a hundred segments of 1280
/// octets in a round trip of 20 ms. The kernel probes with ten segments in flight or
/// more.
const PACE: libc::c_int = 6_250_000;

/// Octets of one write.
const WRITE: usize = 1 << 16;

/// Connects and writes until the size of segments has settled.
pub(super) fn settle(socket: &OwnedFd, task: &Task, port: u16) -> Result<Settled> {
    option::set(
        socket.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        PACE,
    )
    .during(|| "limiting the rate of a socket")?;
    let began = clock::monotonic();
    let end = began + task.timeout;
    let deadline = Deadline::new(end, &Arc::default());
    let mut sizes = SizeHistory::new(began);
    let to: SockaddrStorage = SocketAddr::new(task.to, port).into();
    match connect(socket.as_raw_fd(), &to) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error).during(|| format!("connecting to {}", task.to)),
    }
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
    close_at_once(socket)?;
    Ok(sizes.settled(0, is_late))
}

/// The IP packet of a full segment; `None` unless the connection is established.
fn packet_size(socket: BorrowedFd<'_>, task: &Task) -> Result<Option<Bytes>> {
    let info = tcp_info::tcp_info(socket).during(|| "reading TCP_INFO")?;
    let timestamps = match info.tcpi_options & HAS_TIMESTAMPS {
        0 => 0,
        _ => TIMESTAMPS,
    };
    let segment = info.tcpi_snd_mss + timestamps + TCP_HEADER;
    let size = Bytes::new(segment.into()) + ip_header(task.to);
    Ok((info.tcpi_state == ESTABLISHED).then_some(size))
}

/// Makes the close discard what is not sent: a reset follows.
fn close_at_once(socket: &OwnedFd) -> Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(socket, sockopt::Linger, &linger).during(|| "closing a connection")
}

/// Accepts a connection and reads it to its end.
pub(super) fn serve(listener: &OwnedFd, timeout: Span) -> Result<()> {
    let end = clock::monotonic() + timeout;
    let deadline = Deadline::new(end, &Arc::default());
    let connection = loop {
        if deadline.permit().is_err() {
            return Ok(());
        }
        wait(listener, PollFlags::POLLIN, end)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        match accept4(listener.as_raw_fd(), flags) {
            Ok(connection) => break owned(connection),
            Err(Errno::EAGAIN | Errno::ECONNABORTED) => {}
            Err(error) => return Err(error).during(|| "accepting a connection"),
        }
    };
    let mut room = vec![0; WRITE];
    let mut silent = deadline.within(SILENCE);
    while let Ok(permit) = silent.permit() {
        wait(&connection, PollFlags::POLLIN, end)?;
        match receive(&connection, &mut room, MsgFlags::empty(), permit) {
            Err(Errno::EAGAIN) => {}
            Ok(0) | Err(_) => break,
            Ok(_) => silent = deadline.within(SILENCE),
        }
    }
    Ok(())
}

fn owned(descriptor: i32) -> OwnedFd {
    #[expect(unsafe_code, reason = "nix returns a raw descriptor")]
    // SAFETY: accept4 has just created it, and nothing else owns it.
    unsafe {
        OwnedFd::from_raw_fd(descriptor)
    }
}
