//! Departures of the first octets of messages, timestamped by the kernel when it passes
//! them to the interface, behind all queues of this host.

use std::num::NonZero;
use std::os::fd::{AsRawFd, BorrowedFd};

use meter::clock_offset::ClockOffset;
use nix::sys::socket::{MsgFlags, send};
use units::{Span, Time};
use wire::message::HEADER_LEN;

use super::Departed;
use crate::driver::sessions::receive::{Clocks, Timeline};
use os::clock;
use os::error::{During, Result};
use os::socket::{COUNT_WRITTEN, LEFT, NUMBERS, read_departures, stamp_departures};
use os::sys::queued::unacknowledged;

/// MSG_MORE: more data follow; nix has no name for it.
const MORE: MsgFlags = MsgFlags::from_bits_retain(libc::MSG_MORE);

/// The longest time for the end of the stream to leave; later timestamps are left out.
const TIMEOUT: Span = Span::from_secs(2);

/// Timestamps of some messages of a stream.
///
/// The kernel timestamps the last octet of a write, and keeps one timestamp per packet.
/// The header of such a message is therefore a separate write, which the rest joins
/// (MSG_MORE) [tcp(7)]; if two such headers share a packet, one timestamp is lost.
pub(super) struct Stamps {
    every: NonZero<u64>,
    timeline: Timeline,
    /// Octets written since the kernel began to count.
    written: u32,
    /// Messages with outstanding timestamps: octet number and sequence number.
    due: Vec<(u32, u64)>,
    departed: Vec<Departed>,
}

impl Stamps {
    /// Makes `socket` count octets from here on.
    pub(super) fn begin(socket: BorrowedFd<'_>, every: NonZero<u64>, epoch: Time) -> Result<Self> {
        ask(socket, false)?;
        let clocks = Clocks {
            epoch: clock::nanos_of(epoch),
            offset: ClockOffset::NONE,
        };
        Ok(Self {
            every,
            timeline: Timeline::new(clocks),
            written: 0,
            due: Vec::new(),
            departed: Vec::new(),
        })
    }

    /// Writes the header of a message whose departure is to be timestamped. Returns the
    /// rest of the octets of any message.
    pub(super) fn begin_message<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        sequence: u64,
        octets: &'a [u8],
    ) -> Result<&'a [u8]> {
        let before = self.written;
        self.written = before.wrapping_add(u32::try_from(octets.len()).unwrap_or(u32::MAX));
        if !sequence.is_multiple_of(self.every.get()) {
            return Ok(octets);
        }
        self.read(socket)?;
        ask(socket, true)?;
        let head = &octets[..HEADER_LEN.min(octets.len())];
        let flags = MsgFlags::MSG_NOSIGNAL | MORE;
        // The write of the rest reports any error.
        let taken = send(socket.as_raw_fd(), head, flags).unwrap_or(0);
        ask(socket, false)?;
        if let Some(last) = u32::try_from(taken).unwrap_or(0).checked_sub(1) {
            self.due.push((before.wrapping_add(last), sequence));
        }
        Ok(&octets[taken..])
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
        read_departures(socket, |stamp| {
            if let Some(nanos) = clock::unix_nanos(stamp.at) {
                self.take(nanos, stamp.number);
            }
        })
    }

    /// Records that `octet` left at `stamp`; for retransmissions the first departure
    /// counts.
    fn take(&mut self, stamp: u64, octet: u32) {
        let Some(at) = self.due.iter().position(|(due, _)| *due == octet) else {
            return;
        };
        let (_, sequence) = self.due.swap_remove(at);
        let now = clock::monotonic();
        if let Some(nanos) = self.timeline.nanos_of_stamp(stamp, now) {
            self.departed.push(Departed { sequence, nanos });
        }
    }
}

/// Makes the kernel number octets, and timestamp writes from here on or not.
fn ask(socket: BorrowedFd<'_>, stamp: bool) -> Result<()> {
    let events = match stamp {
        true => NUMBERS | COUNT_WRITTEN | LEFT,
        false => NUMBERS | COUNT_WRITTEN,
    };
    stamp_departures(socket, events)
}
