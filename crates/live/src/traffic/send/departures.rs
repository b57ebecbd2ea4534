//! When the first octets of messages leave, as the kernel stamps it on the way
//! to the interface, behind all queues of this host.

use std::num::NonZero;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, TimestampingFlag, send, setsockopt, sockopt};
use proto::clock_offset::ClockOffset;
use units::{Span, Time};
use wire::message::HEADER_LEN;

use super::Departed;
use crate::clock;
use crate::error::{During, Result};
use crate::stamps::departing::{self, COUNT_WRITTEN};
use crate::sys::tcp_info;
use crate::traffic::receive::{Clocks, Timeline};

/// MSG_MORE: the rest follows, which nix does not name.
const MORE: MsgFlags = MsgFlags::from_bits_retain(libc::MSG_MORE);

/// How long the end of the stream may take to leave before stamps are done
/// without.
const TIMEOUT: Span = Span::from_secs(2);

/// Stamps of some messages of a stream.
///
/// The kernel stamps the last octet of a write, and keeps one stamp a packet.
/// So the header of such a message is a write of its own, which the rest joins
/// (MSG_MORE) [tcp(7)], and a stamp is lost where two of them share a packet.
pub(super) struct Stamps {
    every: NonZero<u64>,
    timeline: Timeline,
    /// Octets written since numbers count, as the kernel counts them.
    written: u32,
    /// Messages whose stamps are due: the number of the octet, and their place.
    due: Vec<(u32, u64)>,
    departed: Vec<Departed>,
}

impl Stamps {
    /// Has `socket` count octets from here.
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

    /// Writes the header of a message whose departure is to be stamped, and
    /// returns what is still to be written of any.
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
        // Whoever writes the rest finds out what is wrong.
        let taken = send(socket.as_raw_fd(), head, flags).unwrap_or(0);
        ask(socket, false)?;
        if let Some(last) = u32::try_from(taken).unwrap_or(0).checked_sub(1) {
            self.due.push((before.wrapping_add(last), sequence));
        }
        Ok(&octets[taken..])
    }

    /// Waits until all has left, and returns when each message did whose stamp
    /// was not lost.
    pub(super) fn end(mut self, socket: BorrowedFd<'_>) -> Result<Vec<Departed>> {
        let deadline = clock::monotonic() + TIMEOUT;
        while clock::monotonic() < deadline
            && tcp_info::unacknowledged(socket).during(|| "asking what is unacknowledged")? > 0
        {
            self.read(socket)?;
            clock::sleep(Span::from_millis(1));
        }
        self.read(socket)?;
        Ok(self.departed)
    }

    /// Takes the stamps that wait in the socket's error queue.
    fn read(&mut self, socket: BorrowedFd<'_>) -> Result<()> {
        departing::read(socket, |stamp| {
            if let Some(nanos) = unix_nanos(stamp.at.tv_sec(), stamp.at.tv_nsec()) {
                self.take(nanos, stamp.number);
            }
        })
    }

    /// Takes down that `octet` left at `stamp`; of what is sent again the first
    /// departure counts.
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

/// Has the kernel number octets, and stamp what is written from here or not.
fn ask(socket: BorrowedFd<'_>, stamp: bool) -> Result<()> {
    let flags = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY
        | COUNT_WRITTEN;
    let flags = match stamp {
        true => flags | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE,
        false => flags,
    };
    setsockopt(&socket, sockopt::Timestamping, &flags).during(|| "asking for stamps of departures")
}

fn unix_nanos(seconds: i64, nanos: i64) -> Option<u64> {
    let seconds = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    seconds.checked_add(u64::try_from(nanos).ok()?)
}
