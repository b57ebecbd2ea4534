//! TCP_INFO, and what follows from it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::option::{data, receive_memory};
use super::queued::unacknowledged;

/// TCP_INFO of a connected socket [LinuxUapi tcp.h].
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<libc::tcp_info> {
    // SAFETY: numbers.
    unsafe { data(socket, libc::IPPROTO_TCP, libc::TCP_INFO) }
}

/// The bytes of a stream that had arrived while no segment was missing; by default none.
#[derive(Clone, Copy, Debug, Default)]
pub struct InOrder {
    bytes: u64,
    segments: u32,
}

/// The bytes of a stream if all its segments arrived in order, otherwise none.
pub fn in_order(socket: BorrowedFd<'_>) -> io::Result<InOrder> {
    let info = tcp_info(socket)?;
    Ok(match info.tcpi_rcv_ooopack {
        0 => InOrder {
            bytes: info.tcpi_bytes_received,
            segments: info.tcpi_data_segs_in,
        },
        _ => InOrder::default(),
    })
}

/// An upper bound of the bytes of a stream that had arrived when it was asked for, with
/// those that wait behind a missing segment; `None` if none has ever arrived out of
/// order. Reading a stream shows nothing of them until the missing segment arrives.
///
/// The smaller one of two bounds: the bytes up to the missing segment and the memory of
/// all that wait; and the segments that arrived after `start`, each of full size. The
/// second one is exact while no segment has arrived twice.
pub fn arrived_at_most(socket: BorrowedFd<'_>, start: InOrder) -> io::Result<Option<u64>> {
    let info = tcp_info(socket)?;
    if info.tcpi_rcv_ooopack == 0 {
        return Ok(None);
    }
    let in_order = info.tcpi_bytes_received;
    let in_memory = in_order.saturating_add(receive_memory(socket)?.into());
    // Both ends of a path have the same largest segment: the sender's, unless a link in
    // between is narrower. The peer's small window may limit the segments of this end, and
    // then those that arrived are larger.
    let segment = info.tcpi_snd_mss.max(info.tcpi_rcv_mss);
    let segments = info.tcpi_data_segs_in.saturating_sub(start.segments);
    let by_segments = start.bytes + u64::from(segments) * u64::from(segment);
    Ok(Some(in_memory.min(by_segments).max(in_order)))
}

/// Timeouts in a row after which the oldest segment counts as lost whatever is tried: the
/// last of them is 1.4 s after its departure at the earliest [RFC6298 s5.5].
const TIMEOUTS: u8 = 3;

/// The bytes of the segments with which a connection is stuck, if it is: the oldest one
/// was sent again after several timeouts.
pub fn stuck_segment(socket: impl AsFd) -> Option<u32> {
    let socket = socket.as_fd();
    let info = tcp_info(socket).ok()?;
    let is_stuck = info.tcpi_unacked > 0 && info.tcpi_retransmits >= TIMEOUTS;
    let waits = unacknowledged(socket).ok().filter(|_| is_stuck)?;
    Some(u32::try_from(waits).map_or(info.tcpi_snd_mss, |waits| waits.min(info.tcpi_snd_mss)))
}
