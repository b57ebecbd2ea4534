//! Timestamps of departures that the kernel still owes: for a datagram those of its first
//! packet, for a stream those of the packet with a certain byte. The kernel numbers both.
//!
//! In a stream the kernel timestamps the last byte of a write, and keeps one timestamp per
//! packet. The header of a message is therefore a separate write, which the rest joins
//! ([`MORE`]) [tcp(7)].

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use nix::sys::socket::{MsgFlags, TimestampingFlag};

use os::error::Result;
use os::socket::{COUNT_WRITTEN, NUMBERS, Stamp, read_departures, stamp_departures};

/// MSG_MORE: more data follow; nix has no name for it.
pub(crate) const MORE: MsgFlags = MsgFlags::from_bits_retain(libc::MSG_MORE);

/// Timestamps of some writes on a socket, each of a `T`.
pub(crate) struct DepartureStamps<T> {
    /// What the kernel timestamps in any case, and what of these writes.
    always: TimestampingFlag,
    points: TimestampingFlag,
    /// Datagrams, or bytes of the stream, written since the kernel began to count.
    written: u32,
    /// The number of the timestamped unit, and what it is of.
    due: VecDeque<(u32, T)>,
}

impl<T: Copy> DepartureStamps<T> {
    /// Makes `socket` count from here on, and timestamp `always`; of each datagram, and of
    /// those writes of a stream for which it is switched on, `points`.
    pub(crate) fn begin(
        socket: BorrowedFd<'_>,
        stream: bool,
        always: TimestampingFlag,
        points: TimestampingFlag,
    ) -> Result<Self> {
        let count = match stream {
            true => COUNT_WRITTEN,
            false => TimestampingFlag::empty(),
        };
        let stamps = Self {
            always: always | NUMBERS | count,
            points,
            written: 0,
            due: VecDeque::new(),
        };
        stamps.switch(socket, !stream)?;
        Ok(stamps)
    }

    /// Enables or disables timestamps of further writes.
    pub(crate) fn switch(&self, socket: BorrowedFd<'_>, on: bool) -> Result<()> {
        let events = match on {
            true => self.always | self.points,
            false => self.always,
        };
        stamp_departures(socket, events)
    }

    /// Records that a datagram or bytes were written, the last of which is timestamped.
    pub(crate) fn stamped(&mut self, units: usize, of: T) {
        self.unstamped(units);
        self.due.push_back((self.written.wrapping_sub(1), of));
    }

    /// Records bytes without a timestamp.
    pub(crate) fn unstamped(&mut self, units: usize) {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.written = self.written.wrapping_add(units);
    }

    /// Passes the timestamps in the socket's error queue to `take`, which tells whether it was
    /// the last one of its write.
    pub(crate) fn take(
        &mut self,
        socket: BorrowedFd<'_>,
        mut take: impl FnMut(T, Stamp) -> bool,
    ) -> Result<()> {
        read_departures(socket, |stamp| {
            let due = self.due.iter().position(|(due, _)| *due == stamp.number);
            if let Some(at) = due
                && take(self.due[at].1, stamp)
            {
                self.due.remove(at);
            }
        })
    }

    /// Whether no timestamp is owed.
    pub(crate) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}
