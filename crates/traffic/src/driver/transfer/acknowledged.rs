//! The time at which the kernel received the acknowledgement of the last byte.

use std::os::fd::AsFd as _;

use nix::poll::PollFlags;
use nix::sys::socket::TimestampingFlag;
use units::{Span, Time};

use os::clock::{self, Epoch};
use os::error::{OperationContext, Result};
use os::socket::{ACKNOWLEDGED, Socket, read_departures, stalled, stamp_departures, wait};
use os::sys::queued::unacknowledged;

/// Requests timestamps of the acknowledgements of all further data. Called before the
/// last message only, because timestamps cost time.
pub(super) fn stamp_from_here(socket: &Socket) -> Result<()> {
    let flags = ACKNOWLEDGED
        | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY;
    stamp_departures(socket.as_fd(), flags)
}

/// Waits until all data are acknowledged. Returns the timestamp of the last
/// acknowledgement.
pub(super) fn wait_for_last(socket: &Socket, epoch: Epoch, timeout: Span) -> Result<Option<Time>> {
    let deadline = clock::monotonic() + timeout;
    let mut last = None;
    loop {
        let left = unacknowledged(socket.as_fd()).during(|| "asking what is unacknowledged")?;
        if let Some(stamp) = read_stamps(socket, epoch)? {
            // More may have arrived while this one was read: check again at once.
            last = last.max(Some(stamp));
            continue;
        }
        if left == 0 && last.is_some() {
            return Ok(last);
        }
        // A timestamp raises POLLERR, which is always polled. It may arrive a little
        // after the queue is empty.
        let soon = clock::monotonic() + Span::from_millis(if left == 0 { 20 } else { 1_000 });
        let stamped = wait(socket.as_fd(), PollFlags::empty(), soon.min(deadline))?;
        if left == 0 && stamped.is_empty() {
            return Ok(last);
        }
        if clock::monotonic() >= deadline {
            return Err(stalled("waiting for the last acknowledgement", timeout));
        }
    }
}

/// The latest timestamp in the socket's error queue.
fn read_stamps(socket: &Socket, epoch: Epoch) -> Result<Option<Time>> {
    let mut latest = None;
    read_departures(socket.as_fd(), |stamp| {
        latest = latest.max(Some(epoch.time_of_stamp(stamp.at)));
    })?;
    Ok(latest)
}
