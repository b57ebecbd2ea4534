//! Waiting for sockets.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as Number;
use units::Time;

use super::calls::{Socket, SocketRef};
use crate::clock;
use crate::error::{Error, OperationContext, Result};

/// Waits until something can be read from `socket`, or its end. Returns whether that was before
/// `deadline` on the monotonic clock.
///
/// # Errors
/// The system's.
pub fn wait_to_read(socket: &Socket, deadline: Time) -> Result<bool> {
    wait(socket, PollFlags::IN, Some(deadline))
}

/// Waits likewise until a stream takes more.
///
/// # Errors
/// The system's.
pub fn wait_to_write(socket: &Socket, deadline: Time) -> Result<bool> {
    wait(socket, PollFlags::OUT, Some(deadline))
}

/// Waits likewise until something can be read or a stream takes more.
///
/// # Errors
/// The system's.
pub fn wait_to_read_or_write(socket: &Socket, deadline: Time) -> Result<bool> {
    wait(socket, PollFlags::IN | PollFlags::OUT, Some(deadline))
}

/// Waits for an event; without a deadline for any time. Returns whether it came.
pub(super) fn wait(socket: &Socket, event: PollFlags, deadline: Option<Time>) -> Result<bool> {
    loop {
        if ready(&[socket], event, deadline)?.contains(&true) {
            return Ok(true);
        }
        if deadline.is_some_and(|deadline| deadline <= clock::monotonic()) {
            return Ok(false);
        }
    }
}

/// Waits until something can be read from one of `sockets`, until `deadline` at most, or for a
/// signal. Returns of each whether something can be read, or its end.
///
/// # Errors
/// The system's.
pub fn readable(sockets: &[SocketRef<'_>], deadline: Option<Time>) -> Result<Vec<bool>> {
    ready(sockets, PollFlags::IN, deadline)
}

/// Whether each of `sockets` takes something to write at once, or its connection has ended.
///
/// # Errors
/// The system's.
pub fn ready_to_write(sockets: &[SocketRef<'_>]) -> Result<Vec<bool>> {
    ready(sockets, PollFlags::OUT, Some(clock::monotonic()))
}

fn ready(sockets: &[SocketRef<'_>], event: PollFlags, deadline: Option<Time>) -> Result<Vec<bool>> {
    let doing = || "waiting for sockets";
    let watched = sockets.iter();
    let mut watched: Vec<PollFd<'_>> = watched
        .map(|socket| PollFd::new(&socket.inner, event))
        .collect();
    // Polls count in milliseconds: a part of one would be none.
    let limit = deadline.map(|deadline| {
        let left = deadline.since(clock::monotonic()).unwrap_or_default();
        let millis = left.as_nanos().div_ceil(1_000_000);
        Duration::from_millis(millis.min(60_000))
    });
    let limit = limit.map(Timespec::try_from).transpose();
    let limit = limit.map_err(|why| Error::new(doing(), why.to_string()))?;
    match poll(&mut watched, limit.as_ref()) {
        Ok(_) | Err(Number::INTR) => {}
        Err(error) => return Err(std::io::Error::from(error)).during(doing),
    }
    Ok(watched
        .iter()
        .map(|one| !one.revents().is_empty())
        .collect())
}
