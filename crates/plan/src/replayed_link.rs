//! The decisions of a recorded link about the packets that came to it, and those that it would
//! have done under other settings.

use link::PacketOutcome;
use queue::Reason;
use units::{Span, Time};

/// A recorded link and its replays.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedLink {
    /// The name of the recording.
    pub recording: String,
    /// The number of packets that were replayed, if the recording was cut.
    pub cut_after: Option<usize>,
    /// Whether the link repeated its decisions, and how many; one sentence.
    pub verdict: String,
    /// Whether it repeated all of them.
    pub is_reproduced: bool,
    /// The queues by direction, of each first the recorded one.
    pub queues: Vec<ReplayedQueue>,
}

/// One direction of a recorded link, as it was or under other settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedQueue {
    /// 0 from the link's first end to its second, 1 back.
    pub direction: usize,
    /// The settings that differ from the recorded ones; `None`: as recorded.
    pub settings: Option<String>,
    /// The numbers of packets by outcome.
    pub outcomes: OutcomeCounts,
    /// How long the packets that were transmitted had waited.
    pub waits: Waits,
    pub over_time: QueueOverTime,
}

/// The numbers of packets by outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeCounts {
    /// Packets by outcome, in the order of [`PacketOutcome::ALL`].
    pub of_outcome: [u64; 6],
    /// Packets dropped by the queue, by reason, in the order of
    /// [`Reason::ALL`].
    pub dropped: [u64; 4],
    /// Packets marked by the queue and delivered.
    pub marked: u64,
}

impl OutcomeCounts {
    /// The number of packets with `outcome`.
    pub const fn of(&self, outcome: PacketOutcome) -> u64 {
        self.of_outcome[outcome as usize]
    }

    /// The number of packets that the queue dropped for `reason`.
    pub const fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }

    /// The packets that came out, twice counted once.
    pub const fn forwarded(&self) -> u64 {
        self.of(PacketOutcome::Delivered) + self.of(PacketOutcome::Duplicated)
    }

    /// The share of decided packets that the queue dropped, in per cent.
    pub fn dropped_percent(&self) -> f64 {
        let all: u64 = self.of_outcome.iter().sum();
        100.0 * self.of(PacketOutcome::Dropped) as f64 / all.max(1) as f64
    }
}

/// Waiting times in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    pub mean: f64,
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub longest: f64,
    /// Quantiles at equal steps of the share, from the minimum to the maximum; empty
    /// without a packet.
    pub quantiles: Vec<f64>,
}

/// A queue in successive intervals of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueOverTime {
    /// The beginning of the first interval.
    pub begin: Time,
    /// The length of an interval.
    pub interval: Span,
    /// The packets in the queue, the mean of each interval.
    pub packets: Vec<f64>,
    /// The packets that came in each interval.
    pub arrivals: Vec<u64>,
    /// Those of them that the queue dropped.
    pub dropped: Vec<u64>,
}
