//! Departures of the first bytes of messages, timestamped by the kernel when it passes
//! them to the interface, behind all queues of this host.

use std::num::NonZero;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, TimestampingFlag, send};
use units::{Span, Time};
use wire::message::HEADER_LEN;

use super::Departed;
use crate::driver::departure_stamps::{DepartureStamps, MORE};
use crate::driver::sessions::Options;
use crate::driver::timeline::Timeline;
use os::error::{OperationContext, Result};
use os::socket::LEFT;
use os::sys::queued::unacknowledged;
use os::{clock, kernel_clock};

/// The longest time for the end of the stream to leave; later timestamps are left out.
const TIMEOUT: Span = Span::from_secs(2);

/// Timestamps of some messages of a stream. If the headers of two of them share a packet, one
/// timestamp is lost.
pub(super) struct Stamps {
    every: NonZero<u64>,
    timeline: Timeline,
    /// Those of messages, by their sequence numbers.
    due: DepartureStamps<u64>,
    departed: Vec<Departed>,
}

impl Stamps {
    /// Makes `socket` count bytes from here on.
    pub(super) fn begin(
        socket: BorrowedFd<'_>,
        options: &Options,
        epoch: Time,
    ) -> Result<Option<Self>> {
        let Some(every) = options.stamp_departures else {
            return Ok(None);
        };
        Ok(Some(Self {
            every,
            due: DepartureStamps::begin(socket, true, TimestampingFlag::empty(), LEFT)?,
            timeline: Timeline::new(kernel_clock::nanos_of(epoch)),
            departed: Vec::new(),
        }))
    }

    /// Writes the header of a message whose departure is to be timestamped. Returns the
    /// rest of the bytes of any message.
    pub(super) fn begin_message<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        sequence: u64,
        bytes: &'a [u8],
    ) -> Result<&'a [u8]> {
        if !sequence.is_multiple_of(self.every.get()) {
            self.due.unstamped(bytes.len());
            return Ok(bytes);
        }
        self.read(socket)?;
        self.due.switch(socket, true)?;
        let head = &bytes[..HEADER_LEN.min(bytes.len())];
        let flags = MsgFlags::MSG_NOSIGNAL | MORE;
        // The write of the rest reports any error.
        let taken = send(socket.as_raw_fd(), head, flags).unwrap_or(0);
        self.due.switch(socket, false)?;
        if taken > 0 {
            self.due.stamped(taken, sequence);
        }
        self.due.unstamped(bytes.len() - taken);
        Ok(&bytes[taken..])
    }

    /// Waits until all data have left. Returns the departures whose timestamps were not
    /// lost.
    pub(super) fn end(mut self, socket: BorrowedFd<'_>) -> Result<Vec<Departed>> {
        let deadline = clock::monotonic() + TIMEOUT;
        while clock::monotonic() < deadline
            && unacknowledged(socket).during(|| "asking what is unacknowledged")? > 0
        {
            self.read(socket)?;
            clock::sleep(Span::from_millis(1));
        }
        self.read(socket)?;
        Ok(self.departed)
    }

    /// Reads the timestamps in the socket's error queue.
    fn read(&mut self, socket: BorrowedFd<'_>) -> Result<()> {
        self.due.take(socket, |sequence, stamp| {
            // For retransmissions the first departure counts.
            let nanos = self.timeline.nanos_of_stamp(stamp.at, clock::monotonic());
            self.departed
                .extend(nanos.map(|nanos| Departed { sequence, nanos }));
            true
        })
    }
}
