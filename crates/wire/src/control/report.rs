//! A receiver's statistics of a flow.

use serde::{Deserialize, Serialize};

/// A receiver's statistics of a flow. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Messages of the warm-up that arrived, without duplicates. All other fields leave
    /// these messages out.
    pub warmup: u64,
    /// Messages that arrived, without duplicates.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: u64,
    /// Messages that had arrived before.
    pub duplicates: u64,
    /// Messages that arrived after one with a higher number [RFC4737 s3].
    pub reordered: u64,
    /// Time from the first arrival to the last.
    pub lasted: u64,
    /// Messages with a known delay of zero or more.
    pub delayed: u64,
    /// Messages whose computed delay is negative, because the clocks differ.
    pub negative: u64,
    /// Minimum of the delays.
    pub least: u64,
    /// Mean of the delays.
    pub mean: u64,
    /// Median of the delays.
    pub median: u64,
    /// 95th percentile of the delays.
    pub p95: u64,
    /// 99th percentile of the delays.
    pub p99: u64,
    /// Maximum of the delays.
    pub most: u64,
    /// Interarrival jitter [RFC3550 s6.4.1], at the end.
    pub jitter: u64,
    /// Messages without the kernel's timestamp, timed by the program's clock.
    pub unstamped: u64,
    /// The precision of the program's timestamps; `None` where the kernel has its own.
    pub stamps: Option<StampPrecision>,
    /// Datagrams that the receiving system dropped because its buffer was full; `None` where
    /// it does not count them.
    pub overflowed: Option<u64>,
    /// Reads that returned several datagrams merged by the kernel.
    pub merged: u64,
}

/// The precision of timestamps that a program gives to arrivals. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampPrecision {
    /// The smallest difference between two readings of its clock.
    pub resolution: u64,
    /// The 99th percentile of the time from a write to the timestamp over loopback.
    pub late: u64,
}
