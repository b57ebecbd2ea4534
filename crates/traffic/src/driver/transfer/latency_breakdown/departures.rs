//! Timestamps of departing messages: at the queueing discipline, and at the interface.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use meter::latency_breakdown::Left;

use os::clock::Epoch;
use os::error::Result;
use os::socket::{
    ARRIVALS, COUNT_WRITTEN, LEFT, NUMBERS, QUEUED, read_departures, stamp_departures,
};

/// SCM_TSTAMP_SND and SCM_TSTAMP_SCHED: the kinds of timestamps [LinuxUapi errqueue.h].
const SENT: u32 = 0;
const SCHEDULED: u32 = 1;

/// Outstanding timestamps: for a datagram those of its first packet, for a stream those
/// of the packet with a certain octet. The kernel numbers both.
pub(super) struct Departures {
    stream: bool,
    /// Datagrams, or octets of the stream, written since the kernel began to count.
    written: u32,
    /// The number of the timestamped unit, and the index of its message.
    due: VecDeque<(u32, usize)>,
    epoch: Epoch,
}

impl Departures {
    /// Makes `socket` count from here on.
    pub(super) fn begin(socket: BorrowedFd<'_>, stream: bool, epoch: Epoch) -> Result<Self> {
        // In a stream only the starts of messages are timestamped.
        ask(socket, stream, !stream)?;
        Ok(Self {
            stream,
            written: 0,
            due: VecDeque::new(),
            epoch,
        })
    }

    /// Records that a datagram, the message at `place`, was written.
    pub(super) fn datagram(&mut self, place: usize) {
        self.due.push_back((self.written, place));
        self.written = self.written.wrapping_add(1);
    }

    /// Enables or disables timestamps of further writes.
    pub(super) fn switch(&self, socket: BorrowedFd<'_>, on: bool) -> Result<()> {
        ask(socket, self.stream, on)
    }

    /// Records `octets` of a stream, the last of which is timestamped.
    pub(super) fn stamped_octets(&mut self, octets: usize, place: usize) {
        self.octets(octets);
        self.due.push_back((self.written.wrapping_sub(1), place));
    }

    /// Records `octets` of a stream without a timestamp.
    pub(super) fn octets(&mut self, octets: usize) {
        let octets = u32::try_from(octets).unwrap_or(u32::MAX);
        self.written = self.written.wrapping_add(octets);
    }

    /// Assigns the timestamps in the socket's error queue to their messages.
    pub(super) fn take(&mut self, socket: BorrowedFd<'_>, lefts: &mut [Left]) -> Result<()> {
        read_departures(socket, |stamp| {
            let nanos = self.epoch.time_of_stamp(stamp.at).as_nanos();
            self.settle(stamp.place, stamp.number, nanos, lefts);
        })
    }

    /// Whether every written message has both timestamps.
    pub(super) fn all_here(&self) -> bool {
        self.due.is_empty()
    }

    /// Records a timestamp; for retransmissions the first departure counts.
    fn settle(&mut self, kind: u32, number: u32, stamp: u64, lefts: &mut [Left]) {
        let Some(at) = self.due.iter().position(|(due, _)| *due == number) else {
            return;
        };
        let Some(left) = lefts.get_mut(self.due[at].1) else {
            return;
        };
        match kind {
            SCHEDULED => left.queued = left.queued.or(Some(stamp)),
            SENT => left.sent = left.sent.or(Some(stamp)),
            _ => {}
        }
        if left.queued.is_some() && left.sent.is_some() {
            self.due.remove(at);
        }
    }
}

/// Makes the kernel timestamp arrivals, number writes, and timestamp writes from here
/// on or not.
fn ask(socket: BorrowedFd<'_>, stream: bool, stamp: bool) -> Result<()> {
    let mut events = ARRIVALS | NUMBERS;
    if stream {
        events |= COUNT_WRITTEN;
    }
    if stamp {
        events |= QUEUED | LEFT;
    }
    stamp_departures(socket, events)
}
