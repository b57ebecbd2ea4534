//! The counters of a running stream: its thread writes them without locks, and the thread of
//! the control connection reads them.

use std::sync::atomic::{AtomicU64, Ordering};

use units::Time;

/// The counters of a stream at this end.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) bytes: AtomicU64,
    /// Datagrams or blocks sent, or datagrams received.
    pub(super) packets: AtomicU64,
    /// Datagrams that the system did not take.
    pub(super) unsent: AtomicU64,
    pub(super) highest: AtomicU64,
    pub(super) duplicates: AtomicU64,
    pub(super) reordered: AtomicU64,
    /// Nanoseconds.
    pub(super) jitter: AtomicU64,
    /// The last arrival, in picoseconds of this clock.
    pub(super) last: AtomicU64,
}

/// Their values at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) unsent: u64,
    /// The highest number of a datagram.
    pub(super) highest: u64,
    pub(super) duplicates: u64,
    pub(super) reordered: u64,
    pub(super) jitter: u64,
    /// Segments retransmitted.
    pub(super) retransmitted: u64,
}

impl Counters {
    /// Notes that something arrived.
    pub(super) fn arrived(&self, at: Time) {
        self.last.store(at.as_picos(), Ordering::Relaxed);
    }

    /// The time of the last arrival.
    pub(super) fn last(&self) -> Option<Time> {
        let picos = self.last.load(Ordering::Relaxed);
        (picos > 0).then(|| Time::from_picos(picos))
    }

    pub(super) fn totals(&self) -> Totals {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // The thread stores the packets last, so none seems to be lost that is not.
        let packets = self.packets.load(Ordering::Acquire);
        Totals {
            bytes: read(&self.bytes),
            packets,
            unsent: read(&self.unsent),
            highest: read(&self.highest).max(packets),
            duplicates: read(&self.duplicates),
            reordered: read(&self.reordered),
            jitter: read(&self.jitter),
            retransmitted: 0,
        }
    }
}

impl Totals {
    /// What was counted after `earlier`. The jitter is that at the end.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(earlier.bytes),
            packets: self.packets.saturating_sub(earlier.packets),
            unsent: self.unsent.saturating_sub(earlier.unsent),
            highest: self.highest.saturating_sub(earlier.highest),
            duplicates: self.duplicates.saturating_sub(earlier.duplicates),
            reordered: self.reordered.saturating_sub(earlier.reordered),
            jitter: self.jitter,
            retransmitted: self.retransmitted.saturating_sub(earlier.retransmitted),
        }
    }

    /// The datagrams that did not arrive, at a receiver.
    pub(super) fn lost(self) -> u64 {
        self.highest.saturating_sub(self.packets)
    }
}
