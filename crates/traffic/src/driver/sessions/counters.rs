//! Counters of a running flow. Its threads write them without locks, and another thread
//! reads them for reports of intervals ([`super::intervals`]).

mod buckets;

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::Serialize;
use units::{Bytes, Time};

pub use buckets::Quantiles;
pub(super) use buckets::{Buckets, Reading};
use os::clock;
use os::socket::Socket;

/// The counters of a flow's sender.
#[derive(Debug, Default)]
pub(super) struct SentCounters {
    messages: AtomicU64,
    bytes: AtomicU64,
    unsent: AtomicU64,
    /// The time at which the current message is due, in picoseconds of this clock;
    /// zero without one.
    due: AtomicU64,
    /// The echoes of its messages; their delays are round-trip times.
    pub(super) echoes: ReceivedCounters,
    /// The socket of a stream, to ask TCP for its state.
    pub(super) stream: OnceLock<Socket>,
    path_mtu: Mutex<Option<PathMtuNotice>>,
}

/// A path MTU, and who stated it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PathMtuNotice {
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// The router that reported it, by ICMP [RFC1191] [RFC8201]; `None`: this host.
    pub router: Option<IpAddr>,
}

/// The counters of a flow's receiver, or of the receiver of its echoes.
#[derive(Debug, Default)]
pub(super) struct ReceivedCounters {
    /// The time of the first arrival, in picoseconds of this clock; zero before it.
    first: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Those of the messages that belong to the warm-up.
    warmup: AtomicU64,
    /// The highest sequence number that arrived, plus one.
    expected: AtomicU64,
    /// Interarrival jitter in nanoseconds [RFC3550 s6.4.1].
    jitter: AtomicU64,
    pub(super) delays: Buckets,
}

/// The totals of a sender so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentTotals {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) unsent: u64,
    /// The time at which the current message is, or was, due.
    pub(super) due: Option<Time>,
}

/// The totals of a receiver so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedTotals {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// Messages of the warm-up among them.
    pub(super) warmup: u64,
    /// Messages with lower numbers than one that arrived, which are missing.
    pub(super) missing: u64,
    pub(super) jitter: u64,
}

impl SentCounters {
    pub(super) fn sent(&self, size: Bytes) {
        add(&self.messages, 1);
        add(&self.bytes, size.get());
    }

    pub(super) fn unsent(&self, messages: u64) {
        add(&self.unsent, messages);
    }

    /// Sets the time of the next message; `None` at the end of the flow.
    pub(super) fn due(&self, at: Option<Time>) {
        let picos = at.map_or(0, Time::as_picos);
        self.due.store(picos, Ordering::Relaxed);
    }

    /// Notes a path MTU. A router's word is kept until the MTU changes.
    pub(super) fn note(&self, notice: PathMtuNotice) {
        let mut known = self.path_mtu.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = |known: &PathMtuNotice| known.mtu == notice.mtu && notice.router.is_none();
        if !known.as_ref().is_some_and(keep) {
            *known = Some(notice);
        }
    }

    /// The path MTU of the latest notice, if any.
    pub(super) fn path_mtu(&self) -> Option<PathMtuNotice> {
        *self.path_mtu.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn totals(&self) -> SentTotals {
        let due = self.due.load(Ordering::Relaxed);
        SentTotals {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            unsent: self.unsent.load(Ordering::Relaxed),
            due: (due > 0).then(|| Time::from_picos(due)),
        }
    }
}

impl ReceivedCounters {
    /// Counts a message of the warm-up that arrived for the first time, before the counters
    /// of all messages.
    pub(super) fn warmup(&self) {
        add(&self.warmup, 1);
    }

    /// Counts a message that arrived for the first time.
    pub(super) fn received(&self, sequence: u64, size: Bytes, delay: Option<u64>) {
        let before = self.messages.load(Ordering::Relaxed);
        if before == 0 {
            let now = clock::monotonic().as_picos();
            self.first.store(now, Ordering::Relaxed);
        }
        let next = sequence.saturating_add(1);
        if next > self.expected.load(Ordering::Relaxed) {
            self.expected.store(next, Ordering::Relaxed);
        }
        add(&self.bytes, size.get());
        if let Some(delay) = delay {
            self.delays.record(delay);
        }
        // Last, so that a reader who loads the highest number first sees no loss where
        // there is none.
        self.messages.store(before + 1, Ordering::Release);
    }

    pub(super) fn jitter(&self, nanos: u64) {
        self.jitter.store(nanos, Ordering::Relaxed);
    }

    /// The time of the first arrival, on this clock.
    pub(super) fn first(&self) -> Option<Time> {
        let picos = self.first.load(Ordering::Relaxed);
        (picos > 0).then(|| Time::from_picos(picos))
    }

    pub(super) fn totals(&self) -> ReceivedTotals {
        let expected = self.expected.load(Ordering::Relaxed);
        let messages = self.messages.load(Ordering::Acquire);
        ReceivedTotals {
            messages,
            bytes: self.bytes.load(Ordering::Relaxed),
            warmup: self.warmup.load(Ordering::Relaxed),
            missing: expected.saturating_sub(messages),
            jitter: self.jitter.load(Ordering::Relaxed),
        }
    }
}

/// Adds to a counter that one thread writes: without a lock of the memory bus.
fn add(counter: &AtomicU64, number: u64) {
    let value = counter.load(Ordering::Relaxed).wrapping_add(number);
    counter.store(value, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_messages_are_those_below_the_highest_number() {
        let counters = ReceivedCounters::default();
        assert_eq!(counters.totals().missing, 0);
        for sequence in [0, 1, 5] {
            counters.received(sequence, Bytes::new(10), Some(1_000));
        }
        let totals = counters.totals();
        assert_eq!((totals.messages, totals.bytes, totals.missing), (3, 30, 3));
        counters.received(3, Bytes::new(10), None);
        assert_eq!(counters.totals().missing, 2);
        assert!(counters.first() <= Some(clock::monotonic()));
        counters.received(u64::MAX, Bytes::new(u64::MAX), Some(u64::MAX));
        assert!(counters.totals().missing > 1 << 60);
    }

    #[test]
    fn the_router_that_stated_a_path_mtu_is_kept_until_it_changes() {
        let counters = SentCounters::default();
        let router = Some(IpAddr::from([192, 0, 2, 1]));
        for (mtu, by, known) in [
            (1500, None, None),
            (1400, router, router),
            // The kernel rejects further messages by itself.
            (1400, None, router),
            (1280, None, None),
        ] {
            counters.note(PathMtuNotice { mtu, router: by });
            let expected = PathMtuNotice { mtu, router: known };
            assert_eq!(counters.path_mtu(), Some(expected));
        }
    }
}
