//! The instant at which the kernel received the acknowledgement of the last octet.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, TimestampingFlag, recvmsg, setsockopt, sockopt,
};
use units::{Span, Time};

use super::socket::raw;
use crate::clock::{self, Epoch};
use crate::error::{During, Result};
use crate::sockets::{stalled, wait};
use crate::sys::tcp_info;

/// SOF_TIMESTAMPING_TX_ACK; nix has no name for it [LinuxUapi net_tstamp.h].
const STAMP_ACKNOWLEDGEMENTS: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 9);

/// Requests timestamps of the acknowledgements of all further data. Called before the
/// last message only, because timestamps cost time.
pub(super) fn stamp_from_here(socket: BorrowedFd<'_>) -> Result<()> {
    let flags = STAMP_ACKNOWLEDGEMENTS
        | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY;
    setsockopt(&socket, sockopt::Timestamping, &flags)
        .during(|| "asking for acknowledgement stamps")
}

/// Waits until all data are acknowledged. Returns the timestamp of the last
/// acknowledgement.
pub(super) fn wait_for_last(socket: &OwnedFd, epoch: Epoch, timeout: Span) -> Result<Option<Time>> {
    let deadline = clock::monotonic() + timeout;
    let mut last = None;
    loop {
        let left =
            tcp_info::unacknowledged(socket.as_fd()).during(|| "asking what is unacknowledged")?;
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
fn read_stamps(socket: &OwnedFd, epoch: Epoch) -> Result<Option<Time>> {
    let mut latest = None;
    let mut control = vec![0; 512];
    loop {
        let mut octets = [0; 64];
        let mut pieces = [IoSliceMut::new(&mut octets)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let message =
            match recvmsg::<SockaddrStorage>(raw(socket), &mut pieces, Some(&mut control), flags) {
                Ok(message) => message,
                Err(Errno::EAGAIN) => return Ok(latest),
                Err(error) => return Err(error).during(|| "reading acknowledgement stamps"),
            };
        for part in message
            .cmsgs()
            .during(|| "reading acknowledgement stamps")?
        {
            if let ControlMessageOwned::ScmTimestampsns(stamps) = part {
                latest = latest.max(Some(epoch.time_of_stamp(stamps.system)));
            }
        }
    }
}
