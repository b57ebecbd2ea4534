//! Transfer of message records from flows to the writer of a log.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;

use meter::clock_offset::ClockOffset;
use wire::control::{Meter, Name, Protocol};

/// A message in the log of a sender or a receiver. Times are nanoseconds since the
/// start of the session, on the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of its flow in the session.
    pub flow: u16,
    /// Bytes of the message.
    pub size: u32,
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    /// Departure, from its header; the arrival if it is `untimed`.
    pub sent: u64,
    /// Whether the message was too short to state its departure.
    pub untimed: bool,
    /// Arrival of the message, or of its echo.
    pub received: Option<u64>,
    /// Whether `received` is the kernel's timestamp.
    pub stamped: bool,
    /// Instant at which the program read a one-way message.
    pub read: Option<u64>,
}

impl Record {
    /// The time at which the record was made.
    pub(super) fn at(&self) -> u64 {
        self.received.unwrap_or(self.sent)
    }
}

/// An entry of a log.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A flow, before its records.
    Flow(Described),
    /// Records of one flow, in the order of their creation.
    Records(Vec<Record>),
    /// The offset of the clocks of both ends, and the time of its measurement on the
    /// clock of the log's writer.
    Clocks(u64, ClockOffset),
    /// The totals of a flow's sender.
    Sent {
        /// Number of the flow.
        flow: u16,
        /// Messages sent.
        messages: u64,
        /// Bytes sent.
        bytes: u64,
    },
    /// A stream of which segments arrived out of order.
    OutOfOrder(OutOfOrder),
}

/// The time in nanoseconds from the first arrival of a longer flow until its rate may
/// start: a full token bucket passes bytes without delay.
pub const SETTLING: u64 = 20_000_000;

/// A stream of which segments arrived out of order, and the two times at which its
/// rate may start, each `None` if no segment had arrived out of order by then. Bytes
/// behind a missing segment have arrived, although their messages cannot be read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Number of the flow.
    pub flow: u16,
    /// At its first message.
    pub at_first: Option<StreamPoint>,
    /// At its first message [`SETTLING`] later.
    pub settled: Option<StreamPoint>,
}

/// How much of a stream had arrived at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPoint {
    /// Nanoseconds since the start of the session.
    pub at: u64,
    /// An upper bound of the bytes of its messages that had arrived.
    pub bytes: u64,
}

/// The properties of a flow that readers of its records need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Name of the flow.
    pub name: Name,
    /// The transport; `None`: ICMP echoes.
    pub transport: Option<Protocol>,
    /// The delay that is measured.
    pub meter: Meter,
    /// Source address; port 0 if not known yet.
    pub from: SocketAddr,
    /// Destination address.
    pub to: SocketAddr,
    /// Differentiated services codepoint.
    pub dscp: u8,
}

/// The channel for entries, with many records each. A full channel blocks the flow,
/// which limits the memory.
pub type Records = SyncSender<Entry>;

/// Records per entry.
const BUNDLE: usize = 4096;

/// The longest time in nanoseconds for which a record waits for others. A killed
/// program loses at most this part of a slow flow.
const WAIT: u64 = 1_000_000_000;

/// The records of one flow before they are handed over.
pub(super) struct LogSink {
    to: Option<Records>,
    bundle: Vec<Record>,
}

impl LogSink {
    pub(super) fn new(to: Option<Records>) -> Self {
        let room = if to.is_some() { BUNDLE } else { 0 };
        Self {
            to,
            bundle: Vec::with_capacity(room),
        }
    }

    /// A sink for another thread of the same flow, with the same log.
    pub(super) fn another(&self) -> Self {
        Self::new(self.to.clone())
    }

    /// Whether there is a log.
    pub(super) fn wanted(&self) -> bool {
        self.to.is_some()
    }

    pub(super) fn keep(&mut self, record: Record) {
        if self.wanted() {
            self.bundle.push(record);
            if self.bundle.len() >= BUNDLE {
                self.flush();
            } else {
                self.flush_old(record.at());
            }
        }
    }

    /// Hands over that segments of the flow arrived out of order.
    pub(super) fn note(&self, out_of_order: OutOfOrder) {
        if let Some(to) = &self.to {
            // The writer has ended with an error of its own.
            let _ = to.send(Entry::OutOfOrder(out_of_order));
        }
    }

    /// Flushes the records if the first has waited too long at this time.
    pub(super) fn flush_old(&mut self, now: u64) {
        if let Some(first) = self.bundle.first()
            && now.saturating_sub(first.at()) >= WAIT
        {
            self.flush();
        }
    }

    /// Flushes the records.
    pub(super) fn flush(&mut self) {
        if let Some(to) = self.to.as_ref().filter(|_| !self.bundle.is_empty()) {
            let bundle = std::mem::replace(&mut self.bundle, Vec::with_capacity(BUNDLE));
            // The writer has ended with an error of its own.
            let _ = to.send(Entry::Records(bundle));
        }
    }
}

impl Drop for LogSink {
    fn drop(&mut self) {
        self.flush();
    }
}
